//! Sends a request on: as it came, or with the decisions of its conversation.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::Response;
use epitome::live::Overflow;
use epitome::strategy::Cancellation;
use epitome::wire::{Address, Route, Wire};
use epitome_fit::conversation::{FitOutcome, PreparedRequest, prepare, prepare_fast, replay, shrink};
use reqwest::Url;

use super::answer::{STATUS, streamed, with_headers};
use super::conversation::SharedConversation;
use super::handoff::{ProxyHost, UpstreamRoute};
use super::headers;
use super::incoming::Incoming;
use super::learn::UsageReader;
use super::lookup::{Lookup, ProviderEndpoint};
use super::native::{self, NativeRequest, Received};
use super::opening::OpenedAnswer;
use super::read::{ReadFailure, look, read_elsewhere};
use super::state::Proxy;
use super::unread::KnownBody;
use crate::auth::Caller;
use crate::http::{ApiError, body_of, decoded_body};
use crate::worker_pool::WorkFailure;

/// Sends a request that is not a conversation on as it came.
pub(super) async fn pass(proxy: &Proxy, url: Url, request: Request) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let has_body =
        parts.headers.contains_key(header::CONTENT_LENGTH) || parts.headers.contains_key(header::TRANSFER_ENCODING);
    let headers = headers::for_provider(&parts.headers, true);
    let body = has_body.then(|| reqwest::Body::wrap_stream(body.into_data_stream()));
    let answer = proxy.sender.send(parts.method, url, headers, body).await?;
    proxy.core.metrics.count_proxied(FitOutcome::Bypassed.as_str());
    let mut response = streamed(answer);
    response.headers_mut().insert(STATUS, HeaderValue::from_static(FitOutcome::Bypassed.as_str()));
    Ok(response)
}

/// Sends on a request of a conversation, or to a route beside conversations, with ordinary messages in place of our items;
/// or answers it where it asks for a compaction.
pub(super) async fn forward(
    proxy: &Arc<Proxy>,
    caller: Caller,
    (route, wire): (Route, Wire),
    url: Url,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let limits = &proxy.core.settings.limits;
    let body = body_of(body, &parts.headers, limits).await?;
    let mut headers = headers::for_provider(&parts.headers, false);
    headers::ask_for_plain(&mut headers);
    let reservation = proxy.unpacked.reserve(&caller.tenant)?;
    let taking = Arc::clone(&reservation);
    let grow = move |bytes| taking.grow(bytes);
    let Some(body) = decoded_body(&parts.headers, body.clone(), limits.body_bytes, grow).await? else {
        let prepared = PreparedRequest::as_it_came(FitOutcome::Bypassed, "encoded", body);
        return send_on(proxy, SentRequest { url, headers }, prepared, None).await;
    };
    headers.remove(header::CONTENT_ENCODING);
    let is_conversation = route == Route::Conversation;
    #[cfg(feature = "otel")]
    if is_conversation && parts.headers.contains_key(header::CONTENT_ENCODING) {
        crate::telemetry::note_model(&body);
    }
    let mut of_conversation = url.clone();
    if !is_conversation {
        // The conversation's model answers one route above.
        of_conversation.set_path(url.path().trim_end_matches('/').trim_end_matches("/compact"));
    }
    let outgoing = Arc::new(UpstreamRoute::new(&of_conversation, &headers, &proxy.sender));
    let native = NativeRequest {
        caller: &caller,
        wire,
        route,
        reservation: &reservation,
        headers: &parts.headers,
        outgoing: Arc::clone(&outgoing),
    };
    let (body, front, detail) = match native::receive(proxy, native, body).await {
        Received::Answered(response) => return Ok(response),
        Received::Request { body, front, detail } => (body, front, detail),
    };
    if !is_conversation {
        let detail = detail.unwrap_or("other-route");
        let prepared = PreparedRequest::as_it_came(FitOutcome::Bypassed, detail, body.bytes);
        return send_on(proxy, SentRequest { url, headers }, prepared, None).await;
    }
    let (mut prepared, remembered) = decide(proxy, &caller, wire, &parts.headers, body, outgoing).await;
    prepared.detail = prepared.detail.or(detail);
    let answer = send_on(proxy, SentRequest { url, headers }, prepared, remembered).await?;
    Ok(match front {
        Some(front) => front.prepend_to(answer).await,
        None => answer,
    })
}

/// Where a request goes, and with which headers.
struct SentRequest {
    url: Url,
    headers: HeaderMap,
}

