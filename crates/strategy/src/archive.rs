//! Handles of archived items: every archive gives the same handle to the same content.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Content, Media, MediaSource, Message};

use crate::services::{ArchiveError, ArchivedContent};

/// The shortest handle, in hexadecimal digits: 48 bits, lengthened where two contents share them. Gateways that call a
/// compression service take no shorter one.
const SHORTEST: usize = 12;

/// The shortest handle that is read: earlier versions made them of 32 bits.
const SHORTEST_READ: usize = 8;

/// What is hashed in front of messages.
const MESSAGES: &[u8] = b"messages\0";

/// Returns the handles that an item may have, the shortest first: the first digits of the hash of its content. An
/// archive takes the first that no other content has. Linear in the item.
pub fn handles(item: &ArchivedContent) -> impl Iterator<Item = Arc<str>> + use<> {
    let digest = digest(item);
    (SHORTEST..=digest.len()).map(move |length| Arc::from(&digest[..length]))
}

/// Adds an item to those of an archive. Returns its handle, and whether it is new. Linear in the item.
pub fn insert(
    items: &mut HashMap<Arc<str>, ArchivedContent>,
    item: ArchivedContent,
) -> Result<(Arc<str>, bool), ArchiveError> {
    for handle in handles(&item) {
        match items.get(&handle) {
            Some(known) if *known == item => return Ok((handle, false)),
            Some(_) => {}
            None => {
                items.insert(Arc::clone(&handle), item);
                return Ok((handle, true));
            }
        }
    }
    Err(ArchiveError("two contents share all digits of their digest".to_owned()))
}

/// Whether `handle` names an item: one that an archive gives it, or the shorter one of earlier versions. Linear in the item.
pub fn is_handle_of(item: &ArchivedContent, handle: &str) -> bool {
    handle.len() >= SHORTEST_READ && digest(item).starts_with(handle)
}

/// Returns how many of `messages`, from the first one on, have `handle` together; `None` where no number of them has. Each
/// message is hashed once. Linear in them.
pub fn beginning_with_handle(messages: &[Arc<Message>], handle: &str) -> Option<usize> {
    if handle.len() < SHORTEST_READ {
        return None;
    }
    let wanted = nibbles_of(handle)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(MESSAGES);
    let named = messages.iter().position(|message| {
        hash_message(&mut hasher, message);
        begins_with(hasher.finalize().as_bytes(), &wanted)
    });
    named.map(|last| last + 1)
}

/// Returns the values of a handle's digits; `None` where one is not a digit of a handle.
fn nibbles_of(handle: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    handle.bytes().map(value).collect()
}

/// Whether the hexadecimal digits of `hash` begin with these. It writes no digits: a search compares millions of hashes.
fn begins_with(hash: &[u8; blake3::OUT_LEN], nibbles: &[u8]) -> bool {
    let digits = hash.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    nibbles.len() <= 2 * hash.len() && nibbles.iter().zip(digits).all(|(wanted, digit)| *wanted == digit)
}

/// Returns the digest of an item in hexadecimal digits. Linear in the item.
fn digest(item: &ArchivedContent) -> String {
    let mut hasher = blake3::Hasher::new();
    match item {
        ArchivedContent::Text(text) => {
            hasher.update(b"text\0");
            hasher.update(text.as_bytes());
        }
        ArchivedContent::Messages(messages) => {
            hasher.update(MESSAGES);
            for message in messages {
                hash_message(&mut hasher, message);
            }
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// Feeds a message to the hash; each part is preceded by its length, so that parts cannot run into each other.
fn hash_message(hasher: &mut blake3::Hasher, message: &Message) {
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(message.id.as_str().as_bytes());
    part(message.role.as_str().as_bytes());
    for block in &message.blocks {
        match &block.content {
            Content::Text { text } => part(text.as_bytes()),
            Content::Thinking(thinking) => {
                part(thinking.text.as_bytes());
                part(thinking.signature.as_deref().unwrap_or_default().as_bytes());
            }
            Content::ToolCall(call) => {
                part(call.id.as_bytes());
                part(call.name.as_bytes());
                part(call.arguments.text().as_bytes());
            }
            Content::ToolResult(result) => {
                part(result.call_id.as_bytes());
                part(result.text.as_bytes());
                part(&[u8::from(result.is_error)]);
                result.attachments.iter().for_each(|media| hash_media(&mut part, media));
            }
            Content::Opaque(opaque) => part(opaque.json.as_bytes()),
            Content::Media(media) => hash_media(&mut part, media),
            Content::Gone => part(b""),
        }
    }
}

fn hash_media(part: &mut impl FnMut(&[u8]), media: &Media) {
    part(media.mime.as_bytes());
    match &media.source {
        MediaSource::Base64(source) | MediaSource::Url(source) => part(source.as_bytes()),
        MediaSource::Missing => part(b""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_grow_by_a_digit() {
        let item = ArchivedContent::Text(Arc::from("some text"));
        let handles: Vec<Arc<str>> = handles(&item).collect();
        assert_eq!(handles.len(), 64 - SHORTEST + 1);
        assert_eq!(handles[0].len(), SHORTEST);
        assert!(handles.windows(2).all(|pair| pair[1].starts_with(&*pair[0])));
        // Stored sessions contain handles: they must never change.
        assert!(handles[0].starts_with("4f73bc77"), "{}", handles[0]);
        let check = |handle: &str, expect: bool| assert_eq!(is_handle_of(&item, handle), expect, "{handle}");
        check("4f73bc77", true);
        check(&handles[0], true);
        check(&handles[3], true);
        check("4f73bc7", false);
        check("4f73bc78", false);
    }

    #[test]
    fn messages_are_found_by_every_length_of_their_handle() {
        use epitome_session::{Origin, Role};
        let text = |text: &str| Arc::new(Message::text("", Role::User, Origin::Typed, text));
        let messages = [text("one"), text("two"), text("three")];
        let whole = digest(&ArchivedContent::Messages(messages[..2].to_vec()));
        let check = |handle: &str, expect: Option<usize>| {
            assert_eq!(beginning_with_handle(&messages, handle), expect, "{handle}");
        };
        for length in SHORTEST_READ..=whole.len() {
            check(&whole[..length], Some(2));
        }
        check(&whole[..7], None);
        check(&format!("{whole}0"), None);
        check(&whole.to_uppercase(), None);
        check("no digits", None);
    }
}
