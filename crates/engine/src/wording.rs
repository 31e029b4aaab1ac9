//! The texts that the engine itself writes, in English and Chinese: elision marks, notices, answers.

use std::ops::Range;

use epitome_session::Language;
use epitome_strategy::Tokens;

/// A number with thousands separators.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The mark for the gap `range` of `text`, which holds about `tokens` tokens. The first mark of an excerpt names the
/// handle; repeating it would only cost tokens.
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
    // Lines that are gone whole: a line feed that only ends the line before the gap counts nothing, a last line without
    // one counts when the gap takes it from its start.
    let at_line_start = start == 0 || text[..start].ends_with('\n') || gap.starts_with('\n');
    let feeds = gap.matches('\n').count();
    let ends_before = usize::from(gap.starts_with('\n') && start > 0 && !text[..start].ends_with('\n'));
    let to_line_end = end == text.len() || text[end..].starts_with('\n');
    let open_end = usize::from(!gap.ends_with('\n') && to_line_end && (feeds > 0 || at_line_start));
    let lines = (feeds + open_end).saturating_sub(ends_before);
    let what = match (language, lines) {
        (Language::English, 0) => format!("{} tokens elided", grouped(tokens.into())),
        (Language::English, 1) => format!("1 line, {} tokens elided", grouped(tokens.into())),
        (Language::English, _) => format!("{} lines, {} tokens elided", grouped(lines as u64), grouped(tokens.into())),
        (Language::Chinese, 0) => format!("省略 {} token", grouped(tokens.into())),
        (Language::Chinese, _) => format!("省略 {} 行、{} token", grouped(lines as u64), grouped(tokens.into())),
    };
    let recall = match (language, handle) {
        (_, None) => String::new(),
        (Language::English, Some(handle)) => format!(" · recall {handle}"),
        (Language::Chinese, Some(handle)) => format!(" · 可取回 {handle}"),
    };
    let before = if gap.starts_with('\n') && start > 0 { "\n" } else { "" };
    let after = if gap.ends_with('\n') && gap.len() > 1 && end < text.len() { "\n" } else { "" };
    format!("{before}[… {what}{recall}]{after}")
}

/// The mark for the images and documents of a result.
pub(crate) fn media_mark(language: Language, count: usize, handle: &str) -> String {
    match (language, count) {
        (Language::English, 1) => format!("[… 1 attachment elided · recall {handle}]"),
        (Language::English, _) => format!("[… {count} attachments elided · recall {handle}]"),
        (Language::Chinese, _) => format!("[… 省略 {count} 个附件 · 可取回 {handle}]"),
    }
}

/// The first line of a summary message.
pub(crate) fn summary_heading(language: Language, messages: usize, handle: &str) -> String {
    match language {
        Language::English => format!("[Summary of {} earlier messages · recall {handle}]", grouped(messages as u64)),
        Language::Chinese => format!("[此前 {} 条消息的摘要 · 可取回 {handle}]", grouped(messages as u64)),
    }
}

/// The notice that stands for messages that left without a summary.
pub(crate) fn notice(language: Language, messages: usize, handle: &str) -> String {
    let messages = grouped(messages as u64);
    match language {
        Language::English => format!("[{messages} earlier messages left the context · recall {handle}]"),
        Language::Chinese => format!("[此前 {messages} 条消息已移出上下文 · 可取回 {handle}]"),
    }
}

/// The message put in front where the conversation would start with the model.
pub(crate) fn opening(language: Language) -> &'static str {
    match language {
        Language::English => "[The conversation continues from here.]",
        Language::Chinese => "[对话由此继续。]",
    }
}

/// The answer to a call whose result was never recorded.
pub(crate) fn missing_result(language: Language) -> &'static str {
    match language {
        Language::English => "[No result was recorded: the call was interrupted.]",
        Language::Chinese => "[未记录结果：该调用已中断。]",
    }
}

/// What stands for the cut part of a string in a call's arguments.
pub(crate) fn trimmed(language: Language, chars: usize, handle: &str) -> String {
    let chars = grouped(chars as u64);
    match language {
        Language::English => format!("[… {chars} characters elided · recall {handle}]"),
        Language::Chinese => format!("[… 省略 {chars} 字 · 可取回 {handle}]"),
    }
}

#[cfg(test)]
mod tests {
    use epitome_strategy::{TokenCounter, View};

    use super::*;

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

    /// Counts bytes: equal counts of these texts are equal texts for any counter's purposes.
    #[derive(Debug)]
    struct Bytes;

    impl TokenCounter for Bytes {
        fn name(&self) -> &str {
            "bytes"
        }

        fn count(&self, text: &str) -> Tokens {
            text.len() as Tokens
        }

        fn is_exact(&self) -> bool {
            true
        }
    }

    #[test]
    fn strategies_reckon_with_the_marks_that_are_written() {
        for language in [Language::English, Language::Chinese] {
            let view = View::new(&[], &[], &[], &[], &Bytes, language);
            let text = "x\n".repeat(10_000);
            let first = gap_mark(language, &text, 0..20_000, 100_000, Some("0a1b2c3d"));
            assert_eq!(view.mark_tokens() as usize, first.len());
            let further = gap_mark(language, &text, 0..2_000, 10_000, None);
            assert_eq!(view.further_mark_tokens() as usize, further.len());
        }
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, expect) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), expect);
        }
    }
}
