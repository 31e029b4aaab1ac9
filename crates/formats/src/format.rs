//! The formats by name.

use std::fmt;
use std::str::FromStr;

/// A session format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// OpenAI chat completions: a request object, a list of messages, or one of these per line.
    OpenaiChat,
    /// OpenAI Responses: a request object with `input`, or a list of items.
    OpenaiResponses,
    /// Anthropic messages: a request object, or a list of messages.
    Anthropic,
    /// Claude Code's JSON lines.
    ClaudeCode,
    /// Codex rollout JSON lines.
    Codex,
    /// Pi's JSON lines.
    Pi,
    /// An OpenCode export.
    Opencode,
    /// A Gemini CLI chat.
    GeminiCli,
    /// Copilot CLI event lines.
    CopilotCli,
    /// A SWE-agent trajectory.
    SweAgent,
    /// A mini-swe-agent trajectory.
    MiniSweAgent,
    /// OpenHands output lines or an event list.
    OpenHands,
    /// Aider's chat history in Markdown.
    Aider,
    /// A Cline SDK session.
    Cline,
    /// A LangGraph thread.
    Langgraph,
    /// A recorded deer-flow event stream.
    DeerFlow,
    /// A Who&When log.
    WhoAndWhen,
    /// tau-bench trajectories.
    TauBench,
    /// InterCode turn histories.
    Intercode,
    /// LoCoMo conversations.
    Locomo,
    /// LongMemEval conversations in Honcho's test format.
    LongMemEval,
    /// MemoryBank dialogues.
    MemoryBank,
    /// MADial dialogues.
    Madial,
    /// CrossWOZ dialogues.
    CrossWoz,
    /// KdConv dialogues.
    KdConv,
}

impl Format {
    /// Every format with its name on the command line, and a few words on it.
    pub const ALL: &[(Self, &str, &str)] = &[
        (Self::OpenaiChat, "openai-chat", "OpenAI chat completions"),
        (Self::OpenaiResponses, "openai-responses", "OpenAI Responses"),
        (Self::Anthropic, "anthropic", "Anthropic messages"),
        (Self::ClaudeCode, "claude-code", "Claude Code JSONL"),
        (Self::Codex, "codex", "Codex rollout JSONL"),
        (Self::Pi, "pi", "Pi JSONL"),
        (Self::Opencode, "opencode", "OpenCode export"),
        (Self::GeminiCli, "gemini-cli", "Gemini CLI chat"),
        (Self::CopilotCli, "copilot-cli", "Copilot CLI events"),
        (Self::SweAgent, "swe-agent", "SWE-agent trajectory"),
        (Self::MiniSweAgent, "mini-swe-agent", "mini-swe-agent trajectory"),
        (Self::OpenHands, "openhands", "OpenHands output or events"),
        (Self::Aider, "aider", "Aider chat history"),
        (Self::Cline, "cline", "Cline SDK session"),
        (Self::Langgraph, "langgraph", "LangGraph thread"),
        (Self::DeerFlow, "deer-flow", "deer-flow event stream"),
        (Self::WhoAndWhen, "who-and-when", "Who&When log"),
        (Self::TauBench, "tau-bench", "tau-bench trajectories"),
        (Self::Intercode, "intercode", "InterCode turn histories"),
        (Self::Locomo, "locomo", "LoCoMo conversations"),
        (Self::LongMemEval, "longmemeval", "LongMemEval conversations"),
        (Self::MemoryBank, "memorybank", "MemoryBank dialogues"),
        (Self::Madial, "madial", "MADial dialogues"),
        (Self::CrossWoz, "crosswoz", "CrossWOZ dialogues"),
        (Self::KdConv, "kdconv", "KdConv dialogues"),
    ];

    /// Its name on the command line.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(format, ..)| *format == self).map_or("", |(_, name, _)| name)
    }

    /// Whether a session can be written in it.
    pub fn is_writable(self) -> bool {
        matches!(
            self,
            Self::OpenaiChat | Self::OpenaiResponses | Self::Anthropic | Self::ClaudeCode | Self::Codex | Self::Pi
        )
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
            format!("`{name}` is no known format; known: {}", known.join(", "))
        })
    }
}
