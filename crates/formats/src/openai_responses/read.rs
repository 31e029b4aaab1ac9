//! Requests of Responses, and lists of their items.

use std::collections::HashSet;

use epitome_wire::PartClass;
use epitome_wire::openai_responses::{class_of_item, continues_stored};
use serde_json::Value;

use super::blocks;
use super::continued;
use super::group::Grouper;
use crate::anthropic::blocks::blocks as text_blocks;
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::requests::{candidates, is_chat_message, read_sessions};

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let is_item = |item: &Value| {
        const KINDS: [&str; 8] = [
            "message",
            "reasoning",
            "function_call",
            "function_call_output",
            "custom_tool_call",
            "custom_tool_call_output",
            "item_reference",
            "compaction",
        ];
        let kind = item["type"].as_str().unwrap_or_default();
        let parts = item["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let of_part = |part: &Value| {
            matches!(part["type"].as_str(), Some("input_text" | "output_text" | "input_image" | "input_file"))
        };
        (KINDS.contains(&kind) && (kind != "message" || item["role"].is_string()) && item.get("payload").is_none())
            || (item["role"].is_string() && parts.iter().any(of_part))
    };
    // In a request, an item of any kind that is known: some begin with an approval, or with what the shell gave.
    let is_known = |item: &Value| item.as_object().is_some_and(|fields| class_of_item(fields) != PartClass::Opaque);
    candidates(probe).any(|candidate| match &candidate["input"] {
        Value::Array(items) if candidate["model"].is_string() && items.iter().any(is_known) => true,
        Value::Array(items) => items.iter().any(|item| is_item(item) || is_chat_message(item)),
        Value::String(_) => candidate["model"].is_string() || candidate["instructions"].is_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => is_item(candidate),
    })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    read_sessions(probe, Format::OpenaiResponses, warnings, |envelope, reader| {
        if let Some(instructions) = envelope.wrapper.as_ref().and_then(|wrapper| wrapper.get("instructions")) {
            reader.instructions(envelope, instructions, text_blocks(instructions));
        }
        let mut grouper = Grouper::default();
        let is_continued = envelope.wrapper.as_ref().is_some_and(continues_stored);
        let mut calls = HashSet::new();
        for (span, json) in &envelope.items {
            let record = reader.record(span.clone());
            let item = if is_continued { continued::item(json, &mut calls) } else { blocks::item(json) };
            grouper.add(item, record, None, None);
        }
        reader.messages.extend(grouper.finish());
    })
}
