//! Requests in a provider's format, as callers send them.

use std::str::FromStr;

use axum::http::StatusCode;
use epitome::formats::{Format, LoadedFile, Profile, ReadOptions, read};

use super::error::ApiError;
use super::parts;

/// 413 for what has too many parts.
pub(crate) fn too_many_parts(what: &str, most: usize) -> ApiError {
    let message = format!("{what} has more than {most} messages, blocks and calls");
    let help = "send less, or raise --max-parts";
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too-many-parts", message, help)
}

/// Reads one request in a provider's format.
pub(crate) fn read_request(bytes: Vec<u8>, format: Option<Format>, most_parts: usize) -> Result<LoadedFile, ApiError> {
    if parts::are_too_many(&bytes, most_parts) {
        return Err(too_many_parts("the request", most_parts));
    }
    let help =
        "send a request of openai-chat, openai-responses or anthropic; `format` says which where it is not recognised";
    let loaded = read(bytes, ReadOptions { format, strict: true, ..ReadOptions::default() })
        .map_err(|error| ApiError::bad("unreadable-request", error.to_string(), help))?;
    if Profile::of(loaded.format).is_none() {
        let message = format!("this is a session of {}, and not a request to a provider", loaded.format);
        return Err(ApiError::bad("not-a-request", message, help));
    }
    if loaded.sessions.len() != 1 {
        let message = format!("there are {} requests in it", loaded.sessions.len());
        return Err(ApiError::bad("several-requests", message, "send one at a time"));
    }
    Ok(loaded)
}

/// A provider's format by name.
pub(crate) fn provider_format(name: &str) -> Result<Format, ApiError> {
    let format = Format::from_str(name).ok().filter(|format| Profile::of(*format).is_some());
    format.ok_or_else(|| {
        let message = format!("`{name}` is no provider's format");
        ApiError::bad("unknown-format", message, "openai-chat, openai-responses or anthropic")
    })
}
