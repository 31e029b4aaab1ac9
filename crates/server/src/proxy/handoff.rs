//! Hand-offs by the conversation's own model: the request that goes to its provider anyway, with one instruction at its end,
//! under the client's own credentials; and their preparation while the conversation goes on.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use epitome::formats::Format;
use epitome::live::{Conversation as Answers, Inquiry, LiveSession};
use epitome::providers::chat::{ChatAnswer, ChatError, ChatErrorKind, CompactionOffer, Wire, ask_within, read_answer};
use epitome::strategy::BoxFuture;
use futures_util::StreamExt;
use reqwest::Url;

use super::memory::Conversation;
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
    /// Neither address nor headers: keys stand in them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Outgoing")
    }
}

impl UpstreamRoute {
    pub(crate) fn new(url: &Url, headers: &HeaderMap, sender: &Sender) -> Self {
        Self { url: url.clone(), headers: headers.clone(), sender: sender.clone() }
    }
}

/// Has the conversation's own model write the hand-offs of `live`, whose request is `body`, where the configuration says so.
pub(super) fn answer_with(
    proxy: &Proxy,
    live: &mut LiveSession,
    outgoing: &Arc<UpstreamRoute>,
    (format, model): (Format, Option<&str>),
    body: impl FnOnce(&LiveSession) -> Option<Bytes>,
) {
    let runtime = &proxy.runtime;
    let Some(wire) = wire_of(format).filter(|_| runtime.asks_conversations()) else { return };
    let Some(body) = body(live) else { return };
    let model = model.unwrap_or("the conversation's model").to_owned();
    let (tokens, offer) = (live.tokens(), proxy.compactions.of(&model));
    let outgoing = Arc::clone(outgoing);
    live.answer_with(runtime, Arc::new(Upstream { wire, body, tokens, model, offer, outgoing }));
}

/// Waits for a compaction that is being prepared for a conversation, for as long as `patience`; whether it has ended.
pub(super) fn has_ended(conversation: &Conversation, patience: Duration) -> bool {
    BackgroundThreads::here().is_none_or(|threads| threads.wait(&conversation.preparation, patience))
}

/// Has compactions of `live` prepared ahead, where the configuration says so; whether it does.
pub(super) fn prepare_in(proxy: &Proxy, live: &mut LiveSession, conversation: &Conversation) -> bool {
    let threads = BackgroundThreads::here().filter(|_| proxy.runtime.background);
    let Some(threads) = threads else { return false };
    live.prepare_in(Arc::new(threads), conversation.preparation.clone());
    true
}

fn wire_of(format: Format) -> Option<Wire> {
    match format {
        Format::OpenaiChat => Some(Wire::OpenaiChat),
        Format::OpenaiResponses => Some(Wire::OpenaiResponses),
        Format::Anthropic => Some(Wire::Anthropic),
        _ => None,
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
    /// What is known of the provider's own compaction.
    pub(super) offer: Arc<CompactionOffer>,
    outgoing: Arc<UpstreamRoute>,
}

impl Upstream {
    async fn answer(&self, inquiry: Inquiry<'_>) -> Result<ChatAnswer, ChatError> {
        let body = ask_within(self.wire, &self.body, inquiry.instruction, inquiry.max_tokens)
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

    /// What the provider answers to `body`, with its status, under the client's headers as `change` leaves them.
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
            // A stream that was cut is told by its missing end.
            let Ok(piece) = piece else { break };
            if bytes.len() + piece.len() > LONGEST_ANSWER {
                return Err(ChatError::new(ChatErrorKind::Unreadable, "the provider's answer has no end".to_owned()));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok((status, bytes))
    }
}

impl Answers for Upstream {
    fn model(&self) -> &str {
        &self.model
    }

    fn ask<'a>(&'a self, inquiry: Inquiry<'a>) -> BoxFuture<'a, Result<ChatAnswer, ChatError>> {
        Box::pin(self.answer(inquiry))
    }

    fn compact<'a>(&'a self, inquiry: Inquiry<'a>) -> BoxFuture<'a, Result<ChatAnswer, ChatError>> {
        Box::pin(self.compacted(inquiry))
    }
}
