//! Requests in a provider's format, as callers send them.

use std::str::FromStr;

use epitome::formats::{Format, LoadedFile, ReadOptions, read};

use super::error::ApiError;
use super::parts;
use super::problem::Problem;

/// 413 for content with too many parts.
pub(crate) fn too_many_parts(what: &str, most: usize) -> ApiError {
    Problem::TooManyParts.with(format!("{what} has more than {most} messages, blocks and calls"))
}

/// Reads one request in a provider's format.
pub(crate) fn read_request(bytes: Vec<u8>, format: Option<Format>, most_parts: usize) -> Result<LoadedFile, ApiError> {
    if parts::are_too_many(&bytes, most_parts) {
        return Err(too_many_parts("the request", most_parts));
    }
    let loaded = read(bytes, ReadOptions { format, strict: true, ..ReadOptions::default() })
        .map_err(|error| Problem::UnreadableRequest.with(error.to_string()))?;
    if loaded.format.wire().is_none() {
        return Err(Problem::NotARequest
            .with(format!("this is a session of {}, and not a request to a provider", loaded.format)));
    }
    if loaded.sessions.len() != 1 {
        let message = format!("there are {} requests in it", loaded.sessions.len());
        return Err(Problem::SeveralRequests.with(message));
    }
    Ok(loaded)
}

/// A provider's format by name.
pub(crate) fn provider_format(name: &str) -> Result<Format, ApiError> {
    let format = Format::from_str(name).ok().filter(|format| format.wire().is_some());
    format.ok_or_else(|| Problem::UnknownFormat.with(format!("`{name}` is not the name of a provider's format")))
}
