//! Providers' own compaction protocols, answered by the proxy.
//!
//! A client that asks its provider to compact gets what the provider would give: an item that is opaque to it, which it
//! keeps in place of its history and sends back with each request. The item is ours ([`item`]): it holds the compacted
//! conversation, signed, and the service keeps nothing. In later requests ordinary messages stand in its place before
//! anything else looks at them ([`expand`]), so that any provider can read them and the proxy's other decisions hold for
//! them as for any conversation.
//!
//! Where the proxy cannot do rightly what is asked ([`known`]), the provider is asked, and its own items
//! pass as they are.

mod covered;
mod error;
mod expand;
mod item;
mod keys;
mod known;
mod prepend;
mod reading;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use epitome::strategy::Cancellation;
use epitome::wire::{Address, AnswerBody, CompactionRequest, MadeCompaction, Object, Outline, Route, Wire};
use epitome_fit::conversation::{self, FitOutcome, RequestedCompaction, TokenCounts, compact_on_request};
use memchr::memmem;
use serde_json::value::RawValue;

use error::Cause;
use item::{CompactionItem, Opener, Sealer, id_of};
pub(crate) use keys::random_key;
pub use keys::{ItemKeyError, ItemKeys};
use prepend::PrependedItem;
use reading::{ReadRequest, Reading, read};

use super::answer::{DETAIL, STATUS, TOKENS_AFTER, TOKENS_BEFORE};
use super::handoff::{ProxyHost, UpstreamRoute};
use super::headers;
use super::read::look;
use super::state::Proxy;
use super::unpack_budget::UnpackReservation;
use super::unread::KnownBody;
use crate::auth::Caller;

/// A word that each request has in it that this room is about, and few others.
const WORD: &[u8] = b"compact";

/// The way on of a request that was looked at.
pub(super) enum Received {
    /// It was answered here.
    Answered(Response),
    /// It goes to the provider.
    Request {
        /// The body, with ordinary messages in place of our items.
        body: KnownBody,
        /// What belongs in front of the provider's answer.
        front: Option<PrependedCompaction>,
        /// Why the provider is asked for a compaction, as a code.
        detail: Option<&'static str>,
    },
}

impl Received {
    fn plain(body: impl Into<KnownBody>, detail: Option<&'static str>) -> Self {
        Self::Request { body: body.into(), front: None, detail }
    }
}

/// A compaction that belongs in front of the answer to the compacted request.
#[derive(Debug)]
pub(super) struct PrependedCompaction {
    prepended: PrependedItem,
    counts: TokenCounts,
}

impl PrependedCompaction {
    /// The answer with it, and with what was done. An error of the provider stays as it is.
    pub(super) async fn prepend_to(self, mut answer: Response) -> Response {
        if answer.status().is_success() {
            tell(&mut answer, FitOutcome::Compacted.as_str(), None, self.counts);
        }
        self.prepended.prepend_to(answer).await
    }
}

/// Adds what was done to an answer's headers.
fn tell(answer: &mut Response, outcome: &'static str, detail: Option<&'static str>, counts: TokenCounts) {
    let headers = answer.headers_mut();
    headers.insert(STATUS, HeaderValue::from_static(outcome));
    if let Some(detail) = detail {
        headers.insert(DETAIL, HeaderValue::from_static(detail));
    }
    headers.insert(TOKENS_BEFORE, HeaderValue::from(counts.tokens_before));
    headers.insert(TOKENS_AFTER, HeaderValue::from(counts.tokens_after));
}

/// A request on its way through the proxy.
pub(super) struct NativeRequest<'a> {
    pub(super) caller: &'a Caller,
    pub(super) wire: Wire,
    pub(super) route: Route,
    /// For what it unpacks to.
    pub(super) reservation: &'a Arc<UnpackReservation>,
    /// The client's headers.
    pub(super) headers: &'a HeaderMap,
    /// Where requests of the conversation go: a model may be asked for a summary there.
    pub(super) outgoing: Arc<UpstreamRoute>,
}

/// Looks at a request: puts ordinary messages in place of our items, and makes the compaction that it asks for. Linear in
/// the request, plus the compaction; next to nothing for requests without a word of compactions.
pub(super) async fn receive(proxy: &Arc<Proxy>, request: NativeRequest<'_>, body: Bytes) -> Received {
    if request.route != Route::Compactions && memmem::find(&body, WORD).is_none() {
        return Received::plain(body, None);
    }
    let (shared, tenant) = (Arc::clone(proxy), Arc::clone(&request.caller.tenant));
    let (came, wire, route, reservation) = (body.clone(), request.wire, request.route, Arc::clone(request.reservation));
    // Elsewhere: a long request takes milliseconds.
    let looked = tokio::task::spawn_blocking(move || {
        let (most, parts) = (shared.core.settings.limits.body_bytes, shared.core.settings.limits.parts);
        let reserve = |bytes: usize| reservation.grow(bytes);
        let opener = Opener { keys: &shared.item_keys, tenant: &tenant, wire, most, parts, reserve: &reserve };
        read(&came, opener, route, shared.answers_compactions())
    });
    let found = match looked.await {
        Ok(Ok(found)) => found,
        Ok(Err(refusal)) => {
            match refusal.cause() {
                Cause::Request(_) => proxy.core.metrics.native_compaction("refused"),
                _ => proxy.core.metrics.native_item("refused"),
            }
            return Received::Answered(refusal.into_response(wire));
        }
        Err(_) => return Received::plain(body, Some("failed")),
    };
    let found = match found {
        Reading::Request(found) => found,
        Reading::Plain(outline) => return Received::plain(KnownBody { bytes: body, outline }, None),
    };
    if found.has_item {
        proxy.core.metrics.native_item("expanded");
    }
    let Some(demand) = found.demand else {
        if let Some(detail) = found.detail {
            proxy.core.metrics.native_compaction("forwarded");
            tracing::info!(detail, "the provider is asked for a compaction");
        }
        return Received::plain(found.with_demand, found.detail);
    };
    match answer(proxy, &request, &found, demand).await {
        Ok(received) => received,
        Err(detail) => {
            proxy.core.metrics.native_compaction("forwarded");
            tracing::info!(demand = demand.name(), detail, "the provider is asked for a compaction");
            Received::plain(found.with_demand, Some(detail))
        }
    }
}

