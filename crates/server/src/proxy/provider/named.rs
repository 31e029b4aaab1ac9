//! The providers.

use std::fmt;

/// A provider, as far as its keys and paths differ from the others'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::proxy) enum Provider {
    OpenAi,
    Anthropic,
    Google,
    /// OpenAI's and Anthropic's interfaces under Microsoft's keys.
    Azure,
    /// One that speaks another's interface under keys of its own.
    Other,
}

impl fmt::Display for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Google => "Google",
            Self::Azure => "Azure",
            Self::Other => "another provider",
        })
    }
}
