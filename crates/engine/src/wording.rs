//! The texts that the engine itself writes, in English and Chinese: elision marks, notices, answers.

use std::ops::Range;

use epitome_session::heading::{group_digits, recall_word};
use epitome_session::{Heading, HeadingKind, Language, Media};
use epitome_strategy::Tokens;

/// Returns the mark for the gap `range` of `text`, which holds about `tokens` tokens. Only the first mark of an excerpt
/// names the handle; repetitions would only cost tokens.
///
/// Line feeds at the gap's ends stay outside the mark, so that what follows keeps its line.
pub(crate) fn gap_mark(
    language: Language,
    text: &str,
    range: Range<u32>,
    tokens: Tokens,
    handle: Option<&str>,
) -> String {
    let (start, end) = (range.start as usize, range.end as usize);
    let gap = &text[start..end];
    // Lines that are gone whole: a line feed that only ends the line before the gap does not count; a last line without
    // one counts when the gap takes it from its start.
    let at_line_start = start == 0 || text[..start].ends_with('\n') || gap.starts_with('\n');
    let feeds = gap.matches('\n').count();
    let ends_before = usize::from(gap.starts_with('\n') && start > 0 && !text[..start].ends_with('\n'));
    let to_line_end = end == text.len() || text[end..].starts_with('\n');
    let open_end = usize::from(!gap.ends_with('\n') && to_line_end && (feeds > 0 || at_line_start));
    let lines = (feeds + open_end).saturating_sub(ends_before);
    let what = match (language, lines) {
        (Language::English, 0) => format!("{} tokens elided", group_digits(tokens.into())),
        (Language::English, 1) => format!("1 line, {} tokens elided", group_digits(tokens.into())),
        (Language::English, _) => {
            format!("{} lines, {} tokens elided", group_digits(lines as u64), group_digits(tokens.into()))
        }
        (Language::Chinese, 0) => format!("省略 {} token", group_digits(tokens.into())),
        (Language::Chinese, _) => {
            format!("省略 {} 行、{} token", group_digits(lines as u64), group_digits(tokens.into()))
        }
    };
    let recall = recall(language, handle);
    let before = if gap.starts_with('\n') && start > 0 { "\n" } else { "" };
    let after = if gap.ends_with('\n') && gap.len() > 1 && end < text.len() { "\n" } else { "" };
    format!("{before}[… {what}{recall}]{after}")
}

/// Returns the end of a mark that names a handle; empty without one.
fn recall(language: Language, handle: Option<&str>) -> String {
    handle.map_or_else(String::new, |handle| format!("{}{handle}", recall_word(language)))
}

/// Returns the mark for images and documents, with what they can be had again by, or what they are.
pub(crate) fn media_mark(language: Language, media: &[Media], handle: Option<&str>) -> String {
    let recall = recall(language, handle);
    let reference = |media: &Media| media.reference().unwrap_or_else(|| media.kind().to_owned());
    let mut references: Vec<String> = media.iter().map(reference).filter(|named| !named.is_empty()).collect();
    references.dedup();
    let named = if references.is_empty() { String::new() } else { format!(": {}", references.join(", ")) };
    match (language, media.len()) {
        (Language::English, 1) => format!("[… 1 attachment elided{named}{recall}]"),
        (Language::English, count) => format!("[… {count} attachments elided{named}{recall}]"),
        (Language::Chinese, count) => format!("[… 省略 {count} 个附件{named}{recall}]"),
    }
}

/// Returns the first line of a summary message.
pub(crate) fn summary_heading(language: Language, messages: usize, handle: Option<&str>) -> String {
    Heading { kind: HeadingKind::Summary, language, messages: messages as u64, handle }.to_string()
}

/// Returns the notice that replaces messages which left without a summary.
pub(crate) fn notice(language: Language, messages: usize, handle: Option<&str>) -> String {
    Heading { kind: HeadingKind::Notice, language, messages: messages as u64, handle }.to_string()
}

/// Returns the message in front of a conversation that would otherwise start with the model.
pub(crate) fn opening(language: Language) -> &'static str {
    match language {
        Language::English => "[The conversation continues from here.]",
        Language::Chinese => "[对话由此继续。]",
    }
}

/// Returns the text that replaces the cut part of a string in a call's arguments.
pub(crate) fn trim_mark(language: Language, chars: usize, handle: Option<&str>) -> String {
    let (chars, recall) = (group_digits(chars as u64), recall(language, handle));
    match language {
        Language::English => format!("[… {chars} characters elided{recall}]"),
        Language::Chinese => format!("[… 省略 {chars} 字{recall}]"),
    }
}

#[cfg(test)]
mod tests {
    use epitome_strategy::View;

    use super::*;
    use crate::tests::Bytes;

    #[test]
    fn marks_keep_lines_apart() {
        let check = |text: &str, range: Range<u32>, expect: &str| {
            assert_eq!(gap_mark(Language::English, text, range, 1204, Some("e3f9")), expect);
        };
        check("one\ntwo\nthree\n", 4..14, "[… 2 lines, 1,204 tokens elided · recall e3f9]");
        check("one\ntwo\nthree\n", 0..8, "[… 2 lines, 1,204 tokens elided · recall e3f9]\n");
        check("one\ntwo\nthree", 3..8, "\n[… 1 line, 1,204 tokens elided · recall e3f9]\n");
        check("one\ntwo\nthree", 4..13, "[… 2 lines, 1,204 tokens elided · recall e3f9]");
        check("one\ntwo\nthree\n", 4..13, "[… 2 lines, 1,204 tokens elided · recall e3f9]");
        check("one two three", 3..8, "[… 1,204 tokens elided · recall e3f9]");
        check("one", 0..3, "[… 1 line, 1,204 tokens elided · recall e3f9]");
        assert_eq!(gap_mark(Language::Chinese, "一\n二\n", 0..8, 5, None), "[… 省略 2 行、5 token]");
    }

    #[test]
    fn strategies_reckon_with_the_marks_that_are_written() {
        for language in [Language::English, Language::Chinese] {
            let view = View::new(&[], &[], &[], &[], &Bytes, language);
            let text = "x\n".repeat(10_000);
            let first = |handle| gap_mark(language, &text, 0..20_000, 100_000, handle).len();
            assert_eq!(view.mark_tokens() as usize, first(None));
            let view = view.with_handles(true);
            assert_eq!(view.mark_tokens() as usize, first(Some("0a1b2c3d4e5f")));
            let further = gap_mark(language, &text, 0..2_000, 10_000, None);
            assert_eq!(view.further_mark_tokens() as usize, further.len());
        }
    }
}
