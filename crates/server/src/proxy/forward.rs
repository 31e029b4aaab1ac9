//! How a request is sent on: as it comes, or as its conversation was decided to be.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::Response;
use epitome::formats::Format;
use epitome::live::Overflow;
use reqwest::Url;

use super::answer::{STATUS, streamed, with_headers};
use super::chain::Digest;
use super::handoff::UpstreamRoute;
use super::incoming::{Incoming, UnreadRequest};
use super::lookup::{Lookup, ProviderEndpoint};
use super::memory::SharedConversation;
use super::opening::OpenedAnswer;
use super::prepare::{keep, prepare, replay, shrink};
use super::prepared::{PreparedRequest, ProxyOutcome};
use super::state::Proxy;
use super::{glance, headers};
use crate::auth::Caller;
use crate::http::{ApiError, body_of};
use crate::turns::WorkFailure;

/// Up to so many bytes of new messages are read at once; more of them wait for a worker.
const SMALL_BYTES: usize = 64 * 1024;

/// Sends on what is none of the proxy's business, as it comes.
pub(super) async fn pass(proxy: &Proxy, caller: &Caller, url: Url, request: Request) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let has_body =
        parts.headers.contains_key(header::CONTENT_LENGTH) || parts.headers.contains_key(header::TRANSFER_ENCODING);
    let headers = headers::for_provider(&parts.headers, caller.by_authorization, true);
    let body = has_body.then(|| reqwest::Body::wrap_stream(body.into_data_stream()));
    let answer = proxy.sender.send(parts.method, url, headers, body).await?;
    proxy.core.metrics.count_proxied(ProxyOutcome::Bypassed.as_str());
    let mut response = streamed(answer);
    response.headers_mut().insert(STATUS, HeaderValue::from_static(ProxyOutcome::Bypassed.as_str()));
    Ok(response)
}

/// Sends on a request of a conversation.
pub(super) async fn forward(
    proxy: &Arc<Proxy>,
    caller: Caller,
    format: Format,
    url: Url,
    request: Request,
) -> Result<Response, ApiError> {
    let metrics = &proxy.core.metrics;
    let (parts, body) = request.into_parts();
    let body = body_of(body, &parts.headers, &proxy.core.settings.limits).await?;
    let mut headers = headers::for_provider(&parts.headers, caller.by_authorization, false);
    headers::ask_for_plain(&mut headers);
    let is_plain = parts.headers.get(header::CONTENT_ENCODING).is_none_or(|encoding| encoding == "identity");
    let outgoing = Arc::new(UpstreamRoute::new(&url, &headers, &proxy.sender));
    let (prepared, remembered) = if is_plain {
        decide(proxy, &caller, format, &parts.headers, body, outgoing).await
    } else {
        (PreparedRequest::as_it_came(ProxyOutcome::Bypassed, "encoded", body), None)
    };
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
        _ => return Ok(with_headers(metrics, pass_answer(lookup, opened).await, &prepared)),
    };
    let Some(smaller) = retry(proxy, remembered.clone(), overflow).await else {
        let prepared = PreparedRequest { detail: Some("too-long"), ..prepared };
        return Ok(with_headers(metrics, opened.into_response(), &prepared));
    };
    let (lookup, body) = match lookup_of(Some(&remembered), &smaller) {
        Some((lookup, body)) => (Some(lookup), body),
        None => (None, smaller.body.clone()),
    };
    let answer = send(body).await?;
    let answer = match lookup {
        Some(lookup) => lookup.answer(OpenedAnswer::unseen(answer)).await,
        None => streamed(answer),
    };
    Ok(with_headers(metrics, answer, &smaller))
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

