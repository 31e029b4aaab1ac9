//! Recordings that serve measurements only: those of evaluation harnesses, and sets of dialogues. Each dialogue is a
//! session; the material of the measurement (goals, states) is left out, but for the questions of two of them.

mod chat;
mod crosswoz;
mod intercode;
mod kdconv;
mod locomo;
mod longmemeval;
mod madial;
mod memorybank;
mod turns;
mod who_and_when;

use std::io::Read as _;

use epitome::Session;
use epitome::formats::{GzipReader, LoadedSession, MAX_DECOMPRESSED};
use serde_json::Value;

use turns::Named;

/// A question about a session, with the turns that hold its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub text: String,
    /// The answer; empty where it is not one string.
    pub answer: String,
    /// The ids of the messages that hold the answer.
    pub turns: Vec<String>,
}

/// A file of a set.
#[derive(Debug)]
pub struct SetFile {
    /// The name of the set.
    pub set: &'static str,
    /// The sessions with a readable message.
    pub sessions: Vec<LoadedSession>,
    /// The questions about each session, in the same order; none where the set records no evidence.
    pub questions: Vec<Vec<Question>>,
    /// The names of sessions in which nothing could be read.
    pub empty: Vec<String>,
}

/// A set: its name, recognition and reader.
struct Set {
    name: &'static str,
    fits: fn(&Value) -> bool,
    read: fn(&Value) -> Vec<Named>,
}

/// The sets. No file fits two of them.
const SETS: &[Set] = &[
    Set { name: "who-and-when", fits: who_and_when::fits, read: who_and_when::read },
    Set { name: "chat", fits: chat::fits, read: chat::read_runs },
    Set { name: "intercode", fits: intercode::fits, read: intercode::read },
    Set { name: "locomo", fits: locomo::fits, read: locomo::read },
    Set { name: "longmemeval", fits: longmemeval::fits, read: longmemeval::read },
    Set { name: "memorybank", fits: memorybank::fits, read: memorybank::read },
    Set { name: "madial", fits: madial::fits, read: madial::read },
    Set { name: "crosswoz", fits: crosswoz::fits, read: crosswoz::read },
    Set { name: "kdconv", fits: kdconv::fits, read: kdconv::read },
];

/// The names of the sets that fit a file: at most one.
pub fn sets_of(bytes: &[u8]) -> Vec<&'static str> {
    let document = document(bytes);
    SETS.iter().filter(|set| (set.fits)(&document)).map(|set| set.name).collect()
}

/// Reads a file of a set, plain or gzipped; `None` where it is none, or holds no message. Linear.
pub fn read_set(bytes: &[u8]) -> Option<SetFile> {
    let document = document(bytes);
    let set = SETS.iter().find(|set| (set.fits)(&document))?;
    let mut file = SetFile { set: set.name, sessions: Vec::new(), questions: Vec::new(), empty: Vec::new() };
    for (number, (name, session)) in (set.read)(&document).into_iter().enumerate() {
        if session.log().is_empty() {
            file.empty.push(name);
            continue;
        }
        file.questions.push(questions(set.name, &document, number, &session));
        file.sessions.push(LoadedSession { name, session, records: Vec::new(), model: None });
    }
    (!file.sessions.is_empty()).then_some(file)
}

/// The questions about the session `number` of a file, of which some turn is in it.
fn questions(set: &str, document: &Value, number: usize, session: &Session) -> Vec<Question> {
    let mut questions = match set {
        "locomo" => locomo::questions(document, number),
        "longmemeval" => longmemeval::questions(document, session),
        _ => Vec::new(),
    };
    for question in &mut questions {
        question.turns.retain(|turn| session.log().iter().any(|message| message.id.as_str() == turn));
    }
    questions.retain(|question| !question.turns.is_empty());
    questions
}

/// The turns of a question, each once.
fn distinct_turns<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut turns: Vec<String> = Vec::new();
    for id in ids.filter(|id| !id.is_empty()) {
        if turns.iter().all(|turn| turn != id) {
            turns.push(id.to_owned());
        }
    }
    turns
}

/// The content of a file: its JSON document, or the list of its JSON lines; `Null` where it is neither.
fn document(bytes: &[u8]) -> Value {
    let mut unpacked = Vec::new();
    let gzip = bytes.starts_with(&[0x1f, 0x8b]);
    if gzip && GzipReader::new(bytes).take(MAX_DECOMPRESSED as u64).read_to_end(&mut unpacked).is_err() {
        return Value::Null;
    }
    let bytes = if gzip { &unpacked } else { bytes };
    serde_json::from_slice(bytes).unwrap_or_else(|_| {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let parsed: Result<Vec<Value>, _> = lines.map(serde_json::from_slice).collect();
        parsed.map(Value::Array).unwrap_or_default()
    })
}
