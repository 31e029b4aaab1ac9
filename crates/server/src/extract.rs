//! What stands in a path or behind its `?`, with errors as JSON.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The parts of a path. What is no text, or not of its type, is 400.
#[derive(Debug, Clone)]
pub(crate) struct InPath<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for InPath<T> {
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
pub(crate) struct InQuery<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for InQuery<T> {
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
