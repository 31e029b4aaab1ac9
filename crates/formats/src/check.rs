//! Whether a message is one of a provider's form.

use epitome_wire::PartClass;
use epitome_wire::openai_responses::class_of_item;
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::Wire;

/// How deep lists and objects may be nested: `serde_json` refuses the next level.
pub(crate) const NESTING: usize = 127;

/// Why a message could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{problem}", place(.field))]
pub struct MessageError {
    /// The field that is wrong, such as `tool_calls[0].function.name`; empty for the message itself.
    pub field: String,
    /// The problem, and the expected content.
    pub problem: String,
}

fn place(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("`{field}`: ") }
}

impl MessageError {
    pub(crate) fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }
}

/// Whether [`read_message`](crate::read_message) would read a message, or item, without reading it. Linear in the message.
///
/// # Errors
///
/// The errors of [`read_message`](crate::read_message).
pub fn check_message(profile: Wire, json: &str) -> Result<(), MessageError> {
    let value: Value = serde_json::from_str(json).map_err(|error| not_read(json, &error))?;
    check(profile, &value)
}

/// Why a message could not be parsed: the parser has limits that JSON has not.
fn not_read(json: &str, error: &serde_json::Error) -> MessageError {
    let problem = match serde_json::from_str::<&RawValue>(json) {
        Ok(_) => format!(
            "it is JSON that cannot be read here: {error}; numbers are at most {:e}, lists and objects are nested at most \
             {NESTING} deep, and texts are Unicode",
            f64::MAX
        ),
        Err(_) => format!("it is not JSON: {error}"),
    };
    MessageError::new("", problem)
}

fn check(profile: Wire, message: &Value) -> Result<(), MessageError> {
    if !message.is_object() {
        return Err(MessageError::new("", format!("a message is an object, and this is {}", kind_of(message))));
    }
    match profile {
        Wire::OpenaiChat => {
            check_role(message, &["system", "developer", "user", "assistant", "tool", "function"])?;
            check_content(message)?;
            check_calls(message)?;
            check_optional_text(&message["tool_call_id"], "tool_call_id")?;
            Ok(())
        }
        Wire::Anthropic => {
            check_role(message, &["system", "user", "assistant"])?;
            check_content(message)?;
            for (number, part) in message["content"].as_array().into_iter().flatten().enumerate() {
                let field = |name: &str| format!("content[{number}].{name}");
                match part["type"].as_str() {
                    Some("text") => check_text(&part["text"], &field("text"))?,
                    Some("tool_use") => {
                        check_text(&part["id"], &field("id"))?;
                        check_text(&part["name"], &field("name"))?;
                    }
                    Some("tool_result") => check_text(&part["tool_use_id"], &field("tool_use_id"))?,
                    Some(_) => {}
                    None => return Err(MessageError::new(field("type"), wrong("a text", &part["type"]))),
                }
            }
            Ok(())
        }
        Wire::Gemini => {
            if !message["role"].is_null() {
                check_role(message, &["user", "model", "function"])?;
            }
            let parts = match &message["parts"] {
                Value::Array(parts) => parts.as_slice(),
                // Google takes one part in place of a list of one ("System instructions" in its own requests).
                part @ Value::Object(_) => std::slice::from_ref(part),
                other => return Err(MessageError::new("parts", wrong("a list", other))),
            };
            for (number, part) in parts.iter().enumerate() {
                let field = |name: &str| format!("parts[{number}]{name}");
                if !part.is_object() {
                    return Err(MessageError::new(field(""), wrong("an object", part)));
                }
                for name in ["functionCall", "function_call", "functionResponse", "function_response"] {
                    if let Some(function) = part.get(name).filter(|function| !function.is_null()) {
                        check_text(&function["name"], &field(&format!(".{name}.name")))?;
                    }
                }
            }
            Ok(())
        }
        Wire::OpenaiResponses => {
            let is_message = message["role"].is_string() && matches!(message["type"].as_str(), None | Some("message"));
            if is_message {
                check_role(message, &["system", "developer", "user", "assistant"])?;
                return check_content(message);
            }
            let class = message.as_object().map(class_of_item);
            if message["type"].is_null() && class == Some(PartClass::Configuration) {
                return Ok(()); // a reference, which may leave its type out
            }
            check_text(&message["type"], "type")?;
            match message["type"].as_str() {
                Some("message") => check_role(message, &[]),
                Some("function_call" | "custom_tool_call") => {
                    check_text(&message["call_id"], "call_id")?;
                    check_text(&message["name"], "name")
                }
                Some("function_call_output" | "custom_tool_call_output") => check_text(&message["call_id"], "call_id"),
                _ => Ok(()),
            }
        }
    }
}

fn check_role(message: &Value, roles: &[&str]) -> Result<(), MessageError> {
    let role = &message["role"];
    match role.as_str() {
        Some(known) if roles.contains(&known) => Ok(()),
        Some(other) => {
            Err(MessageError::new("role", format!("`{other}` is not a role of this form: {}", roles.join(", "))))
        }
        None => Err(MessageError::new("role", wrong("a text", role))),
    }
}

fn check_content(message: &Value) -> Result<(), MessageError> {
    match &message["content"] {
        Value::Null | Value::String(_) => Ok(()),
        Value::Array(parts) => match parts.iter().position(|part| !part.is_object() && !part.is_string()) {
            Some(number) => {
                Err(MessageError::new(format!("content[{number}]"), wrong("a part with its `type`", &parts[number])))
            }
            None => Ok(()),
        },
        other => Err(MessageError::new("content", wrong("a text or a list of parts", other))),
    }
}

fn check_calls(message: &Value) -> Result<(), MessageError> {
    let calls = match &message["tool_calls"] {
        Value::Null => return Ok(()),
        // Recordings hold the list as text.
        Value::String(_) => return Ok(()),
        Value::Array(calls) => calls,
        other => return Err(MessageError::new("tool_calls", wrong("a list", other))),
    };
    for (number, call) in calls.iter().enumerate() {
        check_optional_text(&call["id"], &format!("tool_calls[{number}].id"))?;
        // A custom tool's call has its name in `custom`.
        let (field, name) = match &call["custom"] {
            Value::Object(custom) => ("custom", custom.get("name")),
            _ => ("function", call["function"].get("name")),
        };
        check_text(name.unwrap_or(&Value::Null), &format!("tool_calls[{number}].{field}.name"))?;
    }
    Ok(())
}

/// The ids of chat messages: many servers of that form neither give nor ask for them.
fn check_optional_text(value: &Value, field: &str) -> Result<(), MessageError> {
    if value.is_null() { Ok(()) } else { check_text(value, field) }
}

fn check_text(value: &Value, field: &str) -> Result<(), MessageError> {
    if value.is_string() { Ok(()) } else { Err(MessageError::new(field, wrong("a text", value))) }
}

fn wrong(expected: &str, found: &Value) -> String {
    match found {
        Value::Null => format!("{expected} is expected, and it is missing"),
        found => format!("{expected} is expected, and this is {}", kind_of(found)),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
