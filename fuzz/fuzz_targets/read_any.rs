//! Any bytes, recognised from their content.
#![no_main]

mod common;

libfuzzer_sys::fuzz_target!(|data: &[u8]| common::check(data, None));
