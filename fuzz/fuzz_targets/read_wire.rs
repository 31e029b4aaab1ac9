//! Providers' requests, and agents' files with their own compaction records.
#![no_main]

mod common;

use epitome_formats::Format;

const FORMATS: &[Format] = &[
    Format::OpenaiChat,
    Format::OpenaiResponses,
    Format::Anthropic,
    Format::Gemini,
    Format::ClaudeCode,
    Format::Codex,
    Format::Pi,
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| common::check_as(data, FORMATS));
