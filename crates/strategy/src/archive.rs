//! Handles of archived items: every archive gives the same handle to the same content.

use std::sync::Arc;

use epitome_session::{Content, Media, MediaSource, Message};

use crate::services::ArchivedContent;

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
    let mut hasher = blake3::Hasher::new();
    hasher.update(MESSAGES);
    let named = messages.iter().position(|message| {
        hash_message(&mut hasher, message);
        hasher.finalize().to_hex().starts_with(handle)
    });
    named.map(|last| last + 1)
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
}
