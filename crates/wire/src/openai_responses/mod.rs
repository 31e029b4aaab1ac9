//! OpenAI's Responses.

mod answer;
mod classes;
mod compaction;
mod request;
mod stream;

pub use classes::{class_of_item, is_run_by_provider};
pub use request::continues_stored;

/// OpenAI's newer interface.
#[derive(Debug)]
pub(crate) struct OpenaiResponses;
