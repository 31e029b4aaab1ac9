//! Recorded event streams of deer-flow 1.x: messages and call arguments arrive in pieces.

use std::collections::HashMap;

use epitome_session::{Arguments, Block, Message, Origin, Role};
use epitome_wire::Events;
use serde_json::Value;

use crate::json::value::{arguments, arguments_text, items, non_empty_str};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Shape, Warning};
use crate::recording::content::{payload, text, thinking};
use crate::recording::session_builder::{Answer, SessionBuilder};

const EVENTS: &[&str] = &["message_chunk", "tool_calls", "tool_call_chunks", "tool_call_result", "interrupt"];

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    match probe.shape {
        Shape::Text(text) => {
            let name = text.lines().find_map(|line| line.strip_prefix("event:"));
            text.trim_start().starts_with("event:") && name.is_some_and(|name| EVENTS.contains(&name.trim()))
        }
        Shape::Document(_) | Shape::Lines(_) => false,
    }
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let mut stream = Stream::default();
    if let Shape::Text(text) = probe.shape {
        let mut line = 1;
        for event in Events::of(text.as_bytes()) {
            match event.problem() {
                Some(error) => {
                    let line = Some(line + event.line_of_data());
                    warnings.push(Warning { line, message: format!("passed over: {error}") });
                }
                None => stream.event(event.name.as_deref().unwrap_or_default(), event.json),
            }
            line += event.raw.iter().filter(|byte| **byte == b'\n').count();
        }
    }
    let mut log = SessionBuilder::new(&stream.thread);
    let name = if stream.thread.is_empty() { "0".to_owned() } else { stream.thread };
    for item in stream.items {
        match item {
            StreamItem::Turn(turn) => turn.push(&mut log),
            StreamItem::Result(data) => {
                let call_id = data["tool_call_id"].as_str().unwrap_or("");
                let answer = Answer { call_id, payload: payload(&data["content"]), ..Answer::default() };
                let result = log.answer(data["id"].as_str().unwrap_or(""), answer, None);
                log.push(result);
            }
        }
    }
    log.finish_alone(Format::DeerFlow, name, "no event of the stream holds a message")
}

#[derive(Default)]
struct Stream {
    thread: String,
    items: Vec<StreamItem>,
    /// The position of the message of an id in `items`.
    turns: HashMap<String, usize>,
}

enum StreamItem {
    Turn(ModelTurn),
    Result(Value),
}

#[derive(Default)]
struct ModelTurn {
    id: String,
    agent: Option<String>,
    is_user: bool,
    thinking: String,
    text: String,
    calls: Vec<Call>,
}

struct Call {
    index: Value,
    id: String,
    name: String,
    /// The arguments as the client had parsed them when the event was written; complete only if nothing followed.
    parsed: Value,
    pieces: String,
}

impl Stream {
    fn event(&mut self, event: &str, data: Value) {
        if let Some(thread) = non_empty_str(&data["thread_id"]) {
            self.thread = thread.to_owned();
        }
        match event {
            "tool_call_result" => self.items.push(StreamItem::Result(data)),
            "message_chunk" | "tool_calls" | "tool_call_chunks" | "interrupt" => {
                if let Some(turn) = self.turn(&data) {
                    turn.extend(&data);
                }
            }
            _ => {}
        }
    }

    /// The message that a piece belongs to: by id, and without one the message before it.
    fn turn(&mut self, data: &Value) -> Option<&mut ModelTurn> {
        let id = data["id"].as_str().unwrap_or("");
        let last = self.items.len().checked_sub(1);
        let known = match id {
            "" => last.filter(|last| matches!(&self.items[*last], StreamItem::Turn(turn) if turn.id.is_empty())),
            id => self.turns.get(id).copied(),
        };
        let place = known.unwrap_or_else(|| {
            self.items.push(StreamItem::Turn(ModelTurn {
                id: id.to_owned(),
                agent: non_empty_str(&data["agent"]).map(str::to_owned),
                is_user: data["role"] == "user",
                ..ModelTurn::default()
            }));
            self.turns.insert(id.to_owned(), self.items.len() - 1);
            self.items.len() - 1
        });
        match self.items.get_mut(place) {
            Some(StreamItem::Turn(turn)) => Some(turn),
            _ => None,
        }
    }
}

impl ModelTurn {
    fn extend(&mut self, data: &Value) {
        self.thinking.push_str(data["reasoning_content"].as_str().unwrap_or(""));
        self.text.push_str(data["content"].as_str().unwrap_or(""));
        let first_new = self.calls.len();
        for piece in items(&data["tool_call_chunks"]) {
            let id = piece["id"].as_str().unwrap_or("");
            let args = piece["args"].as_str().unwrap_or("");
            match non_empty_str(&piece["name"]) {
                Some(name) => self.calls.push(Call {
                    index: piece["index"].clone(),
                    id: id.to_owned(),
                    name: name.to_owned(),
                    parsed: Value::Null,
                    pieces: args.to_owned(),
                }),
                None => {
                    let place = self.calls.iter().rposition(|call| call.index == piece["index"]);
                    let place = place.or_else(|| self.calls.len().checked_sub(1));
                    if let Some(call) = place.and_then(|place| self.calls.get_mut(place)) {
                        call.pieces.push_str(args);
                    }
                }
            }
        }
        let mut unmatched = first_new;
        for call in items(&data["tool_calls"]) {
            let Some(name) = non_empty_str(&call["name"]) else { continue };
            match self.calls.get_mut(unmatched) {
                Some(known) => known.parsed = call["args"].clone(),
                None => self.calls.push(Call {
                    index: Value::Null,
                    id: call["id"].as_str().unwrap_or("").to_owned(),
                    name: name.to_owned(),
                    parsed: call["args"].clone(),
                    pieces: String::new(),
                }),
            }
            unmatched += 1;
        }
    }

    fn push(self, log: &mut SessionBuilder) {
        let mut blocks: Vec<Block> = Vec::new();
        blocks.extend(thinking(&self.thinking, None));
        blocks.extend(text(&self.text));
        for call in &self.calls {
            blocks.push(log.call(&call.id, &call.name, call.arguments()));
        }
        let (role, origin) = if self.is_user { (Role::User, Origin::Typed) } else { (Role::Assistant, Origin::Model) };
        let mut message = Message::new(self.id, role, origin, blocks);
        message.name = self.agent.map(Into::into);
        log.push(message);
    }
}

impl Call {
    fn arguments(&self) -> Arguments {
        match arguments_text(&self.pieces) {
            Arguments::Text(_) if self.parsed.as_object().is_some_and(|object| !object.is_empty()) => {
                arguments(&self.parsed)
            }
            Arguments::Text(text) if text.is_empty() => arguments(&Value::Null),
            complete => complete,
        }
    }
}
