//! A streamed answer, event by event: puts the model's text together, and sends on the events for the client.
//!
//! Several answers of the provider can become one of the proxy: calls of ours are taken out, and the items behind them
//! are numbered as though these had never been there.

use std::collections::{HashMap, HashSet};

use axum::body::Bytes;
use epitome::formats::Format;
use serde_json::{Value, json};

use super::contents;
use super::events::{Event, event_text};
use super::utterance::{Utterance, add_output, is_a_clients, is_ours};

/// The most of an answer that is put together, as bytes of its events: the size of the largest answer that is read whole.
pub(super) const MOST_OF_ANSWER: usize = super::MOST_BYTES;

/// The values of an event that are not counted beside its bytes: those of a piece of a text.
const FREE_VALUES: usize = 8;

/// Bytes that a value of JSON takes in memory beside its text, roughly.
const VALUE_BYTES: usize = 64;

/// Whether an event may be shown to the client yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    /// It says nothing, or thinks.
    Quiet,
    /// So many characters of what the model says.
    Text(usize),
    /// It belongs to a call of ours.
    Ours,
    /// It belongs to a call of the client's.
    Clients,
    /// The answer ends.
    Ending,
    /// The provider failed.
    Broken,
}

/// One answer of the provider, as far as it has come.
#[derive(Debug)]
pub(super) struct Round<'n> {
    format: Format,
    names: &'n [&'static str],
    /// The blocks, items or calls by their numbers.
    parts: Vec<Value>,
    /// A chat's message beside its calls.
    message: Value,
    /// Arguments of Anthropic's calls, which come as text.
    arguments: HashMap<usize, String>,
    ours: HashSet<usize>,
    /// The numbers that the client knows parts by.
    shown: HashMap<usize, u64>,
    continues: Option<bool>,
    pub(super) usage: Value,
    pub(super) is_over: bool,
    /// What is kept of the answer, and of those before it, in bytes.
    pub(super) weight: usize,
}

