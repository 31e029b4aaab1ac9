//! Errors in the form that callers get: `{"error": {"code", "message", "help"}}`.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use epitome::Report;
use serde::Serialize;
use utoipa::ToSchema;

use super::problem::Problem;

/// An error as a caller gets it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// The error.
    error: ErrorPart,
    /// The report of a compaction that could not be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    report: Option<Box<Report>>,
}

/// The error's parts.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct ErrorPart {
    /// For programs; always `epitome_error`, so that clients of providers find the field that they look for.
    #[serde(rename = "type")]
    kind: &'static str,
    code: Problem,
    /// For people: what went wrong.
    message: String,
    /// For people: what to do about it.
    help: String,
}

/// An error of a request: a [`Problem`] with the details of this case.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub(crate) problem: Problem,
    pub(crate) message: String,
    pub(crate) help: String,
    report: Option<Box<Report>>,
    retry_after: Option<Duration>,
}

impl ApiError {
    /// Made by [`Problem::with`].
    pub(super) fn new(problem: Problem, message: String) -> Self {
        Self { problem, message, help: problem.help().to_owned(), report: None, retry_after: None }
    }

    /// The same with other help than the problem's usual one.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// The same with the time after which trying again makes sense.
    pub(crate) fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// The same with the report of the compaction that could not be made.
    pub(crate) fn with_report(mut self, report: Report) -> Self {
        self.report = Some(Box::new(report));
        self
    }
}

impl From<ApiError> for ErrorBody {
    fn from(error: ApiError) -> Self {
        let ApiError { problem, message, help, report, .. } = error;
        Self { error: ErrorPart { kind: "epitome_error", code: problem, message, help }, report }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (problem, retry_after) = (self.problem, self.retry_after);
        let mut response = (problem.status(), Json(ErrorBody::from(self))).into_response();
        if let Some(wait) = retry_after {
            let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if problem.status() == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        ApiError::from(self).into_response()
    }
}
