//! The checks that every request passes: the host's name, the token, the rate, a slot; and its log line and metrics.

mod answers;
mod quotas;
mod rates;
mod shared_rates;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody as _};
use axum::extract::{MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt as _, stream};
use parking_lot::Mutex;
use tracing::Instrument;

use crate::auth::Caller;
use crate::http::{ApiError, Problem, body_of};
use crate::settings::RateScope;
use crate::state::Core;
#[cfg(feature = "otel")]
use crate::telemetry;

pub(crate) use quotas::{QuotaPermit, TenantQuotas};
use rates::{CountedBy, Rates};
use shared_rates::SharedRates;

/// The header with the number of a request, which the log repeats.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-epitome-request-id");

/// Requests whose bodies may arrive at once, for each that may be answered at once.
const MOST_ARRIVING: usize = 4;

/// Bodies of the largest size that may be in memory at once; answers too.
const MOST_BODIES: usize = 8;

/// The access that a route requires.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Access {
    /// Nothing, and it is answered where all connections are taken: it only says whether the service runs.
    Health,
    /// No token: the route shows no data of a tenant.
    Open,
    /// A token. It is answered however many requests are under way: what happens is wanted most then.
    Metrics,
    /// A token, and room for one more request.
    Caller,
    /// The same for a route of a provider; whether the proxy reads a request to it, which then has to arrive whole.
    Provider(fn(&Method, &str) -> bool),
}

/// The label of providers' routes in the log and the metrics.
const PROVIDER: &str = "proxy";

/// The checks that every request passes.
#[derive(Debug)]
pub(crate) struct Guard {
    core: Arc<Core>,
    rates: Rates,
    /// Requests that are answered.
    slots: Arc<TenantQuotas>,
    /// Requests whose bodies arrive.
    arriving: Arc<TenantQuotas>,
    /// Bytes of bodies that arrive or are answered.
    body_bytes: Arc<TenantQuotas>,
    /// Bytes of answers that are on their way.
    answer_bytes: Arc<TenantQuotas>,
    /// Requests of the proxy whose bodies go on as they come.
    streams: Arc<TenantQuotas>,
}

impl Guard {
    pub(crate) fn new(core: Arc<Core>) -> Arc<Self> {
        let (limits, are_several) = (&core.settings.limits, core.settings.tokens.has_several_tenants());
        let shares = |most| TenantQuotas::new(most, are_several);
        let bodies = limits.body_bytes.saturating_mul(MOST_BODIES);
        Arc::new(Self {
            rates: Rates::new(limits.requests_per_minute, shared_rates(&core)),
            slots: shares(limits.concurrent),
            arriving: shares(limits.concurrent.saturating_mul(MOST_ARRIVING)),
            body_bytes: shares(bodies),
            answer_bytes: shares(bodies),
            streams: shares(limits.concurrent),
            core,
        })
    }
}

/// The rates of all instances, where they are to share them and have a database that all of them see.
fn shared_rates(core: &Core) -> Option<SharedRates> {
    let limits = &core.settings.limits;
    let exchange = match limits.rate_scope {
        RateScope::Instance => None,
        RateScope::Store => core.storage().ok().and_then(|storage| storage.store.exchange()),
    };
    exchange.map(|exchange| SharedRates::new(exchange, limits.requests_per_minute))
}

/// Says of a request that its connection is one of those beyond the bound, on which only health is answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OverConnectionLimit;

