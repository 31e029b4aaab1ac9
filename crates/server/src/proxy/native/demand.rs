//! What a client asks its provider to do about the length of a conversation.

use epitome::formats::Format;
use serde_json::Value;

use super::fields::RequestFields;

/// The threshold of Anthropic's edit where the request names none, in input tokens: the provider's own.
const EDIT_DEFAULT: u64 = 150_000;

/// A way to ask for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    /// OpenAI: the last item is a `compaction_trigger`; the answer is the item.
    Trigger,
    /// OpenAI: `POST …/responses/compact`; the answer is a list with the item at its end.
    Endpoint,
    /// OpenAI: `context_management` with a threshold; the item comes in front of the answer.
    Threshold {
        /// Tokens from which on the client wants one.
        from_tokens: u32,
    },
    /// Anthropic: the field `compaction`; the answer is the block.
    Summarize,
    /// Anthropic: an edit of `context_management` with a trigger; the block comes in front of the answer.
    Edit {
        /// Tokens from which on the client wants one.
        from_tokens: u32,
        /// Whether the answer ends behind the block.
        pauses: bool,
    },
}

/// What a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// No compaction.
    Nothing,
    /// A compaction that can be made here.
    Here(Demand),
    /// A compaction that only the provider can make rightly, with the reason as a code.
    Provider(&'static str),
    /// Something that no provider would do.
    Wrong(WrongDemand),
}

/// Why a request cannot be answered by anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WrongDemand {
    /// `compaction` beside `context_management`.
    Both,
    /// The newest message is the model's, and its calls have no results.
    IncompleteTurn,
    /// There are no messages.
    NothingToSummarize,
}

impl Demand {
    /// The demand's name in metrics and logs.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Trigger => "compaction_trigger",
            Self::Endpoint => "responses/compact",
            Self::Threshold { .. } => "compact_threshold",
            Self::Summarize => "compaction",
            Self::Edit { .. } => "compact_20260112",
        }
    }

    /// Tokens from which on the client wants a compaction; 0 where it wants one in any case.
    pub(super) fn threshold(self) -> u32 {
        match self {
            Self::Threshold { from_tokens } | Self::Edit { from_tokens, .. } => from_tokens,
            Self::Trigger | Self::Endpoint | Self::Summarize => 0,
        }
    }

    /// Whether the compaction is all of the answer.
    pub(super) fn is_whole_answer(self) -> bool {
        match self {
            Self::Trigger | Self::Endpoint | Self::Summarize => true,
            Self::Edit { pauses, .. } => pauses,
            Self::Threshold { .. } => false,
        }
    }

    /// The field that asks, with what remains of it where the demand was met: `None` where nothing does.
    pub(super) fn field(self, fields: &RequestFields<'_>) -> Option<(&'static str, Option<String>)> {
        match self {
            Self::Trigger | Self::Endpoint => None,
            Self::Summarize => Some(("compaction", None)),
            Self::Threshold { .. } => Some(("context_management", None)),
            Self::Edit { .. } => {
                let mut config = fields.value("context_management");
                let mut is_empty = true;
                if let Some(edits) = config["edits"].as_array_mut() {
                    edits.retain(|edit| edit["type"] != EDIT);
                    is_empty = edits.is_empty();
                }
                Some(("context_management", (!is_empty).then(|| config.to_string())))
            }
        }
    }
}

/// The type of Anthropic's edit.
const EDIT: &str = "compact_20260112";

/// What a request to `…/responses/compact` asks for.
pub(super) fn asked_of_endpoint(fields: &RequestFields<'_>) -> Asked {
    match history_elsewhere(fields) {
        Some(code) => Asked::Provider(code),
        None if fields.list("input").is_none_or(|items| items.is_empty()) => Asked::Provider("one-text"),
        None => Asked::Here(Demand::Endpoint),
    }
}

/// What a request of a conversation asks for. `messages` are its messages or items, each as JSON.
pub(super) fn asked_of_request<S: AsRef<str>>(format: Format, fields: &RequestFields<'_>, messages: &[S]) -> Asked {
    match format {
        Format::OpenaiResponses => asked_of_openai(fields, messages),
        Format::Anthropic => asked_of_anthropic(fields, messages),
        _ => Asked::Nothing,
    }
}

/// Whether an item asks for a compaction.
pub(super) fn is_trigger(item: &str) -> bool {
    item.contains("compaction_trigger")
        && serde_json::from_str::<Value>(item).is_ok_and(|item| item["type"] == "compaction_trigger")
}

