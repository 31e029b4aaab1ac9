//! The parameters of paths and queries, with their bounds, and with errors as JSON.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use epitome::store::LONGEST_NAME;
use serde::de::DeserializeOwned;

use super::error::ApiError;
use super::problem::Problem;

/// The parts of a path. The error for a part that is not text, or not of its type, is 400.
#[derive(Debug, Clone)]
pub(crate) struct PathParameters<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathParameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(path)) => Ok(Self(path)),
            Err(refused) => Err(Problem::BadPath.with(refused.body_text())),
        }
    }
}

/// The query of a path. The service answers 400 where a value is not of its type; types that deny unknown fields refuse
/// parameters that would have no effect.
#[derive(Debug, Clone)]
pub(crate) struct QueryParameters<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for QueryParameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(query)) => Ok(Self(query)),
            Err(refused) => Err(Problem::BadQuery.with(refused.body_text())),
        }
    }
}

/// Refuses what cannot be the name of anything: 1 to 200 characters, no control characters.
pub(crate) fn check_name(of: &str, name: &str) -> Result<(), ApiError> {
    let length = name.chars().count();
    if (1..=LONGEST_NAME).contains(&length) && !name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Problem::BadName.with(format!("`{of}` is not a name")))
}

/// The number of items of a page: the number asked for, 50 by default.
pub(crate) fn page_size(limit: Option<u32>) -> Result<u32, ApiError> {
    let limit = limit.unwrap_or(50);
    if (1..=500).contains(&limit) {
        return Ok(limit);
    }
    Err(Problem::BadLimit.with(format!("`limit` is {limit}")))
}
