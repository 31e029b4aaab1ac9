//! OpenAI's Responses.

mod answer;
mod compaction;
mod request;
mod stream;

/// OpenAI's newer interface.
#[derive(Debug)]
pub(crate) struct OpenaiResponses;
