//! Formats that are read and written: providers' requests, and agents' files with their own compaction records.

mod agents;
mod blocks;
mod documents;
mod group;
mod json;
mod render;
mod requests;
mod time;
mod validate;
mod write;

#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod reader_tests;

#[cfg(test)]
pub(crate) use corpus_tests::folder as recorded_folder;
pub use render::{Profile, RenderedRequest, Source, carries_reasoning, render};
pub use validate::{Violation, validate};
pub use write::{WriteError, carry_over, is_bypassed, write, write_again};

pub(crate) use agents::{claude_code, codex, pi, span};

use crate::Format;
use crate::reader::FormatReader;

/// The readers of agents' JSON lines, which carry unmistakable marks: tried before all others.
pub(crate) const AGENT_READERS: &[FormatReader] = &[
    FormatReader { format: Format::Codex, fits: codex::fits, read: codex::read },
    FormatReader { format: Format::ClaudeCode, fits: claude_code::fits, read: claude_code::read },
    FormatReader { format: Format::Pi, fits: pi::fits, read: pi::read },
];

/// The readers of providers' requests, the most general shapes: tried after all others.
pub(crate) const READERS: &[FormatReader] = &[
    FormatReader { format: Format::OpenaiResponses, fits: requests::fits_responses, read: requests::read_responses },
    FormatReader { format: Format::Anthropic, fits: requests::fits_anthropic, read: requests::read_anthropic },
    FormatReader { format: Format::OpenaiChat, fits: requests::fits_chat, read: requests::read_chat },
];
