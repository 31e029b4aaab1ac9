//! The superseded-reads strategy.
