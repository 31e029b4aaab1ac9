//! The proxy: requests of clients go on to their provider, smaller where they are too long.
//!
//! A client changes its base address and nothing else. What was decided for a conversation is decided once: each request
//! brings the whole history, the conversation is recognised by it, and the decisions are made again at the same places, so
//! that the provider's prompt cache stays warm. Whatever goes wrong here, the request is sent: with what was decided before,
//! where that can still be carried out, else as it came.

mod bare;
mod chain;
mod checked;
mod compaction;
mod glance;
mod handoff;
mod headers;
mod incoming;
mod items;
mod lookup;
mod memory;
mod opening;
mod outline;
mod prepare;
mod recipe;
mod tail;
mod upstream;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use epitome::formats::Format;
use epitome::live::Overflow;
use epitome::{Engine, Runtime};
use reqwest::Url;

use chain::Hashes;
use checked::Checked;
use compaction::Offers;
use handoff::Outgoing;
use incoming::{Incoming, Sighted};
use items::Items;
use lookup::{Again, Exchanges, Lookup};
use memory::{Decisions, Shared};
use opening::Opened;
use prepare::{Did, Prepared, keep, prepare, replay, shrink};
use upstream::{NoTarget, Sender, Unreachable};
pub use upstream::{UpstreamError, Upstreams};

use crate::auth::Caller;
use crate::http::{ApiError, body_of, no_route};
use crate::state::Core;

use crate::turns::WorkFailure;

/// What the log and the metrics call the routes of providers.
pub(crate) const ROUTE: &str = "proxy";

/// The part of the memory of conversations that is for what is known of messages: one of so many.
const OF_ITEMS: usize = 4;

/// Up to so many bytes of new messages are read at once; more of them wait for a worker.
const SMALL_BYTES: usize = 64 * 1024;

/// The part of the memory of conversations that is for what models looked up: one of so many.
const OF_EXCHANGES: usize = 8;

const STATUS: HeaderName = HeaderName::from_static("x-epitome-status");
const DETAIL: HeaderName = HeaderName::from_static("x-epitome-detail");
const TOKENS_BEFORE: HeaderName = HeaderName::from_static("x-epitome-tokens-before");
const TOKENS_AFTER: HeaderName = HeaderName::from_static("x-epitome-tokens-after");
const EPOCH: HeaderName = HeaderName::from_static("x-epitome-epoch");

/// What the proxy needs beside the engine.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) core: Arc<Core>,
    pub(crate) runtime: Runtime,
    /// Whether handles are for somebody else too: the configuration asks for them.
    has_handles: bool,
    hashes: Hashes,
    items: Items,
    decisions: Decisions,
    pub(crate) exchanges: Exchanges,
    sender: Sender,
    /// Which compactions providers have of their own.
    compactions: Offers,
}

impl Proxy {
    pub(crate) fn new(core: Arc<Core>) -> Result<Arc<Self>, String> {
        let (settings, mut runtime) = (&core.settings, Runtime::clone(&core.runtime));
        // Nothing changes below the thresholds, and there is nobody to ask.
        runtime.live.arrival_tokens = None;
        runtime.live.require_confirmation = false;
        runtime.live.memory_flush = false;
        let has_handles = runtime.handles;
        // The model gets the tool that handles are for.
        runtime.handles |= runtime.proxy_recall;
        let of_items = settings.memory.session_bytes / OF_ITEMS;
        let of_exchanges = settings.memory.session_bytes / OF_EXCHANGES;
        Ok(Arc::new(Self {
            runtime,
            has_handles,
            hashes: Hashes::new(),
            items: Items::new(of_items),
            decisions: Decisions::new(
                settings.memory.sessions,
                settings.memory.session_bytes - of_items - of_exchanges,
            ),
            exchanges: Exchanges::new(of_exchanges),
            sender: Sender::new(settings.limits.upstream_timeout)?,
            compactions: Offers::default(),
            core,
        }))
    }

    /// The engine for requests of a format: its texts name handles where the model gets the tool for them.
    fn engine(&self, format: Format) -> Engine {
        let mut engine = self.core.engine(format);
        engine.handles = self.runtime.handles;
        engine
    }

    /// Whether handles stand in the texts of a conversation's compactions for a tool that this request cannot have.
    fn hides_handles(&self, incoming: &Incoming) -> bool {
        self.runtime.proxy_recall && !self.has_handles && !incoming.takes_tools
    }

