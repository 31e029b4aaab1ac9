//! Readers of providers' requests.

pub(crate) mod envelope;

use std::ops::Range;
use std::sync::Arc;

use epitome_session::{Block, Entry, EntryKey, Epoch, Message, MessageId, Origin, Role, Session, Trigger};
use serde_json::Value;
use serde_json::value::RawValue;

use self::envelope::{Envelope, envelopes};
use crate::check::check_message;
use crate::error::{ReadError, Warning};
use crate::input::{Probe, Shape};
use crate::json::{self, Object, defined_tools};
use crate::{Format, LoadedSession, Wire};

/// The fields that hold the messages of `format`.
pub(crate) fn keys(format: Format) -> &'static [&'static str] {
    match format {
        Format::Anthropic => &["messages"],
        Format::OpenaiResponses => &["input"],
        Format::Gemini => &["contents"],
        _ => &["messages", "conversation"], // recordings have the latter
    }
}

/// The values that could be a request or a message: the document, the items of its list, or the first lines and their
/// items.
pub(crate) fn candidates<'a>(probe: &'a Probe<'_>) -> impl Iterator<Item = &'a Value> {
    let tops = match probe.shape {
        Shape::Document(_) => std::slice::from_ref(&probe.document),
        Shape::Lines(_) | Shape::Text(_) => &probe.heads,
    };
    tops.iter().flat_map(|top| match top {
        Value::Array(items) => items.as_slice(),
        other => std::slice::from_ref(other),
    })
}

pub(crate) fn is_chat_message(value: &Value) -> bool {
    const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];
    value["role"].as_str().is_some_and(|role| ROLES.contains(&role))
        && (value.get("content").is_some() || value.get("tool_calls").is_some() || value.get("function_call").is_some())
}

/// The object that a message is; `None` where it has no role.
pub(crate) fn with_role(json: &str) -> Option<Object<'_>> {
    Object::parse(json).filter(|object| object.text("role").is_some())
}

/// Checks each message of a provider's form. Linear in the input.
///
/// # Errors
///
/// The first message that is not one, by its number.
pub(crate) fn check_messages(shape: &Shape<'_>, profile: Wire) -> Result<(), ReadError> {
    let format = Format::from(profile);
    for envelope in envelopes(shape, keys(format)) {
        for (index, (span, json)) in envelope.items.iter().enumerate() {
            if envelope.list.as_ref() == Some(span) && json.starts_with('"') {
                continue; // a request may have one text in place of a list
            }
            check_message(profile, json).map_err(|problem| ReadError::Message {
                index,
                format: format.as_str(),
                problem,
            })?;
        }
    }
    Ok(())
}

/// Reads each envelope into a session.
pub(crate) fn read_sessions(
    probe: &Probe<'_>,
    format: Format,
    warnings: &mut Vec<Warning>,
    mut fill: impl FnMut(&Envelope<'_>, &mut RequestReader),
) -> Result<Vec<LoadedSession>, ReadError> {
    if let Some(profile) = format.wire().filter(|_| probe.checked) {
        check_messages(&probe.shape, profile)?;
    }
    let envelopes = envelopes(&probe.shape, keys(format));
    if envelopes.is_empty() {
        let problem = match &probe.shape {
            Shape::Document(text) => match serde_json::from_str::<&RawValue>(text) {
                Ok(_) => format!("there is no list of messages, and no field `{}`", keys(format).join("` or `")),
                Err(error) => format!("not JSON: {error}"),
            },
            Shape::Lines(_) => "no line holds a message".to_owned(),
            Shape::Text(_) => "it is text and not JSON".to_owned(),
        };
        return Err(ReadError::malformed(format, problem));
    }
    let many = envelopes.len() > 1;
    let mut loaded = Vec::with_capacity(envelopes.len());
    for (index, envelope) in envelopes.iter().enumerate() {
        let mut reader = RequestReader::default();
        fill(envelope, &mut reader);
        let name = envelope.wrapper.as_ref().and_then(name_of).unwrap_or_else(|| index.to_string());
        for number in &reader.skipped {
            let place = if many { format!("session {name}, ") } else { String::new() };
            let message = format!("passed over: {place}message {number} is not an object with a role");
            warnings.push(Warning { line: None, message });
        }
        if reader.messages.is_empty() && !envelope.items.is_empty() {
            return Err(ReadError::malformed(format, format!("session {name} holds no message with a role")));
        }
        let (skipped, all) = (reader.skipped.len(), envelope.items.len());
        if skipped * 2 > all {
            let problem = format!("{skipped} of the {all} messages of session {name} are not objects with a role");
            return Err(ReadError::malformed(format, problem));
        }
        let mut session = Session::new();
        session.extend(reader.messages);
        if reader.left_out > 0 {
            let is_left_out = |entry: &&Entry| {
                let is_before = matches!(entry.key, EntryKey::Log(index) if (index as usize) < reader.left_out);
                is_before && !entry.message.is_system_prompt()
            };
            let removed: Vec<EntryKey> = session.view().iter().filter(is_left_out).map(|entry| entry.key).collect();
            session.commit(Epoch::recorded(Trigger::Recorded, removed, Vec::new()));
        }
        if let Some(wrapper) = &envelope.wrapper {
            session.tools =
                wrapper.get("tools").or_else(|| wrapper.get("functions")).and_then(defined_tools).map(Arc::from);
            session.id = name_of(wrapper).map(Arc::from);
        }
        let model = envelope.wrapper.as_ref().and_then(|wrapper| Some(wrapper.text("model")?.into_owned()));
        loaded.push(LoadedSession { name, session, records: reader.records, model });
    }
    Ok(loaded)
}

fn name_of(wrapper: &Object<'_>) -> Option<String> {
    ["session_id", "instance_id", "id", "task_id"].iter().find_map(|key| {
        let json = wrapper.get(key).filter(|json| !json.starts_with(['{', '[']))?;
        Some(json::string(json).map_or_else(|| json.to_owned(), |text| text.into_owned()))
    })
}

/// The part of a request that was read.
#[derive(Default)]
pub(crate) struct RequestReader {
    pub(crate) messages: Vec<Message>,
    records: Vec<Range<usize>>,
    skipped: Vec<usize>,
    /// The number of messages that the provider does not show to the model: a compaction of its own stands for them.
    left_out: usize,
}

impl RequestReader {
    pub(crate) fn record(&mut self, span: Range<usize>) -> u32 {
        self.records.push(span);
        self.records.len() as u32 - 1
    }

    pub(crate) fn push(&mut self, mut message: Message, record: u32, object: &Object<'_>) {
        if let Some(id) = object.text("id") {
            message.id = MessageId::new(&*id);
        }
        message.timestamp = object.text("timestamp").and_then(|time| crate::time::parse(&time));
        message.records = vec![record];
        self.messages.push(message);
    }

    /// The system prompt beside the messages.
    pub(crate) fn instructions(&mut self, envelope: &Envelope<'_>, json: &str, blocks: Vec<Block>) {
        let Some(base) = envelope.offset_of(json) else { return };
        let record = self.record(base..base + json.len());
        let message = Message::new("", Role::System, Origin::Instructions, blocks);
        self.messages.push(Message { records: vec![record], ..message });
    }

    /// Leaves out what was read so far: a compaction that follows stands for it.
    pub(crate) fn leave_out(&mut self) {
        self.left_out = self.messages.len();
    }

    pub(crate) fn warn_skipped(&mut self, number: usize) {
        self.skipped.push(number);
    }
}
