//! Rendering a view as the request that a provider takes.

mod anthropic;
mod chat;
mod plan;
mod responses;
mod source;
mod tools;

use epitome_session::{Entry, Message};

pub(crate) use anthropic::block as anthropic_block;
pub(crate) use chat::arguments_object;
pub use plan::carries_reasoning;
pub use source::Source;

use crate::Format;
use crate::wire::json::ObjectWriter;

/// A provider's message format, with the rules that its requests must keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// OpenAI chat completions, and the many services that take the same.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic messages.
    Anthropic,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 3] = [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic];

    /// The format of its requests.
    pub fn format(self) -> Format {
        match self {
            Self::OpenaiChat => Format::OpenaiChat,
            Self::OpenaiResponses => Format::OpenaiResponses,
            Self::Anthropic => Format::Anthropic,
        }
    }

    /// The profile whose requests are of a format, if it is a provider's.
    pub fn of(format: Format) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.format() == format)
    }
}

/// A rendered request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedRequest {
    /// The request object as JSON text, one message a line: `messages`, or `input` for Responses, with `system` or
    /// `instructions` and `tools` where there are any.
    pub json: String,
    /// What could not be said in this format and was left out or replaced, one line each, for a person.
    pub warnings: Vec<String>,
}

/// A rendered request in pieces.
#[derive(Debug, Default)]
pub(crate) struct RequestParts {
    /// The system prompt that stands beside the messages, as a JSON value.
    pub system: Option<String>,
    /// The messages or items.
    pub items: Vec<RequestItem>,
    /// What was left out or replaced.
    pub warnings: Vec<String>,
}

/// A message or item.
#[derive(Debug)]
pub(crate) struct RequestItem {
    /// Its JSON.
    pub json: String,
    /// The source's record whose bytes it is.
    pub record: Option<u32>,
}

impl RequestItem {
    fn built(json: String) -> Self {
        Self { json, record: None }
    }
}

/// Renders `entries`, a view in order, for `profile`. `tools` is the recorded JSON of the tool definitions, in any of the
/// dialects. With the `source` that the session was read from, messages in the profile's own format that nothing
/// changed come out as the same bytes. Linear in the view.
///
/// The result keeps the provider's rules whatever the view looks like: a result without its call is left out; a call
/// without a result gets one that says so, unless nothing but results follows its message; empty messages are left out;
/// and a user's message is put in front where the first one is not a user's. For Anthropic, system messages become
/// `system`, wherever they stand, neighbours of one role are merged, call ids that are empty, repeated or of other characters are replaced, and reasoning is left out from the first changed message on,
/// but for the newest step while its calls are being answered.
pub fn render(
    entries: &[Entry],
    profile: Profile,
    tools: Option<&str>,
    source: Option<&Source<'_>>,
) -> RenderedRequest {
    let parts = parts(entries, profile, source);
    let mut warnings = parts.warnings;
    let items: Vec<&str> = parts.items.iter().map(|part| part.json.as_str()).collect();
    let list = if items.is_empty() { "[]".to_owned() } else { format!("[\n{}\n]", items.join(",\n")) };
    let tools = tools.and_then(|json| tools::convert(json, profile, &mut warnings));
    let (system, list_name) = match profile {
        Profile::OpenaiChat => ("", "messages"),
        Profile::OpenaiResponses => ("instructions", "input"),
        Profile::Anthropic => ("system", "messages"),
    };
    let json = ObjectWriter::new()
        .optional_field(system, parts.system.as_deref())
        .raw(list_name, &list)
        .optional_field("tools", tools.as_deref())
        .finish();
    RenderedRequest { json: json + "\n", warnings }
}

/// Renders `entries` in pieces.
pub(crate) fn parts(entries: &[Entry], profile: Profile, source: Option<&Source<'_>>) -> RequestParts {
    let plan = plan::plan(entries, profile, source);
    match profile {
        Profile::OpenaiChat => chat::render(plan, source),
        Profile::OpenaiResponses => responses::render(plan, source),
        Profile::Anthropic => anthropic::render(plan, source),
    }
}

/// The Responses items of a message that is no answer to a custom tool's call.
pub(crate) fn response_items(message: &Message) -> Vec<String> {
    responses::items(message, false)
}

/// Whether every call of the view has its results directly behind it and every result its call; open calls at the end
/// are none of it.
pub(crate) fn is_paired(entries: &[Entry]) -> bool {
    plan::is_paired(entries)
}

#[cfg(test)]
#[path = "../render_tests.rs"]
mod tests;
