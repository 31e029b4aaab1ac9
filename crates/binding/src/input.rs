//! What is read: sessions of any format, messages of a provider.

use std::sync::Arc;

use epitome::Session;
use epitome::formats::{Format, LoadedFile, ReadOptions, Wire, read};
use epitome::session::{Block, Content, Message, MessageId, ToolResult};

use crate::Failure;

/// How many sessions an error names.
const LISTED: usize = 8;

/// The format of that name.
///
/// # Errors
///
/// There is no such format.
pub fn format_of(name: &str) -> Result<Format, Failure> {
    name.parse::<Format>().map_err(|error| Failure::Format(error.to_string()))
}

/// The provider's format that is meant, or the one of what is given, or OpenAI's chat completions.
///
/// # Errors
///
/// `name` is not the name of a provider's format.
pub fn profile_of(name: Option<&str>, given: Option<Format>) -> Result<Wire, Failure> {
    let Some(name) = name else {
        return Ok(given.and_then(Format::wire).unwrap_or(Wire::OpenaiChat));
    };
    provider_of(format_of(name)?)
}

/// The provider whose form a format is.
///
/// # Errors
///
/// The format is an agent's.
pub fn provider_of(format: Format) -> Result<Wire, Failure> {
    format.wire().ok_or_else(|| {
        Failure::Format(format!(
            "`{format}` is not a provider's format; openai-chat, openai-responses, anthropic and gemini are"
        ))
    })
}

/// A session as it was handed over.
#[derive(Debug, Clone, Default)]
pub struct Input {
    /// Its text, or its objects as JSON.
    pub bytes: Vec<u8>,
    /// Whether a program made it of objects. Text may be a recording, and damaged: that is read with what is understood of it.
    pub is_objects: bool,
}

impl From<Vec<u8>> for Input {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, is_objects: false }
    }
}

/// Reads the sessions of what was handed over; a format that is named is not recognised.
///
/// # Errors
///
/// It is not a session of the format, or of any; a message among objects that is not one of its provider's form.
pub fn load(input: impl Into<Input>, format: Option<&str>) -> Result<LoadedFile, Failure> {
    let Input { bytes, is_objects } = input.into();
    let format = format.map(format_of).transpose()?;
    Ok(read(bytes, ReadOptions { format, checked: is_objects, ..ReadOptions::default() })?)
}

/// The number of the session that is asked for by its name or number: the only one without.
///
/// # Errors
///
/// There is no such session, or there are several and none is named.
pub fn choose(loaded: &LoadedFile, wanted: Option<&str>) -> Result<usize, Failure> {
    let sessions = &loaded.sessions;
    let names = || {
        let names: Vec<&str> = sessions.iter().take(LISTED).map(|session| session.name.as_str()).collect();
        let more = if sessions.len() > names.len() { ", …" } else { "" };
        format!("{}{more}", names.join(", "))
    };
    let Some(wanted) = wanted else {
        return match sessions.len() {
            1 => Ok(0),
            count => {
                Err(Failure::Format(format!("there are {count} sessions in it; name one with `session`: {}", names())))
            }
        };
    };
    let by_name = sessions.iter().position(|session| session.name == wanted);
    let by_number = || wanted.parse::<usize>().ok().filter(|number| *number < sessions.len());
    let found = by_name.or_else(by_number);
    found.ok_or_else(|| Failure::Format(format!("there is no session `{wanted}` in it; there are {}", names())))
}

/// Reads messages that a session is to go on with; each has to be one of the format's form.
///
/// # Errors
///
/// The first message that is not one, or the first result of a call that nobody made, by its number.
pub fn load_next(bytes: &[u8], format: &str, session: &Session) -> Result<Vec<Message>, Failure> {
    let options = ReadOptions { format: Some(format_of(format)?), checked: true, ..ReadOptions::default() };
    let loaded = read(bytes.to_vec(), options)?;
    let messages: Vec<&Arc<Message>> = log_of(&loaded).collect();
    for (place, message) in messages.iter().enumerate() {
        let has_call = |id: &str| {
            let before = messages[..=place].iter().copied().rev().chain(session.log().iter().rev());
            before.flat_map(|message| &message.blocks).any(|block| is_call(block, id))
        };
        let is_orphan = |it: &&ToolResult| !has_call(&it.call_id) && session.call_of(it).is_none();
        if let Some(result) = message.blocks.iter().filter_map(Block::as_result).find(is_orphan) {
            let number = message.records.first().map_or(place, |record| *record as usize);
            let missing = match &*result.call_id {
                "" => "has a call that is open".to_owned(),
                id => format!("has the call `{id}`"),
            };
            return Err(Failure::Format(format!(
                "messages[{number}]: the result of a call is here, and no message before it {missing}; push the message with \
                 the call first",
            )));
        }
    }
    Ok(messages.into_iter().enumerate().map(|(index, message)| without_place(message, index)).collect())
}

fn log_of(loaded: &LoadedFile) -> impl Iterator<Item = &Arc<Message>> {
    loaded.sessions.iter().flat_map(|loaded| loaded.session.log())
}

/// Whether a block is the call of that id. One of a provider's own tool may be kept as it came.
fn is_call(block: &Block, id: &str) -> bool {
    match &block.content {
        Content::ToolCall(call) => &*call.id == id,
        Content::Opaque(opaque) => !id.is_empty() && opaque.json.contains(&format!("\"{id}\"")),
        _ => false,
    }
}

/// A message as a session keeps it: without its place in what it came in, where it was the one of that number.
fn without_place(message: &Message, index: usize) -> Message {
    let mut message = Message { records: Vec::new(), ..message.clone() };
    // A place in this list is no name in the session.
    if message.id.as_str() == format!("m{index}") {
        message.id = MessageId::new("");
    }
    message
}
