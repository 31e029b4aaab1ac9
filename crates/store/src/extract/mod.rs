//! Finds what is worth knowing beyond a session: what people say in so many words, the commands that build and test, and
//! commits. Most sessions hold little of it, and some nothing.

mod identifier;
mod said;
mod work;

use std::sync::Arc;

use epitome_session::Message;
use epitome_strategy::Lexicon;
use epitome_strategy::speech::{spoken_texts, typed_texts};

use crate::memory::{Memory, MemoryKind, are_of_one_subject};

pub(crate) use identifier::named_string;
pub(crate) use work::{command_key, commit_key};

/// The longest memory, in characters: half of a longer sentence may say the contrary.
pub const LONGEST_MEMORY: usize = 300;

/// A message with more bytes of typed text is a plan, a document or a prompt that was pasted: what it demands holds for the
/// task at hand.
const PASTED: usize = 1_000;

/// Returns at most `most` memories of a session, the best first: rules, preferences, decisions and facts that people
/// typed, exact strings with what they are, commands that build or test and passed, and commits.
///
/// Only whole sentences that a person typed, also through a tool, are quoted. A later memory takes the place of an earlier
/// one that it repeats or contradicts. Linear in the messages, but for comparisons between the memories.
pub fn extract(messages: &[Arc<Message>], session: Option<&Arc<str>>, lexicon: &Lexicon, most: usize) -> Vec<Memory> {
    let mut found: Vec<(usize, MemoryKind, String)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        found.extend(said_in(message, lexicon).into_iter().map(|(kind, text)| (at, kind, text)));
    }
    found.extend(work::results(messages));
    found.sort_by_key(|(at, ..)| *at); // stable: within a message in the order of its text
    let mut memories: Vec<Memory> = Vec::new();
    for (at, kind, text) in found {
        let message = &messages[at];
        let memory =
            Memory { text, kind, session: session.cloned(), message: message.id.clone(), time: message.timestamp };
        memories.retain(|earlier| earlier.id() != memory.id() && !are_of_one_subject(&memory, earlier));
        memories.push(memory);
    }
    memories.reverse(); // of one kind the newest first
    memories.sort_by_key(|memory| rank(memory.kind));
    memories.truncate(most);
    memories
}

/// Returns the place of a kind among the others: people's own words come first.
fn rank(kind: MemoryKind) -> u8 {
    match kind {
        MemoryKind::Instruction => 0,
        MemoryKind::Preference | MemoryKind::Decision | MemoryKind::Fact => 1,
        MemoryKind::Identifier => 2,
        MemoryKind::Command => 3,
        MemoryKind::Commit => 4,
    }
}

/// Returns the statements in what a person typed in a message; none of a pasted text.
fn said_in(message: &Message, lexicon: &Lexicon) -> Vec<(MemoryKind, String)> {
    let parts = || typed_texts(message).chain(spoken_texts(message));
    let length: usize = parts().flat_map(|(.., ranges)| ranges).map(|range| range.len()).sum();
    if length > PASTED {
        return Vec::new();
    }
    let texts = parts().flat_map(|(_, text, ranges)| ranges.into_iter().map(move |range| &text[range]));
    texts.flat_map(|text| said::statements(text, lexicon)).collect()
}

#[cfg(test)]
mod tests;
