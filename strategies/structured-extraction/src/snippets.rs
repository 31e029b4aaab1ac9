//! Snippets: pieces of old messages that may go into the block, word for word.

use std::borrow::Cow;
use std::ops::Range;

use epitome_strategy::{Atoms, Cue, Tokens, Value, View, text};

use crate::section::Section;

/// A line with fewer words than this gives its exact strings no context: its neighbours come with it.
const FEWEST_WORDS: usize = 3;
/// A line of few words is that long at most, in bytes: longer ones are data.
const SHORT_LINE: usize = 120;
/// Lines of few words that come together at most.
const MOST_SHORT_LINES: usize = 3;
/// Bytes on each side of an exact string that stay of a long line: room for three words.
const AROUND: usize = 70;

/// The source of a snippet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A person typed it.
    Typed,
    /// The model said it.
    Model,
    /// The arguments of a call.
    Call,
    /// A line of a long argument: a text that was written, an edit.
    Written,
    /// A line that a tool printed.
    Output,
}

/// The common properties of one text's snippets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SnippetOrigin {
    pub kind: Kind,
    /// The message, as a position in the view.
    pub message: usize,
    /// The call that it belongs to, as a position in the facts' calls.
    pub call: Option<u32>,
}

/// A piece of an old message.
#[derive(Debug, Clone)]
pub(crate) struct Snippet<'a> {
    pub text: Cow<'a, str>,
    pub from: SnippetOrigin,
    /// The exact strings in it.
    pub atoms: Vec<u32>,
    /// Its tokens.
    pub tokens: Tokens,
    /// The cues in its words.
    pub is_demand: bool,
    pub is_decision: bool,
    pub is_open_question: bool,
    pub is_error: bool,
    /// How many names of more than one word it has: titles, people, places.
    pub names: u32,
}

impl<'a> Snippet<'a> {
    /// Returns the snippet of a text; `None` where it has nothing that could be needed. Linear in the text.
    pub(crate) fn new(view: &View<'a>, text: Cow<'a, str>, from: SnippetOrigin) -> Option<Self> {
        if text.trim().len() < 3 {
            return None;
        }
        let atoms = view.facts().atoms().in_text(&text);
        let names = if from.kind == Kind::Output { names(&text) } else { 0 };
        let says = matches!(from.kind, Kind::Typed | Kind::Model);
        if atoms.is_empty() && names == 0 && !says && from.kind != Kind::Written {
            return None;
        }
        let cues = view.lexicon().counts(&text);
        let is_answered = from.message + 1 < view.len() && view.message(from.message + 1).is_typed();
        Some(Self {
            from,
            atoms,
            tokens: view.count(&text) + 1,
            is_demand: from.kind == Kind::Typed && cues.has(Cue::Instruction),
            is_decision: says && cues.has(Cue::Decision),
            is_open_question: from.kind == Kind::Model && cues.has(Cue::Question) && !is_answered,
            is_error: cues.has(Cue::Error),
            names,
            text,
        })
    }

    /// Whether the model decides something in it, or leaves a question open.
    pub(crate) fn is_decision_of_model(&self) -> bool {
        self.from.kind == Kind::Model && (self.is_decision || self.is_open_question)
    }

    /// Returns its section of the block.
    pub(crate) fn section(&self) -> Section {
        match self.from.kind {
            _ if self.is_demand => Section::Requests,
            Kind::Model if self.is_decision => Section::Decisions,
            Kind::Model if self.is_open_question => Section::Questions,
            _ => Section::Details,
        }
    }
}

/// Returns the lines of a text, those of few words together with the next ones, as long as they make no more than
/// `longest` bytes. Linear.
pub(crate) fn lines(text: &str, longest: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut held: Option<(usize, usize)> = None; // where a run of lines with few words starts, and how many it has
    for range in text::lines(text) {
        let line = text[range.clone()].trim_end();
        let few = words(line) < FEWEST_WORDS && line.len() < SHORT_LINE;
        match held {
            Some((start, count)) if few && count < MOST_SHORT_LINES && range.end - start <= longest => {
                held = Some((start, count + 1));
            }
            _ => {
                if let Some((start, _)) = held.take() {
                    lines.push(text[start..range.start].trim_end());
                }
                if few {
                    held = Some((range.start, 1));
                } else {
                    lines.push(line);
                }
            }
        }
    }
    lines.extend(held.map(|(start, _)| text[start..].trim_end()));
    lines
}

