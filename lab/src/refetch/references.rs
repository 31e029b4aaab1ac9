//! Needed re-fetches: calls that refer to strings which a compaction took out of the view.

use std::collections::HashMap;

use epitome::session::{Entry, Message, Role};
use epitome_eval::{EvalError, Patterns, append, call_atoms};

/// The references of later calls: counts of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReferenceCounts {
    /// Calls with an exact string that precedes them in the context that was never compacted.
    pub references: u32,
    /// Of these, the calls with one that the compacted view no longer shows.
    pub needed: u32,
}

/// The exact strings of a recording's calls, and which of them occur in both contexts of a replay: the one that was
/// never compacted and the one that the policy left.
#[derive(Debug)]
pub(crate) struct References {
    numbers: HashMap<String, usize>,
    patterns: Patterns,
    known: Vec<bool>,
    shown: Vec<bool>,
    /// The newest result of a tool that showed each string, by its number in the recording.
    sources: Vec<Option<usize>>,
    pub(crate) found: ReferenceCounts,
}

/// A string that a call needs and that the second context does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MissingString {
    /// The result of a tool that showed it; `None` where only a person, the model or the runtime wrote it.
    pub(crate) source: Option<usize>,
}

impl References {
    /// Linear in the messages.
    pub(crate) fn new<'a>(messages: impl Iterator<Item = &'a Message>) -> Result<Self, EvalError> {
        let mut strings: Vec<String> = Vec::new();
        let mut numbers = HashMap::new();
        for atom in messages.flat_map(call_atoms).flatten() {
            numbers.entry(atom).or_insert_with_key(|atom| {
                strings.push(atom.clone());
                strings.len() - 1
            });
        }
        let patterns = Patterns::new(&strings, true)?;
        let none = vec![false; strings.len()];
        let sources = vec![None; strings.len()];
        Ok(Self { numbers, patterns, known: none.clone(), shown: none, sources, found: ReferenceCounts::default() })
    }

    /// Adds the recording's message `number` to both contexts; its calls refer to what precedes it. Linear in the message.
    pub(crate) fn push(&mut self, number: usize, message: &Message) {
        for atoms in call_atoms(message) {
            let numbers: Vec<usize> = atoms.iter().filter_map(|atom| self.numbers.get(atom)).copied().collect();
            self.found.references += u32::from(numbers.iter().any(|number| self.known[*number]));
            self.found.needed += u32::from(numbers.iter().any(|number| self.known[*number] && !self.shown[*number]));
        }
        let (known, shown, sources) = (&mut self.known, &mut self.shown, &mut self.sources);
        let is_result = message.role == Role::Tool;
        self.patterns.each(&text_of(message), |string, _, _| {
            (known[string], shown[string]) = (true, true);
            if is_result {
                sources[string] = Some(number);
            }
        });
    }

    /// Adds a message that the recording does not have to the second context. Linear in the message.
    pub(crate) fn show(&mut self, message: &Message) {
        let shown = &mut self.shown;
        self.patterns.each(&text_of(message), |string, _, _| shown[string] = true);
    }

    /// The strings of each call of a message that precede it in the recording, and that the second context does not show.
    pub(crate) fn missing(&self, message: &Message) -> Vec<Vec<MissingString>> {
        let is_missing = |number: &usize| self.known[*number] && !self.shown[*number];
        let of_call = |atoms: Vec<String>| {
            let numbers = atoms.iter().filter_map(|atom| self.numbers.get(atom)).copied().filter(is_missing);
            numbers.map(|number| MissingString { source: self.sources[number] }).collect()
        };
        call_atoms(message).into_iter().map(of_call).collect()
    }

    /// Replaces the second context after a compaction. Linear in the view.
    pub(crate) fn compacted(&mut self, view: &[Entry]) {
        let mut text = String::new();
        view.iter().for_each(|entry| append(&entry.message, &mut text));
        self.shown = self.patterns.present(&text);
    }
}

fn text_of(message: &Message) -> String {
    let mut text = String::new();
    append(message, &mut text);
    text
}