/// Where a part of the conversation, or of the work, is at the provider: why only it can do what is asked for.
fn history_elsewhere(fields: &RequestFields<'_>) -> Option<&'static str> {
    let has = |name: &str| fields.json(name).is_some();
    if has("previous_response_id") || has("conversation") || has("thread") {
        Some("history-at-the-provider")
    } else if has("prompt") {
        Some("prompt-at-the-provider")
    } else {
        (fields.json("background") == Some("true")).then_some("background")
    }
}

fn asked_of_openai<S: AsRef<str>>(fields: &RequestFields<'_>, items: &[S]) -> Asked {
    let triggers = items.iter().filter(|item| is_trigger(item.as_ref())).count();
    if triggers > 0 {
        let is_last = items.last().is_some_and(|item| is_trigger(item.as_ref()));
        return match history_elsewhere(fields) {
            Some(code) => Asked::Provider(code),
            None if !is_last || triggers > 1 => Asked::Provider("trigger-in-the-middle"),
            // The answer could be named later, and continued at the provider, which would not know it.
            None if fields.json("store") != Some("false") => Asked::Provider("stored-at-the-provider"),
            None => Asked::Here(Demand::Trigger),
        };
    }
    let Some(config) = fields.json("context_management") else { return Asked::Nothing };
    if let Some(code) = history_elsewhere(fields) {
        return Asked::Provider(code);
    }
    let Ok(entries) = serde_json::from_str::<Vec<Value>>(config) else { return Asked::Provider("not-understood") };
    let [entry] = &entries[..] else { return Asked::Provider("not-understood") };
    let has_other = entry
        .as_object()
        .is_none_or(|fields| fields.keys().any(|name| !matches!(name.as_str(), "type" | "compact_threshold")));
    let threshold = entry["compact_threshold"].as_u64().and_then(|tokens| u32::try_from(tokens).ok());
    match threshold {
        // Without a threshold the provider has its own, which nobody else knows.
        _ if has_other || entry["type"] != "compaction" => Asked::Provider("not-understood"),
        None | Some(0) => Asked::Provider("no-threshold"),
        Some(from_tokens) => Asked::Here(Demand::Threshold { from_tokens }),
    }
}

fn asked_of_anthropic<S: AsRef<str>>(fields: &RequestFields<'_>, messages: &[S]) -> Asked {
    let config = fields.value("context_management");
    if fields.json("compaction").is_some() {
        return asked_on_demand(fields, &config, messages);
    }
    let empty = Vec::new();
    let edits = config["edits"].as_array().unwrap_or(&empty);
    let ours: Vec<&Value> = edits.iter().filter(|edit| edit["type"] == EDIT).collect();
    let edit = match ours[..] {
        [] => return Asked::Nothing,
        [edit] => edit,
        _ => return Asked::Provider("not-understood"),
    };
    if let Some(code) = history_elsewhere(fields) {
        return Asked::Provider(code);
    }
    let known = ["type", "trigger", "pause_after_compaction", "instructions"];
    let has_other = edit.as_object().is_none_or(|edit| edit.keys().any(|name| !known.contains(&name.as_str())));
    let trigger = &edit["trigger"];
    let value = if trigger.is_null() { Some(EDIT_DEFAULT) } else { trigger["value"].as_u64() };
    let is_known = trigger.is_null() || trigger["type"] == "input_tokens";
    let pauses = match &edit["pause_after_compaction"] {
        Value::Null => Some(false),
        other => other.as_bool(),
    };
    match (value.and_then(|tokens| u32::try_from(tokens).ok()), pauses) {
        _ if has_other || !is_known => Asked::Provider("not-understood"),
        _ if has_words(&edit["instructions"]) => Asked::Provider("instructions"),
        (Some(from_tokens @ 1..), Some(pauses)) => Asked::Here(Demand::Edit { from_tokens, pauses }),
        _ => Asked::Provider("not-understood"),
    }
}

fn asked_on_demand<S: AsRef<str>>(fields: &RequestFields<'_>, context_management: &Value, messages: &[S]) -> Asked {
    let config = fields.value("compaction");
    let has_other =
        config.as_object().is_none_or(|config| config.keys().any(|it| !matches!(it.as_str(), "type" | "instructions")));
    if has_other || config["type"] != "summarize" {
        return Asked::Provider("not-understood");
    }
    if let Some(code) = history_elsewhere(fields) {
        return Asked::Provider(code);
    }
    if !context_management.is_null() {
        return Asked::Wrong(WrongDemand::Both);
    }
    // How it is to be written: the rules would not keep to it, and a model of the provider does.
    if has_words(&config["instructions"]) {
        return Asked::Provider("instructions");
    }
    let Some(newest) = messages.last() else { return Asked::Wrong(WrongDemand::NothingToSummarize) };
    let newest: Value = serde_json::from_str(newest.as_ref()).unwrap_or_default();
    let calls = |block: &Value| matches!(block["type"].as_str(), Some("tool_use" | "server_tool_use" | "mcp_tool_use"));
    let is_open = newest["role"] == "assistant"
        && newest["content"].as_array().and_then(|blocks| blocks.last()).is_some_and(calls);
    if is_open { Asked::Wrong(WrongDemand::IncompleteTurn) } else { Asked::Here(Demand::Summarize) }
}

/// Whether there are instructions. What is not a text is the provider's to understand, or to refuse.
fn has_words(instructions: &Value) -> bool {
    match instructions {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        _ => true,
    }
}

#[cfg(test)]
#[path = "demand_tests.rs"]
mod tests;
