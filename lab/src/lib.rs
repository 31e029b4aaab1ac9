//! The laboratory: what only the project's own measurements need, and no user of it.
//!
//! [`sets`] reads recordings of evaluation harnesses and sets of dialogues, and [`probes`] writes them in forms that
//! `epitome eval` reads; [`blind`] lets people or a model answer from contexts; [`refetch`] has an agent fetch again what a
//! compaction took; [`boundaries`] shows where pieces of work end, [`matching`] which lines later edits had to match; [`meaning`] looks at what became of what was said, [`search`] at what a search adds; [`again`] compacts several times, and
//! [`markdown`] prints what came out.

#![allow(clippy::print_stdout, clippy::print_stderr)] // what its commands have to say

pub mod again;
pub mod blind;
pub mod boundaries;
pub mod markdown;
pub mod matching;
pub mod meaning;
pub mod plan;
pub mod probes;
pub mod refetch;
pub mod search;
pub mod sets;
