//! Answers of providers for their clients, with what the proxy did.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;

use super::checked::SummaryFigures;
use super::headers;
use crate::metrics::ServiceMetrics;
use epitome_fit::conversation::PreparedRequest;

pub(super) const STATUS: HeaderName = HeaderName::from_static("x-epitome-status");
pub(super) const DETAIL: HeaderName = HeaderName::from_static("x-epitome-detail");
pub(super) const TOKENS_BEFORE: HeaderName = HeaderName::from_static("x-epitome-tokens-before");
pub(super) const TOKENS_AFTER: HeaderName = HeaderName::from_static("x-epitome-tokens-after");
const EPOCH: HeaderName = HeaderName::from_static("x-epitome-epoch");

/// A provider's answer for the client, each piece as it comes. Dropping it hangs up on the provider.
pub(super) fn streamed(answer: reqwest::Response) -> Response {
    let (status, headers) = (answer.status(), headers::for_client(answer.headers()));
    let mut response = Response::new(Body::from_stream(answer.bytes_stream()));
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}

/// The answer with what the proxy did.
pub(super) fn with_headers(metrics: &ServiceMetrics, mut response: Response, prepared: &PreparedRequest) -> Response {
    let outcome = prepared.outcome.as_str();
    metrics.count_proxied(outcome);
    if let Some(SummaryFigures { fell_back, asked_again, unverified, added_demands, added_files, left_out }) =
        SummaryFigures::sum(&prepared.epochs)
    {
        tracing::info!(
            fell_back,
            asked_again,
            unverified,
            added_demands,
            added_files,
            left_out,
            "a model's summary was checked"
        );
    }
    match prepared.counts {
        Some(counts) => tracing::info!(
            did = outcome,
            detail = prepared.detail,
            tokens_before = counts.tokens_before,
            tokens_after = counts.tokens_after,
            epochs = counts.epochs,
            "sent on"
        ),
        None => tracing::info!(did = outcome, detail = prepared.detail, "sent on"),
    }
    let headers = response.headers_mut();
    headers.insert(STATUS, HeaderValue::from_static(outcome));
    if let Some(detail) = prepared.detail {
        headers.insert(DETAIL, HeaderValue::from_static(detail));
    }
    if let Some(counts) = prepared.counts {
        headers.insert(TOKENS_BEFORE, HeaderValue::from(counts.tokens_before));
        headers.insert(TOKENS_AFTER, HeaderValue::from(counts.tokens_after));
        headers.insert(EPOCH, HeaderValue::from(counts.epochs));
    }
    response
}
