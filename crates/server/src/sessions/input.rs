//! Input from callers: ids in paths, queries, bodies, messages.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use epitome::formats::{Format, LoadedFile};
use epitome::session::{Message, MessageId};
use serde::{Deserialize, Deserializer};
use utoipa::IntoParams;

use crate::http::{ApiError, PathParameters, Problem, check_name, provider_format, read_request};

/// The longest title, in characters.
const LONGEST_TITLE: usize = 500;

/// The id of a session in a path. An id that no session can have is 400.
#[derive(Debug, Clone, IntoParams)]
#[into_params(names("id"), parameter_in = Path)]
pub(crate) struct SessionId(
    /// The session
    pub(crate) String,
);

/// The part behind the session's id in a path: a message, a compaction, a handle.
#[derive(Debug, Clone)]
pub(crate) struct PathPart(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for SessionId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let id = part(parts, state, |name| name == "id").await?;
        check_id(&id)?;
        Ok(Self(id))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PathPart {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        part(parts, state, |name| name != "id").await.map(Self)
    }
}

async fn part<S: Send + Sync>(parts: &mut Parts, state: &S, wanted: fn(&str) -> bool) -> Result<String, ApiError> {
    let PathParameters(path) = PathParameters::<Vec<(String, String)>>::from_request_parts(parts, state).await?;
    let found = path.into_iter().find(|(name, _)| wanted(name));
    found.map(|(_, value)| value).ok_or_else(|| Problem::Internal.into()) // a route without this part
}

/// Refuses a text that cannot be the id of a session: invalid names, names of routes, and parts that clients and
/// proxies remove from a path.
pub(crate) fn check_id(id: &str) -> Result<(), ApiError> {
    check_name("id", id)?;
    if ["import", ".", ".."].contains(&id) {
        return Err(Problem::BadName.with(format!("`id` cannot be `{id}`")).with_help("any other name will do"));
    }
    Ok(())
}

/// Refuses an invalid title.
pub(super) fn check_title(title: &str) -> Result<(), ApiError> {
    if title.chars().count() <= LONGEST_TITLE && !title.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Problem::BadTitle.into())
}

/// A field that may be left out, and may be null.
pub(super) fn maybe_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

/// Reads messages, or a request with its messages, in a provider's format.
pub(super) fn read_messages(json: &str, format: Option<&str>, most_parts: usize) -> Result<LoadedFile, ApiError> {
    let format: Option<Format> = format.map(provider_format).transpose()?;
    let loaded = read_request(json.as_bytes().to_vec(), format, most_parts)?;
    if let Some(warning) = loaded.warnings.first() {
        return Err(Problem::UnreadableRequest.with(warning.message.clone()));
    }
    Ok(loaded)
}

/// Messages as they are kept: without their places in what they came in.
pub(super) fn messages_of(loaded: &LoadedFile) -> Vec<Message> {
    let log = loaded.sessions.iter().flat_map(|loaded| loaded.session.log()).enumerate();
    log.map(|(index, message)| {
        let mut message = Message { records: Vec::new(), ..Message::clone(message) };
        // A position in this request is not a name in the session.
        if message.id.as_str() == format!("m{index}") {
            message.id = MessageId::new("");
        }
        message
    })
    .collect()
}
