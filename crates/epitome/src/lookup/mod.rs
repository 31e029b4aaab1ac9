//! A model's look-ups in its own past, as tools: `search_history`, `recall`, `context_status`.
//!
//! [`tools`](tools::tools) describes them, [`Call`] reads a model's arguments, [`SessionPast`] answers from one session.
//! `docs/recall.md` describes it from a model's side.

mod answer;
mod call;
mod past;
mod status;
pub mod tools;

pub use answer::{Answer, item_text};
pub use call::{Call, RECALLED_CHARACTERS, session_of};
pub use past::{LogIndex, SessionPast};
