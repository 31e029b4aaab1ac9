//! Finds facts that are worth remembering: by cue words and by form, in English and Chinese.

mod alone;
mod binding;
mod facts;
mod model;
mod person;
mod sentences;
mod weight;
mod words;
mod work;

use std::sync::Arc;

use epitome_session::{Content, Message, Origin, Role};
use epitome_strategy::Lexicon;
use epitome_strategy::speech::{told_texts, typed_texts};

use crate::memory::{Memory, MemoryKind, Subject, normalise};

/// The longest memory, in characters.
pub const LONGEST_MEMORY: usize = 400;

/// The longest sentence that is remembered, in characters: half of a longer one may say the contrary.
const LONGEST_SENTENCE: usize = 300;

/// A message with more bytes of text is a document or a prompt that was pasted, not something that a person says: what
/// it demands holds for the task at hand.
const PASTED: usize = 2_500;

/// A message of the model's with as many bytes of text is a report, also where it calls a tool; a shorter one with a call
/// says what it is about to do.
const REPORT: usize = 600;

/// The beginnings of messages that a harness sends in a person's name: the rest is a document of its own.
const TEMPLATES: &[&str] = &["Implement the following plan:"];

/// The kind of a sentence's memory, and its worth: 1 for barely worth remembering, 4 for an explicit request to
/// remember.
type Worth = (MemoryKind, f64);

/// At most `most` memories of a session, the best first: explicit requests to remember, preferences, standing
/// instructions, decisions, facts about people, places and programs, failures with their causes, and exact strings with
/// the words that say what they are.
///
/// Whole sentences of what people typed, also through a tool, and of what the model concluded, each of them one that
/// names its subject; where several people speak, with the speaker's name. Momentary statements are left out, and so
/// are those that were taken back or changed later. Linear in the texts, plus the number of findings times the number
/// of memories held, which is bounded.
pub fn extract(messages: &[Arc<Message>], session: Option<&Arc<str>>, lexicon: &Lexicon, most: usize) -> Vec<Memory> {
    let mut found: Vec<ExtractedMemory> = Vec::new();
    // The model's plain facts are few among the memories, and the newest: of older messages they are not looked for.
    let models = messages.iter().enumerate().rev().filter(|(_, message)| may_conclude(message));
    let recent = models.map(|(index, _)| index).nth(MOST_RECENT).unwrap_or(0);
    let mut asked_by = None;
    for (index, message) in messages.iter().enumerate() {
        // Where both sides have names, people talk: what "the model" says is what the other of them says.
        let people = message.name.is_some() && (asked_by.is_some() || message.is_typed());
        let said = match (message.role, message.origin) {
            (Role::User, Origin::Typed) => said_by_person(message, people, lexicon),
            (Role::Tool, _) => said_through_tool(message, lexicon),
            (Role::Assistant, Origin::Model) if people => {
                person::statements(&message.plain_text(), message.timestamp, true, lexicon)
            }
            (Role::Assistant, Origin::Model) => {
                let text = message.plain_text();
                // A model's thoughts are guesses.
                let text = text.rsplit_once("</think>").map_or(text.as_str(), |(_, said)| said);
                let calls = message.calls().next().is_some() || !message.text_calls.is_empty();
                let reports = text.len() >= REPORT && message.text_calls.is_empty() && !text.starts_with("THOUGHT");
                model::statements(text, !calls || reports, index >= recent, lexicon)
            }

            _ => continue,
        };
        if message.is_typed() {
            asked_by = message.name.as_ref();
        }
        // Where people are named there are several: whose "I" it is has to be said.
        let name = message.name.as_ref().filter(|_| asked_by.is_some());
        for (text, (kind, worth)) in said {
            let text = match name {
                Some(name) if speaks_of_themselves(&text) => format!("{name}: {text}"),
                _ => text,
            };
            let time = message.timestamp;
            let memory = Memory { text, kind, session: session.cloned(), message: message.id.clone(), time };
            add(&mut found, worth, memory);
        }
    }
    for (at, text, (kind, worth)) in work::compose(messages) {
        let Some(message) = messages.get(at) else { continue };
        let time = message.timestamp;
        let is_a_wish = text.ends_with('”');
        let is_said = |known: &str| known.contains(&text) || is_a_wish && text.contains(known);
        if found.iter().any(|found| is_said(&found.memory.text)) {
            continue;
        }
        // The outcome of a request says it better than the model's sentence alone; a person's rules stay.
        let is_of_model = |kind| matches!(kind, MemoryKind::Fact | MemoryKind::Failure);
        found.retain(|found| !(is_of_model(found.memory.kind) && text.contains(&found.memory.text)));
        let memory = Memory { text, kind, session: session.cloned(), message: message.id.clone(), time };
        add(&mut found, worth, memory);
    }
    found.reverse(); // of equals the newest first
    found.sort_by(|left, right| right.worth.total_cmp(&left.worth));
    let mut plain = 0;
    found.retain(|found| {
        plain += usize::from(found.worth <= model::PLAIN);
        found.worth > model::PLAIN || plain <= MOST_PLAIN
    });
    found.into_iter().take(most).map(|found| found.memory).collect()
}

