//! Finding what is worth remembering: by cue words and by form, in English and Chinese.

mod binding;
mod rules;
mod sentences;
mod weight;

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Content, Message, Origin, Role};
use epitome_strategy::Lexicon;

use crate::memory::{Memory, MemoryKind, normalised};
use rules::Speaker;
use sentences::sentences;

/// The longest memory, in characters: a longer sentence is not remembered, for half of one may say the contrary.
pub const LONGEST_MEMORY: usize = 300;

/// A sentence below this is not worth remembering.
const LEAST_WORTH: f64 = 1.5;

/// A message with more bytes of text is a document or a prompt that was pasted, not something that a person says: what
/// it demands holds for the task at hand.
const PASTED: usize = 2_500;

/// At most `most` memories of a session, the best first: what was asked to be remembered, preferences, standing
/// instructions, decisions and exact strings with the words that say what they are.
///
/// Whole sentences, word by word, of what people typed and of what the model concluded; what only the runtime says is
/// left out. Linear in the texts.
pub fn extract(messages: &[Arc<Message>], session: Option<&Arc<str>>, lexicon: &Lexicon, most: usize) -> Vec<Memory> {
    let mut found: Vec<(f64, Memory)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for message in messages {
        let Some(speaker) = speaker(message) else { continue };
        let texts = message.blocks.iter().filter_map(|block| match &block.content {
            Content::Text { text } => Some(text),
            _ => None,
        });
        let length: usize = texts.clone().map(|text| text.len()).sum();
        let weight = if speaker == Speaker::Person && length > PASTED { 0.3 } else { 1.0 };
        for sentence in texts.flat_map(|text| sentences(text)) {
            let Some((kind, worth)) = rules::judged(sentence, speaker, lexicon) else { continue };
            if worth * weight < LEAST_WORTH {
                continue;
            }
            let memory = memory_of(sentence, kind, session, message);
            match known.get(&normalised(sentence)) {
                // Said again: the newer message stands for it.
                Some(index) => found[*index] = (found[*index].0.max(worth * weight), memory),
                None => {
                    known.insert(normalised(sentence), found.len());
                    found.push((worth * weight, memory));
                }
            }
        }
    }
    found.reverse(); // of equals the newest first
    found.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    found.into_iter().take(most).map(|(_, memory)| memory).collect()
}

/// Who speaks, where it is somebody whose words may be remembered.
fn speaker(message: &Message) -> Option<Speaker> {
    match (message.role, message.origin) {
        (Role::User, Origin::Typed) => Some(Speaker::Person),
        (Role::Assistant, Origin::Model) => Some(Speaker::Model),
        _ => None,
    }
}

fn memory_of(sentence: &str, kind: MemoryKind, session: Option<&Arc<str>>, message: &Message) -> Memory {
    Memory {
        text: sentence.to_owned(),
        kind,
        session: session.cloned(),
        message: message.id.clone(),
        time: message.timestamp,
    }
}

#[cfg(test)]
mod tests;
