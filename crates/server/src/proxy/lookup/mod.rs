//! Recall tools that the proxy adds to requests, and whose calls it answers itself.
//!
//! From a conversation's first compaction on, `search_history`, `recall` and `compact_context` are added to its requests.
//! Where an answer calls them and nothing else, the client sees none of it: the calls are answered, the provider is asked
//! again with both at the end, and so on, [`ROUNDS`] times at most; the last request offers the tools no more. Where a call
//! of ours is beside calls of the client's, the client gets its own at once, and ours is put back beside them when it
//! brings their results ([`exchanges`]). The figures of all answers' usage are added up. After a compaction that the model
//! asked for the provider is asked again with what is left of the request.
//!
//! A stream is held back until it is clear whether the client may see it: until the client's own call begins, until the
//! model has said [`HOLD`] characters, or to the end. The rest is sent on as it arrives.

mod exchanges;
mod past;
mod request;
mod streamed;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use epitome::wire::{Call, HiddenCalls, MOST_OF_EVENT, Output, Wire, add_known, add_output};
use epitome_fit::conversation::{Digest, PreparedRequest};
use futures_util::{Stream, StreamExt as _};
use reqwest::{Method, Url};
use serde_json::Value;

use exchanges::Exchange;
pub(crate) use exchanges::Exchanges;
use past::{CallAnswers, ConversationPast};
use request::ToolRequest;
use request::needs_tools;
pub(super) use request::offer_tools;

use super::conversation::SharedConversation;
use super::handoff::UpstreamRoute;
use super::headers;
use super::incoming::Incoming;
use super::learn::UsageReader;
use super::opening::{OpenedAnswer, Pieces};
use super::state::Proxy;
use crate::http::{ApiError, Problem};

/// How often the provider is asked again for one request of a client. In readings of recorded sessions no reader needed
/// more than one search for each question.
const ROUNDS: usize = 8;

/// Calls of one answer that are answered.
const CALLS: usize = 8;

/// Characters of a streamed answer that are held back. What a model says before it looks something up is a sentence or
/// two; an answer is more.
const HOLD: usize = 600;

/// The largest answer that is read whole.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The result of a call beyond the limit.
const TOO_MANY: &str = "Too many calls at once: this one was not answered. Ask again for what is still needed.";

/// The parts of a request that asks the provider again.
#[derive(Debug, Clone)]
pub(super) struct ProviderEndpoint {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
}

/// A request with our tools in it, and the lookups so far.
#[derive(Debug)]
pub(super) struct Lookup {
    proxy: Arc<Proxy>,
    wire: Wire,
    asking: ToolRequest,
    again: ProviderEndpoint,
    shared: SharedConversation,
    model: Option<String>,
    past: ConversationPast,
    /// Where the client's conversation ends.
    end: Digest,
    steps: Vec<String>,
    rounds: usize,
    calls: usize,
    /// Whether the lookups can be repeated later: the client saw nothing of the answers that asked for them.
    is_repeatable: bool,
}

impl Lookup {
    /// Adds our tools to a request where something has left the context of its conversation, or where they were called in it
    /// before. `None` where there is nothing to look up, or the tools cannot be added.
    pub(super) fn new(
        proxy: &Arc<Proxy>,
        incoming: &Arc<Incoming>,
        shared: &SharedConversation,
        prepared: &PreparedRequest,
        again: ProviderEndpoint,
    ) -> Option<Self> {
        let has_left = prepared.counts.is_some_and(|counts| counts.epochs > 0);
        if !proxy.runtime().proxy_recall || !(has_left && incoming.takes_tools || needs_tools(incoming)) {
            return None;
        }
        let asking = ToolRequest::new(incoming.wire, &prepared.body)?;
        let outgoing = UpstreamRoute::new(&again.url, &again.headers, &proxy.sender);
        // It may be another conversation by now: one that parted from a known one was remembered on its own.
        let shared = proxy.decisions.find(&incoming.chain).unwrap_or_else(|| shared.clone());
        Some(Self {
            proxy: Arc::clone(proxy),
            wire: incoming.wire,
            asking,
            again,
            past: ConversationPast::new(proxy, incoming, &shared, outgoing),
            model: incoming.model.clone(),
            shared,
            end: incoming.woven_at.unwrap_or_else(|| incoming.end()),
            steps: Vec::new(),
            rounds: 0,
            calls: 0,
            is_repeatable: true,
        })
    }

