//! Server-sent events: the one reader of them, and the one writer.

use bytes::Bytes;
use serde_json::Value;

/// The largest event that is taken in, in bytes: many times the largest piece of text, and more than a picture of the usual
/// size in base64.
pub const MOST_OF_EVENT: usize = 4 << 20;

/// Events of Responses that come before anything of an answer.
const OPENINGS: [&str; 3] = ["response.created", "response.in_progress", "response.queued"];

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// As it came, with the blank line behind it.
    pub raw: Bytes,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its data as JSON; null for a comment and for data that is not JSON.
    pub json: Value,
    /// Whether it says that a chat is done: `[DONE]`.
    pub is_done: bool,
    has_data: bool,
}

impl Event {
    fn new(raw: &[u8]) -> Self {
        let text = String::from_utf8_lossy(raw);
        let data = data_of(&text);
        let name = fields(&text, "event").last().map(|name| name.trim().to_owned());
        Self {
            raw: Bytes::copy_from_slice(raw),
            name,
            json: serde_json::from_str(&data).unwrap_or_default(),
            is_done: data.trim() == "[DONE]",
            has_data: !data.trim().is_empty(),
        }
    }

    /// Whether it only shows that the provider is alive: a comment, or a ping.
    pub fn is_sign_of_life(&self) -> bool {
        let is_comment = self.name.is_none() && !self.has_data && self.raw.contains(&b':');
        is_comment || self.kind() == "ping"
    }

    /// Its kind: the type that its data names, else its name, else nothing.
    pub fn kind(&self) -> &str {
        self.json["type"].as_str().or(self.name.as_deref()).unwrap_or_default()
    }

    /// Whether it comes before anything of an answer.
    pub fn is_opening(&self) -> bool {
        is_opening(&self.json)
    }

    /// Whether it has neither data nor JSON in it: a comment, or a blank line.
    pub fn is_empty(&self) -> bool {
        !self.has_data
    }

    /// The JSON that says why the answer failed, where the event says that it did.
    pub fn error(&self) -> Option<&Value> {
        match self.kind() {
            "response.failed" => Some(&self.json["response"]),
            "error" => Some(&self.json).filter(|json| !json.is_null()),
            _ => self.json.get("error").filter(|error| !error.is_null()).map(|_| &self.json),
        }
    }

    /// What is wrong with its data as JSON; `None` where there is none, where it is JSON, and for the end of a chat.
    pub fn problem(&self) -> Option<serde_json::Error> {
        if !self.has_data || self.is_done || !self.json.is_null() {
            return None;
        }
        serde_json::from_str::<Value>(&data_of(&String::from_utf8_lossy(&self.raw))).err()
    }

    /// The number of lines in front of its data.
    pub fn line_of_data(&self) -> usize {
        let text = String::from_utf8_lossy(&self.raw);
        text.lines().take_while(|line| !line.starts_with("data:")).count()
    }

    /// The event with other data; as it came where the data is the same.
    pub fn with(&self, json: &Value) -> Bytes {
        if *json == self.json { self.raw.clone() } else { event_text(self.name.as_deref(), json) }
    }
}

/// Whether the event with this data comes before anything of an answer.
pub(crate) fn is_opening(json: &Value) -> bool {
    json["type"].as_str().is_some_and(|kind| OPENINGS.contains(&kind))
}

/// The values of a field of an event, in their order.
fn fields<'t>(text: &'t str, name: &'static str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(':'))
}

/// The lines of an event's data.
fn data_of(text: &str) -> String {
    fields(text, "data").collect::<Vec<_>>().join("\n")
}

/// An event as text.
pub fn event_text(name: Option<&str>, json: &Value) -> Bytes {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    Bytes::from(format!("{name}data: {json}\n\n"))
}

/// An event as text whose data has its name as its type, in front of the fields of `data`.
pub fn typed_event(name: &str, data: Value) -> Bytes {
    let mut json = serde_json::json!({ "type": name });
    if let (Value::Object(json), Value::Object(data)) = (&mut json, data) {
        json.extend(data);
    }
    event_text(Some(name), &json)
}

