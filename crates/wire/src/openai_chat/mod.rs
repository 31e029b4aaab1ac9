//! OpenAI chat completions.

mod models;

pub use models::may_want_turns;
