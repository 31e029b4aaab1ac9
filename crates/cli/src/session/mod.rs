//! Sessions in files: `session_lookup` finds the one that is meant, `input` reads it, `recorded_session` is one with its past.
//! `in_place` writes into the file that was read, and `retry` tries that again while an agent continues.

pub(crate) mod in_place;
pub(crate) mod input;
pub(crate) mod recorded_session;
pub(crate) mod retry;
pub(crate) mod session_lookup;
