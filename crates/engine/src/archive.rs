//! The archive in memory.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Content, Media, MediaSource, Message};
use epitome_strategy::{Archive, ArchiveError, Archived};

/// The shortest handle, in hexadecimal digits: 32 bits, lengthened where two contents share them.
const SHORTEST: usize = 8;

/// Keeps what leaves the context in memory, by content: the same content has the same handle, whenever it is put.
#[derive(Debug, Default, Clone)]
pub struct MemoryArchive {
    items: HashMap<Arc<str>, Archived>,
}

impl MemoryArchive {
    /// An empty archive.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many items it holds.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Everything it holds, by handle, in no order.
    pub fn items(&self) -> impl Iterator<Item = (&Arc<str>, &Archived)> {
        self.items.iter()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl Archive for MemoryArchive {
    fn put(&mut self, item: Archived) -> Result<Arc<str>, ArchiveError> {
        let digest = digest(&item);
        for length in SHORTEST..=digest.len() {
            let handle = &digest[..length];
            match self.items.get(handle) {
                Some(known) if *known == item => return Ok(Arc::from(handle)),
                Some(_) => {}
                None => {
                    let handle: Arc<str> = Arc::from(handle);
                    self.items.insert(Arc::clone(&handle), item);
                    return Ok(handle);
                }
            }
        }
        Err(ArchiveError("two contents share all digits of their digest".to_owned()))
    }

    fn get(&self, handle: &str) -> Result<Option<Archived>, ArchiveError> {
        Ok(self.items.get(handle).cloned())
    }
}

/// The digest of an item in hexadecimal digits. Linear in the item.
fn digest(item: &Archived) -> String {
    let mut hasher = blake3::Hasher::new();
    match item {
        Archived::Text(text) => {
            hasher.update(b"text\0");
            hasher.update(text.as_bytes());
        }
        Archived::Messages(messages) => {
            hasher.update(b"messages\0");
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
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn content_comes_back_by_its_handle() {
        let mut archive = MemoryArchive::new();
        let item = Archived::Text(Arc::from("some text"));
        let handle = archive.put(item.clone()).unwrap();
        assert_eq!(handle.len(), SHORTEST);
        assert_eq!(archive.put(item.clone()).unwrap(), handle, "the same content has the same handle");
        assert_eq!(archive.get(&handle).unwrap(), Some(item));
        assert_eq!(archive.get("nothing").unwrap(), None);
        let other = archive.put(Archived::Messages(vec![])).unwrap();
        assert_ne!(other, handle);
    }
}
