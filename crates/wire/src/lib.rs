//! How each provider speaks: its requests and what they are made of, its answers, its streams and its errors.
//!
//! Nothing here knows a session, counts tokens or does IO. Each provider's interface has a folder; what every interface has
//! in common is beside them. The crates above ask [`Wire`] and have no arms of their own on the provider.

pub mod anthropic;
mod class;
pub mod openai_chat;
pub mod openai_responses;
pub mod tool;
mod wire;

pub use class::PartClass;
pub use wire::Wire;