/// Lets a request in or refuses it, and counts and logs it.
pub(crate) async fn guard(
    State((guard, access)): State<(Arc<Guard>, Access)>,
    mut request: Request,
    next: Next,
) -> Response {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let started = Instant::now();
    let metrics = &guard.core.metrics;
    let under_way = metrics.begin();
    // A pattern, and never the caller's text.
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let route = matched.as_ref().map_or(PROVIDER, MatchedPath::as_str);
    let is_proxied = matches!(access, Access::Provider(_));
    #[cfg(feature = "otel")]
    let span = {
        let is_probe = matches!(access, Access::Health | Access::Metrics);
        telemetry::request_span(number, route, is_probe, &mut request)
    };
    #[cfg(not(feature = "otel"))]
    let span =
        tracing::info_span!("request", number, route, method = %request.method(), tenant = tracing::field::Empty);
    let is_crowded = request.extensions().get::<OverConnectionLimit>().is_some() && !matches!(access, Access::Health);
    let mut response = async {
        if is_crowded {
            return unread(request, Problem::Busy.with("too many connections are open"));
        }
        if let Err(error) = admit(&guard, &mut request, access).await {
            return unread(request, error);
        }
        match access {
            Access::Health | Access::Open | Access::Metrics => next.run(request).await,
            Access::Provider(is_read) if !is_read(request.method(), request.uri().path()) => {
                streamed(&guard, request, next).await
            }
            Access::Caller | Access::Provider(_) => run_in_slot(&guard, request, next, access).await,
        }
    }
    .instrument(span.clone())
    .await;
    if let Ok(number) = HeaderValue::try_from(number.to_string()) {
        response.headers_mut().insert(REQUEST_ID, number);
    }
    let (status, took) = (response.status().as_u16(), started.elapsed());
    #[cfg(feature = "otel")]
    telemetry::note_answer(&span, status, response.headers());
    drop(under_way);
    metrics.request(route, status, took);
    let milliseconds = took.as_millis() as u64;
    span.in_scope(|| tracing::info!(status, milliseconds, proxied = is_proxied, "answered"));
    response
}

/// An error for a request whose body was not read, or not all of it. The connection ends with it: the rest of the body
/// would be taken for the next request.
fn unread(request: Request, error: ApiError) -> Response {
    close_behind(!request.body().is_end_stream(), error.into_response())
}

