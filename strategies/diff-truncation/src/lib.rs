//! The diff-truncation strategy.
