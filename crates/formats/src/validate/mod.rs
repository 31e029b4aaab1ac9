//! The rules of providers, checked on the request itself. Nothing here is shared with rendering: what one side gets wrong
//! the other sees.

pub(crate) mod findings;

use serde_json::Value;

use findings::Findings;
pub use findings::Violation;

use crate::anthropic::validate as anthropic;
use crate::gemini::validate as gemini;
use crate::openai_chat::validate as openai_chat;
use crate::openai_responses::validate as openai_responses;
use crate::render::Wire;

/// Checks a request, a request object or a bare list of its messages, against the rules of `profile`. JSON lines are
/// taken as a list of messages, or as requests of their own. Empty where it keeps them all. Linear in the request.
///
/// Calls of the last message that is not a result may be unanswered: they are still being worked on. Whether reasoning
/// stands where its signature was made cannot be seen here.
pub fn validate(json: &str, profile: Wire) -> Vec<Violation> {
    let mut found = Findings::default();
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_str(json).into_iter::<Value>() {
        match value {
            Ok(value) => values.push(value),
            Err(error) => {
                found.add("", "json", error.to_string());
                return found.0;
            }
        }
    }
    let list_name = profile.list_field();
    let is_message = |value: &Value| ["role", "type", "parts"].into_iter().any(|field| value.get(field).is_some());
    if !values.iter().any(is_message) {
        for value in &values {
            request(value, list_name, profile, &mut found);
        }
    } else {
        messages(&values, list_name, profile, &Value::Null, &mut found);
    }
    if values.is_empty() {
        found.add("", "json", "there is nothing".to_owned());
    }
    found.0
}

fn request(value: &Value, list_name: &str, profile: Wire, found: &mut Findings) {
    let list = if value.is_array() { value } else { &value[list_name] };
    match list {
        Value::Array(list) => messages(list, list_name, profile, value, found),
        // Google takes one content in place of a list of one, as its own requests have it ("System instructions").
        Value::Object(_) if profile == Wire::Gemini => {
            messages(std::slice::from_ref(list), list_name, profile, value, found);
        }
        Value::String(_) if profile == Wire::OpenaiResponses => {}
        // What google-genai takes as `contents` (`ContentListUnion` of its 3.6).
        Value::String(text) if profile == Wire::Gemini && !text.trim().is_empty() => {}
        _ => found.add(list_name, "messages", "there is no list of messages".to_owned()),
    }
    if profile == Wire::Anthropic {
        anthropic::system(&value["system"], found);
    }
    if profile == Wire::Gemini {
        gemini::system(value, found);
    }
    if let Some(tools) = value["tools"].as_array() {
        for (index, tool) in tools.iter().enumerate() {
            let named = match profile {
                Wire::OpenaiChat => tool["function"]["name"].is_string() || tool["custom"]["name"].is_string(),
                Wire::OpenaiResponses => tool["type"].is_string() && tool.get("input_schema").is_none(),
                // Sets of tools, and some of its own, have a type alone.
                Wire::Anthropic => {
                    (tool["name"].is_string() || tool["type"].is_string()) && tool.get("parameters").is_none()
                }
                Wire::Gemini => gemini::is_tool(tool),
            };
            if !named {
                found.add(&format!("tools[{index}]"), "tools", "the definition is not in this format".to_owned());
            }
        }
    }
}

/// Checks the messages of `request`, which is null where they stand alone.
fn messages(list: &[Value], list_name: &str, profile: Wire, request: &Value, found: &mut Findings) {
    match profile {
        Wire::OpenaiChat => openai_chat::check(list, list_name, found),
        Wire::OpenaiResponses => {
            let is_given = |name: &str| request.get(name).is_some_and(|value| !value.is_null());
            let continues_stored = is_given("previous_response_id") || is_given("conversation");
            openai_responses::check(list, list_name, continues_stored, found);
        }
        Wire::Anthropic => anthropic::check(list, list_name, request["model"].as_str(), found),
        Wire::Gemini => gemini::check(list, list_name, found),
    }
}

#[cfg(test)]
mod tests;
