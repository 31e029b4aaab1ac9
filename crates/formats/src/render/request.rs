//! A provider's request, whole and in pieces.

use epitome_session::Dialect;
use epitome_wire::Wire;

/// Returns the form of the blocks of a provider's requests.
pub(crate) fn dialect_of(wire: Wire) -> Dialect {
    match wire {
        Wire::OpenaiChat => Dialect::OpenaiChat,
        Wire::OpenaiResponses => Dialect::OpenaiResponses,
        Wire::Anthropic => Dialect::Anthropic,
        Wire::Gemini => Dialect::Gemini,
    }
}

/// A rendered request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedRequest {
    /// The request object as JSON text, one message a line: the list, with the system prompt and `tools` where there are any
    /// ([`Requests::list_field`](epitome_wire::Requests::list_field)).
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
