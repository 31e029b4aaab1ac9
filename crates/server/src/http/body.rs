//! The bodies of requests, within their bounds.

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;

use super::error::ApiError;
use super::problem::Problem;
use crate::settings::Limits;

/// JSON of up to this size is parsed on the thread that answers; more of it would keep others waiting.
const SMALL_JSON: usize = 256 << 10;

/// The whole body of a request.
pub(crate) async fn body_of(body: Body, headers: &HeaderMap, limits: &Limits) -> Result<Bytes, ApiError> {
    let most = limits.body_bytes;
    let too_large = || Problem::TooLarge.with(format!("the body is larger than {most} bytes"));
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let arrived = tokio::time::timeout(limits.body_timeout, to_bytes(body, most)).await.map_err(|_| {
        let message = format!("the body took longer than {} seconds", limits.body_timeout.as_secs());
        Problem::SlowBody.with(message)
    })?;
    arrived.map_err(|error| {
        let is_limit =
            std::error::Error::source(&error).is_some_and(|source| source.to_string().contains("length limit"));
        if is_limit { too_large() } else { ApiError::from(Problem::BrokenBody) }
    })
}

/// The JSON body of a request.
pub(crate) async fn json_of<T: DeserializeOwned + Send + 'static>(
    request: Request,
    limits: &Limits,
) -> Result<T, ApiError> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind != "application/json" && !kind.ends_with("+json") {
        return Err(Problem::NotJson.into());
    }
    let (parts, body) = request.into_parts();
    let body = body_of(body, &parts.headers, limits).await?;
    let size = body.len();
    if body.trim_ascii_start().first().is_some_and(|first| *first == b'[') {
        // A list of an object's fields in their order would be taken for the object.
        return Err(Problem::BadRequest.with("the body is a list and not an object"));
    }
    let parse = move || serde_json::from_slice(&body).map_err(|error| Problem::BadRequest.with(error.to_string()));
    if size <= SMALL_JSON {
        return parse();
    }
    tokio::task::spawn_blocking(parse).await.map_err(|_| Problem::Internal)?
}

/// The JSON body of a request; the default where there is no body.
pub(crate) async fn json_or_default<T: DeserializeOwned + Default + Send + 'static>(
    request: Request,
    limits: &Limits,
) -> Result<T, ApiError> {
    if request.headers().contains_key(header::CONTENT_TYPE) {
        return json_of(request, limits).await;
    }
    let (parts, body) = request.into_parts();
    let body = body_of(body, &parts.headers, limits).await?;
    if body.is_empty() {
        return Ok(T::default());
    }
    // Reports what is missing.
    json_of(Request::from_parts(parts, Body::from(body)), limits).await
}