/// Returns the sentences of a line, each of about `longest` bytes at most. Linear.
pub(crate) fn sentences(line: &str, longest: usize) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let end = at + text::sentence_end(&line[at..], longest).max(1);
        let end = text::ceil_boundary(line, end);
        sentences.push(line[at..end].trim());
        at = end;
    }
    sentences
}

/// Returns the surroundings of the exact strings in a long line, cut beside words; neighbours of `longest` bytes together at
/// most stay together. Linear in the line and its strings.
pub(crate) fn surroundings<'t>(atoms: &Atoms<'_>, line: &'t str, longest: usize) -> Vec<&'t str> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    for atom in atoms.in_text(line) {
        let exact = atoms.all()[atom as usize].text;
        let from = windows.last().map_or(0, |window| text::floor_boundary(line, window.end.saturating_sub(AROUND)));
        let Some(start) = line[from..].find(exact).map(|at| at + from) else { continue };
        let Range { start: left, end: right } = window(line, start..start + exact.len());
        match windows.last_mut() {
            Some(window) if left <= window.end && right.saturating_sub(window.start) <= longest => {
                window.end = right.max(window.end);
            }
            Some(window) => {
                let end = window.end;
                windows.push(left.max(end)..right.max(end));
            }
            None => windows.push(left..right),
        }
    }
    windows.into_iter().map(|window| line[window].trim()).collect()
}

/// Returns an exact string with what is around it on its line, cut beside words.
fn window(line: &str, exact: Range<usize>) -> Range<usize> {
    let left = text::cut_behind(line, exact.start.saturating_sub(AROUND)).min(exact.start);
    let right = text::cut_before(line, (exact.end + AROUND).min(line.len())).max(exact.end);
    left..right
}

/// Returns the words of three letters or more in a line, and its runs of Chinese characters.
fn words(line: &str) -> usize {
    let mut words = 0;
    let (mut letters, mut in_cjk) = (0, false);
    for char in line.chars() {
        if text::is_cjk(char) {
            words += usize::from(!in_cjk);
            (letters, in_cjk) = (0, true);
        } else if char.is_alphabetic() {
            letters += 1;
            in_cjk = false;
            words += usize::from(letters == 3);
        } else {
            (letters, in_cjk) = (0, false);
        }
    }
    words
}

/// Returns how many names of two or more words are in a line: words that begin with a capital and continue in small
/// letters.
fn names(line: &str) -> u32 {
    let mut names = 0;
    let mut run = 0;
    for word in line.split_whitespace() {
        let word = word.trim_matches(|char: char| !char.is_alphanumeric());
        let mut chars = word.chars();
        let is_name = chars.next().is_some_and(char::is_uppercase) && word.len() > 2 && chars.all(char::is_lowercase);
        run = if is_name { run + 1 } else { 0 };
        names += u32::from(run == 2);
    }
    names
}

/// Calls `leaf` with every string of a JSON value, and the numbers that name something, and the key of each.
pub(crate) fn leaves(value: &Value, key: &str, leaf: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => leaf(key, text),
        // Small numbers are offsets and limits: they say how the tool was run, not on what.
        Value::Number(number) if number.as_f64().is_some_and(|it| it >= 1000.0) => leaf(key, &number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, key, leaf)),
        Value::Object(fields) => fields.iter().for_each(|(key, item)| leaves(item, key, leaf)),
        Value::Number(_) | Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_is_cut_beside_words() {
        let check = |words: &str, count: usize| {
            let line = format!("{words}src/table.rs {words}");
            let found = &line[window(&line, words.len()..words.len() + "src/table.rs".len())];
            let whole = found
                .split_whitespace()
                .filter(|word| *word == words.trim_end().rsplit(' ').next().unwrap_or_default());
            assert_eq!((whole.count(), found.split_whitespace().count()), (count, count + 1), "{found}");
        };
        check(&"considerable ".repeat(40), 10);
        check(&"a/considerable/path.rs ".repeat(40), 6);
    }
}
