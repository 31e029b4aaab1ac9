//! Anthropic messages.

mod classes;
mod models;

pub use classes::class_of_block;
pub use models::takes_system_among_messages;
