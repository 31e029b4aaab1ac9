//! OpenAI's chat completions, which most services and local servers have too.

mod answer;
mod models;
mod request;
mod stream;

pub use models::may_want_turns;

/// OpenAI's older interface.
#[derive(Debug)]
pub(crate) struct OpenaiChat;

impl crate::compaction::Compactions for OpenaiChat {}
