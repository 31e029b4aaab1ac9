//! Lines: what a rule summary is made of.

use std::borrow::Cow;
use std::collections::HashSet;

use epitome_strategy::cut::Focus;
use epitome_strategy::levels::in_one_line;
pub(crate) use epitome_strategy::text::clip;
use epitome_strategy::text::is_cjk;

/// The sections of a summary, in the order in which they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum SummarySection {
    Requests,
    Instructions,
    Files,
    Actions,
    Findings,
    Errors,
    Open,
    Context,
}

/// One line of a summary.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) section: SummarySection,
    pub(crate) text: String,
    /// The line's value: from 1 (a detail) to 10 (must not be missed).
    pub(crate) value: f32,
    /// The line's place in the conversation.
    pub(crate) order: u32,
}

/// The collected lines: no text occurs twice.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    all: Vec<Line>,
    seen: HashSet<String>,
    focus: Focus,
    /// The number of lines that are carried over: they come before those of the messages.
    carried: u32,
}

impl Lines {
    pub(crate) fn new(focus: Focus, carried: usize) -> Self {
        Self { focus, carried: carried as u32, ..Self::default() }
    }

    /// Adds a line of the message at `at`, unless its text is there already.
    pub(crate) fn add(&mut self, section: SummarySection, text: impl Into<String>, value: f32, at: u32) {
        let order = self.carried + at;
        self.insert(Line { section, text: text.into(), value, order });
    }

    /// Adds a line of an earlier summary, which is the `order`-th there.
    pub(crate) fn carry(&mut self, section: SummarySection, text: String, value: f32, order: u32) {
        self.insert(Line { section, text, value, order });
    }

    fn insert(&mut self, mut line: Line) {
        if let Cow::Owned(text) = in_one_line(&line.text) {
            line.text = text;
        }
        let key = key(&line.text);
        if !key.is_empty() && self.seen.insert(key) {
            self.all.push(line);
        }
    }

    /// How many of the focus's terms a text holds.
    pub(crate) fn hits(&self, text: &str) -> usize {
        self.focus.hits(text)
    }

    /// All lines; what is in focus is worth more, for terms that tell lines apart.
    pub(crate) fn into_vec(mut self) -> Vec<Line> {
        let focus = self.focus.telling(self.all.iter().map(|line| line.text.as_str()));
        for line in &mut self.all {
            let hits = focus.hits(&line.text).min(3);
            line.value += if hits > 0 { 4.0 + 2.0 * hits as f32 } else { 0.0 };
        }
        self.all
    }
}

/// The part of a text that identifies it: its letters and digits, in lower case.
pub(crate) fn key(text: &str) -> String {
    if text.is_ascii() {
        let bytes = text.bytes().filter(u8::is_ascii_alphanumeric);
        return bytes.map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    }
    text.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The number of columns of a text: Chinese characters count double.
pub(crate) fn columns(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(|char| 1 + usize::from(is_cjk(char))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_between_words() {
        let check = |text: &str, most: usize, expect: Option<&str>| {
            assert_eq!(clip(text, most).as_deref(), expect, "{text} in {most}");
        };
        check("  one  two\nthree ", 20, Some("one two three"));
        check("one two three", 13, Some("one two three"));
        check("one two, three", 10, Some("one two …"));
        check("identifier_without_end", 10, None);
        check("第一句 和第二句", 8, Some("第一句 …"));
        check("\u{7}bell", 20, Some("\u{7}bell"));
        check(" \n", 10, None);
    }

    #[test]
    fn the_key_is_letters_and_digits() {
        for (text, expect) in [("It is: A-1!", "itisa1"), ("É, 中文 1", "é中文1"), ("—", "")] {
            assert_eq!(key(text), expect);
        }
    }
}
