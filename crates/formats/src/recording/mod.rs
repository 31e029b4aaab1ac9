//! Shared by the readers of recordings that are not written back: they read from parsed values, and keep no bytes.

pub(crate) mod chat;
pub(crate) mod content;
pub(crate) mod records;
pub(crate) mod session_builder;
