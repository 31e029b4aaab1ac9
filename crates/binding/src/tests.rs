//! Tests that see what other crates do not.

pub(crate) mod declarations;
