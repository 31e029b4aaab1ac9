//! Probes: questions that a continuation needed answered, and whether a context can still answer them.
//!
//! A folder contains a session up to a cut, questions with mechanical facts, and optionally a hand-off summary to
//! compare with. `docs/evaluation.md` says how users write probes for sessions of their own.

mod case;
mod folder;
mod probe;
mod shown;
mod wire;

pub use probe::{Probe, ProbeKind, ProbeSet};
pub use shown::{ProbeScores, recall};
pub use wire::{context_text, context_tokens, messages_of};

pub use case::ProbedCase;
pub use folder::{ProbeFolder, folders};
pub(crate) use wire::{budget_floor, message_of};
