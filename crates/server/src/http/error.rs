//! What goes wrong, as callers get it: `{"error": {"code", "message", "help"}}`.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use epitome::Report;
use serde::Serialize;
use utoipa::ToSchema;

/// An error as a caller gets it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// What went wrong.
    pub(crate) error: ErrorPart,
    /// The report of a compaction that could not be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) report: Option<Box<Report>>,
}

/// What went wrong.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ErrorPart {
    /// For programs; always `epitome_error`, so that clients of providers find the field that they look for.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// For programs: what went wrong, in kebab case.
    pub(crate) code: &'static str,
    /// For people: what went wrong.
    pub(crate) message: String,
    /// For people: what to do about it.
    pub(crate) help: String,
}

/// An error with its status.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) body: ErrorBody,
    retry_after: Option<Duration>,
}

impl ApiError {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let error = ErrorPart { kind: "epitome_error", code, message: message.into(), help: help.into() };
        Self { status, body: ErrorBody { error, report: None }, retry_after: None }
    }

    /// 400: what was sent cannot be taken.
    pub(crate) fn bad(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message, help)
    }

    /// 500: our own fault; what happened is in the log and not in the answer.
    pub(crate) fn internal() -> Self {
        let help = "nothing was changed; the log has more under this request's id";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the service failed on this request", help)
    }

    /// The same with the time after which trying again makes sense.
    pub(crate) fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// The same with the report of the compaction that could not be made.
    pub(crate) fn with_report(mut self, report: Report) -> Self {
        self.body.report = Some(Box::new(report));
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if let Some(wait) = self.retry_after {
            let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
