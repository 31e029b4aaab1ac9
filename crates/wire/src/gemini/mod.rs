//! Google's contents.

mod answer;
mod parts;
mod request;
mod stream;

/// Gemini's interface.
#[derive(Debug)]
pub(crate) struct Gemini;

impl crate::compaction::Compactions for Gemini {}
