//! The formats by name: one line a format.

use std::fmt;
use std::str::FromStr;

use epitome_wire::Wire;

macro_rules! formats {
    ($($format:ident = $name:literal, $about:literal;)*) => {
        /// A session format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Format {
            $(#[doc = concat!($about, ".")] $format,)*
        }

        impl Format {
            /// Every format with its name on the command line, and a few words on it.
            pub const ALL: &[(Self, &str, &str)] = &[$((Self::$format, $name, $about),)*];
        }
    };
}

formats! {
    OpenaiChat = "openai-chat", "OpenAI chat completions";
    OpenaiResponses = "openai-responses", "OpenAI Responses";
    Anthropic = "anthropic", "Anthropic messages";
    Gemini = "gemini", "Gemini contents";
    ClaudeCode = "claude-code", "Claude Code JSONL";
    Codex = "codex", "Codex rollout JSONL";
    Pi = "pi", "Pi JSONL";
    Opencode = "opencode", "OpenCode export";
    GeminiCli = "gemini-cli", "Gemini CLI chat";
    QwenCode = "qwen-code", "Qwen Code chat";
    CopilotCli = "copilot-cli", "Copilot CLI events";
    SweAgent = "swe-agent", "SWE-agent trajectory";
    MiniSweAgent = "mini-swe-agent", "mini-swe-agent trajectory";
    OpenHands = "openhands", "OpenHands output or events";
    Aider = "aider", "Aider chat history";
    Cline = "cline", "Cline SDK session";
    Langgraph = "langgraph", "LangGraph thread";
    DeerFlow = "deer-flow", "deer-flow event stream";
}

impl Format {
    /// The format's name on the command line.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(format, ..)| *format == self).map_or("", |(_, name, _)| name)
    }

    /// Returns the provider's interface whose requests are of this format; `None` for an agent's own files.
    pub fn wire(self) -> Option<Wire> {
        Wire::ALL.into_iter().find(|wire| Self::from(*wire) == self)
    }

    /// Whether a session can be written in this format.
    pub fn is_writable(self) -> bool {
        matches!(
            self,
            Self::OpenaiChat
                | Self::OpenaiResponses
                | Self::Anthropic
                | Self::Gemini
                | Self::ClaudeCode
                | Self::Codex
                | Self::Pi
        )
    }
}

/// Returns a model of the family whose models a format's sessions are for, where it is of one provider alone; `None` where it is
/// used for models of all kinds.
pub fn usual_model(format: Format) -> Option<&'static str> {
    match format {
        Format::Anthropic | Format::ClaudeCode => Some("claude"),
        Format::Gemini | Format::GeminiCli => Some("gemini"),
        _ => None,
    }
}

impl From<Wire> for Format {
    fn from(wire: Wire) -> Self {
        match wire {
            Wire::OpenaiChat => Self::OpenaiChat,
            Wire::OpenaiResponses => Self::OpenaiResponses,
            Wire::Anthropic => Self::Anthropic,
            Wire::Gemini => Self::Gemini,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(format, ..)| *format).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|(_, known, _)| *known).collect();
            format!("`{name}` is not a known format; known: {}", known.join(", "))
        })
    }
}
