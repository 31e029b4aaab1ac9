//! What is read: sessions of any format, messages of a provider.

use epitome::formats::{Format, LoadedFile, Profile, ReadOptions, check_message, read};
use epitome::recall::Query;
use epitome::session::{Message, MessageId};
use epitome_fit::FitError;
use serde_json::value::RawValue;

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
pub fn profile_of(name: Option<&str>, given: Option<Format>) -> Result<Profile, Failure> {
    let Some(name) = name else {
        return Ok(given.and_then(Profile::from_format).unwrap_or(Profile::OpenaiChat));
    };
    provider_of(format_of(name)?)
}

/// The provider whose form a format is.
///
/// # Errors
///
/// The format is an agent's.
pub fn provider_of(format: Format) -> Result<Profile, Failure> {
    Profile::from_format(format).ok_or_else(|| {
        Failure::Format(format!(
            "`{format}` is not a provider's format; openai-chat, openai-responses, anthropic and gemini are"
        ))
    })
}

/// Reads the sessions of a text; a format that is named is not recognised.
///
/// # Errors
///
/// The text is not a session of the format, or of any.
pub fn load(bytes: Vec<u8>, format: Option<&str>) -> Result<LoadedFile, Failure> {
    let format = format.map(format_of).transpose()?;
    Ok(read(bytes, ReadOptions { format, ..ReadOptions::default() })?)
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

/// Checks each message of a JSON list of a provider's form, where a whole session would be read with what is understood of it.
/// Text that is no such list is left to its reader.
///
/// # Errors
///
/// The first message that is not one, by its number.
pub fn check_each(list: &[u8], format: &str) -> Result<(), Failure> {
    let Some(profile) = Profile::from_format(format_of(format)?) else { return Ok(()) };
    let Ok(items) = serde_json::from_slice::<Vec<&RawValue>>(list) else { return Ok(()) };
    for (index, item) in items.into_iter().enumerate() {
        check_message(profile, item.get())
            .map_err(|error| Failure::of_fit(FitError::Message { index, problem: error.to_string() }, profile))?;
    }
    Ok(())
}

/// Messages as a session keeps them: without their places in what they came in.
pub fn messages_of(loaded: &LoadedFile) -> Vec<Message> {
    let log = loaded.sessions.iter().flat_map(|loaded| loaded.session.log()).enumerate();
    log.map(|(index, message)| {
        let mut message = Message { records: Vec::new(), ..Message::clone(message) };
        // A place in this list is no name in the session.
        if message.id.as_str() == format!("m{index}") {
            message.id = MessageId::new("");
        }
        message
    })
    .collect()
}

/// The query of a search as JSON.
///
/// # Errors
///
/// The JSON is not a query.
pub fn query_of(json: &[u8]) -> Result<Query, Failure> {
    serde_json::from_slice(json).map_err(|error| Failure::config(format!("the search: {error}")))
}
