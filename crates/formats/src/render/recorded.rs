//! How the recorded bytes of calls and results go together.

use epitome_session::{Block, Dialect, Message, RawBlock};
use serde_json::Value;

use crate::json::{self, Object};

/// The fields that make a part of Gemini's a call or a result, with the other spelling.
const PARTS: [(&str, &str); 6] = [
    ("functionCall", "function_call"),
    ("functionResponse", "function_response"),
    ("executableCode", "executable_code"),
    ("codeExecutionResult", "code_execution_result"),
    ("toolCall", "tool_call"),
    ("toolResponse", "tool_response"),
];

/// Calls and results of the client's own tools; those of any other kind are of the provider's.
const CLIENTS: [&str; 8] = [
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "tool_use",
    "tool_result",
    "functionCall",
    "functionResponse",
];

/// What a block's recorded bytes are: an item's or a block's type, or the field that makes a part of Gemini's. `None` where
/// it has none, or they do not say.
pub(super) fn kind_of(block: &Block) -> Option<String> {
    let raw = block.raw.as_ref()?;
    let object = Object::parse(&raw.json)?;
    match raw.dialect {
        Dialect::OpenaiResponses | Dialect::Anthropic => Some(object.text("type")?.into_owned()),
        Dialect::Gemini => {
            let field = PARTS.into_iter().find(|(camel, snake)| object.has(camel) || object.has(snake))?;
            Some(field.0.to_owned())
        }
        Dialect::OpenaiChat | Dialect::Pi => None,
    }
}

/// Whether a call, or a result, was recorded as one of a tool of the provider's.
pub(super) fn is_of_provider(block: &Block) -> bool {
    kind_of(block).is_some_and(|kind| !CLIENTS.contains(&&*kind))
}

/// Whether the recorded bytes of a call and of its answer are of one kind. A provider's own tool has items of its own for
/// both: where the bytes of one are gone, the other cannot be written as recorded either.
pub(super) fn is_pair(call: &Block, answer: &Message) -> bool {
    let own = |kind: &Option<String>| kind.as_deref().is_some_and(|kind| !CLIENTS.contains(&kind));
    let (call, answer) = (kind_of(call), answer.blocks.first().and_then(kind_of));
    match (call, answer) {
        (call, answer) if !own(&call) && !own(&answer) => true,
        (Some(call), Some(answer)) => {
            let of_item =
                answer == call || answer.strip_suffix("_output").is_some_and(|it| tool_of(it) == tool_of(&call));
            let of_block = call.ends_with("_tool_use") && answer.ends_with("_tool_result");
            let of_part =
                matches!((&*call, &*answer), ("executableCode", "codeExecutionResult") | ("toolCall", "toolResponse"));
            of_item || of_block || of_part
        }
        _ => false,
    }
}

/// The tool of a kind of item.
fn tool_of(kind: &str) -> &str {
    kind.strip_suffix("_call").unwrap_or(kind)
}

/// Whether the answer of a call that it makes a pair with stands in the model's own message, as what the provider runs does.
pub(super) fn is_beside_call(call: &Block, answer: &Message) -> bool {
    let kind = answer.blocks.first().and_then(kind_of);
    is_of_provider(call) && kind.is_some_and(|kind| !kind.ends_with("_output"))
}

/// The recorded bytes without a field; `None` where they are no object.
pub(super) fn without(raw: &RawBlock, field: &str) -> Option<RawBlock> {
    let kept = json::keep_halves(&raw.json);
    let mut value: Value = serde_json::from_str(kept.as_deref().unwrap_or(&raw.json)).ok()?;
    value.as_object_mut()?.shift_remove(field);
    let written = value.to_string();
    let json = if kept.is_some() { json::restore_halves(written) } else { written };
    Some(RawBlock { dialect: raw.dialect, json: json.into() })
}
