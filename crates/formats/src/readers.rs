//! The readers of all formats: one line a format.

use crate::format::Format;
use crate::reader::FormatReader;
use crate::reader::ReaderInput::{Pieces, Records, Values};
use crate::{
    aider, anthropic, claude_code, cline, codex, copilot, deerflow, gemini, gemini_cli, langgraph, mini_swe_agent,
    openai_chat, openai_responses, opencode, openhands, pi, qwen, swe_agent,
};

/// Recordings of agents, tried first: each has marks of its own, and no file fits two.
const AGENTS: &[FormatReader] = &[
    FormatReader::new(Format::Codex, Records, codex::fits, codex::read).of_kinds(&codex::KINDS),
    FormatReader::new(Format::ClaudeCode, Records, claude_code::fits, claude_code::read).of_kinds(&claude_code::KINDS),
    FormatReader::new(Format::Pi, Records, pi::fits, pi::read).of_kinds(&pi::KINDS),
    FormatReader::new(Format::CopilotCli, Values, copilot::fits, copilot::read).of_kinds(&copilot::KINDS),
    FormatReader::new(Format::Opencode, Values, opencode::fits, opencode::read),
    FormatReader::new(Format::GeminiCli, Values, gemini_cli::fits, gemini_cli::read).of_kinds(&gemini_cli::KINDS),
    FormatReader::new(Format::QwenCode, Values, qwen::fits, qwen::read).of_kinds(&qwen::KINDS),
    FormatReader::new(Format::Cline, Values, cline::fits, cline::read),
    FormatReader::new(Format::Langgraph, Values, langgraph::fits, langgraph::read),
    FormatReader::new(Format::SweAgent, Values, swe_agent::fits, swe_agent::read),
    FormatReader::new(Format::MiniSweAgent, Values, mini_swe_agent::fits, mini_swe_agent::read),
    FormatReader::new(Format::OpenHands, Values, openhands::fits, openhands::read),
    FormatReader::new(Format::Aider, Values, aider::fits, aider::read),
    FormatReader::new(Format::DeerFlow, Values, deerflow::fits, deerflow::read),
];

/// Providers' requests, the most general shapes: tried last.
const REQUESTS: &[FormatReader] = &[
    FormatReader::new(Format::Gemini, Pieces, gemini::fits, gemini::read),
    FormatReader::new(Format::OpenaiResponses, Pieces, openai_responses::fits, openai_responses::read),
    FormatReader::new(Format::Anthropic, Pieces, anthropic::fits, anthropic::read),
    FormatReader::new(Format::OpenaiChat, Pieces, openai_chat::fits, openai_chat::read),
];

/// The readers in the order in which they are tried.
pub(crate) fn readers() -> impl DoubleEndedIterator<Item = &'static FormatReader> {
    [AGENTS, REQUESTS].into_iter().flatten()
}
