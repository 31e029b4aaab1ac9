//! Needed re-fetches: calls that refer to strings which a compaction took out of the view.

use epitome::session::{Entry, Message};

use crate::EvalError;
use crate::needed::call_atoms;
use crate::patterns::Patterns;
use crate::text::append;

/// What later calls refer to: counts of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Referring {
    /// Calls with an exact string that stands in front of them in the context that was never compacted.
    pub(crate) references: u32,
    /// Of these, the calls with one that the compacted view no longer shows.
    pub(crate) needed: u32,
}

/// Both contexts of a replay as texts: the one that was never compacted and the one that the policy left.
#[derive(Debug, Default)]
pub(crate) struct References {
    all: String,
    /// `None` as long as nothing was compacted.
    shown: Option<String>,
    pub(crate) found: Referring,
}

impl References {
    /// Takes a message that is added to both contexts; its calls refer to what stands in front of it. Linear in the
    /// contexts where it makes calls, else in the message.
    pub(crate) fn push(&mut self, message: &Message) -> Result<(), EvalError> {
        let of_calls = call_atoms(message);
        let atoms: Vec<&str> = of_calls.iter().flatten().map(String::as_str).collect();
        if !atoms.is_empty() {
            let patterns = Patterns::new(&atoms, true)?;
            let known = patterns.present(&self.all);
            let shown = self.shown.as_ref().map_or_else(|| known.clone(), |shown| patterns.present(shown));
            let mut first = 0;
            for of_call in &of_calls {
                let places = first..first + of_call.len();
                self.found.references += u32::from(places.clone().any(|place| known[place]));
                self.found.needed += u32::from(places.clone().any(|place| known[place] && !shown[place]));
                first = places.end;
            }
        }
        append(message, &mut self.all);
        if let Some(shown) = &mut self.shown {
            append(message, shown);
        }
        Ok(())
    }

    /// Takes over what a compaction left. Linear in the view.
    pub(crate) fn compacted(&mut self, view: &[Entry]) {
        let mut shown = String::new();
        view.iter().for_each(|entry| append(&entry.message, &mut shown));
        self.shown = Some(shown);
    }
}
