//! One message of a provider's form, for hosts that hold messages and no files.

use epitome_session::{Arguments, Block, Content, Message, Origin, Role, Session, ToolCall};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::check::{MessageError, check_message};
use crate::{Format, ReadOptions, Wire, read, render};

/// Reads one message, or item, of a provider's form. It is one message of a session, or several: each result of a tool is one
/// of its own. Kinds of parts that are not known stay as they are. Linear in the message.
///
/// ```
/// use epitome_formats::{Wire, read_message, write_messages};
///
/// # fn main() -> Result<(), epitome_formats::MessageError> {
/// let json = r#"{"role":"user","content":"Fix the build"}"#;
/// let messages = read_message(Wire::OpenaiChat, json)?;
/// assert_eq!(write_messages(Wire::Anthropic, &messages)?, [json]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// It is not JSON, it is JSON beyond the limits of the parser, or a field is not what a provider takes; the error says which.
pub fn read_message(profile: Wire, json: &str) -> Result<Vec<Message>, MessageError> {
    check_message(profile, json)?;
    let list = profile.list_field();
    let request = format!(r#"{{"{list}":[{json}]}}"#).into_bytes();
    let options = ReadOptions { format: Some(Format::from(profile)), strict: true, ..ReadOptions::default() };
    let loaded = read(request, options).map_err(|error| MessageError::new("", error.to_string()))?;
    let sessions = loaded.sessions.into_iter();
    Ok(sessions
        .flat_map(|it| it.session.log().iter().map(|message| Message::clone(message)).collect::<Vec<_>>())
        .collect())
}

/// Writes messages of a session in a provider's form: each as it would be in a request behind those that it needs, such
/// as the calls that its results answer. Several may become one, as results and neighbours of one role do for
/// Anthropic, and one may become several items, as calls do for Responses. Linear in the messages.
///
/// # Errors
///
/// A message that has no place among the messages of this form: a system prompt for Anthropic or Gemini, one without
/// content.
pub fn write_messages(profile: Wire, messages: &[Message]) -> Result<Vec<String>, MessageError> {
    let Some(first) = messages.first() else { return Ok(Vec::new()) };
    if let (Wire::Anthropic | Wire::Gemini, Some(field)) = (profile, profile.system_field())
        && messages.iter().any(|message| message.role == Role::System)
    {
        let problem = format!("a system prompt stands beside the messages in this form, in `{field}`");
        return Err(MessageError::new("role", problem));
    }
    let mut session = Session::new();
    // The messages in front of them make sure that they are rendered as they are, and nothing is merged with them.
    session.push(Message::text("", Role::User, Origin::Typed, "."));
    match first.role {
        Role::User => {
            session.push(Message::text("", Role::Assistant, Origin::Model, "."));
        }
        Role::Tool => {
            session.push(Message::new("", Role::Assistant, Origin::Model, open_calls(messages)));
        }
        Role::Assistant | Role::System => {}
    }
    let before = items(profile, &session)?.len();
    messages.iter().for_each(|message| {
        session.push(message.clone());
    });
    let mut written = items(profile, &session)?;
    if written.len() <= before {
        return Err(MessageError::new("content", "there is nothing that this form has a place for"));
    }
    Ok(written.split_off(before))
}

/// A call for each result whose call is not among the messages.
fn open_calls(messages: &[Message]) -> Vec<Block> {
    let made = |id: &str| messages.iter().flat_map(Message::calls).any(|(_, call)| &*call.id == id);
    let results = messages.iter().flat_map(|message| &message.blocks).filter_map(Block::as_result);
    let call = |result: &epitome_session::ToolResult| {
        let name = result.name.clone().unwrap_or_else(|| "tool".into());
        Block::new(Content::ToolCall(ToolCall {
            id: result.call_id.clone(),
            name,
            arguments: Arguments::Json("{}".into()),
        }))
    };
    results.filter(|result| !made(&result.call_id)).map(call).collect()
}

/// The items of a session's request.
fn items(profile: Wire, session: &Session) -> Result<Vec<String>, MessageError> {
    #[derive(Deserialize)]
    struct Request<'a> {
        #[serde(borrow, alias = "input", alias = "contents")]
        messages: Vec<&'a RawValue>,
    }
    let json = render(session.view(), profile, None, None).json;
    let request: Request<'_> =
        serde_json::from_str(&json).map_err(|error| MessageError::new("", format!("it cannot be written: {error}")))?;
    Ok(request.messages.iter().map(|item| item.get().to_owned()).collect())
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
