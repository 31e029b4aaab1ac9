//! The beginning of an answer: where it is an error, nothing of an answer has been passed on yet.
//!
//! Most providers say with their status that a request is too long. Some begin a stream with 200 and say it in the
//! first event.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use epitome::live::Overflow;
use epitome::providers::chat::is_context_overflow;
use epitome::wire::{Event, Events};
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, stream};

use super::headers;
use super::learn::UsageReader;

/// The number of bytes of a provider's error that are read.
const READ_BYTES: usize = 256 * 1024;

/// The number of bytes of a stream that are read ahead.
const LOOK_AT_BYTES: usize = 16 * 1024;

/// The time to wait for the beginning of a stream before it is sent on unread. An error comes before the model has
/// begun to read; an answer may well come later.
const WAIT: Duration = Duration::from_secs(2);

/// The body of an answer, piece by piece.
pub(super) type Pieces = BoxStream<'static, Result<Bytes, reqwest::Error>>;

/// An answer whose beginning was looked at.
pub(super) struct OpenedAnswer {
    answer: reqwest::Response,
    /// The pieces that were read.
    read: Vec<Bytes>,
    broken: Option<reqwest::Error>,
    /// Whether the answer is, or begins with, the error that the request was too long.
    pub(super) overflow: Option<Overflow>,
    /// Reads the answer as it passes.
    pub(super) reader: Option<UsageReader>,
}

impl OpenedAnswer {
    /// Looks at a provider's error.
    pub(super) async fn refusal(answer: reqwest::Response) -> Self {
        let mut opened = Self::unseen(answer);
        let mut said = Vec::new();
        while opened.read_on(&mut said).await {
            if said.len() > READ_BYTES {
                return opened;
            }
        }
        if opened.broken.is_none() {
            let status = opened.answer.status().as_u16();
            opened.overflow = is_context_overflow(status, &String::from_utf8_lossy(&said));
        }
        opened
    }

    /// An answer that nothing is looked for in.
    pub(super) fn unseen(answer: reqwest::Response) -> Self {
        Self { answer, read: Vec::new(), broken: None, overflow: None, reader: None }
    }

    /// Looks at the first event of an answer, where it is a stream of events.
    pub(super) async fn stream(answer: reqwest::Response) -> Self {
        let mut opened = Self::unseen(answer);
        if opened.is_stream() {
            // The pieces that were read by then are kept.
            let _ = tokio::time::timeout(WAIT, opened.look()).await;
        }
        opened
    }

    /// Whether the provider accepted the request.
    pub(super) fn is_success(&self) -> bool {
        self.answer.status().is_success()
    }

    /// Whether the answer is a stream of events.
    pub(super) fn is_stream(&self) -> bool {
        let kind =
            self.answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
    }

    async fn look(&mut self) {
        let mut seen = Vec::new();
        while seen.len() < LOOK_AT_BYTES && self.read_on(&mut seen).await {
            match beginning_of(&seen) {
                StreamStart::Unfinished => {}
                StreamStart::Answer => return,
                StreamStart::Error(said) => {
                    self.overflow = is_context_overflow(200, &said);
                    return;
                }
            }
        }
    }

    /// Reads the next piece; whether there is one.
    async fn read_on(&mut self, seen: &mut Vec<u8>) -> bool {
        match self.answer.chunk().await {
            Ok(Some(chunk)) => {
                seen.extend_from_slice(&chunk);
                self.read.push(chunk);
                return true;
            }
            Ok(None) => {}
            Err(error) => self.broken = Some(error),
        }
        false
    }

    /// The answer for the client, each piece as it comes. Dropping it hangs up on the provider.
    pub(super) fn into_response(self) -> Response {
        let (status, headers, _, pieces) = self.into_parts();
        let mut response = Response::new(Body::from_stream(pieces));
        (*response.status_mut(), *response.headers_mut()) = (status, headers::for_client(&headers));
        response
    }

    /// The provider's status, its headers, whether it is a stream of events, and all of the body.
    pub(super) fn into_parts(self) -> (StatusCode, HeaderMap, bool, Pieces) {
        let is_stream = self.is_stream();
        let (status, headers) = (self.answer.status(), self.answer.headers().clone());
        let read = stream::iter(self.read.into_iter().map(Ok));
        let pieces = match self.broken {
            Some(error) => read.chain(broken_off(error)).boxed(),
            None => read.chain(self.answer.bytes_stream()).boxed(),
        };
        let pieces = match self.reader {
            Some(reader) => reader.watch(pieces).boxed(),
            None => pieces,
        };
        (status, headers, is_stream, pieces)
    }
}

/// The end of a stream that broke off. The text before it is sent first: an error at once would discard that text.
fn broken_off(error: reqwest::Error) -> impl Stream<Item = Result<Bytes, reqwest::Error>> {
    stream::once(async move {
        tokio::task::yield_now().await;
        Err(error.without_url())
    })
}

/// The beginning of a stream.
#[derive(Debug, PartialEq, Eq)]
enum StreamStart {
    /// The first event is not whole yet.
    Unfinished,
    /// An answer, or the wait for one: it is passed on.
    Answer,
    /// An error, with its JSON.
    Error(String),
}

/// The first event that is more than a sign of life or the wait for an answer.
fn beginning_of(seen: &[u8]) -> StreamStart {
    let mut events = Events::default();
    events.push(seen);
    let is_nothing = |event: &Event| event.is_empty() || event.is_sign_of_life() || event.is_opening();
    match events.by_ref().find(|event| !is_nothing(event)) {
        Some(event) => event.error().map_or(StreamStart::Answer, |error| StreamStart::Error(error.to_string())),
        // Where nothing but signs of life has come, they go on: the client waits for them.
        None if events.is_between_events() && !seen.is_empty() => StreamStart::Answer,
        None => StreamStart::Unfinished,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stream_begins_with() {
        let check = |seen: &str, expect: StreamStart| assert_eq!(beginning_of(seen.as_bytes()), expect, "{seen:?}");
        let error = |said: &str| StreamStart::Error(said.to_owned());
        check("", StreamStart::Unfinished);
        check("event: mess", StreamStart::Unfinished);
        check("event: message_start\ndata: {\"type\":\"message_start\"}\n", StreamStart::Unfinished);
        check("event: message_start\ndata: {\"type\":\"message_start\"}\n\n", StreamStart::Answer);
        check(
            "event: error\r\ndata: {\"type\":\"error\",\"error\":{}}\r\n\r\n",
            error(r#"{"type":"error","error":{}}"#),
        );
        check("data: {\"error\":{\"code\":7}}\n\ndata: [DONE]\n\n", error(r#"{"error":{"code":7}}"#));
        check("data: {\"choices\":[],\"error\":null}\n\n", StreamStart::Answer);
        check("data: [DONE]\n\n", StreamStart::Answer);
        // Signs of life are passed over where more has come with them, and passed on where not.
        check(": ping\n\n", StreamStart::Answer);
        check(": ping\n\nevent: error\ndata: {\"ty", StreamStart::Unfinished);
        check("event: ping\ndata: {\"type\":\"ping\"}\n\ndata: {\"error\":1}\n\n", error(r#"{"error":1}"#));
        check(
            "data: {\"type\":\"response.created\"}\n\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{}}}\n\n",
            error(r#"{"error":{}}"#),
        );
        check("event: error\ndata: two\ndata: lines\n\n", StreamStart::Answer);
    }
}
