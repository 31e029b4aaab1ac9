//! Lines: what a rule summary is made of.

use std::collections::HashSet;

use epitome_strategy::cut::Focus;
use epitome_strategy::text::is_cjk;

/// The sections of a summary, in the order in which they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Section {
    Requests,
    Instructions,
    Files,
    Actions,
    Findings,
    Errors,
    Open,
    Remembered,
    Context,
}

impl Section {
    pub(crate) const ALL: [Self; 9] = [
        Self::Requests,
        Self::Instructions,
        Self::Files,
        Self::Actions,
        Self::Findings,
        Self::Errors,
        Self::Open,
        Self::Remembered,
        Self::Context,
    ];
}

/// One line of a summary.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) section: Section,
    pub(crate) text: String,
    /// What it is worth beside others: from 1 (a detail) to 10 (must not be missed).
    pub(crate) value: f32,
    /// Its place in the conversation.
    pub(crate) order: u32,
}

/// Lines as they are collected: no text stands twice.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    all: Vec<Line>,
    seen: HashSet<String>,
    focus: Focus,
    /// How many lines are carried over: they stand in front of those of the messages.
    carried: u32,
}

impl Lines {
    pub(crate) fn new(focus: Focus, carried: usize) -> Self {
        Self { focus, carried: carried as u32, ..Self::default() }
    }

    /// Adds a line of the message at `at`, unless its text stands already.
    pub(crate) fn add(&mut self, section: Section, text: impl Into<String>, value: f32, at: u32) {
        let order = self.carried + at;
        self.insert(Line { section, text: text.into(), value, order });
    }

    /// Adds a line of an earlier summary, which is the `order`-th there.
    pub(crate) fn carry(&mut self, section: Section, text: String, value: f32, order: u32) {
        self.insert(Line { section, text, value, order });
    }

    fn insert(&mut self, line: Line) {
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

/// What of a text tells it from others: its letters and digits, in lower case.
pub(crate) fn key(text: &str) -> String {
    text.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The text on one line, cut to at most `most` columns (a Chinese character takes two) with `…` behind it. It is cut at
/// white space or next to a Chinese character, so never inside an identifier, a path or a number; a text that cannot be
/// cut so gives `None`.
pub(crate) fn clip(text: &str, most: usize) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
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
    (!line.is_empty()).then_some(line)
}

/// How many columns a text takes: Chinese characters count double.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|char| 1 + usize::from(is_cjk(char))).sum()
}

/// Words that an agent may need again as they are: paths, identifiers, numbers, names in code.
pub(crate) fn exact_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| {
        char.is_whitespace() || is_cjk(char) || matches!(char, '，' | '。' | '、' | '（' | '）' | '"')
    })
    .map(|word| word.trim_matches(|char: char| !char.is_alphanumeric() && !matches!(char, '/' | '_' | '.')))
    .map(|word| word.trim_end_matches('.'))
    .filter(|word| word.len() >= 3 && is_exact(word))
}

fn is_exact(word: &str) -> bool {
    let inner = &word[word.chars().next().map_or(0, char::len_utf8)..];
    let is_code = inner.contains(['/', '_', '.', '(', '=']) || inner.contains("::") || inner.contains("->");
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_camel = word.bytes().any(|byte| byte.is_ascii_lowercase())
        && inner.bytes().any(|byte| byte.is_ascii_uppercase())
        && !word.contains(['\'', '-']);
    is_code || has_digit || is_camel
}
