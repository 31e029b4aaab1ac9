//! A provider's request, whole and in pieces.

use epitome_session::Dialect;

use crate::Format;

/// A provider's message format, with the rules that its requests must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// OpenAI chat completions, and the many services that take the same.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic messages.
    Anthropic,
    /// Gemini contents.
    Gemini,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 4] = [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic, Self::Gemini];

    /// The format of its requests.
    pub fn format(self) -> Format {
        match self {
            Self::OpenaiChat => Format::OpenaiChat,
            Self::OpenaiResponses => Format::OpenaiResponses,
            Self::Anthropic => Format::Anthropic,
            Self::Gemini => Format::Gemini,
        }
    }

    /// The form of its blocks.
    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::OpenaiChat => Dialect::OpenaiChat,
            Self::OpenaiResponses => Dialect::OpenaiResponses,
            Self::Anthropic => Dialect::Anthropic,
            Self::Gemini => Dialect::Gemini,
        }
    }

    /// The field of its requests that holds the messages, or items.
    pub fn list_field(self) -> &'static str {
        match self {
            Self::OpenaiChat | Self::Anthropic => "messages",
            Self::OpenaiResponses => "input",
            Self::Gemini => "contents",
        }
    }

    /// The field of its requests that holds the system prompt; `None` where that is a message.
    pub fn system_field(self) -> Option<&'static str> {
        match self {
            Self::OpenaiChat => None,
            Self::OpenaiResponses => Some("instructions"),
            Self::Anthropic => Some("system"),
            Self::Gemini => Some("systemInstruction"),
        }
    }

    /// The profile whose requests are of a format, if it is a provider's.
    pub fn from_format(format: Format) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.format() == format)
    }
}

/// A rendered request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedRequest {
    /// The request object as JSON text, one message a line: [`Profile::list_field`], with [`Profile::system_field`] and
    /// `tools` where there are any.
    pub json: String,
    /// The parts of the view that this format has no form for and that were left out or replaced, a line each, for a
    /// person.
    pub warnings: Vec<String>,
}

/// A rendered request in pieces.
#[derive(Debug, Default)]
pub(crate) struct RequestParts {
    /// The system prompt beside the messages, as a JSON value.
    pub system: Option<String>,
    /// The messages or items.
    pub items: Vec<RequestItem>,
    /// The parts of the view that were left out or replaced.
    pub warnings: Vec<String>,
}

/// A message or item.
#[derive(Debug)]
pub(crate) struct RequestItem {
    /// The message as JSON.
    pub json: String,
    /// The source's record whose bytes it is.
    pub record: Option<u32>,
}

impl RequestItem {
    pub(crate) fn built(json: String) -> Self {
        Self { json, record: None }
    }
}
