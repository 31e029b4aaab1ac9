//! OpenAI Responses.

mod classes;

pub use classes::{class_of_item, is_run_by_provider};
