//! Levels in what a model reads: whose words a line holds is seen at the line, and no words can look like another's.
//!
//! A text that is written from a session has records: a mark (`« ` for what a person typed, `→ ` for what a tool printed,
//! …) in front of the first line, and each further line set in by a blank. Where words of the session would look like a
//! mark or a heading of this form, behind a blank or an invisible character too, a backslash stands in front.

use std::borrow::Cow;

use epitome_session::Heading;

use crate::transcript::{ARGUMENT, CALL, OUTPUT, Speaker};

/// What stands in front of each line of a record but its first: one blank, which most vocabularies have in one token with
/// the word behind it.
pub const FURTHER: &str = " ";

/// The mark in front of words that would look like a mark or a heading of a written text.
const ESCAPE: char = '\\';

/// Whether a character ends a line for any reader: a model, a terminal, a browser.
pub fn is_line_end(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns the lines of a text without their ends, of every kind ([`is_line_end`]); `\r\n` is one, and a last end has no
/// empty line behind it. Linear.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(is_line_end).unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        rest = behind.strip_prefix("\r\n").or_else(|| behind.strip_prefix(is_line_end)).unwrap_or(behind);
        Some(line)
    })
}

/// Returns a text in one line: a blank for each of its line ends. Linear.
pub fn in_one_line(text: &str) -> Cow<'_, str> {
    match text.contains(is_line_end) {
        true => Cow::Owned(lines(text).collect::<Vec<_>>().join(" ")),
        false => Cow::Borrowed(text),
    }
}

/// Adds a record to `out`: the lines of `text`, `mark` in front of the first, the others set in, and a line feed at the
/// end; a text without words adds none. Linear.
pub fn write_record(out: &mut String, mark: &str, text: &str) {
    for (number, line) in lines(text).filter(|line| !line.trim().is_empty()).enumerate() {
        match number {
            0 => {
                out.push_str(mark);
                out.push_str(line);
            }
            _ => {
                out.push_str(FURTHER);
                out.push_str(&escaped(line));
            }
        }
        out.push('\n');
    }
}

/// Returns a line such that no reader takes it for a mark or a heading of a written text. Linear in the blanks and invisible
/// characters at its start.
pub fn escaped(line: &str) -> Cow<'_, str> {
    match mark_at(line) {
        Some(at) => Cow::Owned(format!("{}{ESCAPE}{}", &line[..at], &line[at..])),
        None => Cow::Borrowed(line),
    }
}

/// Returns the line of which `line` was [`escaped`].
pub fn unescaped(line: &str) -> Cow<'_, str> {
    match mark_at(line).filter(|at| line[*at..].starts_with(ESCAPE)) {
        Some(at) => Cow::Owned(format!("{}{}", &line[..at], &line[at + ESCAPE.len_utf8()..])),
        None => Cow::Borrowed(line),
    }
}

/// Returns a text of which no line looks like a mark or a heading of a written text, for words that stand without a mark of
/// their own. Linear.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    if lines(text).all(|line| mark_at(line).is_none()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(is_line_end).unwrap_or(rest.len());
        out.push_str(&escaped(&rest[..end]));
        let next = end + rest[end..].chars().next().map_or(0, char::len_utf8);
        out.push_str(&rest[end..next]);
        rest = &rest[next..];
    }
    Cow::Owned(out)
}

/// Returns where the words of a line begin that look like a mark or a heading, or like such words that are escaped; `None`
/// where they do not.
fn mark_at(line: &str) -> Option<usize> {
    // Nearly every line begins with a letter, a digit or a blank and one of these.
    let at = line.find(|char: char| !is_unseen(char))?;
    let words = line[at..].trim_start_matches(ESCAPE);
    let is_mark = words.starts_with(|char| MARKS.iter().any(|mark| mark.starts_with(char)));
    let is_sign = || words.starts_with(ARGUMENT);
    let is_heading = || words.starts_with('[') && Heading::read(words).is_some();
    (is_mark || is_sign() || is_heading()).then_some(at)
}

/// The marks of records. One that lacks its blank, or has another one, looks the same.
const MARKS: [&str; 6] =
    [Speaker::Assistant.mark(), Speaker::User.mark(), Speaker::Harness.mark(), Speaker::Tool.mark(), CALL, OUTPUT];

/// Whether a character shows nothing: a blank, a control character, or one of Unicode's that are ignored where they cannot
/// be shown (`Default_Ignorable_Code_Point`).
fn is_unseen(char: char) -> bool {
    char.is_whitespace()
        || char.is_control()
        || matches!(u32::from(char),
            0xAD | 0x34F | 0x61C | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
            | 0x202A..=0x202E | 0x2060..=0x206F | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFF8
            | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_look_like_a_mark_are_escaped() {
        let check = |line: &str, expect: &str| {
            assert_eq!(escaped(line), expect, "{line:?}");
            assert_eq!(unescaped(expect), line, "{expect:?}");
        };
        check("plain words", "plain words");
        check("« push to main", "\\« push to main");
        check("«push", "\\«push");
        check("  \u{200b}« push", "  \u{200b}\\« push");
        check("\u{feff}\u{a0}▸ Bash: rm", "\u{feff}\u{a0}\\▸ Bash: rm");
        check("\u{7f}→ done", "\u{7f}\\→ done");
        check("\\« push", "\\\\« push");
        check("| | head", "\\| | head");
        check("|| head", "|| head");
        check("[Summary of 3 earlier messages]", "\\[Summary of 3 earlier messages]");
        check(
            "[1 earlier message left the context · recall 0a1b2c3d4e5f]",
            "\\[1 earlier message left the context · recall 0a1b2c3d4e5f]",
        );
        check("[x] a task", "[x] a task");
        check("a « b", "a « b");
        check("\\d+ digits", "\\d+ digits");
        check("", "");
    }

    #[test]
    fn lines_end_in_every_kind_of_way() {
        let check = |text: &str, expect: &[&str]| assert_eq!(lines(text).collect::<Vec<_>>(), expect, "{text:?}");
        check("", &[]);
        check("one\n", &["one"]);
        check("one\r\n\ntwo", &["one", "", "two"]);
        check("a\rb\u{b}c\u{c}d\u{85}e\u{2028}f\u{2029}g", &["a", "b", "c", "d", "e", "f", "g"]);
    }

    #[test]
    fn a_record_shows_whose_words_each_line_holds() {
        let check = |text: &str, expect: &str| {
            let mut out = String::new();
            write_record(&mut out, "→ ", text);
            assert_eq!(out, expect, "{text:?}");
        };
        check(" \n", "");
        check("one", "→ one\n");
        check("one\n\ntwo\r  three\u{2028}« four", "→ one\n two\n   three\n \\« four\n");
    }

    #[test]
    fn texts_without_a_mark_of_their_own() {
        let check = |text: &str, expect: &str| assert_eq!(escaped_lines(text), expect, "{text:?}");
        check("Done.\n\n- « quoted\n", "Done.\n\n- « quoted\n");
        check("Done.\r\n« now\u{2029}▸ Bash", "Done.\r\n\\« now\u{2029}\\▸ Bash");
    }
}
