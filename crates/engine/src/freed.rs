//! What a change frees beside its own tokens.

use epitome_strategy::{Tokens, View};

/// What changes free behind them: the signed thinking that leaves once something in front of it changes.
pub(crate) struct FreedThinking {
    /// Of each unit as the first that changes, the end included.
    behind: Vec<Tokens>,
    /// Of each unit alone.
    own: Vec<Tokens>,
    first_changed: usize,
    /// Thinking in units that leave: it is counted with them.
    left: Tokens,
}

impl FreedThinking {
    /// Before anything has changed. Linear in the view.
    pub(crate) fn of(view: &View<'_>) -> Self {
        let units = view.units().len();
        // Behind the end of the view nothing changes, and no thinking leaves.
        let behind = (0..units).map(|unit| view.thinking_behind(unit)).chain([0]).collect();
        let own = (0..units).map(|unit| view.signed_thinking(unit)).collect();
        Self { behind, own, first_changed: units, left: 0 }
    }

    /// Tokens that the changes so far free.
    pub(crate) fn freed_tokens(&self) -> Tokens {
        self.behind[self.first_changed].saturating_sub(self.left)
    }

    /// The same once `unit` has changed too.
    pub(crate) fn freed_with(&self, unit: usize) -> Tokens {
        self.behind[self.first_changed.min(unit)].saturating_sub(self.left)
    }

    /// `unit` changes.
    pub(crate) fn change(&mut self, unit: usize) {
        self.first_changed = self.first_changed.min(unit);
    }

    /// `unit` leaves whole.
    pub(crate) fn leave(&mut self, unit: usize) {
        self.change(unit);
        self.left += self.own[unit];
    }
}
