//! The sliding-window strategy.
