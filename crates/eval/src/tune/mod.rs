//! Tuning: chains by kind of task and settings, searched on one set of sessions and verified on another.
//!
//! The search is random chains under successive halving, then single changes of the best chain while one helps; then
//! settings, one at a time. A result is recommended only where it is better than the default on sessions that the
//! search has not seen, outside the bootstrap interval.

mod advice;
mod bench;
mod candidate;
mod enough;
mod measurements;
mod search;
mod sessions;
mod weights;

pub use advice::{Advice, ChainAdvice, Evidence, SettingsAdvice};
pub use bench::{Bench, TuneCase};
pub use candidate::Candidate;
pub use enough::{KindSessions, LEAST_SESSIONS, by_kind, uncertainty};
pub use search::{TuneOptions, tune};
pub use sessions::{SessionBench, split};
pub use weights::Weights;