/// An answer, the last of its connection where something of the request is unread.
fn close_behind(is_unread: bool, mut response: Response) -> Response {
    if is_unread {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Answers a request when there is room for it. Its body arrives first: a request that is never sent whole takes no slot, and
/// the bytes of all bodies are bounded until they are answered. What the proxy sends on as it comes is never here whole.
async fn run_in_slot(guard: &Guard, request: Request, next: Next, access: Access) -> Response {
    let tenant = tenant_of(&request);
    let (parts, body) = request.into_parts();
    let is_empty = body.is_end_stream();
    let (body, _bytes) = match is_empty {
        true => (body, None),
        false => match receive_body(guard, &tenant, &parts, body, access).await {
            Ok(arrived) => arrived,
            Err(error) => return close_behind(true, error.into_response()),
        },
    };
    let Some(slot) = guard.slots.take(&tenant, 1) else {
        return Problem::Busy.with("too many requests are under way").into_response();
    };
    let response = next.run(Request::from_parts(parts, body)).await;
    drop(slot);
    answers::meter_answer(&guard.answer_bytes, &tenant, response).await
}

/// Answers a request whose body is sent to the provider as it arrives, whatever its size; a client that sends nothing
/// for too long ends it.
async fn streamed(guard: &Guard, request: Request, next: Next) -> Response {
    let Some(_stream) = guard.streams.take(&tenant_of(&request), 1) else {
        return unread(request, Problem::Busy.with("too many requests are under way"));
    };
    let (parts, body) = request.into_parts();
    let is_empty = body.is_end_stream();
    let (patience, is_late) = (guard.core.settings.limits.body_timeout, Arc::new(AtomicBool::new(false)));
    let body = if is_empty { body } else { within_time(body, patience, Arc::clone(&is_late)) };
    let response = next.run(Request::from_parts(parts, body)).await;
    if is_late.load(Ordering::Relaxed) {
        let message = format!("nothing came of the body for {} seconds", patience.as_secs());
        let late = Problem::SlowBody.with(message);
        return close_behind(true, late.into_response());
    }
    // A provider that answers before it has read all of it wants no more of it.
    let is_refused = !response.status().is_success();
    close_behind(is_refused && !is_empty, response)
}

/// A body of which each piece has to come in time; it breaks off, and `is_late` is set, where one does not.
fn within_time(body: Body, patience: Duration, is_late: Arc<AtomicBool>) -> Body {
    Body::from_stream(stream::unfold(Some((body.into_data_stream(), is_late)), move |state| async move {
        let (mut pieces, is_late) = state?;
        match tokio::time::timeout(patience, pieces.next()).await {
            Ok(Some(Ok(piece))) => Some((Ok(piece), Some((pieces, is_late)))),
            Ok(Some(Err(error))) => Some((Err(error), None)),
            Ok(None) => None,
            Err(_) => {
                is_late.store(true, Ordering::Relaxed);
                Some((Err(axum::Error::new("the body does not come")), None))
            }
        }
    }))
}

/// A body that is here whole, with its share of the bytes.
async fn receive_body(
    guard: &Guard,
    tenant: &Arc<str>,
    parts: &Parts,
    body: Body,
    #[cfg_attr(not(feature = "otel"), allow(unused_variables, reason = "what is traced depends on it"))] access: Access,
) -> Result<(Body, Option<Arc<Mutex<QuotaPermit>>>), ApiError> {
    let _place =
        guard.arriving.take(tenant, 1).ok_or_else(|| Problem::Busy.with("too many requests are on their way"))?;
    let too_much = || Problem::Busy.with("too many bytes are on their way");
    let share = Arc::new(Mutex::new(guard.body_bytes.take(tenant, 0).ok_or_else(too_much)?));
    let is_refused = Arc::new(AtomicBool::new(false));
    let (counted, refused) = (Arc::clone(&share), Arc::clone(&is_refused));
    let pieces = body.into_data_stream().map(move |piece| match piece {
        Ok(piece) if !counted.lock().grow(piece.len()) => {
            refused.store(true, Ordering::Relaxed);
            Err(axum::Error::new("there is no room"))
        }
        piece => piece,
    });
    let bytes = body_of(Body::from_stream(pieces), &parts.headers, &guard.core.settings.limits).await;
    if is_refused.load(Ordering::Relaxed) {
        return Err(too_much());
    }
    let bytes = bytes?;
    #[cfg(feature = "otel")]
    if matches!(access, Access::Provider(_)) {
        telemetry::note_inference(&parts.method, parts.uri.path(), &bytes);
    }
    Ok((Body::from(bytes), Some(share)))
}

fn tenant_of(request: &Request) -> Arc<str> {
    request.extensions().get::<Caller>().map_or_else(|| Arc::from(""), |caller| Arc::clone(&caller.tenant))
}

async fn admit(guard: &Guard, request: &mut Request, access: Access) -> Result<(), ApiError> {
    if guard.core.settings.tokens.is_empty() {
        from_this_machine(request.headers(), request.uri())?;
    }
    if matches!(access, Access::Health | Access::Open) {
        return Ok(());
    }
    let caller = guard.core.settings.tokens.caller(request.headers()).ok_or(Problem::Unauthorized)?;
    tracing::Span::current().record("tenant", &*caller.tenant);
    if guard.rates.take(&caller.tenant).await? == CountedBy::ThisInstance {
        guard.core.metrics.rate_fallback();
    }
    request.extensions_mut().insert(caller);
    Ok(())
}

/// Without tokens, only programs of this machine are served: a page in a browser that has another name resolve to this
/// machine, or that calls from elsewhere, is not.
fn from_this_machine(headers: &HeaderMap, uri: &Uri) -> Result<(), ApiError> {
    let refused = |what: &str| Problem::NotLocal.with(format!("the request comes from elsewhere: {what}"));
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).or(uri.host());
    if !host.is_none_or(is_local) {
        return Err(refused("its Host is not this machine"));
    }
    // A page of this machine on another port may belong to another program: only the service's own pages may call it.
    let is_own = |origin: &HeaderValue| {
        let origin = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
        origin.is_some_and(|origin| host.is_some_and(|host| origin.eq_ignore_ascii_case(host)))
    };
    if !headers.get(header::ORIGIN).is_none_or(is_own) {
        return Err(refused("its Origin is not this service"));
    }
    // What a browser loads into another page has no Origin. Following a link to here is no harm.
    let is = |name: &str, values: &[&str]| {
        headers.get(name).and_then(|value| value.to_str().ok()).is_some_and(|value| values.contains(&value))
    };
    if is("sec-fetch-site", &["cross-site", "same-site"]) && !is("sec-fetch-mode", &["navigate"]) {
        return Err(refused("another page asks for it"));
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
