//! What is answered where a path or a method is nobody's.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;

use super::error::ApiError;

/// A route that answers other methods in JSON too.
pub(crate) fn only<S: Clone + Send + Sync + 'static>(route: MethodRouter<S>) -> MethodRouter<S> {
    route.fallback(wrong_method)
}

async fn wrong_method() -> Response {
    let help = "GET /openapi.json lists the routes with their methods";
    let status = StatusCode::METHOD_NOT_ALLOWED;
    ApiError::new(status, "wrong-method", "this route takes another method", help).into_response()
}

/// The answer to a path that is nobody's.
pub(crate) fn no_route() -> ApiError {
    let help = "GET /openapi.json lists the routes; with --upstream other paths are a provider's";
    ApiError::new(StatusCode::NOT_FOUND, "no-route", "there is no such route", help)
}