impl<'n> Round<'n> {
    /// `weight` is what is kept of the answers before it.
    pub(super) fn new(format: Format, names: &'n [&'static str], weight: usize) -> Self {
        Self {
            weight,
            format,
            names,
            parts: Vec::new(),
            message: json!({"role": "assistant", "content": null}),
            arguments: HashMap::new(),
            ours: HashSet::new(),
            shown: HashMap::new(),
            continues: None,
            usage: Value::Null,
            is_over: false,
        }
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// The model's answer so far.
    pub(super) fn utterance(&self) -> Utterance {
        let parts: Vec<Value> = self.parts.iter().filter(|part| !part.is_null()).cloned().collect();
        let json = match self.format {
            Format::Anthropic | Format::OpenaiResponses => Value::Array(parts),
            Format::Gemini => json!({"role": "model", "parts": parts}),
            _ => {
                let mut message = self.message.clone();
                if !parts.is_empty() {
                    message["tool_calls"] = Value::Array(parts);
                }
                message
            }
        };
        Utterance { format: self.format, json }
    }

    /// Takes note of an event.
    pub(super) fn take(&mut self, event: &Event) -> EventKind {
        let n_parts = self.parts.len();
        let kept = kept_of(self.format, &event.json);
        if !kept.is_null() {
            self.weight += event.raw.len() + values_in(kept).saturating_sub(FREE_VALUES) * VALUE_BYTES;
        }
        let kind = self.take_json(event);
        self.weight += self.parts.len().saturating_sub(n_parts) * VALUE_BYTES;
        kind
    }

    fn take_json(&mut self, event: &Event) -> EventKind {
        match self.format {
            Format::Anthropic => self.take_anthropic(&event.json),
            Format::OpenaiResponses => self.take_responses(&event.json),
            Format::Gemini => self.take_contents(&event.json),
            _ => self.take_chat(event),
        }
    }

    fn part(&mut self, number: usize) -> &mut Value {
        // A provider that numbers wildly gets no list of that length.
        let number = number.min(self.parts.len().saturating_add(64));
        if self.parts.len() <= number {
            self.parts.resize(number + 1, Value::Null);
        }
        &mut self.parts[number]
    }

    /// Whose call a part is, now that it is known what it is.
    fn call(&mut self, number: usize) -> Option<EventKind> {
        let part = self.parts.get(number)?;
        if part["function"]["name"] == "" {
            return Some(EventKind::Quiet); // a chat's call whose name has not come yet
        }
        if is_ours(self.format, part, self.names) {
            self.ours.insert(number);
            Some(EventKind::Ours)
        } else {
            is_a_clients(self.format, part).then_some(EventKind::Clients)
        }
    }

    fn take_anthropic(&mut self, json: &Value) -> EventKind {
        let number = json["index"].as_u64().unwrap_or(0) as usize;
        match json["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.usage = json["message"]["usage"].clone();
                EventKind::Quiet
            }
            "content_block_start" => {
                *self.part(number) = json["content_block"].clone();
                self.call(number).unwrap_or(EventKind::Quiet)
            }
            "content_block_delta" => {
                let delta = &json["delta"];
                if let Some(piece) = delta["partial_json"].as_str() {
                    self.arguments.entry(number).or_default().push_str(piece);
                    return if self.ours.contains(&number) { EventKind::Ours } else { EventKind::Quiet };
                }
                let mut said = 0;
                for field in ["text", "thinking", "signature"] {
                    if let Some(piece) = delta[field].as_str() {
                        said += if field == "text" { piece.chars().count() } else { 0 };
                        push_text(&mut self.part(number)[field], piece);
                    }
                }
                if !delta["citation"].is_null() {
                    let citation = delta["citation"].clone();
                    match &mut self.part(number)["citations"] {
                        Value::Array(citations) => citations.push(citation),
                        none => *none = json!([citation]),
                    }
                }
                EventKind::Text(said)
            }
            "content_block_stop" => {
                if let Some(arguments) = self.arguments.remove(&number) {
                    // Ours are answered with what is wrong with them.
                    let arguments: Value = serde_json::from_str(&arguments).unwrap_or_else(|_| json!({}));
                    self.part(number)["input"] = arguments;
                }
                if self.ours.contains(&number) { EventKind::Ours } else { EventKind::Quiet }
            }
            "message_delta" => {
                if let Some(usage) = json["usage"].as_object() {
                    for (name, figure) in usage.iter().filter(|(_, figure)| !figure.is_null()) {
                        self.usage[name] = figure.clone();
                    }
                }
                EventKind::Ending
            }
            "message_stop" => {
                self.is_over = true;
                EventKind::Ending
            }
            "error" => EventKind::Broken,
            _ => EventKind::Quiet,
        }
    }

    fn take_chat(&mut self, event: &Event) -> EventKind {
        let json = &event.json;
        if event.is_done {
            self.is_over = true;
            return EventKind::Ending;
        }
        if !json["error"].is_null() {
            return EventKind::Broken;
        }
        if json["usage"].is_object() {
            self.usage = json["usage"].clone();
        }
        let Some(choice) = json["choices"].get(0) else {
            return if json.is_null() { EventKind::Quiet } else { EventKind::Ending };
        };
        let delta = &choice["delta"];
        let mut said = 0;
        for (field, piece) in delta.as_object().into_iter().flatten() {
            match (field.as_str(), piece) {
                ("role" | "tool_calls", _) | (_, Value::Null) => {}
                (field, Value::String(piece)) => {
                    said += if field == "content" { piece.chars().count() } else { 0 };
                    push_text(&mut self.message[field], piece);
                }
                (field, Value::Array(items)) if self.message[field].is_array() => {
                    if let Some(known) = self.message[field].as_array_mut() {
                        known.extend(items.iter().cloned());
                    }
                }
                (field, other) => self.message[field] = other.clone(),
            }
        }
        let mut kind = EventKind::Text(said);
        for (at, piece) in delta["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let number = number_of(piece, at);
            let call = self.part(number);
            if call.is_null() {
                *call = json!({"id": "", "type": "function", "function": {"name": "", "arguments": ""}});
            }
            for (field, text) in piece.as_object().into_iter().flatten() {
                match (field.as_str(), text) {
                    ("index" | "function", _) | (_, Value::Null) => {}
                    (field, value) => call[field] = value.clone(),
                }
            }
            for field in ["name", "arguments"] {
                if let Some(text) = piece["function"][field].as_str() {
                    push_text(&mut call["function"][field], text);
                }
            }
            match self.call(number) {
                // The piece that says whose message it is goes on without the call.
                Some(EventKind::Ours) if said == 0 && kind != EventKind::Clients && delta["role"].is_null() => {
                    kind = EventKind::Ours
                }
                Some(EventKind::Ours | EventKind::Quiet) => {}
                _ => kind = EventKind::Clients,
            }
        }
        if choice["finish_reason"].is_null() { kind } else { EventKind::Ending }
    }

    fn take_responses(&mut self, json: &Value) -> EventKind {
        let number = json["output_index"].as_u64().unwrap_or(0) as usize;
        match json["type"].as_str().unwrap_or_default() {
            "response.output_item.added" | "response.output_item.done" => {
                *self.part(number) = json["item"].clone();
                self.call(number).unwrap_or(EventKind::Quiet)
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.is_over = true;
                self.usage = json["response"]["usage"].clone();
                if self.parts.is_empty() {
                    self.parts = json["response"]["output"].as_array().cloned().unwrap_or_default();
                    (0..self.parts.len()).for_each(|number| {
                        self.call(number);
                    });
                }
                if json["type"] == "response.failed" { EventKind::Broken } else { EventKind::Ending }
            }
            "error" => EventKind::Broken,
            "response.output_text.delta" => EventKind::Text(json["delta"].as_str().unwrap_or_default().chars().count()),
            _ if json.get("output_index").is_some() && self.ours.contains(&number) => EventKind::Ours,
            _ => EventKind::Quiet,
        }
    }
}