/// What to send in place of `body`. Whatever goes wrong, `body` itself.
async fn decide(
    proxy: &Arc<Proxy>,
    caller: &Caller,
    format: Format,
    client: &HeaderMap,
    body: Bytes,
    outgoing: Arc<UpstreamRoute>,
) -> (PreparedRequest, Option<RequestInConversation>) {
    let keys = headers::KEYS.iter().filter_map(|name| client.get(*name)).map(HeaderValue::as_bytes);
    let seed = proxy.hashes.seed(&caller.tenant, format, keys);
    let as_it_came = |outcome, detail| (PreparedRequest::as_it_came(outcome, detail, body.clone()), None);
    let mut incoming = match look(proxy, caller, format, seed, body.clone()).await {
        Ok(Ok(incoming)) => incoming,
        Ok(Err(detail)) => return as_it_came(ProxyOutcome::Bypassed, detail),
        Err(ReadFailure { cause, request }) => {
            let Some(incoming) = read_elsewhere(proxy, request).await else {
                return as_it_came(ProxyOutcome::FailedOpen, cause.as_str());
            };
            let shared = proxy.decisions.find(&incoming.chain).unwrap_or_default();
            return fail_open(proxy, &Arc::new(incoming), &shared, cause.as_str(), body).await;
        }
    };
    if let Some(woven) = proxy.exchanges.weave(&incoming) {
        let end = incoming.end();
        // Where it cannot be read with what was looked up, the client's own history stands.
        if let Ok(Ok(mut read)) = look(proxy, caller, format, seed, woven).await {
            read.woven_at = Some(end);
            incoming = read;
        }
    }
    let incoming = Arc::new(incoming);
    let shared = proxy.decisions.find(&incoming.chain).unwrap_or_default();
    // Requests of one conversation wait for each other, but no longer than a compaction may take.
    let turn = tokio::time::timeout(proxy.core.settings.limits.work_timeout, Arc::clone(&shared).lock_owned()).await;
    let Ok(mut turn) = turn else { return fail_open(proxy, &incoming, &shared, "timeout", body).await };
    let (shared_proxy, read, same) = (Arc::clone(proxy), Arc::clone(&incoming), Arc::clone(&shared));
    // Elsewhere, so that a fault of ours ends there.
    let glanced = tokio::task::spawn_blocking(move || {
        let prepared = glance::glance(&shared_proxy, &read, &mut turn);
        if prepared.is_some() {
            keep(&shared_proxy, &read, &same, &mut turn);
        }
        (prepared, turn)
    });
    let mut turn = match glanced.await {
        Ok((Some(prepared), _)) => return (prepared, Some((incoming, shared))),
        Ok((None, turn)) => turn,
        Err(_) => return fail_open(proxy, &incoming, &shared, WorkFailure::Panicked.as_str(), body).await,
    };
    let (shared_proxy, read, same) = (Arc::clone(proxy), Arc::clone(&incoming), Arc::clone(&shared));
    let work = move |cancellation: &_| prepare(&shared_proxy, &read, &same, &mut turn, &outgoing, cancellation);
    let prepared = proxy.core.turns.run(&caller.tenant, work).await;
    match prepared {
        Ok(prepared) => (prepared, Some((incoming, shared))),
        Err(failed) => fail_open(proxy, &incoming, &shared, failed.as_str(), body).await,
    }
}

/// What is sent where something of ours went wrong: what was decided before, where that can be carried out again without
/// anybody's turn; else the request as it came.
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
        let replayed = tokio::task::spawn_blocking(move || replay(&shared_proxy, &read, &earlier));
        if let Ok(Ok(Some(prepared))) = tokio::time::timeout(proxy.core.settings.limits.work_timeout, replayed).await {
            let prepared = PreparedRequest { outcome: ProxyOutcome::FailedOpen, detail: Some(detail), ..prepared };
            return (prepared, Some((Arc::clone(incoming), Arc::clone(shared))));
        }
    }
    (PreparedRequest::as_it_came(ProxyOutcome::FailedOpen, detail, body), None)
}

/// Why a request was not read: nobody had a turn for it, or a fault of ours.
struct ReadFailure {
    cause: WorkFailure,
    /// As far as it was looked at, where nobody has begun to read it.
    request: Option<UnreadRequest>,
}

/// Reads a request that waited for its turn in vain: what was decided for its conversation can still be sent. It takes no
/// turn, and less than what the provider is spared.
async fn read_elsewhere(proxy: &Arc<Proxy>, sighted: Option<UnreadRequest>) -> Option<Incoming> {
    let (shared_proxy, sighted) = (Arc::clone(proxy), sighted?);
    tokio::task::spawn_blocking(move || sighted.learn(&shared_proxy).ok()).await.ok()?
}

/// Looks at a request, and reads what is new in it. Little of that is read at once; much of it waits for its turn.
async fn look(
    proxy: &Arc<Proxy>,
    caller: &Caller,
    format: Format,
    seed: Digest,
    body: Bytes,
) -> Result<Result<Incoming, &'static str>, ReadFailure> {
    let (shared_proxy, tenant) = (Arc::clone(proxy), Arc::clone(&caller.tenant));
    let looked = tokio::task::spawn_blocking(move || {
        let sighted = UnreadRequest::new(&shared_proxy, tenant, format, seed, body)?;
        let is_small = sighted.new_bytes() <= SMALL_BYTES;
        if is_small { sighted.learn(&shared_proxy).map(Ok) } else { Ok(Err(sighted)) }
    });
    match looked.await.map_err(|_| ReadFailure { cause: WorkFailure::Panicked, request: None })? {
        Ok(Ok(incoming)) => Ok(Ok(incoming)),
        Ok(Err(sighted)) => {
            let (shared_proxy, waiting) = (Arc::clone(proxy), Arc::new(Mutex::new(Some(sighted))));
            let take =
                |waiting: &Mutex<Option<UnreadRequest>>| waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
            let its = Arc::clone(&waiting);
            match proxy
                .core
                .turns
                .run(&caller.tenant, move |_| take(&its).map(|sighted| sighted.learn(&shared_proxy)))
                .await
            {
                Ok(Some(learnt)) => Ok(learnt),
                // Nobody else takes it before it has failed.
                Ok(None) => Err(ReadFailure { cause: WorkFailure::Panicked, request: None }),
                Err(cause) => Err(ReadFailure { cause, request: take(&waiting) }),
            }
        }
        Err(detail) => Ok(Err(detail)),
    }
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
    let mut turn = tokio::time::timeout(wait, Arc::clone(&shared).lock_owned()).await.ok()?;
    let same = Arc::clone(proxy);
    let tenant = Arc::clone(&incoming.tenant);
    let shrunk = proxy
        .core
        .turns
        .run(&tenant, move |cancellation| shrink(&same, &incoming, &shared, &mut turn, overflow, cancellation));
    shrunk.await.ok().flatten()
}