/// The compaction that a request asks for. An error is a code: why it cannot be made here.
async fn answer(
    proxy: &Arc<Proxy>,
    request: &NativeRequest<'_>,
    found: &ReadRequest,
    demand: CompactionRequest,
) -> Result<Received, &'static str> {
    let Some(made) = compact(proxy, request, found, demand).await? else {
        // It is not long enough yet.
        return Ok(Received::plain(found.without_demand.clone(), None));
    };
    if demand.threshold() > 0 && made.detail.is_some() {
        // An item with all of it in it would be over the threshold again.
        return Ok(Received::plain(found.without_demand.clone(), made.detail));
    }
    let metrics = &proxy.core.metrics;
    let wire = request.wire;
    let text = std::str::from_utf8(&made.body).map_err(|_| "not-written")?;
    let outline = Outline::read(&made.body, wire).map_err(|_| "not-written")?;
    let messages: Vec<&str> = outline.items.into_iter().map(|at| &text[at]).collect();
    let raw = |json: &&str| RawValue::from_string((*json).to_owned()).map_err(|_| "not-written");
    let contents = messages.iter().map(raw).collect::<Result<Vec<_>, _>>()?;
    let shown = wire.shown(&messages);
    let most = proxy.core.settings.limits.body_bytes;
    let sealer = Sealer { keys: &proxy.item_keys, tenant: &request.caller.tenant, wire, most };
    let sealed = CompactionItem {
        is_first: demand == CompactionRequest::Summarize,
        shown: shown.as_deref().map(item::text_hash),
        ..CompactionItem::new(contents, found.covered.clone())
    }
    .seal(&sealer, shown.as_ref().map_or(0, String::len))
    .ok_or("item-too-large")?;
    let item = wire.compaction_item(&id_of("cmp_", &sealed), &sealed, shown.as_deref());
    let counts = made.counts;
    tracing::info!(
        demand = demand.name(),
        detail = made.detail,
        tokens_before = counts.tokens_before,
        tokens_after = counts.tokens_after,
        item_bytes = sealed.len(),
        "a client's compaction was made"
    );
    metrics.native_compaction(demand.name());
    metrics.compaction("compacted", counts.tokens_before.saturating_sub(counts.tokens_after));
    if !demand.is_whole_answer() {
        let front = Some(PrependedCompaction { prepended: PrependedItem { wire, item }, counts });
        return Ok(Received::Request { body: made.body.into(), front, detail: None });
    }
    let text = std::str::from_utf8(&found.without_demand).map_err(|_| "not-written")?;
    let answer = MadeCompaction {
        fields: &Object::parse(text).ok_or("not-written")?,
        users: &found.users,
        item: &item,
        before: counts.tokens_before,
        after: counts.tokens_after,
        seconds: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        id: id_of,
    };
    let mut response = response_of(wire.compaction_answer(demand, &answer));
    metrics.count_proxied(ANSWERED);
    tell(&mut response, ANSWERED, made.detail, counts);
    Ok(Received::Answered(response))
}

fn response_of(body: AnswerBody) -> Response {
    let (body, kind) = match body {
        AnswerBody::Json(json) => (Body::from(json.to_string()), "application/json"),
        AnswerBody::Events(events) => (Body::from(events), "text/event-stream"),
    };
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// What was done with a request that was answered here.
const ANSWERED: &str = "answered";

/// The compacted conversation; `None` where it is shorter than what the client wants compacted.
async fn compact(
    proxy: &Arc<Proxy>,
    request: &NativeRequest<'_>,
    found: &ReadRequest,
    demand: CompactionRequest,
) -> Result<Option<RequestedCompaction>, &'static str> {
    let (caller, wire) = (request.caller, request.wire);
    let keys = headers::KEYS.iter().filter_map(|name| request.headers.get(*name)).map(HeaderValue::as_bytes);
    let seed = proxy.decider.seed(&caller.tenant, wire, keys);
    let mut incoming =
        match look(proxy, caller, wire, seed, found.without_demand.clone().into(), Address::default()).await {
            Ok(Ok(incoming)) => incoming,
            Ok(Err(code)) => return Err(code),
            Err(failure) => return Err(failure.code()),
        };
    let wanted = conversation::CompactionRequest { from_tokens: demand.threshold() };
    if incoming.tokens().saturating_add(incoming.tool_tokens) < wanted.from_tokens {
        return Ok(None);
    }
    // The requests with the item have no tool for what its texts stand for.
    incoming.hide_handles(proxy.hides_handles(false));
    let known = proxy.decisions.earlier(&incoming.chain).unwrap_or_default();
    let (shared, outgoing) = (Arc::clone(proxy), Arc::clone(&request.outgoing));
    let work = move |cancellation: &Cancellation| {
        let host = ProxyHost::new(&shared, &incoming, &outgoing, cancellation);
        let mut made = compact_on_request(&shared.decider, &incoming, &known, wanted, &host)?;
        if let Some(made) = &mut made {
            shared.core.archives.keep(&incoming.owner, std::mem::take(&mut made.archived));
        }
        Ok(made)
    };
    proxy.core.workers.run(&caller.tenant, work).await.map_err(|failure| failure.as_str())?
}
