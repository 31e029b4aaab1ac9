//! The steps of a view, and which of their calls may wait for results.

use epitome_session::{Block, Entry, Role, units};

use super::recorded;

/// Which entries are one step: a message with its calls and results, and what programs that it started call.
pub(super) struct Steps {
    /// By entry, the number of its unit.
    units: Vec<usize>,
    /// The last entry that is not a result: calls in it may stay open.
    last: Option<usize>,
}

impl Steps {
    /// The steps of a view. Linear in it.
    pub(super) fn read(entries: &[Entry]) -> Self {
        let last = entries.iter().rposition(|entry| entry.message.role != Role::Tool);
        let units = units(entries).into_iter().enumerate().flat_map(|(number, unit)| unit.entries.map(move |_| number));
        Self { units: units.collect(), last }
    }

    pub(super) fn are_one(&self, one: usize, other: usize) -> bool {
        self.units[one] == self.units[other]
    }

    /// Whether an entry is of the newest step.
    pub(super) fn is_newest(&self, index: usize) -> bool {
        self.last.is_some_and(|last| self.are_one(index, last))
    }

    /// Whether the call in a block of an entry may be without its result: those of the last message, and before it in its step
    /// what the provider runs.
    pub(super) fn may_wait(&self, index: usize, call: &Block) -> bool {
        self.last == Some(index) || (self.is_newest(index) && recorded::is_of_provider(call))
    }
}