    /// Conversations that are remembered, and their bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (conversations, bytes) = self.decisions.size();
        (conversations, bytes + self.exchanges.bytes())
    }
}

/// The format of the requests that a path takes, where the proxy knows it.
pub(crate) fn format_of(path: &str) -> Option<Format> {
    let path = path.trim_end_matches('/');
    if path.ends_with("/chat/completions") {
        Some(Format::OpenaiChat)
    } else if path.ends_with("/responses") {
        Some(Format::OpenaiResponses)
    } else {
        path.ends_with("/messages").then_some(Format::Anthropic)
    }
}

/// Whether a request is one that the proxy looks into; all others go on as they come.
pub(crate) fn is_conversation(method: &Method, path: &str) -> bool {
    method == Method::POST && format_of(path).is_some()
}

/// What no feature has a route for: it is the provider's.
pub(crate) fn router(proxy: Arc<Proxy>) -> Router {
    Router::new().fallback(self::proxy).with_state(proxy)
}

/// Sends a request on.
pub(crate) async fn proxy(State(proxy): State<Arc<Proxy>>, request: Request) -> Response {
    let target = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let url = match proxy.core.settings.upstreams.target(target, request.headers()) {
        Ok(url) => url,
        Err(NoTarget::Nobody) => return no_route().into_response(),
        Err(NoTarget::Outside) => {
            let help = "write the path without `.` and `..`, encoded or not";
            return ApiError::bad("bad-path", "the path leaves the provider's address", help).into_response();
        }
    };
    let Some(caller) = request.extensions().get::<Caller>().cloned() else {
        return ApiError::internal().into_response();
    };
    let format = format_of(request.uri().path()).filter(|_| request.method() == Method::POST);
    let answered = match format {
        Some(format) => conversation(&proxy, caller, format, url, request).await,
        None => pass(&proxy, &caller, url, request).await,
    };
    answered.unwrap_or_else(IntoResponse::into_response)
}

/// Sends on what is none of the proxy's business, as it comes.
async fn pass(proxy: &Proxy, caller: &Caller, url: Url, request: Request) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let has_body =
        parts.headers.contains_key(header::CONTENT_LENGTH) || parts.headers.contains_key(header::TRANSFER_ENCODING);
    let headers = headers::for_provider(&parts.headers, caller.by_authorization, true);
    let body = has_body.then(|| reqwest::Body::wrap_stream(body.into_data_stream()));
    let answer = proxy.sender.send(parts.method, url, headers, body).await.map_err(unreachable)?;
    proxy.core.metrics.proxied(Did::Bypassed.as_str());
    let mut response = streamed(answer);
    response.headers_mut().insert(STATUS, HeaderValue::from_static(Did::Bypassed.as_str()));
    Ok(response)
}

/// Sends on a request of a conversation.
async fn conversation(
    proxy: &Arc<Proxy>,
    caller: Caller,
    format: Format,
    url: Url,
    request: Request,
) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let body = body_of(body, &parts.headers, &proxy.core.settings.limits).await?;
    let mut headers = headers::for_provider(&parts.headers, caller.by_authorization, false);
    headers::ask_for_plain(&mut headers);
    let is_plain = parts.headers.get(header::CONTENT_ENCODING).is_none_or(|encoding| encoding == "identity");
    let outgoing = Arc::new(Outgoing::new(&url, &headers, &proxy.sender));
    let (prepared, remembered) = if is_plain {
        decide(proxy, &caller, format, &parts.headers, body, outgoing).await
    } else {
        (Prepared::as_it_came(Did::Bypassed, "encoded", body), None)
    };
    let send = |body: Bytes| {
        let body = Some(reqwest::Body::from(body));
        proxy.sender.send(Method::POST, url.clone(), headers.clone(), body)
    };
    let lookup_of = |remembered: Option<&Remembered>, prepared: &Prepared| {
        let (incoming, shared) = remembered?;
        let again = Again { url: url.clone(), headers: headers.clone() };
        let lookup = Lookup::new(proxy, incoming, shared, prepared, again)?;
        lookup.body().map(|body| (lookup, body))
    };
    let (lookup, body) = match lookup_of(remembered.as_ref(), &prepared) {
        Some((lookup, body)) => (Some(lookup), body),
        None => (None, prepared.body.clone()),
    };
    let answer = send(body).await.map_err(unreachable)?;
    let is_refusal = |answer: &reqwest::Response| !(answer.status().is_success() || answer.status().is_redirection());
    let status = answer.status();
    let mut opened = match &remembered {
        _ if is_refusal(&answer) => Opened::refusal(answer).await,
        Some(_) => Opened::stream(answer).await,
        None => return Ok(with_headers(proxy, streamed(answer), &prepared)),
    };
    let mut lookup = lookup;
    if lookup.is_some() && opened.overflow.is_none() && Lookup::may_be_refused(status) {
        // It may be our tools that the provider does not take: the client's own request is sent.
        let answer = send(prepared.body.clone()).await.map_err(unreachable)?;
        lookup = None;
        opened = if is_refusal(&answer) { Opened::refusal(answer).await } else { Opened::stream(answer).await };
    }
    let (overflow, remembered) = match (opened.overflow, remembered) {
        (Some(overflow), Some(remembered)) => (overflow, remembered),
        _ => return Ok(with_headers(proxy, pass_answer(lookup, opened).await, &prepared)),
    };
    let Some(smaller) = retry(proxy, remembered.clone(), overflow).await else {
        let prepared = Prepared { detail: Some("too-long"), ..prepared };
        return Ok(with_headers(proxy, opened.into_response(), &prepared));
    };
    let (lookup, body) = match lookup_of(Some(&remembered), &smaller) {
        Some((lookup, body)) => (Some(lookup), body),
        None => (None, smaller.body.clone()),
    };
    let answer = send(body).await.map_err(unreachable)?;
    let answer = match lookup {
        Some(lookup) => lookup.answer(Opened::unseen(answer)).await,
        None => streamed(answer),
    };
    Ok(with_headers(proxy, answer, &smaller))
}

