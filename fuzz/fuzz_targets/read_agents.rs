//! Recordings of agents that are read only.
#![no_main]

mod common;

use epitome_formats::Format;

const FORMATS: &[Format] = &[
    Format::Opencode,
    Format::GeminiCli,
    Format::QwenCode,
    Format::CopilotCli,
    Format::SweAgent,
    Format::MiniSweAgent,
    Format::OpenHands,
    Format::Aider,
    Format::Cline,
    Format::Langgraph,
    Format::DeerFlow,
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| common::check_as(data, FORMATS));
