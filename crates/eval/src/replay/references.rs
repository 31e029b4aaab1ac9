//! Needed re-fetches: calls that refer to strings which a compaction took out of the view.

use std::collections::HashMap;

use epitome::session::{Entry, Message};

use crate::EvalError;
use crate::needed::call_atoms;
use crate::patterns::Patterns;
use crate::text::append;

/// What later calls refer to: counts of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ReferenceCounts {
    /// Calls with an exact string that stands in front of them in the context that was never compacted.
    pub(crate) references: u32,
    /// Of these, the calls with one that the compacted view no longer shows.
    pub(crate) needed: u32,
}

/// The exact strings of a recording's calls, and which of them stand in both contexts of a replay: the one that was never
/// compacted and the one that the policy left.
#[derive(Debug)]
pub(crate) struct References {
    numbers: HashMap<String, usize>,
    patterns: Patterns,
    known: Vec<bool>,
    shown: Vec<bool>,
    pub(crate) found: ReferenceCounts,
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
        Ok(Self { numbers, patterns, known: none.clone(), shown: none, found: ReferenceCounts::default() })
    }

    /// Takes a message that is added to both contexts; its calls refer to what stands in front of it. Linear in the
    /// message.
    pub(crate) fn push(&mut self, message: &Message) {
        for atoms in call_atoms(message) {
            let numbers: Vec<usize> = atoms.iter().filter_map(|atom| self.numbers.get(atom)).copied().collect();
            self.found.references += u32::from(numbers.iter().any(|number| self.known[*number]));
            self.found.needed += u32::from(numbers.iter().any(|number| self.known[*number] && !self.shown[*number]));
        }
        let mut text = String::new();
        append(message, &mut text);
        let (known, shown) = (&mut self.known, &mut self.shown);
        self.patterns.each(&text, |number, _, _| (known[number], shown[number]) = (true, true));
    }

    /// Takes over what a compaction left. Linear in the view.
    pub(crate) fn compacted(&mut self, view: &[Entry]) {
        let mut text = String::new();
        view.iter().for_each(|entry| append(&entry.message, &mut text));
        self.shown = self.patterns.present(&text);
    }
}
