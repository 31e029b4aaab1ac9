//! Sets of dialogues.
#![no_main]

mod common;

use epitome_formats::Format;

const FORMATS: &[Format] =
    &[Format::Locomo, Format::LongMemEval, Format::MemoryBank, Format::Madial, Format::CrossWoz, Format::KdConv];

libfuzzer_sys::fuzz_target!(|data: &[u8]| common::check_as(data, FORMATS));
