//! Recognises a conversation over its requests: a running hash over the messages.

use std::mem::size_of;
use std::sync::Arc;

use epitome::session::{Content, Media, MediaSource, Message};
use epitome::wire::{CACHE_MARK, Wire};
use serde_json::Value;

/// The hash of a conversation up to a message.
pub type Digest = [u8; 32];

/// The hash of a message's bytes.
pub type MessageKey = u128;

/// Makes hashes that are meaningless without the secret: a client's content cannot be guessed from them.
#[derive(Clone)]
pub(crate) struct Hashes {
    secret: [u8; 32],
}

impl std::fmt::Debug for Hashes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Hashes")
    }
}

impl Hashes {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self { secret }
    }

    /// Where the conversations of an owner begin: who has another of `keys` has other conversations. They go into the hash
    /// and nowhere else.
    pub(crate) fn seed<'a>(&self, owner: &str, wire: Wire, keys: impl Iterator<Item = &'a [u8]>) -> Digest {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        part(&mut hasher, owner.as_bytes());
        part(&mut hasher, wire.as_str().as_bytes());
        keys.for_each(|key| part(&mut hasher, key));
        *hasher.finalize().as_bytes()
    }

    /// The key of a message's bytes in conversations that begin with `seed`; `kind` is the kind of bytes.
    pub(super) fn key(seed: &Digest, kind: &[u8], bytes: &[u8]) -> MessageKey {
        let mut hasher = blake3::Hasher::new_keyed(seed);
        part(&mut hasher, kind);
        hasher.update(bytes);
        let mut key = [0; size_of::<MessageKey>()];
        hasher.finalize_xof().fill(&mut key);
        MessageKey::from_le_bytes(key)
    }

    /// The hash of what messages say. Marks for the provider's cache do not count.
    pub(super) fn content(&self, messages: &[Arc<Message>]) -> Digest {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        messages.iter().for_each(|message| add(&mut hasher, message));
        *hasher.finalize().as_bytes()
    }

    /// The hash after each number of messages: the first is `seed`. Each message is given by the hash of its content, and
    /// whether it is a system message.
    ///
    /// A system prompt at the beginning counts by its place only: clients put dates and bills into it, and a decision
    /// about messages holds for any prompt.
    pub(super) fn chain<'d>(&self, seed: Digest, messages: impl Iterator<Item = (&'d Digest, bool)>) -> Vec<Digest> {
        let mut last = seed;
        let mut chain = vec![seed];
        let mut is_head = true;
        for (content, is_system) in messages {
            is_head &= is_system;
            let mut hasher = blake3::Hasher::new_keyed(&self.secret);
            hasher.update(&last).update(if is_head { b"head" } else { content });
            last = *hasher.finalize().as_bytes();
            chain.push(last);
        }
        chain
    }
}

/// Adds a part with its length in front, so that parts cannot run into each other.
fn part(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
}

fn add(hasher: &mut blake3::Hasher, message: &Message) {
    part(hasher, message.role.as_str().as_bytes());
    part(hasher, message.name.as_deref().unwrap_or_default().as_bytes());
    for block in &message.blocks {
        match &block.content {
            Content::Text { text } => {
                part(hasher, b"text");
                part(hasher, text.as_bytes());
            }
            Content::Thinking(thinking) => {
                part(hasher, b"thinking");
                part(hasher, thinking.text.as_bytes());
                part(hasher, thinking.signature.as_deref().unwrap_or_default().as_bytes());
            }
            Content::ToolCall(call) => {
                part(hasher, b"call");
                part(hasher, call.id.as_bytes());
                part(hasher, call.name.as_bytes());
                part(hasher, call.arguments.text().as_bytes());
            }
            Content::ToolResult(result) => {
                part(hasher, b"result");
                part(hasher, result.call_id.as_bytes());
                part(hasher, result.text.as_bytes());
                part(hasher, &[u8::from(result.is_error)]);
                result.attachments.iter().for_each(|media| add_media(hasher, media));
            }
            Content::Media(media) => add_media(hasher, media),
            Content::Opaque(opaque) => {
                part(hasher, b"opaque");
                part(hasher, without_marks(&opaque.json).as_bytes());
            }
            Content::Gone => part(hasher, b"gone"),
        }
    }
}

