//! Recordings of agents that are read and not written back.

use crate::reader::FormatReader;

mod aider;
mod chat;
mod cline;
mod copilot;
mod deerflow;
pub(crate) mod fields;
mod gemini;
mod harness;
mod intercode;
mod langgraph;
pub(crate) mod log;
mod mini_swe;
mod opencode;
mod openhands;
pub(crate) mod parts;
pub(crate) mod records;
mod swe_agent;
pub(crate) mod time;
mod who_and_when;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
pub(crate) mod testing;

/// The readers, in the order in which they are tried. No file fits two of them, so the order only decides what is
/// looked at first.
pub(crate) const READERS: &[FormatReader] = &[
    copilot::READER,
    opencode::READER,
    gemini::READER,
    cline::READER,
    langgraph::READER,
    swe_agent::READER,
    mini_swe::READER,
    openhands::READER,
    who_and_when::READER,
    harness::TAU_BENCH,
    harness::SPIDER2,
    harness::WEBDANCER,
    intercode::READER,
    aider::READER,
    deerflow::READER,
];
