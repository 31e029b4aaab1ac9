//! Tests of the tests: with the feature `mutants` single guards can be switched off, to show that the laws notice.
//! Without it every guard is on, and the compiler removes the checks.

use epitome_strategy::{Goal, Plan, Strategy, View};

/// The guards by name.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Calls and results stay together.
    Pairing,
    /// What is protected stays verbatim.
    Pins,
    /// Open calls stay.
    OpenCalls,
    /// Nothing is edited or removed twice.
    Conservation,
    /// Each edit saves tokens.
    Progress,
    /// Counts are of what is shown.
    Counting,
    /// An over-budget result is not a success.
    Budget,
    /// Signed thinking stays whole or leaves whole.
    Thinking,
    /// What leaves is archived before.
    ArchiveFirst,
    /// What the host loaded as instructions stays.
    Instructions,
    /// What fits is left alone.
    Idempotence,
    /// The conversation starts with a user's message.
    Provider,
    /// A failing strategy fails nothing else.
    Failure,
    /// A summary replaces neighbours.
    Order,
    /// No change that the host cannot make.
    Host,
    /// What must stay is not dropped by hand either.
    ByHand,
    /// Gaps without a summary get a notice.
    Notices,
    /// What left comes back while it fits.
    Refill,
}

/// Which guards are on.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Guards {
    #[cfg(feature = "mutants")]
    off: Option<Guard>,
}

#[cfg(feature = "mutants")]
impl Guards {
    /// Returns all guards but one.
    #[doc(hidden)]
    pub fn without(guard: Guard) -> Self {
        Self { off: Some(guard) }
    }

    pub(crate) fn on(self, guard: Guard) -> bool {
        self.off != Some(guard)
    }
}

#[cfg(not(feature = "mutants"))]
impl Guards {
    pub(crate) const fn on(self, _: Guard) -> bool {
        true
    }
}

/// Calls a strategy without the guard of failure: its error becomes a panic of the engine.
#[expect(clippy::panic, reason = "only reached with the guard switched off, in tests of the tests")]
pub(crate) fn plan_without_guard(strategy: &dyn Strategy, view: &View<'_>, goal: &Goal) -> Plan {
    strategy.plan(view, goal).unwrap_or_else(|error| panic!("{error}"))
}
