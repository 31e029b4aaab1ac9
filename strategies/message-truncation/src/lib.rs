//! The message-truncation strategy.
