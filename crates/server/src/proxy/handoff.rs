//! Hand-offs by the conversation's own model: the request that is sent to its provider anyway, with one instruction at
//! its end, under the client's own credentials; and their preparation while the conversation continues.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use epitome::live::{Conversation as Answers, ConversationQuestion, LiveSession, Preparation};
use epitome::providers::chat::{ChatAnswer, ChatError, ChatErrorKind, CompactionOffer, read_answer};
use epitome::strategy::{Cancellation, async_trait};
use epitome::wire::{Wire, ask_within};
use epitome_fit::conversation::Host;
use futures_util::StreamExt;
use reqwest::Url;

use super::incoming::Incoming;
use super::lookup::offer_tools;
use super::state::Proxy;
use super::upstream::{Sender, UpstreamFailure};
use crate::background::BackgroundThreads;

/// No hand-off is longer, whatever a provider sends, in bytes.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// Where the requests of a client go, and with which headers.
pub(crate) struct UpstreamRoute {
    url: Url,
    headers: HeaderMap,
    sender: Sender,
}

impl fmt::Debug for UpstreamRoute {
    /// Without address and headers: they may contain keys.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Outgoing")
    }
}

impl UpstreamRoute {
    pub(crate) fn new(url: &Url, headers: &HeaderMap, sender: &Sender) -> Self {
        Self { url: url.clone(), headers: headers.clone(), sender: sender.clone() }
    }

    /// The address at the provider.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }
}

/// The proxy around the compaction of a request.
pub(super) struct ProxyHost<'a> {
    proxy: &'a Proxy,
    incoming: &'a Incoming,
    outgoing: &'a Arc<UpstreamRoute>,
    cancellation: &'a Cancellation,
    began: Instant,
}

impl<'a> ProxyHost<'a> {
    pub(super) fn new(
        proxy: &'a Proxy,
        incoming: &'a Incoming,
        outgoing: &'a Arc<UpstreamRoute>,
        cancellation: &'a Cancellation,
    ) -> Self {
        Self { proxy, incoming, outgoing, cancellation, began: Instant::now() }
    }
}

impl Host for ProxyHost<'_> {
    fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }

    fn clock(&self) -> Duration {
        self.began.elapsed()
    }

    fn patience(&self) -> Duration {
        self.proxy.core.settings.limits.work_timeout
    }

    fn ask_model(&self, live: &mut LiveSession, request: &dyn Fn(&LiveSession) -> Option<Bytes>) {
        let (proxy, incoming) = (self.proxy, self.incoming);
        let runtime = proxy.runtime();
        if !runtime.asks_conversations() || !incoming.wire.is_asked_within() {
            return;
        }
        let Some(mut body) = request(live) else { return };
        if !live.session().journal().is_empty() {
            // With our own tools, where they are sent: the question begins with the same bytes as the request.
            body = offer_tools(proxy, incoming, body);
        }
        let model = incoming.model.as_deref().unwrap_or("the conversation's model").to_owned();
        let (tokens, offer) = (live.tokens(), proxy.compactions.offer(&model));
        let outgoing = Arc::clone(self.outgoing);
        live.answer_with(runtime, Arc::new(Upstream { wire: incoming.wire, body, tokens, model, offer, outgoing }));
    }

    fn prepare_ahead(&self, live: &mut LiveSession, preparation: &Preparation) -> bool {
        let threads = BackgroundThreads::here().filter(|_| self.proxy.runtime().background);
        let Some(threads) = threads else { return false };
        live.prepare_in(Arc::new(threads), preparation.clone());
        true
    }

    fn has_ended(&self, preparation: &Preparation, patience: Duration) -> bool {
        BackgroundThreads::here().is_none_or(|threads| threads.wait(preparation, patience))
    }
}

/// The conversation's own model, behind its provider.
#[derive(Debug)]
pub(super) struct Upstream {
    pub(super) wire: Wire,
    pub(super) body: Bytes,
    /// Tokens of the conversation, by our own count.
    pub(super) tokens: u32,
    model: String,
    /// The known facts of the provider's own compaction.
    pub(super) offer: Arc<CompactionOffer>,
    outgoing: Arc<UpstreamRoute>,
}

impl Upstream {
    async fn answer(&self, question: ConversationQuestion<'_>) -> Result<ChatAnswer, ChatError> {
        let body = ask_within(self.wire, &self.body, question.instruction, question.max_tokens)
            .map_err(|error| ChatError::new(ChatErrorKind::Rejected, error.to_string()))?;
        let (status, bytes) = self.send(body, |_| ()).await?;
        let answer = read_answer(self.wire, status, &bytes)?;
        tracing::info!(
            input_tokens = answer.input_tokens,
            cached_tokens = answer.cached_tokens,
            output_tokens = answer.output_tokens,
            "the conversation's model was asked for a hand-off"
        );
        Ok(answer)
    }

    /// The provider's answer to `body`, with its status, under the client's headers as changed by `change`.
    pub(super) async fn send(
        &self,
        body: Vec<u8>,
        change: impl FnOnce(&mut HeaderMap),
    ) -> Result<(u16, Vec<u8>), ChatError> {
        let UpstreamRoute { url, headers, sender } = &*self.outgoing;
        let mut headers = headers.clone();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        change(&mut headers);
        let failed = |message: &str| ChatError::new(ChatErrorKind::Transient, message.to_owned());
        let sent = sender.send(Method::POST, url.clone(), headers, Some(body.into())).await;
        let answer = sent.map_err(|error| match error {
            UpstreamFailure::Silent => failed("the provider did not answer in time"),
            UpstreamFailure::Down => failed("there is no connection to the provider"),
        })?;
        let status = answer.status().as_u16();
        let mut bytes = Vec::new();
        let mut pieces = answer.bytes_stream();
        while let Some(piece) = pieces.next().await {
            // A stream that was cut is recognised by its missing end.
            let Ok(piece) = piece else { break };
            if bytes.len() + piece.len() > LONGEST_ANSWER {
                return Err(ChatError::new(ChatErrorKind::Unreadable, "the provider's answer has no end".to_owned()));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok((status, bytes))
    }
}

#[async_trait]
impl Answers for Upstream {
    fn model(&self) -> &str {
        &self.model
    }

    async fn ask(&self, question: ConversationQuestion<'_>) -> Result<ChatAnswer, ChatError> {
        self.answer(question).await
    }

    async fn compact(&self, question: ConversationQuestion<'_>) -> Result<ChatAnswer, ChatError> {
        self.compacted(question).await
    }
}
