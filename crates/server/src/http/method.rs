//! What is answered where a path or a method is nobody's.

use axum::http::StatusCode;

use super::error::ApiError;

/// The answer where a route takes other methods.
pub(crate) async fn wrong_method() -> ApiError {
    let help = "GET /openapi.json lists the routes with their methods";
    let status = StatusCode::METHOD_NOT_ALLOWED;
    ApiError::new(status, "wrong-method", "this route takes another method", help)
}

/// The answer to a path that is nobody's.
pub(crate) fn no_route() -> ApiError {
    let help = "GET /openapi.json lists the routes; with --upstream other paths are a provider's";
    ApiError::new(StatusCode::NOT_FOUND, "no-route", "there is no such route", help)
}
