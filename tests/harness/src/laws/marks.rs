//! Reads the marks that replace removed text.

/// The content of an elision mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark<'a> {
    /// Lines that left; 0 where it names none.
    pub(super) lines: u64,
    /// Tokens that left.
    pub(super) tokens: u64,
    /// The handle that it names.
    pub(super) recall: Option<&'a str>,
    /// Whether it starts a line of its own.
    pub(super) breaks_before: bool,
    /// Whether it ends its line.
    pub(super) breaks_after: bool,
}

/// Returns the content of a mark in English or Chinese; `None` where the text is not a mark.
pub(super) fn mark(text: &str) -> Option<Mark<'_>> {
    let inner = text.strip_prefix('\n').unwrap_or(text);
    let inner = inner.strip_suffix('\n').unwrap_or(inner);
    let (body, recall) = body_and_recall(inner)?;
    let (lines, tokens) = match body.strip_suffix(" tokens elided").or_else(|| body.strip_suffix(" token elided")) {
        Some(body) => body.split_once(" lines, ").or_else(|| body.split_once(" line, ")).unwrap_or(("0", body)),
        None => {
            let body = body.strip_prefix("省略 ")?.strip_suffix(" token")?;
            body.split_once(" 行、").unwrap_or(("0", body))
        }
    };
    Some(Mark {
        lines: number(lines)?,
        tokens: number(tokens)?,
        recall,
        breaks_before: text.starts_with('\n'),
        breaks_after: text.ends_with('\n'),
    })
}

/// Returns the text in front of the mark at the end of a shortened string, and how many characters the mark replaces.
pub(super) fn cut_string(text: &str) -> Option<(&str, u64)> {
    let (body, _) = body_and_recall(&text[text.rfind("[… ")?..])?;
    let english = body.strip_suffix(" characters elided").or_else(|| body.strip_suffix(" character elided"));
    let count = english.or_else(|| body.strip_prefix("省略 ")?.strip_suffix(" 字"))?;
    Some((&text[..text.rfind("[… ")?], number(count)?))
}

fn body_and_recall(text: &str) -> Option<(&str, Option<&str>)> {
    let body = text.strip_prefix("[… ")?.strip_suffix(']')?;
    let named = body.split_once(" · recall ").or_else(|| body.split_once(" · 可取回 "));
    Some(named.map_or((body, None), |(body, handle)| (body, Some(handle))))
}

fn number(text: &str) -> Option<u64> {
    text.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn marks_are_read() {
        let check = |text: &str, lines, tokens, recall| {
            let mark = mark(text).unwrap();
            assert_eq!((mark.lines, mark.tokens, mark.recall), (lines, tokens, recall));
        };
        check("\n[… 2 lines, 1,204 tokens elided · recall e3f9]", 2, 1_204, Some("e3f9"));
        check("[… 7 tokens elided]", 0, 7, None);
        check("[… 省略 2 行、5 token · 可取回 h]", 2, 5, Some("h"));
        assert_eq!(mark("[3 lines]"), None);
        assert_eq!(cut_string("ab[… 3 characters elided · recall h]"), Some(("ab", 3)));
    }
}