impl Round<'_> {
    fn take_contents(&mut self, json: &Value) -> EventKind {
        if !json["error"].is_null() {
            return EventKind::Broken;
        }
        if json["usageMetadata"].is_object() {
            self.usage = json["usageMetadata"].clone();
        }
        let Some(candidate) = json["candidates"].get(0) else {
            return if json.is_null() { EventKind::Quiet } else { EventKind::Ending };
        };
        let (mut said, mut has_ours, mut has_clients) = (0, false, false);
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            said += contents::words(part).map_or(0, |words| words.chars().count());
            has_ours |= is_ours(self.format, part, self.names);
            has_clients |= is_a_clients(self.format, part) && !is_ours(self.format, part, self.names);
            contents::push(&mut self.parts, part);
        }
        match () {
            () if !candidate["finishReason"].is_null() => EventKind::Ending,
            () if has_clients => EventKind::Clients,
            () if said == 0 && has_ours => EventKind::Ours,
            () => EventKind::Text(said),
        }
    }
}

/// The part of an event that is put together with others.
fn kept_of(format: Format, json: &Value) -> &Value {
    let either = |one: &'static str, other: &'static str| json.get(one).unwrap_or(&json[other]);
    match format {
        Format::Anthropic => either("content_block", "delta"),
        Format::OpenaiResponses => json.get("item").unwrap_or(&json["response"]["output"]),
        Format::Gemini => &json["candidates"][0]["content"]["parts"],
        _ => &json["choices"][0]["delta"],
    }
}

/// The values that a value is made of, itself included.
fn values_in(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(values_in).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(values_in).sum::<usize>(),
        _ => 1,
    }
}

/// The number of a piece of a chat's call; some providers leave it out.
fn number_of(piece: &Value, at: usize) -> usize {
    piece["index"].as_u64().map_or(at, |number| number as usize)
}

