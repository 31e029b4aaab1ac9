//! Text functions that several strategies need.

use std::borrow::Cow;
use std::ops::Range;

/// Returns the byte ranges of a text's lines, each with its line feed. Linear.
pub fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..at
    })
}

/// Returns the 64-bit Fowler-Noll-Vo hash of bytes: the same on every machine and in every run, unlike the standard one.
pub fn fnv(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns a number with its noun: `1 message`, `2 messages`.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Whether a character ends a sentence, in English or Chinese.
pub fn ends_sentence(char: char) -> bool {
    matches!(char, '.' | '!' | '?' | '。' | '！' | '？' | '；' | '…')
}

/// Whether a character is written in Chinese, Japanese or Korean script.
pub fn is_cjk(char: char) -> bool {
    matches!(u32::from(char),
        0x2E80..=0x2FDF | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF
        | 0x20000..=0x2FA1F)
}

/// Returns the text on one line, cut to at most `most` columns (a Chinese character takes two) with `…` behind it. The
/// cut is at white space or next to a Chinese character, so never inside an identifier, a path or a number; `None`
/// where that is not possible.
pub fn clip(text: &str, most: usize) -> Option<String> {
    let line = on_one_line(text);
    if line.is_ascii() && line.len() <= most {
        return (!line.is_empty()).then(|| line.into_owned());
    }
    let (mut columns, mut end) = (0, 0);
    let mut previous = ' ';
    for (at, char) in line.char_indices() {
        if char.is_whitespace() || is_cjk(char) || is_cjk(previous) {
            end = at;
        }
        columns += 1 + usize::from(is_cjk(char));
        previous = char;
        if columns > most {
            let kept = line[..end].trim_end_matches([' ', ',', '，', ';', ':', '(']);
            return (!kept.is_empty()).then(|| format!("{kept} …"));
        }
    }
    (!line.is_empty()).then(|| line.into_owned())
}

/// Whether a cut at `at` is inside a name: a path, a number, a hash, a word. What stands beside it is a fragment then.
pub fn is_in_name(text: &str, at: usize) -> bool {
    let is_part = |char: char| {
        char.is_ascii_alphanumeric()
            || matches!(char, '_' | '-' | '.' | '/' | ':' | '@' | '#' | '~' | '+')
            || (char.is_alphanumeric() && !is_cjk(char))
    };
    let (before, behind) = text.split_at(text.floor_char_boundary(at));
    before.chars().next_back().is_some_and(is_part) && behind.chars().next().is_some_and(is_part)
}

/// Returns the words of a text with single spaces between them. Linear.
fn on_one_line(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let bytes = text.as_bytes();
    let is_plain = |at: usize| (b'!'..=b'~').contains(&bytes[at]) || (bytes[at] == b' ' && bytes[at - 1] != b' ');
    if (0..bytes.len()).all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the end of the last sentence that is whole in `text[..limit]`; failing that the end of the last line,
/// failing that the last white space, failing that `limit` itself, moved back to a character boundary. Linear in
/// `limit`.
///
/// An English sentence ends with its mark *and* white space behind it, so `v1.2` and `main.rs` are not cut.
pub fn sentence_end(text: &str, limit: usize) -> usize {
    let limit = text.floor_char_boundary(limit.min(text.len()));
    if limit == text.len() {
        return limit;
    }
    let (mut sentence, mut line, mut space) = (0, 0, 0);
    let mut chars = text[..limit].char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let end = at + char.len_utf8();
        let next = chars.peek().map(|(_, next)| *next).or_else(|| text[end..].chars().next());
        let closes = ends_sentence(char) && (char > '\u{7f}' || next.is_none_or(char::is_whitespace));
        if closes {
            sentence = end;
        }
        if char == '\n' {
            line = end;
        }
        if char.is_whitespace() {
            space = end;
        }
    }
    // A boundary in the first half would lose more than it is worth.
    [sentence, line, space].into_iter().find(|end| *end * 2 >= limit && *end > 0).unwrap_or(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end() {
        let check = |text: &str, limit: usize, expect: &str| assert_eq!(&text[..sentence_end(text, limit)], expect);
        check("One. Two. Three.", 12, "One. Two.");
        check("Use main.rs v1.2 here", 12, "Use main.rs ");
        check("第一句。第二句。第三句", 27, "第一句。第二句。");
        check("short", 99, "short");
        check("nowhitespaceatall", 5, "nowhi");
        check("字字字字", 4, "字");
        check("a line\nanother line", 9, "a line\n");
    }
}