/// A memory that was found, with the facts that comparisons need again and again.
struct ExtractedMemory {
    worth: f64,
    memory: Memory,
    normalised: String,
    subject: Subject,
}

/// The most plain facts of the model's: more are noise beside what people said.
const MOST_PLAIN: usize = 5;

/// The model's messages in which plain facts are looked for, the newest.
const MOST_RECENT: usize = 60;

/// The most that is held while a session is read; of more the least goes.
const MOST_HELD: usize = 200;

/// Adds a memory; it takes the place of those that say the same, or that it changes. Linear in the memories held.
fn add(found: &mut Vec<ExtractedMemory>, mut worth: f64, memory: Memory) {
    let (normalised, subject) = (normalise(&memory.text), Subject::parse(&memory.text));
    found.retain(|older| {
        let goes =
            older.normalised == normalised || older.memory.kind == memory.kind && subject.is_that_of(&older.subject);
        if goes {
            worth = worth.max(older.worth);
        }
        !goes
    });
    if found.len() >= MOST_HELD {
        let least = found.iter().enumerate().min_by(|(_, left), (_, right)| left.worth.total_cmp(&right.worth));
        if let Some((at, _)) = least {
            found.remove(at);
        }
    }
    found.push(ExtractedMemory { worth, memory, normalised, subject });
}

/// Whether a message of the model may state a conclusion: it calls no tool, or has much text. Linear in its blocks.
fn may_conclude(message: &Message) -> bool {
    let texts = message.blocks.iter().filter_map(|block| match &block.content {
        Content::Text { text } => Some(text.len()),
        _ => None,
    });
    let length: usize = texts.sum();
    let calls = message.calls().next().is_some() || !message.text_calls.is_empty();
    message.role == Role::Assistant && length > 0 && (!calls || length >= REPORT)
}

/// The text that a person typed in a message.
fn said_by_person(message: &Message, people: bool, lexicon: &Lexicon) -> Vec<(String, Worth)> {
    let length: usize = typed_texts(message).flat_map(|(_, _, ranges)| ranges).map(|range| range.len()).sum();
    if length > PASTED {
        return Vec::new();
    }
    let texts = || typed_texts(message);
    if texts().any(|(_, text, _)| shouts(text))
        || texts().any(|(_, text, _)| TEMPLATES.iter().any(|start| text.trim_start().starts_with(start)))
    {
        return Vec::new();
    }
    let parts = texts().flat_map(|(_, text, ranges)| ranges.into_iter().map(move |range| &text[range]));
    parts.flat_map(|part| person::statements(part, message.timestamp, people, lexicon)).collect()
}

/// Whether a text shouts as prompts do that were written for many runs: "YOU MUST ENTER ONE COMMAND", or NEVER and
/// ALWAYS three times.
fn shouts(text: &str) -> bool {
    let is_loud = |word: &str| word.len() >= 2 && word.chars().all(|char| char.is_ascii_uppercase());
    let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches(['.', ',', '!', '*', ':'])).collect();
    let loud =
        words.windows(4).any(|four| four.iter().all(|word| is_loud(word)) && four.iter().any(|it| it.len() >= 4));
    let ordering =
        words.iter().filter(|word| matches!(**word, "NEVER" | "ALWAYS" | "MUST" | "NOT" | "IMPORTANT" | "ONLY"));
    loud || ordering.count() >= 3
}

/// The text of a person in the result of a tool: the reason of a rejection, the answer to a question.
fn said_through_tool(message: &Message, lexicon: &Lexicon) -> Vec<(String, Worth)> {
    let parts = told_texts(message).flat_map(|(_, text, ranges)| ranges.into_iter().map(move |range| &text[range]));
    parts.flat_map(|part| person::statements(part, message.timestamp, false, lexicon)).collect()
}

/// Whether a sentence is about its speaker.
fn speaks_of_themselves(text: &str) -> bool {
    let mut words = text.split(|char: char| !(char.is_alphanumeric() || matches!(char, '\'' | '’')));
    words.any(|word| {
        let word = word.split(['\'', '’']).next().unwrap_or_default().to_lowercase();
        matches!(word.as_str(), "i" | "my" | "me" | "we" | "our" | "us")
    }) || text.contains('我')
}

#[cfg(test)]
mod tests;