fn push_text(place: &mut Value, piece: &str) {
    match place {
        Value::String(text) => text.push_str(piece),
        other => *other = piece.into(),
    }
}

/// The one answer that the client sees.
#[derive(Debug, Default)]
pub(super) struct MergedAnswer {
    /// Whether the client has seen any of it.
    pub(super) has_begun: bool,
    /// The number of the next part.
    next: u64,
    sequence: Option<u64>,
    /// Items of Responses in answers before the current one.
    items: Vec<Value>,
    /// The output figures of the answers before this one.
    pub(super) earlier: Value,
    /// What is kept of the answers before the current one, in bytes.
    pub(super) weight: usize,
    /// Whether there were answers before the current one.
    pub(super) is_continued: bool,
}

impl MergedAnswer {
    /// An event as the client gets it; `None` for one that it does not.
    pub(super) fn tell(&mut self, round: &mut Round<'_>, event: &Event) -> Option<Bytes> {
        let continues = *round.continues.get_or_insert(self.has_begun);
        let mut json = event.json.clone();
        let is_told = match round.format {
            Format::Anthropic => self.tell_anthropic(round, &mut json, continues),
            Format::OpenaiResponses => self.tell_responses(round, &mut json, continues),
            Format::Gemini => self.tell_contents(round, &mut json),
            _ => self.tell_chat(round, &mut json),
        };
        self.has_begun |= is_told && !event.json.is_null();
        is_told.then(|| event.with(&json))
    }

    /// Whether all events of an answer are the client's as they are.
    pub(super) fn is_as_it_comes(&self, round: &Round<'_>) -> bool {
        !self.is_continued && round.ours.is_empty()
    }

    /// The number that the client knows a part by.
    fn numbered(&mut self, round: &mut Round<'_>, number: usize) -> u64 {
        *round.shown.entry(number).or_insert_with(|| {
            self.next += 1;
            self.next - 1
        })
    }

    fn tell_anthropic(&mut self, round: &mut Round<'_>, json: &mut Value, continues: bool) -> bool {
        match json["type"].as_str().unwrap_or_default() {
            "message_start" => !continues,
            "message_delta" => {
                if continues {
                    json["usage"] = round.usage.clone();
                }
                if let Some(usage) = json.get_mut("usage") {
                    add_known(usage, &self.earlier);
                }
                if json["delta"]["stop_reason"] == "tool_use" && !round.utterance().has_others(round.names) {
                    json["delta"]["stop_reason"] = "end_turn".into();
                }
                true
            }
            _ => {
                if let Some(number) = json["index"].as_u64() {
                    json["index"] = self.numbered(round, number as usize).into();
                }
                true
            }
        }
    }

    fn tell_chat(&mut self, round: &mut Round<'_>, json: &mut Value) -> bool {
        if let Some(usage) = json.get_mut("usage") {
            add_known(usage, &self.earlier);
        }
        let Some(choice) = json.get_mut("choices").and_then(|choices| choices.get_mut(0)) else { return true };
        let mut is_told = true;
        if let Some(delta) = choice.get_mut("delta").and_then(Value::as_object_mut)
            && let Some(calls) = delta.get_mut("tool_calls").and_then(Value::as_array_mut)
        {
            let numbers: Vec<usize> = calls.iter().enumerate().map(|(at, call)| number_of(call, at)).collect();
            let mut number = numbers.iter();
            calls.retain(|_| number.next().is_some_and(|number| !round.ours.contains(number)));
            for (call, number) in calls.iter_mut().zip(numbers.iter().filter(|number| !round.ours.contains(number))) {
                if call["index"].is_u64() {
                    let mapped = *round.shown.entry(*number).or_insert_with(|| {
                        self.next += 1;
                        self.next - 1
                    });
                    call["index"] = mapped.into();
                }
            }
            if calls.is_empty() {
                delta.shift_remove("tool_calls");
                is_told = delta.values().any(|value| !value.is_null() && value != "");
            }
        }
        if choice["finish_reason"] == "tool_calls" && !round.utterance().has_others(round.names) {
            choice["finish_reason"] = "stop".into();
        }
        is_told || !choice["finish_reason"].is_null()
    }

