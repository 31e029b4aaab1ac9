//! OpenAI's chat completions, which most services and local servers have too.

mod answer;
mod request;
mod stream;

/// OpenAI's older interface.
#[derive(Debug)]
pub(crate) struct OpenaiChat;

impl crate::compaction::Compactions for OpenaiChat {}
