//! The tokens that a change frees beside those of the changed message.

use epitome_strategy::{Tokens, View};

/// The tokens freed behind a change: signed thinking leaves once something in front of it changes.
pub(crate) struct FreedThinking {
    /// For each unit, and for the end of the view: what leaves when the first change is there.
    behind: Vec<Tokens>,
    /// For each unit: its own signed thinking.
    own: Vec<Tokens>,
    first_changed: usize,
    /// Thinking in units that leave: their own tokens include it.
    left: Tokens,
}

impl FreedThinking {
    /// The state before any change. Linear in the view.
    pub(crate) fn new(view: &View<'_>) -> Self {
        let units = view.units().len();
        // Behind the end of the view nothing changes, and no thinking leaves.
        let behind = (0..units).map(|unit| view.thinking_behind(unit)).chain([0]).collect();
        let own = (0..units).map(|unit| view.signed_thinking(unit)).collect();
        Self { behind, own, first_changed: units, left: 0 }
    }

    /// Returns the tokens that the changes so far free.
    pub(crate) fn freed_tokens(&self) -> Tokens {
        self.behind[self.first_changed].saturating_sub(self.left)
    }

    /// Returns the tokens that are freed once `unit` has changed too.
    pub(crate) fn freed_with(&self, unit: usize) -> Tokens {
        self.behind[self.first_changed.min(unit)].saturating_sub(self.left)
    }

    /// Records that `unit` changes.
    pub(crate) fn change(&mut self, unit: usize) {
        self.first_changed = self.first_changed.min(unit);
    }

    /// Records that `unit` leaves whole.
    pub(crate) fn leave(&mut self, unit: usize) {
        self.change(unit);
        self.left += self.own[unit];
    }
}
