//! Rendering a view as the request that a provider takes.

pub(crate) mod changed;
mod ids;
pub(crate) mod plan;
mod reasoning;
mod recorded;
mod request;
mod source;
mod steps;
mod tools;

use epitome_session::{Entry, Message};

pub(crate) use epitome_wire::Wire;
pub(crate) use ids::with_distinct_ids;
pub use plan::carries_reasoning;
pub use request::RenderedRequest;
pub(crate) use request::{RequestItem, RequestParts, dialect_of};
pub use source::Source;

use crate::json::ObjectWriter;
use crate::{anthropic, gemini, openai_chat, openai_responses};

/// Renders `entries`, a view in order, for `profile`. `tools` is the recorded JSON of the tool definitions, in any of
/// the dialects. With the `source` that the session was read from, messages in the profile's own format that nothing
/// changed come out as the same bytes. Linear in the view.
///
/// The result keeps the provider's rules for any view: a result without its call is left out; a call without a result
/// gets one that says so, unless nothing but results follows its message; two calls of one step have two ids; empty messages
/// are left out; and a user's message is put in front where the first one is not a user's. Calls and results without ids
/// stay so in requests of OpenAI's chat and of Gemini that came so. For Anthropic and Gemini, system messages stand beside the
/// messages, from any place. For Anthropic, neighbours of one role are merged, call ids that are empty, repeated or of other
/// characters are replaced, and reasoning is left out from the first changed message on, but for the newest step while its
/// calls are being answered. For Gemini, neighbours of the model are merged, and so are results.
pub fn render(entries: &[Entry], profile: Wire, tools: Option<&str>, source: Option<&Source<'_>>) -> RenderedRequest {
    let parts = parts(entries, profile, source);
    let mut warnings = parts.warnings;
    let items: Vec<&str> = parts.items.iter().map(|part| part.json.as_str()).collect();
    let list = if items.is_empty() { "[]".to_owned() } else { format!("[\n{}\n]", items.join(",\n")) };
    let tools = tools.and_then(|json| tools::convert(json, profile, &mut warnings));
    let json = ObjectWriter::new()
        .optional_field(profile.system_field().unwrap_or_default(), parts.system.as_deref())
        .raw(profile.list_field(), &list)
        .optional_field("tools", tools.as_deref())
        .finish();
    RenderedRequest { json: json + "\n", warnings }
}

/// Renders `entries` in pieces.
pub(crate) fn parts(entries: &[Entry], profile: Wire, source: Option<&Source<'_>>) -> RequestParts {
    let plan = plan::plan(entries, profile, source);
    match profile {
        Wire::OpenaiChat => openai_chat::write::render(plan, source),
        Wire::OpenaiResponses => openai_responses::write::render(plan, source),
        Wire::Anthropic => anthropic::write::render(plan, source),
        Wire::Gemini => gemini::write::render(plan, source),
    }
}

/// The Responses items of a message that does not answer a custom tool's call.
pub(crate) fn response_items(message: &Message) -> Vec<String> {
    openai_responses::write::items(message, false)
}

/// Whether every call of the view has its results directly behind it and every result its call, by its id where the format
/// asks for it; calls of the last step may be open.
pub(crate) fn is_paired(entries: &[Entry], profile: Wire) -> bool {
    plan::is_paired(entries, profile)
}

#[cfg(test)]
mod tests;