/// An answer for the client: as it comes, or with what the model looks up.
async fn pass_answer(lookup: Option<Lookup>, opened: Opened) -> Response {
    match lookup {
        Some(lookup) => lookup.answer(opened).await,
        None => opened.into_response(),
    }
}

/// A request with its conversation.
type Remembered = (Arc<Incoming>, Shared);

/// What to send in place of `body`. Whatever goes wrong, `body` itself.
async fn decide(
    proxy: &Arc<Proxy>,
    caller: &Caller,
    format: Format,
    client: &HeaderMap,
    body: Bytes,
    outgoing: Arc<Outgoing>,
) -> (Prepared, Option<Remembered>) {
    let keys = headers::KEYS.iter().filter_map(|name| client.get(*name)).map(HeaderValue::as_bytes);
    let seed = proxy.hashes.seed(&caller.tenant, format, keys);
    let as_it_came = |did, detail| (Prepared::as_it_came(did, detail, body.clone()), None);
    let mut incoming = match look(proxy, caller, format, seed, body.clone()).await {
        Ok(Ok(incoming)) => incoming,
        Ok(Err(detail)) => return as_it_came(Did::Bypassed, detail),
        Err(Unread { failed, sighted }) => {
            let Some(incoming) = read_elsewhere(proxy, sighted).await else {
                return as_it_came(Did::FailedOpen, failed.as_str());
            };
            let shared = proxy.decisions.find(&incoming.chain).unwrap_or_default();
            return fail_open(proxy, &Arc::new(incoming), &shared, failed.as_str(), body).await;
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
    shared: &Shared,
    detail: &'static str,
    body: Bytes,
) -> (Prepared, Option<Remembered>) {
    if let Some(earlier) = proxy.decisions.earlier(&incoming.chain) {
        let (shared_proxy, read) = (Arc::clone(proxy), Arc::clone(incoming));
        // Elsewhere, so that a fault of ours ends there, and not for longer than anything may take.
        let replayed = tokio::task::spawn_blocking(move || replay(&shared_proxy, &read, &earlier));
        if let Ok(Ok(Some(prepared))) = tokio::time::timeout(proxy.core.settings.limits.work_timeout, replayed).await {
            let prepared = Prepared { did: Did::FailedOpen, detail: Some(detail), ..prepared };
            return (prepared, Some((Arc::clone(incoming), Arc::clone(shared))));
        }
    }
    (Prepared::as_it_came(Did::FailedOpen, detail, body), None)
}

/// A request that was not read, because nobody had a turn for it or because of a fault of ours.
struct Unread {
    failed: WorkFailure,
    /// As far as it was looked at, where nobody has begun to read it.
    sighted: Option<Sighted>,
}

/// Reads a request that waited for its turn in vain: what was decided for its conversation can still be sent. It takes no
/// turn, and less than what the provider is spared.
async fn read_elsewhere(proxy: &Arc<Proxy>, sighted: Option<Sighted>) -> Option<Incoming> {
    let (shared_proxy, sighted) = (Arc::clone(proxy), sighted?);
    tokio::task::spawn_blocking(move || sighted.learn(&shared_proxy).ok()).await.ok()?
}

/// Looks at a request, and reads what is new in it. Little of that is read at once; much of it waits for its turn.
async fn look(
    proxy: &Arc<Proxy>,
    caller: &Caller,
    format: Format,
    seed: chain::Digest,
    body: Bytes,
) -> Result<Result<Incoming, &'static str>, Unread> {
    let (shared_proxy, tenant) = (Arc::clone(proxy), Arc::clone(&caller.tenant));
    let looked = tokio::task::spawn_blocking(move || {
        let sighted = Sighted::new(&shared_proxy, tenant, format, seed, body)?;
        let is_small = sighted.new_bytes() <= SMALL_BYTES;
        if is_small { sighted.learn(&shared_proxy).map(Ok) } else { Ok(Err(sighted)) }
    });
    match looked.await.map_err(|_| Unread { failed: WorkFailure::Panicked, sighted: None })? {
        Ok(Ok(incoming)) => Ok(Ok(incoming)),
        Ok(Err(sighted)) => {
            let (shared_proxy, waiting) = (Arc::clone(proxy), Arc::new(Mutex::new(Some(sighted))));
            let take = |waiting: &Mutex<Option<Sighted>>| waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
            let its = Arc::clone(&waiting);
            match proxy
                .core
                .turns
                .run(&caller.tenant, move |_| take(&its).map(|sighted| sighted.learn(&shared_proxy)))
                .await
            {
                Ok(Some(learnt)) => Ok(learnt),
                // Nobody else takes it before it has failed.
                Ok(None) => Err(Unread { failed: WorkFailure::Panicked, sighted: None }),
                Err(failed) => Err(Unread { failed, sighted: take(&waiting) }),
            }
        }
        Err(detail) => Ok(Err(detail)),
    }
}

/// A smaller request after the provider refused one as too long.
async fn retry(proxy: &Arc<Proxy>, (incoming, _): Remembered, overflow: Overflow) -> Option<Prepared> {
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

/// A provider's answer for the client, each piece as it comes. Dropping it hangs up on the provider.
fn streamed(answer: reqwest::Response) -> Response {
    let (status, headers) = (answer.status(), headers::for_client(answer.headers()));
    let mut response = Response::new(Body::from_stream(answer.bytes_stream()));
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}

/// The answer with what the proxy did.
fn with_headers(proxy: &Proxy, mut response: Response, prepared: &Prepared) -> Response {
    proxy.core.metrics.proxied(prepared.did.as_str());
    let did = prepared.did.as_str();
    if let Some(Checked { fell_back, asked_again, unverified, added_demands, added_files, left_out }) = prepared.checked
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
    match prepared.figures {
        Some(figures) => tracing::info!(
            did,
            detail = prepared.detail,
            tokens_before = figures.tokens_before,
            tokens_after = figures.tokens_after,
            epochs = figures.epochs,
            "sent on"
        ),
        None => tracing::info!(did, detail = prepared.detail, "sent on"),
    }
    let headers = response.headers_mut();
    headers.insert(STATUS, HeaderValue::from_static(did));
    if let Some(detail) = prepared.detail {
        headers.insert(DETAIL, HeaderValue::from_static(detail));
    }
    if let Some(figures) = prepared.figures {
        headers.insert(TOKENS_BEFORE, HeaderValue::from(figures.tokens_before));
        headers.insert(TOKENS_AFTER, HeaderValue::from(figures.tokens_after));
        headers.insert(EPOCH, HeaderValue::from(figures.epochs));
    }
    response
}

fn unreachable(what: Unreachable) -> ApiError {
    match what {
        Unreachable::Silent => {
            let help = "try again; --upstream-timeout sets how long the provider may say nothing";
            let message = "the provider did not answer in time";
            ApiError::new(StatusCode::GATEWAY_TIMEOUT, "upstream-timeout", message, help)
        }
        Unreachable::Down => {
            let help = "check the address of --upstream, and whether the provider runs";
            let message = "there is no connection to the provider";
            ApiError::new(StatusCode::BAD_GATEWAY, "upstream-unreachable", message, help)
                .retry_after(Duration::from_secs(1))
        }
    }
}
