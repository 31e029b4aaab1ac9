//! Every recorded session, compacted: once, twice, three times and ten times.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]
#[test]
fn placeholder() {}