/// Sends what was prepared to the provider: its answer, with what the model looks up, and after a smaller request where
/// the first was too long.
async fn send_on(
    proxy: &Arc<Proxy>,
    SentRequest { url, headers }: SentRequest,
    prepared: PreparedRequest,
    remembered: Option<RequestInConversation>,
) -> Result<Response, ApiError> {
    let metrics = &proxy.core.metrics;
    let send = |body: Bytes| {
        let body = Some(reqwest::Body::from(body));
        proxy.sender.send(Method::POST, url.clone(), headers.clone(), body)
    };
    let lookup_of = |remembered: Option<&RequestInConversation>, prepared: &PreparedRequest| {
        let (incoming, shared) = remembered?;
        let again = ProviderEndpoint { url: url.clone(), headers: headers.clone() };
        let lookup = Lookup::new(proxy, incoming, shared, prepared, again)?;
        lookup.body().map(|body| (lookup, body))
    };
    let (lookup, body) = match lookup_of(remembered.as_ref(), &prepared) {
        Some((lookup, body)) => (Some(lookup), body),
        None => (None, prepared.body.clone()),
    };
    let answer = send(body).await?;
    let is_refusal = |answer: &reqwest::Response| !(answer.status().is_success() || answer.status().is_redirection());
    let status = answer.status();
    let mut opened = match &remembered {
        _ if is_refusal(&answer) => OpenedAnswer::refusal(answer).await,
        Some(_) => OpenedAnswer::stream(answer).await,
        None => return Ok(with_headers(metrics, streamed(answer), &prepared)),
    };
    let mut lookup = lookup;
    if lookup.is_some() && opened.overflow.is_none() && Lookup::may_be_refused(status) {
        // It may be our tools that the provider does not take: the client's own request is sent.
        let answer = send(prepared.body.clone()).await?;
        lookup = None;
        opened =
            if is_refusal(&answer) { OpenedAnswer::refusal(answer).await } else { OpenedAnswer::stream(answer).await };
    }
    let (overflow, remembered) = match (opened.overflow, remembered) {
        (Some(overflow), Some(remembered)) => (overflow, remembered),
        (_, remembered) => {
            if let Some((incoming, _)) = remembered.filter(|_| status.is_success()) {
                opened.reader = reader_of(proxy, &incoming, &prepared, opened.is_stream());
            }
            return Ok(with_headers(metrics, pass_answer(lookup, opened).await, &prepared));
        }
    };
    let Some(smaller) = retry(proxy, remembered.clone(), overflow).await else {
        let prepared = PreparedRequest { detail: Some("too-long"), ..prepared };
        return Ok(with_headers(metrics, opened.into_response(), &prepared));
    };
    let (lookup, body) = match lookup_of(Some(&remembered), &smaller) {
        Some((lookup, body)) => (Some(lookup), body),
        None => (None, smaller.body.clone()),
    };
    let mut opened = OpenedAnswer::unseen(send(body).await?);
    if opened.is_success() {
        opened.reader = reader_of(proxy, &remembered.0, &smaller, opened.is_stream());
    }
    Ok(with_headers(metrics, pass_answer(lookup, opened).await, &smaller))
}

/// Notes a request that was accepted, and reads what its answer reports, where its conversation is remembered.
fn reader_of(
    proxy: &Arc<Proxy>,
    incoming: &Arc<Incoming>,
    prepared: &PreparedRequest,
    is_stream: bool,
) -> Option<UsageReader> {
    let shared = proxy.note(incoming, prepared)?;
    Some(UsageReader::new(proxy, shared, incoming.model.as_deref(), is_stream))
}

/// An answer for the client: as it comes, or with what the model looks up.
async fn pass_answer(lookup: Option<Lookup>, opened: OpenedAnswer) -> Response {
    match lookup {
        Some(lookup) => lookup.answer(opened).await,
        None => opened.into_response(),
    }
}

/// A request with its conversation.
type RequestInConversation = (Arc<Incoming>, SharedConversation);