    /// The request as it is sent first.
    pub(super) fn body(&self) -> Option<Bytes> {
        self.asking.with_steps(&[], true)
    }

    /// Whether a refusal may be about our tools: then the request is sent once more without them.
    pub(super) fn may_be_refused(status: StatusCode) -> bool {
        matches!(status, StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY)
    }

    /// The answer for the client, from the provider's first.
    pub(super) async fn answer(self, opened: OpenedAnswer) -> Response {
        let (status, headers, is_stream, pieces) = opened.into_parts();
        let mut headers = headers::for_client(&headers);
        if !status.is_success() {
            return with_parts(status, headers, Body::from_stream(pieces));
        }
        headers.remove(header::CONTENT_LENGTH);
        if is_stream {
            return with_parts(status, headers, streamed::body(self, pieces));
        }
        self.whole(status, headers, pieces).await.unwrap_or_else(IntoResponse::into_response)
    }

    /// The same for answers that arrive whole.
    async fn whole(
        mut self,
        mut status: StatusCode,
        mut headers: HeaderMap,
        first: impl Stream<Item = Result<Bytes, reqwest::Error>>,
    ) -> Result<Response, ApiError> {
        let mut read = read_whole(first).await?;
        let mut earlier = Value::Null;
        loop {
            let mut json: Value = serde_json::from_slice(&read).unwrap_or_default();
            let Some(mut said) = Output::in_answer(self.wire, &json) else {
                return Ok(with_parts(status, headers, Body::from(read)));
            };
            let (calls, has_others) = (said.calls_of(&self.asking.names), said.has_calls_beside(&self.asking.names));
            if calls.is_empty() || has_others || !self.may_ask() {
                if !calls.is_empty() {
                    self.keep_hidden_calls(&said, &calls, has_others).await;
                    self.wire.remove_calls(&mut said.json, &self.asking.names);
                    if let Some(place) = json.pointer_mut(self.wire.output_pointer()) {
                        *place = said.json.clone();
                    }
                    if !has_others {
                        self.wire.end_turn(&mut json);
                    }
                }
                if calls.is_empty() && self.rounds == 0 {
                    return Ok(with_parts(status, headers, Body::from(read)));
                }
                if let Some(usage) = json.get_mut(self.wire.usage_field()) {
                    add_known(usage, &earlier);
                }
                self.keep(None);
                return Ok(with_parts(status, headers, Body::from(json.to_string())));
            }
            self.look_up(&said, &calls).await;
            add_output(&mut earlier, &json[self.wire.usage_field()]);
            match self.next_answer().await {
                Ok(answer) => {
                    read = read_whole(self.pieces(answer)).await?;
                }
                // The lookups are left out, and the answer is the one to the client's own request.
                Err(_) => {
                    let answer = self.send(self.asking.plain.clone()).await?;
                    status = answer.status();
                    headers = headers::for_client(answer.headers());
                    return Ok(with_parts(status, headers, Body::from_stream(self.pieces(answer))));
                }
            }
        }
    }

    /// Whether the provider may be asked again.
    fn may_ask(&self) -> bool {
        self.rounds < ROUNDS
    }

    /// Answers all calls of an answer, which is put at the end of the next request with its results.
    async fn look_up(&mut self, said: &Output, calls: &[Call]) {
        let results = self.results(calls, false).await;
        self.steps.extend(said.step(calls, &results, self.asking.is_stored));
        self.rounds += 1;
    }