/// Whether a body is a stream of events: it begins with a field of one, or with a comment.
pub fn is_stream(body: &str) -> bool {
    let start = body.trim_start_matches(['\u{feff}', '\r', '\n', ' ']);
    ["event:", "data:", "id:", "retry:", ":"].iter().any(|field| start.starts_with(field))
}

/// The events of a stream, out of pieces that end anywhere.
#[derive(Debug, Default)]
pub struct Events {
    buffer: Vec<u8>,
    /// The end of the events that were taken.
    taken: usize,
    /// The end of the part that was searched for a blank line.
    looked: usize,
}

impl Events {
    /// The events of a stream that is whole; the last one may do without its blank line.
    pub fn of(stream: &[u8]) -> Self {
        let mut events = Self::default();
        events.push(stream);
        events.end_here();
        events
    }

    /// Adds what came next of the stream.
    pub fn push(&mut self, piece: &[u8]) {
        self.buffer.drain(..self.taken);
        self.looked -= self.taken;
        self.taken = 0;
        self.buffer.extend_from_slice(piece);
    }

    /// Whether what is behind the whole events is larger than what is taken in.
    pub fn is_too_large(&self) -> bool {
        self.waiting().len() > MOST_OF_EVENT
    }

    /// Whether nothing waits for the rest of its event.
    pub fn is_between_events(&self) -> bool {
        self.waiting().is_empty()
    }

    /// What is not part of a whole event.
    pub fn rest(mut self) -> Bytes {
        Bytes::from(self.buffer.split_off(self.taken))
    }

    /// Marks the end of the stream: the text behind the last whole event is an event too.
    pub fn end_here(&mut self) {
        if !self.is_between_events() {
            self.buffer.extend_from_slice(b"\n\n");
            self.looked = self.taken;
        }
    }

    fn waiting(&self) -> &[u8] {
        &self.buffer[self.taken..]
    }

    /// Behind the first blank line.
    fn end(&mut self) -> Option<usize> {
        let from = self.looked.saturating_sub(3).max(self.taken);
        let ends = |at: usize| {
            let rest = &self.buffer[at..];
            [&b"\r\n\r\n"[..], b"\n\n", b"\r\r"].into_iter().find(|end| rest.starts_with(end)).map(|end| at + end.len())
        };
        let end = memchr::memchr2_iter(b'\n', b'\r', &self.buffer[from..]).find_map(|at| ends(from + at));
        self.looked = end.unwrap_or(self.buffer.len());
        end
    }
}

/// The whole events, in their order. Linear in each.
impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let end = self.end()?;
        let event = Event::new(&self.buffer[self.taken..end]);
        self.taken = end;
        Some(event)
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
                found.extend(events.by_ref());
            }
            assert_eq!(found.len(), 3, "{size}");
            assert_eq!((found[0].name.as_deref(), &found[0].json["x"]), (Some("a"), &Value::from(1)));
            assert_eq!((found[1].json.is_null(), found[2].is_done), (true, true));
            events.end_here();
            found.extend(events);
            let all: Vec<u8> = found.iter().flat_map(|event| event.raw.to_vec()).collect();
            assert_eq!(all, format!("{stream}\n\n").as_bytes(), "nothing is lost");
            assert!(found[..3].iter().all(|event| event.problem().is_none()) && found[3].problem().is_some());
        }
    }

    #[test]
    fn what_an_event_says() {
        let check = |text: &str, is_sign_of_life: bool, is_opening: bool, error: Option<&str>| {
            let event = Events::of(text.as_bytes()).next().unwrap();
            let said = event.error().map(Value::to_string);
            assert_eq!((event.is_sign_of_life(), event.is_opening()), (is_sign_of_life, is_opening), "{text}");
            assert_eq!(said.as_deref(), error, "{text}");
        };
        check(": alive", true, false, None);
        check("event: ping\ndata: {}", true, false, None);
        check("data: {\"type\":\"response.created\"}", false, true, None);
        check("data: {\"error\":null}", false, false, None);
        check("data: {\"error\":7}", false, false, Some("{\"error\":7}"));
        check("event: error\ndata: {\"message\":\"x\"}", false, false, Some("{\"message\":\"x\"}"));
        check("data: {\"type\":\"response.failed\",\"response\":{\"a\":1}}", false, false, Some("{\"a\":1}"));
    }
}
