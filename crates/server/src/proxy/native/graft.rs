//! A compaction in front of a provider's answer to the compacted request.

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use epitome::formats::Format;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::{anthropic, openai};
use crate::http::Problem;
use crate::proxy::lookup::{Event, Events, error_text};

/// The largest answer that is read whole.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The events that begin an answer, and those in which it failed: nothing is put in front of these.
const OPENINGS: [&str; 3] = ["response.created", "response.in_progress", "response.queued"];
const FAILURES: [&str; 2] = ["error", "response.failed"];

/// The number of events that an item takes.
const EVENTS_OF_ITEM: u64 = 2;

/// An item, or a block, that belongs in front of an answer.
#[derive(Debug, Clone)]
pub(super) struct Graft {
    pub(super) format: Format,
    /// The item, or the block, as JSON.
    pub(super) item: Value,
}

impl Graft {
    /// The answer with it. An answer that is an error, or that is not what the format's answers are, stays as it is.
    pub(super) async fn put_into(self, response: Response) -> Response {
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
        let list = match self.format {
            Format::Anthropic => "content",
            _ => "output",
        };
        answer.get_mut(list)?.as_array_mut()?.insert(0, self.item.clone());
        Some(answer)
    }

    fn into_stream(self, body: Body) -> Body {
        let state = GraftedStream {
            graft: self,
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

    /// The item's own events at the beginning of an answer; `number` is the number of the first.
    fn own_events(&self, number: u64) -> Vec<u8> {
        if self.format == Format::Anthropic {
            return anthropic::block_events(&self.item);
        }
        let empty = json!({ "type": "compaction", "id": self.item["id"], "encrypted_content": "" });
        let added = json!({ "output_index": 0, "item": empty });
        let done = json!({ "output_index": 0, "item": self.item });
        let events = [
            openai::event("response.output_item.added", number, added),
            openai::event("response.output_item.done", number + 1, done),
        ];
        events.concat()
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
    graft: Graft,
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
            return (Ok(Bytes::from([&written[..], &error_text(self.graft.format, message)].concat())), None);
        }
        let rest = std::mem::take(&mut self.events).rest();
        written = Bytes::from([&written[..], &rest].concat());
        self.is_as_it_comes = true;
        (Ok(written), Some(self))
    }

    /// The events that are whole, as the client gets them.
    fn write(&mut self) -> Bytes {
        let mut written = Vec::new();
        while let Some(event) = self.events.next() {
            match self.graft.format {
                Format::Anthropic => self.write_block(&event, &mut written),
                _ => self.write_item(&event, &mut written),
            }
        }
        Bytes::from(written)
    }

    fn write_block(&mut self, event: &Event, written: &mut Vec<u8>) {
        let mut json = event.json.clone();
        if self.at == Stage::Behind
            && let Some(index) = json["index"].as_u64()
        {
            json["index"] = (index + 1).into();
        }
        written.extend(event.with(&json));
        if self.at == Stage::Before && json["type"] == "message_start" {
            written.extend(self.graft.own_events(0));
            self.at = Stage::Behind;
        }
    }

    fn write_item(&mut self, event: &Event, written: &mut Vec<u8>) {
        let kind = event.json["type"].as_str().unwrap_or_default();
        if self.at == Stage::Before && FAILURES.contains(&kind) {
            self.at = Stage::Failed;
        } else if self.at == Stage::Before && kind.starts_with("response.") && !OPENINGS.contains(&kind) {
            written.extend(self.graft.own_events(event.json["sequence_number"].as_u64().unwrap_or_default()));
            self.at = Stage::Behind;
        }
        let mut json = event.json.clone();
        if self.at == Stage::Behind {
            for (name, by) in [("output_index", 1), ("sequence_number", EVENTS_OF_ITEM)] {
                if let Some(number) = json[name].as_u64() {
                    json[name] = (number + by).into();
                }
            }
            if let Some(output) = json.pointer_mut("/response/output").and_then(Value::as_array_mut) {
                output.insert(0, self.graft.item.clone());
            }
        }
        written.extend(event.with(&json));
    }
}

#[cfg(test)]
#[path = "graft_tests.rs"]
mod tests;