fn add_media(hasher: &mut blake3::Hasher, media: &Media) {
    part(hasher, b"media");
    part(hasher, media.mime.as_bytes());
    match &media.source {
        MediaSource::Base64(text) | MediaSource::Url(text) => part(hasher, text.as_bytes()),
        MediaSource::Missing => part(hasher, b""),
    }
}

/// JSON without the marks that move.
fn without_marks(json: &str) -> String {
    fn clear(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.shift_remove(CACHE_MARK);
                fields.values_mut().for_each(clear);
            }
            Value::Array(items) => items.iter_mut().for_each(clear),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    if !json.contains(CACHE_MARK) {
        return json.to_owned();
    }
    match serde_json::from_str(json) {
        Ok(mut value) => {
            clear(&mut value);
            value.to_string()
        }
        Err(_) => json.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::conversation::items::{Item, Reader};
    use epitome::wire::Outline;

    fn chain(hashes: &Hashes, key: &str, json: &str) -> Vec<Digest> {
        let runtime = epitome::Config::default().build(&epitome::registry()).unwrap();
        let reader = Reader::new(Wire::Anthropic, hashes, "", &epitome::engine_of(&runtime));
        let outline = Outline::read(json.as_bytes(), Wire::Anthropic).unwrap();
        let system = outline.system.map(|at| Item::read(&reader, "system", &json[at]).unwrap());
        let messages = outline.items.into_iter().map(|at| Item::read(&reader, "", &json[at]).unwrap());
        let items: Vec<Item> = system.into_iter().chain(messages).collect();
        hashes
            .chain(hashes.seed("tenant", Wire::Anthropic, [key.as_bytes()].into_iter()), items.iter().map(Item::place))
    }

    #[test]
    fn what_makes_a_conversation() {
        let hashes = Hashes::new([7; 32]);
        let base = chain(
            &hashes,
            "k",
            r#"{"system":"Today is Monday","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"two"}]}"#,
        );
        let longer = chain(
            &hashes,
            "k",
            r#"{"system":[{"type":"text","text":"Today is Tuesday","cache_control":{"type":"ephemeral"}}],
                "messages":[{"role":"user","content":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}}]},
                {"role":"assistant","content":"two"},{"role":"user","content":"three"}]}"#,
        );
        assert_eq!(longer[..base.len()], base[..], "a longer one begins as the shorter one");
        let other = |key: &str, json: &str| {
            let other = chain(&hashes, key, json);
            assert_eq!(other.iter().filter(|digest| base[1..].contains(digest)).count(), 0, "{json}");
        };
        other("another key", r#"{"system":"Today is Monday","messages":[{"role":"user","content":"one"}]}"#);
        other("k", r#"{"messages":[{"role":"user","content":"one"}]}"#);
        let parted = chain(
            &hashes,
            "k",
            r#"{"system":"x","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"2"}]}"#,
        );
        assert_eq!((parted[2] == base[2], parted[3] == base[3]), (true, false), "it parts where the messages do");
        let hashed_elsewhere = chain(
            &Hashes::new([8; 32]),
            "k",
            r#"{"system":"Today is Monday","messages":[{"role":"user","content":"one"}]}"#,
        );
        assert_ne!(hashed_elsewhere[1], base[1], "hashes mean nothing with another secret");
    }

    #[test]
    fn marks_move_in_blocks_of_unknown_kinds_too() {
        assert_eq!(without_marks(r#"{"type":"x","cache_control":{"type":"ephemeral"}}"#), r#"{"type":"x"}"#);
        assert_eq!(without_marks(r#"{"type": "x"}"#), r#"{"type": "x"}"#);
    }
}