/// The body to send in place of `body`. On any failure, `body` itself.
async fn decide(
    proxy: &Arc<Proxy>,
    caller: &Caller,
    wire: Wire,
    client: &HeaderMap,
    known: KnownBody,
    outgoing: Arc<UpstreamRoute>,
) -> (PreparedRequest, Option<RequestInConversation>) {
    let body = known.bytes.clone();
    let keys = headers::KEYS.iter().filter_map(|name| client.get(*name)).map(HeaderValue::as_bytes);
    let seed = proxy.decider.seed(&caller.tenant, wire, keys);
    let as_it_came = |outcome, detail| (PreparedRequest::as_it_came(outcome, detail, body.clone()), None);
    let said = Address::read(outgoing.url().path(), outgoing.url().query());
    let mut incoming = match look(proxy, caller, wire, seed, known, said.clone()).await {
        Ok(Ok(incoming)) => incoming,
        Ok(Err(detail)) => return as_it_came(FitOutcome::Bypassed, detail),
        Err(ReadFailure { cause, request }) => {
            let Some(incoming) = read_elsewhere(proxy, request).await else {
                return as_it_came(FitOutcome::FailedOpen, cause.as_str());
            };
            let shared = proxy.decisions.find(&incoming.chain).unwrap_or_default();
            return fail_open(proxy, &Arc::new(incoming), &shared, cause.as_str(), body).await;
        }
    };
    if let Some(woven) = proxy.exchanges.reinsert(&incoming) {
        let end = incoming.end();
        // Where it cannot be read with the lookups in it, the client's own history is used.
        if let Ok(Ok(mut read)) = look(proxy, caller, wire, seed, woven.into(), said).await {
            read.woven_at = Some(end);
            incoming = read;
        }
    }
    let incoming = Arc::new(incoming);
    let shared = proxy.decisions.find(&incoming.chain).unwrap_or_default();
    // Requests of one conversation wait for each other, but no longer than a compaction may take.
    let turn = tokio::time::timeout(proxy.core.settings.limits.work_timeout, shared.lock()).await;
    let Ok(mut turn) = turn else { return fail_open(proxy, &incoming, &shared, "timeout", body).await };
    let (shared_proxy, read, same) = (Arc::clone(proxy), Arc::clone(&incoming), shared.clone());
    // Elsewhere, so that a fault of ours ends there.
    let glanced = tokio::task::spawn_blocking(move || {
        let prepared = prepare_fast(&shared_proxy.decider, &read, &mut turn);
        if prepared.is_some() {
            shared_proxy.decisions.keep(&same, &mut turn, read.end());
        }
        (prepared, turn)
    });
    let mut turn = match glanced.await {
        Ok((Some(prepared), _)) => return (prepared, Some((incoming, shared))),
        Ok((None, turn)) => turn,
        Err(_) => return fail_open(proxy, &incoming, &shared, WorkFailure::Panicked.as_str(), body).await,
    };
    let (shared_proxy, read, same) = (Arc::clone(proxy), Arc::clone(&incoming), shared.clone());
    let work = move |cancellation: &Cancellation| {
        let host = ProxyHost::new(&shared_proxy, &read, &outgoing, cancellation);
        let prepared = prepare(&shared_proxy.decider, &shared_proxy.decisions, &read, &same, &mut turn, &host);
        shared_proxy.archive(&read, prepared)
    };
    let prepared = proxy.core.workers.run(&caller.tenant, work).await;
    match prepared {
        Ok(prepared) => (prepared, Some((incoming, shared))),
        Err(failed) => fail_open(proxy, &incoming, &shared, failed.as_str(), body).await,
    }
}

/// The request to send after an internal error: with the earlier decisions, where these can be carried out without
/// waiting for a turn; else as it came.
async fn fail_open(
    proxy: &Arc<Proxy>,
    incoming: &Arc<Incoming>,
    shared: &SharedConversation,
    detail: &'static str,
    body: Bytes,
) -> (PreparedRequest, Option<RequestInConversation>) {
    if let Some(earlier) = proxy.decisions.earlier(&incoming.chain) {
        let (shared_proxy, read) = (Arc::clone(proxy), Arc::clone(incoming));
        // Elsewhere, so that a fault of ours ends there, and not for longer than anything may take.
        let replayed = tokio::task::spawn_blocking(move || replay(&shared_proxy.decider, &read, &earlier));
        if let Ok(Ok(Some(prepared))) = tokio::time::timeout(proxy.core.settings.limits.work_timeout, replayed).await {
            let prepared = PreparedRequest { outcome: FitOutcome::FailedOpen, detail: Some(detail), ..prepared };
            return (prepared, Some((Arc::clone(incoming), shared.clone())));
        }
    }
    (PreparedRequest::as_it_came(FitOutcome::FailedOpen, detail, body), None)
}

/// A smaller request after the provider refused one as too long.
async fn retry(
    proxy: &Arc<Proxy>,
    (incoming, _): RequestInConversation,
    overflow: Overflow,
) -> Option<PreparedRequest> {
    // It may be another conversation by now: one that parted from a known one was remembered on its own.
    let shared = proxy.decisions.find(&incoming.chain).unwrap_or_default();
    let wait = proxy.core.settings.limits.work_timeout;
    let mut turn = tokio::time::timeout(wait, shared.lock()).await.ok()?;
    let same = Arc::clone(proxy);
    let tenant = Arc::clone(&incoming.owner);
    let shrunk = proxy.core.workers.run(&tenant, move |cancellation| {
        let decisions = &same.decisions;
        let made = shrink(&same.decider, decisions, &incoming, &shared, &mut turn, overflow, cancellation)?;
        Some(same.archive(&incoming, made))
    });
    shrunk.await.ok().flatten()
}
