//! What the author of a strategy sees: view, goal, plan, edits, facts, settings, registry.

mod services;
pub use services::{TokenCounter, Tokens};