    fn tell_responses(&mut self, round: &mut Round<'_>, json: &mut Value, continues: bool) -> bool {
        let kind = json["type"].as_str().unwrap_or_default().to_owned();
        if continues && ["response.created", "response.in_progress", "response.queued"].contains(&kind.as_str()) {
            return false;
        }
        if let Some(number) = json["output_index"].as_u64() {
            json["output_index"] = self.numbered(round, number as usize).into();
        }
        if let Some(number) = json["sequence_number"].as_u64() {
            let number = *self.sequence.get_or_insert(number);
            json["sequence_number"] = number.into();
            self.sequence = Some(number + 1);
        }
        if let Some(usage) = json.pointer_mut("/response/usage") {
            add_known(usage, &self.earlier);
        }
        let output = json.pointer_mut("/response/output").and_then(Value::as_array_mut);
        if let Some(output) = output.filter(|_| round.is_over) {
            output.retain(|item| !is_ours(round.format, item, round.names));
            output.splice(0..0, self.items.iter().cloned());
        }
        true
    }

    fn tell_contents(&mut self, round: &mut Round<'_>, json: &mut Value) -> bool {
        if let Some(usage) = json.get_mut("usageMetadata") {
            add_known(usage, &self.earlier);
        }
        let Some(candidate) = json.get_mut("candidates").and_then(|candidates| candidates.get_mut(0)) else {
            return true;
        };
        let is_end = !candidate["finishReason"].is_null();
        let Some(parts) = candidate.pointer_mut("/content/parts").and_then(Value::as_array_mut) else { return true };
        let lent = contents::lent_signature(&round.parts, round.names).filter(|_| round.shown.is_empty());
        let has_ours = parts.iter().any(|part| contents::is_of(part, round.names));
        contents::remove(parts, round.names, lent.as_ref());
        if let Some(at) = parts.iter().position(|part| contents::call(part).is_some()) {
            round.shown.insert(at, 0); // the client has the first of its calls
        }
        is_end || !has_ours || parts.iter().any(contents::is_kept)
    }

    /// What the model said in the event with which an answer ended, for a client that has seen what it said before.
    pub(super) fn tell_words(&mut self, round: &Round<'_>, event: &Event) -> Option<Bytes> {
        let mut json = event.json.clone();
        let candidate = json.get_mut("candidates").filter(|_| round.format == Format::Gemini)?.get_mut(0)?;
        candidate.as_object_mut()?.shift_remove("finishReason");
        let parts = candidate.pointer_mut("/content/parts")?.as_array_mut()?;
        parts.retain(|part| contents::words(part).is_some_and(|words| !words.is_empty()));
        (!parts.is_empty()).then(|| event_text(None, &json))
    }

    /// Continues the client's answer with another one of the provider's.
    pub(super) fn go_on(&mut self, round: &Round<'_>) {
        add_output(&mut self.earlier, &round.usage);
        (self.weight, self.is_continued) = (round.weight, true);
        if self.has_begun && round.format == Format::OpenaiResponses {
            let parts = round.parts.iter().filter(|item| !item.is_null() && !is_ours(round.format, item, round.names));
            self.items.extend(parts.cloned());
        }
    }
}

/// Adds earlier figures to those that an answer names; figures that it does not name are left out.
pub(super) fn add_known(usage: &mut Value, earlier: &Value) {
    let (Some(figures), Some(earlier)) = (usage.as_object_mut(), earlier.as_object()) else { return };
    for (name, figure) in figures {
        match (earlier.get(name), &figure) {
            (Some(before), Value::Object(_)) => add_known(figure, before),
            (Some(before), _) => {
                if let (Some(one), Some(other)) = (figure.as_u64(), before.as_u64()) {
                    *figure = one.saturating_add(other).into();
                }
            }
            (None, _) => {}
        }
    }
}
