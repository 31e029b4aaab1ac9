//! Server-sent events of a stream.

use axum::body::Bytes;
use epitome::formats::Format;
use serde_json::{Value, json};

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::proxy) struct Event {
    /// As it came, with the blank line behind it.
    pub(in crate::proxy) raw: Bytes,
    name: Option<String>,
    /// The event's data as JSON; null for a comment and for data that is not JSON.
    pub(in crate::proxy) json: Value,
    /// Whether it says that a chat is done: `[DONE]`.
    pub(in crate::proxy) is_done: bool,
    has_data: bool,
}

impl Event {
    fn new(raw: &[u8]) -> Self {
        let text = String::from_utf8_lossy(raw);
        let field = |name: &str| {
            let of_name = move |line: &str| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim_start().to_owned());
            text.lines().filter_map(of_name).collect::<Vec<String>>()
        };
        let data = field("data").join("\n");
        Self {
            raw: Bytes::copy_from_slice(raw),
            name: field("event").pop(),
            json: serde_json::from_str(&data).unwrap_or_default(),
            is_done: data.trim() == "[DONE]",
            has_data: !data.trim().is_empty(),
        }
    }

    /// Whether the event only shows that the provider is alive: a comment, or a ping.
    pub(in crate::proxy) fn is_sign_of_life(&self) -> bool {
        let is_comment = self.name.is_none() && !self.has_data && self.raw.contains(&b':');
        is_comment || self.json["type"] == "ping"
    }

    /// The event with other data.
    pub(in crate::proxy) fn with(&self, json: &Value) -> Bytes {
        if *json == self.json { self.raw.clone() } else { event_text(self.name.as_deref(), json) }
    }
}

/// An event as text.
pub(in crate::proxy) fn event_text(name: Option<&str>, json: &Value) -> Bytes {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    Bytes::from(format!("{name}data: {json}\n\n"))
}

/// The largest event that is taken in, in bytes: many times the largest piece of text, and more than a picture of the usual
/// size in base64.
pub(in crate::proxy) const MOST_OF_EVENT: usize = 4 << 20;

/// An error of the proxy in the middle of a stream, as the providers' own are.
pub(in crate::proxy) fn error_text(format: Format, message: &str) -> Bytes {
    let json: Value = match format {
        Format::Anthropic => json!({"type": "error", "error": {"type": "api_error", "message": message}}),
        Format::OpenaiResponses => json!({"type": "error", "code": "server_error", "message": message, "param": null}),
        Format::Gemini => json!({"error": {"code": 500, "message": message, "status": "INTERNAL"}}),
        _ => json!({"error": {"type": "server_error", "code": null, "message": message}}),
    };
    let name = matches!(format, Format::Anthropic | Format::OpenaiResponses).then_some("error");
    event_text(name, &json)
}

/// The events of a stream, out of pieces that end anywhere.
#[derive(Debug, Default)]
pub(in crate::proxy) struct Events {
    buffer: Vec<u8>,
    /// The end of the part that was searched for a blank line.
    looked: usize,
}

impl Events {
    pub(in crate::proxy) fn push(&mut self, piece: &[u8]) {
        self.buffer.extend_from_slice(piece);
    }

    /// The next whole event. Linear in it.
    pub(in crate::proxy) fn next(&mut self) -> Option<Event> {
        let end = self.end()?;
        let event = Event::new(&self.buffer[..end]);
        self.buffer.drain(..end);
        self.looked = 0;
        Some(event)
    }

    /// Whether the next event, behind the whole ones, is larger than what is taken in.
    pub(in crate::proxy) fn is_too_large(&self) -> bool {
        self.buffer.len() > MOST_OF_EVENT
    }

    /// What is not part of a whole event.
    pub(in crate::proxy) fn rest(self) -> Bytes {
        Bytes::from(self.buffer)
    }

    /// Behind the first blank line.
    fn end(&mut self) -> Option<usize> {
        let from = self.looked.saturating_sub(3);
        let ends = |at: usize| {
            let rest = &self.buffer[at..];
            [&b"\r\n\r\n"[..], b"\n\n", b"\r\r"].into_iter().find(|end| rest.starts_with(end)).map(|end| at + end.len())
        };
        let end = memchr::memchr2_iter(b'\n', b'\r', &self.buffer[from..]).find_map(|at| ends(from + at));
        self.looked = self.buffer.len();
        end
    }

    /// Marks the end of the stream: the text behind the last whole event is an event too.
    pub(in crate::proxy) fn end_here(&mut self) {
        if !self.buffer.is_empty() {
            self.buffer.extend_from_slice(b"\n\n");
            self.looked = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn pieces_end_anywhere() {
        let stream = "event: a\ndata: {\"x\":\ndata: 1}\n\n: alive\r\n\r\ndata: [DONE]\n\ndata: {";
        for size in 1..stream.len() {
            let mut events = Events::default();
            let mut found = Vec::new();
            for piece in stream.as_bytes().chunks(size) {
                events.push(piece);
                found.extend(std::iter::from_fn(|| events.next()));
            }
            assert_eq!(found.len(), 3, "{size}");
            assert_eq!((found[0].name.as_deref(), &found[0].json["x"]), (Some("a"), &Value::from(1)));
            assert_eq!((found[1].json.is_null(), found[2].is_done), (true, true));
            events.end_here();
            found.extend(std::iter::from_fn(|| events.next()));
            let all: Vec<u8> = found.iter().flat_map(|event| event.raw.to_vec()).collect();
            assert_eq!(all, format!("{stream}\n\n").as_bytes(), "nothing is lost");
        }
    }
}