    /// Answers calls that are beside the client's. Those that cannot be put back later are not kept.
    async fn keep_hidden_calls(&mut self, said: &Output, calls: &[Call], has_others: bool) {
        if has_others {
            let results = self.results(calls, true).await;
            let hidden = said.hidden_calls(&self.asking.names, calls, &results, self.asking.is_stored);
            self.keep(Some(hidden));
        }
    }

    /// The results of calls; `has_others` where the client has calls beside them to answer. Where one of them compacts, the
    /// provider is asked again with what is left.
    async fn results(&mut self, calls: &[Call], has_others: bool) -> Vec<String> {
        self.calls += calls.len();
        let CallAnswers { mut texts, compacted } =
            self.past.answers(&calls[..calls.len().min(CALLS)], has_others).await;
        if let Some(asking) = compacted.and_then(|body| ToolRequest::new(self.wire, &body)) {
            self.asking = asking;
        }
        texts.resize(calls.len(), TOO_MANY.to_owned());
        texts
    }

    /// Keeps what happened, for the client's later requests.
    fn keep(&mut self, hidden: Option<HiddenCalls>) {
        let steps = if self.is_repeatable { std::mem::take(&mut self.steps) } else { Vec::new() };
        let exchange = Exchange { steps, hidden };
        if !exchange.is_empty() {
            self.proxy.exchanges.keep(self.end, exchange);
            tracing::info!(rounds = self.rounds, calls = self.calls, "looked up");
        }
    }

    /// Asks the provider again, with the results of the lookups.
    async fn next_answer(&self) -> Result<reqwest::Response, ProviderRefusal> {
        let body = self.asking.with_steps(&self.steps, self.may_ask()).ok_or(ProviderRefusal(None))?;
        let answer = self.send(body).await.map_err(|_| ProviderRefusal(None))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status();
        tracing::warn!(%status, "the provider refused a request with what was looked up");
        Err(ProviderRefusal(error_of(answer).await))
    }

    /// The pieces of an answer, whose figures are read as they pass.
    fn pieces(&self, answer: reqwest::Response) -> Pieces {
        let mut opened = OpenedAnswer::unseen(answer);
        opened.reader =
            Some(UsageReader::new(&self.proxy, self.shared.clone(), self.model.as_deref(), opened.is_stream()));
        opened.into_parts().3
    }

    async fn send(&self, body: Bytes) -> Result<reqwest::Response, ApiError> {
        let ProviderEndpoint { url, headers } = self.again.clone();
        let sender = &self.proxy.sender;
        sender.send(Method::POST, url, headers, Some(reqwest::Body::from(body))).await.map_err(ApiError::from)
    }
}

/// A provider that did not take a request: what it said, where that is JSON.
#[derive(Debug)]
struct ProviderRefusal(Option<Value>);

/// What a provider says of a refusal, where that is JSON of a sensible size.
async fn error_of(mut answer: reqwest::Response) -> Option<Value> {
    let mut said = Vec::new();
    while let Ok(Some(piece)) = answer.chunk().await {
        if said.len() + piece.len() > MOST_OF_EVENT {
            return None;
        }
        said.extend_from_slice(&piece);
    }
    serde_json::from_slice(&said).ok()
}

async fn read_whole(pieces: impl Stream<Item = Result<Bytes, reqwest::Error>>) -> Result<Bytes, ApiError> {
    let mut pieces = std::pin::pin!(pieces);
    let mut read = Vec::new();
    while let Some(piece) = pieces.next().await {
        let broken = |message: &str| Problem::UpstreamBrokeOff.with(message);
        let piece = piece.map_err(|_| broken("the provider's answer broke off"))?;
        if read.len() + piece.len() > MOST_BYTES {
            return Err(broken("the provider's answer is larger than what is read"));
        }
        read.extend_from_slice(&piece);
    }
    Ok(Bytes::from(read))
}

fn with_parts(status: StatusCode, headers: HeaderMap, body: Body) -> Response {
    let mut response = Response::new(body);
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}
