//! What stands in a path or behind its `?`, and its bounds, with errors as JSON.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use epitome::store::LONGEST_NAME;
use serde::de::DeserializeOwned;

use super::error::ApiError;

/// The parts of a path. What is no text, or not of its type, is 400.
#[derive(Debug, Clone)]
pub(crate) struct PathParameters<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathParameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(path)) => Ok(Self(path)),
            Err(refused) => {
                Err(ApiError::bad("bad-path", refused.body_text(), "percent-encode names in paths as UTF-8"))
            }
        }
    }
}

/// What stands behind the `?` of a path. What is not of its type is 400; types that deny unknown fields refuse what nobody
/// would read.
#[derive(Debug, Clone)]
pub(crate) struct QueryParameters<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for QueryParameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(query)) => Ok(Self(query)),
            Err(refused) => {
                let help = "GET /openapi.json describes what each route takes";
                Err(ApiError::bad("bad-query", refused.body_text(), help))
            }
        }
    }
}

/// Refuses what cannot be the name of anything: 1 to 200 characters, no control characters.
pub(crate) fn check_name(of: &str, name: &str) -> Result<(), ApiError> {
    let length = name.chars().count();
    if (1..=LONGEST_NAME).contains(&length) && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let help = format!("1 to {LONGEST_NAME} characters, no control characters");
    Err(ApiError::bad("bad-name", format!("`{of}` is no name"), help))
}

/// The most items of a page: what is asked for, 50 without that.
pub(crate) fn page_size(limit: Option<u32>) -> Result<u32, ApiError> {
    let limit = limit.unwrap_or(50);
    if (1..=500).contains(&limit) {
        return Ok(limit);
    }
    Err(ApiError::bad("bad-limit", format!("`limit` is {limit}"), "1 to 500"))
}
