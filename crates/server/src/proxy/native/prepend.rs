//! A compaction in front of a provider's answer to the compacted request.

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use epitome::wire::{Events, ItemPlace, Wire};
use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use crate::http::Problem;

/// The largest answer that is read whole.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// An item, or a block, that belongs in front of an answer.
#[derive(Debug, Clone)]
pub(super) struct PrependedItem {
    pub(super) wire: Wire,
    /// The item, or the block, as JSON.
    pub(super) item: Value,
}

impl PrependedItem {
    /// The answer with it. An answer that is an error, or that is not what the format's answers are, stays as it is.
    pub(super) async fn prepend_to(self, response: Response) -> Response {
        if !response.status().is_success() {
            return response;
        }
        let (mut parts, body) = response.into_parts();
        let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_stream = kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream");
        parts.headers.remove(header::CONTENT_LENGTH);
        if is_stream {
            return Response::from_parts(parts, self.into_stream(body));
        }
        let Ok(read) = axum::body::to_bytes(body, MOST_BYTES).await else {
            return Problem::UpstreamBrokeOff.into_response();
        };
        let with_item = serde_json::from_slice(&read).ok().and_then(|json| self.in_answer(json));
        let body = with_item.map_or(Body::from(read), |json| Body::from(json.to_string()));
        Response::from_parts(parts, body)
    }

    /// The same for an answer in one piece. `None` where it is not an answer.
    fn in_answer(&self, mut answer: Value) -> Option<Value> {
        answer.pointer_mut(self.wire.output_pointer())?.as_array_mut()?.insert(0, self.item.clone());
        Some(answer)
    }

    fn into_stream(self, body: Body) -> Body {
        let state = GraftedStream {
            prepended: self,
            pieces: body.into_data_stream(),
            events: Events::default(),
            at: Stage::Before,
            is_as_it_comes: false,
        };
        Body::from_stream(stream::unfold(Some(state), |state| async move {
            let mut state = state?;
            match state.pieces.next().await {
                Some(Ok(piece)) if state.is_as_it_comes => Some((Ok(piece), Some(state))),
                Some(Ok(piece)) => {
                    state.events.push(&piece);
                    let written = state.write();
                    if !state.events.is_too_large() {
                        return Some((Ok(written), Some(state)));
                    }
                    Some(state.give_up(written))
                }
                Some(Err(error)) => Some((Err(error), None)),
                None => {
                    state.events.end_here();
                    let written = state.write();
                    Some((Ok(written), None))
                }
            }
        }))
    }
}

/// How far a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The item has not been sent.
    Before,
    /// It has been sent: what follows is counted from behind it.
    Behind,
    /// The answer failed before it began: there is nothing to put in front of.
    Failed,
}

/// A stream with an item in front of what the provider says.
struct GraftedStream {
    prepended: PrependedItem,
    pieces: BodyDataStream,
    events: Events,
    at: Stage,
    /// Whether the rest goes on unread.
    is_as_it_comes: bool,
}

impl GraftedStream {
    /// Goes on where an event is larger than what is read: the stream stays as it is where the item was not sent, and ends with
    /// an error where what follows would have to be counted from behind it.
    fn give_up(mut self, mut written: Bytes) -> (Result<Bytes, axum::Error>, Option<Self>) {
        if self.at == Stage::Behind {
            let message = "the provider's answer has an event that is larger than what the proxy reads";
            return (Ok(Bytes::from([&written[..], &self.prepended.wire.error_event(message)].concat())), None);
        }
        let rest = std::mem::take(&mut self.events).rest();
        written = Bytes::from([&written[..], &rest].concat());
        self.is_as_it_comes = true;
        (Ok(written), Some(self))
    }

    /// The events that are whole, as the client gets them.
    fn write(&mut self) -> Bytes {
        let PrependedItem { wire, item } = &self.prepended;
        let mut written = Vec::new();
        for event in self.events.by_ref() {
            let place = if self.at == Stage::Before { wire.item_place(&event) } else { ItemPlace::Later };
            if self.at == Stage::Before && event.error().is_some() {
                self.at = Stage::Failed;
            } else if place == ItemPlace::InFront {
                written.extend(wire.item_events(item, event.json["sequence_number"].as_u64().unwrap_or_default()));
                self.at = Stage::Behind;
            }
            let mut json = event.json.clone();
            if self.at == Stage::Behind {
                wire.count_from_behind(item, &mut json);
            }
            written.extend(event.with(&json));
            if place == ItemPlace::Behind {
                written.extend(wire.item_events(item, 0));
                self.at = Stage::Behind;
            }
        }
        Bytes::from(written)
    }
}

#[cfg(test)]
#[path = "prepend_tests.rs"]
mod tests;
