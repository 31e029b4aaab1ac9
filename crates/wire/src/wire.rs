//! The interfaces by name.

/// A provider's interface: the form of its requests and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// OpenAI chat completions, and the many services that take the same.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic messages.
    Anthropic,
    /// Gemini contents.
    Gemini,
}

impl Wire {
    /// Every interface.
    pub const ALL: [Self; 4] = [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic, Self::Gemini];

    /// Returns its name, as settings and commands have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// Returns the field of its requests that holds the messages, or items.
    pub fn list_field(self) -> &'static str {
        match self {
            Self::OpenaiChat | Self::Anthropic => "messages",
            Self::OpenaiResponses => "input",
            Self::Gemini => "contents",
        }
    }

    /// Returns the field of its requests that holds the system prompt; `None` where that is a message.
    pub fn system_field(self) -> Option<&'static str> {
        match self {
            Self::OpenaiChat => None,
            Self::OpenaiResponses => Some("instructions"),
            Self::Anthropic => Some("system"),
            Self::Gemini => Some("systemInstruction"),
        }
    }
}
