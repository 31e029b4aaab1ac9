//! What every request passes: the host's name, the token, the rate, a slot; and what is told of it.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use tracing::Instrument;

use crate::error::ApiError;
use crate::proxy;
use crate::settings::Limits;
use crate::state::App;

/// The header with the number of a request, which the log repeats.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-epitome-request-id");

/// Routes that need no token: they tell nothing but that the service runs.
const OPEN: [&str; 3] = ["/healthz", "/readyz", "/openapi.json"];

/// Lets a request in or refuses it, and tells of it.
pub(crate) async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let started = Instant::now();
    let under_way = app.metrics.begin();
    let route = route_of(&request);
    let is_proxied = route == proxy::ROUTE || proxy::format_of(request.uri().path()).is_some();
    let span =
        tracing::info_span!("request", number, route, method = %request.method(), tenant = tracing::field::Empty);
    let mut response = async {
        match admit(&app, &mut request, route) {
            Err(error) => error.into_response(),
            Ok(()) if OPEN.contains(&route) => next.run(request).await,
            Ok(()) => match app.slots.try_acquire() {
                Ok(_slot) => next.run(request).await,
                Err(_) => {
                    let help = "try again as Retry-After says; --max-concurrent sets the limit";
                    let status = StatusCode::SERVICE_UNAVAILABLE;
                    let busy = ApiError::new(status, "busy", "too many requests are under way", help);
                    busy.retry_after(Duration::from_secs(1)).into_response()
                }
            },
        }
    }
    .instrument(span.clone())
    .await;
    if let Ok(number) = HeaderValue::try_from(number.to_string()) {
        response.headers_mut().insert(REQUEST_ID, number);
    }
    let (status, took) = (response.status().as_u16(), started.elapsed());
    drop(under_way);
    app.metrics.request(route, status, took);
    let milliseconds = took.as_millis() as u64;
    span.in_scope(|| tracing::info!(status, milliseconds, proxied = is_proxied, "answered"));
    response
}

fn admit(app: &App, request: &mut Request, route: &str) -> Result<(), ApiError> {
    if app.settings.tokens.is_empty() {
        from_this_machine(request.headers(), request.uri())?;
    }
    if OPEN.contains(&route) {
        return Ok(());
    }
    let caller = app.settings.tokens.caller(request.headers()).ok_or_else(|| {
        let help =
            "send `Authorization: Bearer TOKEN`, or `X-Epitome-Token: TOKEN` where Authorization is a provider's";
        ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "there is no valid token in the request", help)
    })?;
    tracing::Span::current().record("tenant", &*caller.tenant);
    app.admit(&caller.tenant)?;
    request.extensions_mut().insert(caller);
    Ok(())
}

/// Without tokens, only programs of this machine are served: a page in a browser that has another name resolve to this
/// machine, or that calls from elsewhere, is not.
fn from_this_machine(headers: &HeaderMap, uri: &Uri) -> Result<(), ApiError> {
    let refused = |what: &str| {
        let help = "call it as localhost or 127.0.0.1, or run it with tokens";
        ApiError::new(StatusCode::FORBIDDEN, "not-local", format!("the request comes from elsewhere: {what}"), help)
    };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).or(uri.host());
    if !host.is_none_or(is_local) {
        return Err(refused("its Host is not this machine"));
    }
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or("?"));
    let is_ours = |origin: &str| origin.split_once("://").is_some_and(|(_, host)| is_local(host));
    if !origin.is_none_or(is_ours) {
        return Err(refused("its Origin is not this machine"));
    }
    Ok(())
}

/// Whether a host, with or without a port, is this machine.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The route of a request, as the log and the metrics name it: a pattern and never the caller's text.
fn route_of(request: &Request) -> &'static str {
    let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    matched.and_then(|path| crate::routes::PATHS.iter().find(|known| **known == path)).copied().unwrap_or(proxy::ROUTE)
}

/// The whole body of a request.
pub(crate) async fn body_of(body: Body, headers: &HeaderMap, limits: &Limits) -> Result<Bytes, ApiError> {
    let most = limits.body_bytes;
    let too_large = || {
        let message = format!("the body is larger than {most} bytes");
        let help = "send less, or raise --max-body";
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message, help)
    };
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let arrived = tokio::time::timeout(limits.body_timeout, to_bytes(body, most)).await.map_err(|_| {
        let message = format!("the body took longer than {} seconds", limits.body_timeout.as_secs());
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "slow-body", message, "send it at once")
    })?;
    arrived.map_err(|error| {
        let is_limit =
            std::error::Error::source(&error).is_some_and(|source| source.to_string().contains("length limit"));
        if is_limit { too_large() } else { ApiError::bad("broken-body", "the body broke off", "send it whole") }
    })
}

/// The JSON body of a request.
pub(crate) async fn json_of<T: DeserializeOwned>(request: Request, limits: &Limits) -> Result<T, ApiError> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind != "application/json" && !kind.ends_with("+json") {
        let help = "send the header `Content-Type: application/json`";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(ApiError::new(status, "not-json", "the body is not said to be JSON", help));
    }
    let (parts, body) = request.into_parts();
    let body = body_of(body, &parts.headers, limits).await?;
    serde_json::from_slice(&body).map_err(|error| {
        ApiError::bad("bad-request", error.to_string(), "GET /openapi.json describes what each route takes")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_by_its_names() {
        for (host, expect) in [
            ("localhost", true),
            ("LOCALHOST:7777", true),
            ("127.0.0.1:7777", true),
            ("127.9.9.9", true),
            ("[::1]:7777", true),
            ("[::1]", true),
            ("localhost.evil.example", false),
            ("evil.example:7777", false),
            ("10.0.0.1:7777", false),
            ("[::2]", false),
            ("", false),
        ] {
            assert_eq!(is_local(host), expect, "{host}");
        }
    }
}
