//! Levels in what a model reads: whose words a line holds is seen at the line, and no words can look like another's.
//!
//! A text that is written from a session has records: a mark (`« ` for what a person typed, `→ ` for what a tool printed,
//! …) in front of the first line, and each further line set in by a blank, but for those that a person typed: what stands
//! at the start of a line without a mark was typed, word for word. Where words of the session would look like a
//! mark or a heading of this form, behind a blank or an invisible character too, a backslash stands in front.

use std::borrow::Cow;

use epitome_session::Heading;
use epitome_session::heading::{is_notes_heading, is_now};

use crate::transcript::{CALL, Speaker};

/// What stands in front of each further line of a record that no person typed: one blank, which most vocabularies have in
/// one token with the word behind it.
pub const CONTINUATION: &str = " ";

/// The mark in front of words that would look like a mark or a heading of a written text.
const ESCAPE: char = '\\';

/// Whether a character ends a line for any reader: a model, a terminal, a browser.
pub fn is_line_end(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns the byte at which the first line of a text ends; `None` where nothing ends it. Linear.
pub fn line_end(text: &str) -> Option<usize> {
    // The bytes with which the characters above begin: a test of each byte is quicker than one of each character.
    let can_begin = |byte: &u8| matches!(byte, b'\n'..=b'\r' | 0xc2 | 0xe2);
    let mut from = 0;
    loop {
        let at = from + text.as_bytes()[from..].iter().position(can_begin)?;
        if text[at..].starts_with(is_line_end) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Returns the lines of a text without their ends, of every kind ([`is_line_end`]); `\r\n` is one, and a last end has no
/// empty line behind it. Linear.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = line_end(rest).unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        rest = behind.strip_prefix("\r\n").or_else(|| behind.strip_prefix(is_line_end)).unwrap_or(behind);
        Some(line)
    })
}

/// Returns a text in one line: a blank for each of its line ends. Linear.
pub fn in_one_line(text: &str) -> Cow<'_, str> {
    match line_end(text) {
        Some(_) => Cow::Owned(lines(text).collect::<Vec<_>>().join(" ")),
        None => Cow::Borrowed(text),
    }
}

/// Adds words to `out` as a record of `speaker`, with a line feed at the end; a text without words adds none. What was typed
/// keeps its blank lines. Linear.
pub fn write_record(out: &mut String, speaker: Speaker, text: &str) {
    let mut is_first = true;
    for line in lines(text.trim_matches(is_line_end)).filter(|line| speaker == Speaker::User || !line.trim().is_empty())
    {
        out.push_str(if is_first { speaker.mark() } else { speaker.continuation_mark() });
        match std::mem::take(&mut is_first) {
            true => out.push_str(line),
            false => out.push_str(&escaped(line)),
        }
        out.push('\n');
    }
}

/// Returns a line such that no reader takes it for a mark or a heading of a written text. Linear in the blanks and invisible
/// characters at its start.
pub fn escaped(line: &str) -> Cow<'_, str> {
    escaped_from(line, is_mark)
}

/// Returns the line of which `line` was [`escaped`].
pub fn unescaped(line: &str) -> Cow<'_, str> {
    match mark_at(line, &is_mark).filter(|at| line[*at..].starts_with(ESCAPE)) {
        Some(at) => Cow::Owned(format!("{}{}", &line[..at], &line[at + ESCAPE.len_utf8()..])),
        None => Cow::Borrowed(line),
    }
}

/// Whether words begin like a record of a written text, or are its heading. Linear in the line of a heading.
pub fn is_mark(words: &str) -> bool {
    words.starts_with(|char| MARKS.iter().any(|mark| mark.starts_with(char)))
        || words.starts_with('[') && (Heading::read(words).is_some() || is_notes_heading(words) || is_now(words))
}

/// Returns a text of which no line begins with words that are a mark, where they stand without one: a backslash stands in
/// front of those that are, behind blanks and invisible characters. Linear.
pub fn escaped_lines(text: &str, is_mark: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if lines(text).all(|line| mark_at(line, &is_mark).is_none()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while !rest.is_empty() {
        let end = line_end(rest).unwrap_or(rest.len());
        out.push_str(&escaped_from(&rest[..end], &is_mark));
        let next = end + rest[end..].chars().next().map_or(0, char::len_utf8);
        out.push_str(&rest[end..next]);
        rest = &rest[next..];
    }
    Cow::Owned(out)
}

fn escaped_from(line: &str, is_mark: impl Fn(&str) -> bool) -> Cow<'_, str> {
    match mark_at(line, &is_mark) {
        Some(at) => Cow::Owned(format!("{}{ESCAPE}{}", &line[..at], &line[at..])),
        None => Cow::Borrowed(line),
    }
}

/// Returns where the words of a line begin that are a mark, or such words escaped; `None` where they are not.
fn mark_at(line: &str, is_mark: &impl Fn(&str) -> bool) -> Option<usize> {
    let at = line.find(|char: char| !is_unseen(char))?;
    is_mark(line[at..].trim_start_matches(ESCAPE)).then_some(at)
}

/// The marks of records. One that lacks its blank, or has another one, looks the same.
const MARKS: [&str; 5] =
    [Speaker::Assistant.mark(), Speaker::User.mark(), Speaker::Harness.mark(), Speaker::Tool.mark(), CALL];

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
        check("| a | table |", "| a | table |");
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
        let check = |speaker: Speaker, text: &str, expect: &str| {
            let mut out = String::new();
            write_record(&mut out, speaker, text);
            assert_eq!(out, expect, "{text:?}");
        };
        check(Speaker::Tool, " \n", "");
        check(Speaker::Assistant, "one", "» one\n");
        check(Speaker::Tool, "one\n\ntwo\r  three\u{2028}« four", "→ one\n two\n   three\n \\« four\n");
        check(Speaker::User, "one\n\n two\n« three\n", "« one\n\n two\n\\« three\n");
    }

    #[test]
    fn texts_without_a_mark_of_their_own() {
        let check = |text: &str, expect: &str| assert_eq!(escaped_lines(text, is_mark), expect, "{text:?}");
        check("Done.\n\n- « quoted\n", "Done.\n\n- « quoted\n");
        // Behind a blank line it would end the text of a compaction.
        check("Done.\n\n[Now]\n[Now] do it", "Done.\n\n\\[Now]\n[Now] do it");
        check("Done.\r\n« now\u{2029}▸ Bash", "Done.\r\n\\« now\u{2029}\\▸ Bash");
    }
}
