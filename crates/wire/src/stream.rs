//! Streamed answers, put together event by event.

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::answer::Answers;
use crate::events::Event;
use crate::merge::{MergedAnswer, PartialAnswer};

/// The values of an event that are not counted beside its bytes: more than a piece of a text has.
const FREE_VALUES: usize = 24;

/// Bytes that a value of JSON takes in memory beside its text, roughly.
const VALUE_BYTES: usize = 64;

/// How far the numbers of parts may run ahead: a provider that numbers wildly gets no list of that length.
const MOST_AHEAD: usize = 64;

/// The form of a provider's streams.
pub trait Streams: Answers {
    /// Takes note of what an event says.
    fn take(&self, answer: &mut StreamedAnswer, event: &Event) -> Taken;

    /// Takes note of an event, and of what is kept of it.
    fn hear(&self, answer: &mut StreamedAnswer, event: &Event) -> Taken {
        let n_parts = answer.parts.len();
        answer.weight += event.raw.len() + values_in(&event.json).saturating_sub(FREE_VALUES) * VALUE_BYTES;
        let taken = self.take(answer, event);
        answer.weight += answer.parts.len().saturating_sub(n_parts) * VALUE_BYTES;
        taken
    }

    /// Returns the model's output so far.
    fn output(&self, answer: &StreamedAnswer) -> Value {
        let parts: Vec<Value> = answer.parts.iter().filter(|part| !part.is_null()).cloned().collect();
        let Some(field) = self.parts_field() else { return Value::Array(parts) };
        let mut message = answer.message.clone();
        if !parts.is_empty() {
            message[field] = Value::Array(parts);
        }
        message
    }

    /// Returns the answer that the provider would have given without streaming, as far as an answer in text needs it.
    fn whole(&self, answer: &StreamedAnswer, output: Value) -> Value;

    /// Returns an error in the middle of a stream, as the provider's own are.
    fn error_event(&self, message: &str) -> Bytes;

    /// Changes the data of an event of `partial` to what the client gets of it in the merged answer. Returns whether it gets anything.
    fn for_client(&self, merged: &mut MergedAnswer, partial: &mut PartialAnswer<'_>, json: &mut Value) -> bool;

    /// Returns what the model said in the event with which an answer ended, where other events can say it.
    fn words_of_end(&self, _json: &Value) -> Option<Value> {
        None
    }

    /// Whether the event with which an answer ends repeats all of it.
    fn repeats_answer(&self) -> bool {
        false
    }
}

/// What an event brought.
#[derive(Debug, Default)]
pub struct Taken {
    /// How far the answer is.
    pub stage: Stage,
    /// Characters of what the model says.
    pub said: usize,
    /// The numbers of the parts that it is about; a call is among them once its name has come.
    pub parts: Vec<usize>,
    /// Whether it says more than what it says of these parts, such as whose message it is.
    pub says_more: bool,
}

/// How far an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stage {
    /// It goes on.
    #[default]
    Going,
    /// It ends.
    Ending,
    /// The provider failed.
    Broken,
}

impl Taken {
    pub(crate) fn at(stage: Stage) -> Self {
        Self { stage, ..Self::default() }
    }

    pub(crate) fn of_part(number: usize, said: usize) -> Self {
        Self { said, parts: vec![number], ..Self::default() }
    }
}

/// An answer of a provider, as far as it has come.
#[derive(Debug)]
pub struct StreamedAnswer {
    /// The blocks, items or calls by their numbers; null for one that has not come.
    pub parts: Vec<Value>,
    /// What the answer has beside its parts: a chat's message, the object of Responses.
    pub(crate) message: Value,
    /// Arguments of Anthropic's calls, which come as text.
    pub(crate) arguments: HashMap<usize, String>,
    /// Why the model stopped, in the provider's word; null before it did.
    pub(crate) stop: Value,
    /// The tokens, as the provider names them.
    pub usage: Value,
    /// Whether the stream has said that it is over.
    pub is_over: bool,
    /// The bytes that are kept of the answer, and the `weight` that `new` was given.
    pub weight: usize,
}

impl StreamedAnswer {
    /// An answer that has not begun; `weight` is added to what is kept of it.
    pub fn new(weight: usize) -> Self {
        Self {
            parts: Vec::new(),
            message: json!({"role": "assistant", "content": null}),
            arguments: HashMap::new(),
            stop: Value::Null,
            usage: Value::Null,
            is_over: false,
            weight,
        }
    }

    /// Whether the model has said all: the stream is over, or has said why the model stopped.
    pub fn has_ended(&self) -> bool {
        self.is_over || !self.stop.is_null()
    }

    pub(crate) fn part(&mut self, number: usize) -> &mut Value {
        let number = number.min(self.parts.len().saturating_add(MOST_AHEAD));
        if self.parts.len() <= number {
            self.parts.resize(number + 1, Value::Null);
        }
        &mut self.parts[number]
    }

    /// Takes figures over; later ones replace earlier ones.
    pub(crate) fn add_usage(&mut self, usage: &Value) {
        for (name, figure) in usage.as_object().into_iter().flatten().filter(|(_, figure)| !figure.is_null()) {
            self.usage[name] = figure.clone();
        }
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

/// Adds a piece to a text that comes in pieces; returns its characters.
pub(crate) fn push_text(place: &mut Value, piece: &str) -> usize {
    match place {
        Value::String(text) => text.push_str(piece),
        other => *other = piece.into(),
    }
    piece.chars().count()
}
