//! The archive: text that left a context and can be retrieved, for each tenant, within bounds.

use std::collections::HashMap;
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::session::{Content, Epoch, Media, MediaSource, Message};
use epitome::strategy::ArchivedContent;
use epitome_shelf::WeighedLru;

/// The answer to a retrieval.
#[derive(Debug, Clone)]
pub struct ArchiveHit {
    /// The text that left the context, with its message or block.
    pub item: ArchivedContent,
    /// The number of retrievals of this item, this one included.
    pub retrievals: u32,
}

/// The archives of all tenants. What a tenant used least recently is forgotten first, and only its own.
#[derive(Debug)]
pub struct Archives {
    most_bytes: usize,
    tenants: Mutex<HashMap<Arc<str>, Items>>,
}

/// The items of one tenant, by handle.
type Items = WeighedLru<Arc<str>, ArchivedItem>;

#[derive(Debug)]
struct ArchivedItem {
    item: ArchivedContent,
    retrievals: u32,
}

impl Archives {
    /// Makes archives of at most this number of bytes for each tenant.
    pub fn new(most_bytes: usize) -> Self {
        Self { most_bytes, tenants: Mutex::default() }
    }

    /// Keeps items of a tenant under their handles. An item larger than the whole archive is not kept.
    pub fn keep(&self, tenant: &Arc<str>, items: impl IntoIterator<Item = (Arc<str>, ArchivedContent)>) {
        let mut tenants = self.lock();
        let archive = tenants.entry(Arc::clone(tenant)).or_default();
        for (handle, item) in items {
            let bytes = weight(&item);
            archive.remove(&handle);
            if bytes <= self.most_bytes {
                archive.insert(handle, ArchivedItem { item, retrievals: 0 }, bytes);
            }
            while archive.bytes() > self.most_bytes && archive.pop().is_some() {}
        }
    }

    /// The tenant's item under a handle.
    pub fn find(&self, tenant: &str, handle: &str) -> Option<ArchiveHit> {
        let mut tenants = self.lock();
        let kept = tenants.get_mut(tenant)?.get(handle)?;
        kept.retrievals += 1;
        Some(ArchiveHit { item: kept.item.clone(), retrievals: kept.retrievals })
    }

    /// All items of a tenant, the least recently used first. Does not count as a use.
    pub(crate) fn all(&self, tenant: &str) -> Vec<(Arc<str>, ArchivedContent)> {
        let tenants = self.lock();
        let items = tenants.get(tenant).into_iter().flat_map(WeighedLru::iter);
        items.map(|(handle, kept)| (Arc::clone(handle), kept.item.clone())).collect()
    }

    /// Items and bytes of all tenants.
    pub fn size(&self) -> (usize, usize) {
        let tenants = self.lock();
        tenants.values().fold((0, 0), |(items, bytes), one| (items + one.len(), bytes + one.bytes()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Items>> {
        // The maps are whole between any two statements that can panic.
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that an item takes, near enough.
fn weight(item: &ArchivedContent) -> usize {
    match item {
        ArchivedContent::Text(text) => text.len() + size_of::<ArchivedItem>(),
        ArchivedContent::Messages(messages) => {
            messages.iter().map(|message| message_bytes(message)).sum::<usize>() + size_of::<ArchivedItem>()
        }
    }
}

/// Bytes that a message takes, near enough.
pub fn message_bytes(message: &Message) -> usize {
    let block = |block: &epitome::session::Block| {
        let raw = block.raw.as_ref().map_or(0, |raw| raw.json.len());
        let own = match &block.content {
            Content::Text { text } => text.len(),
            Content::Thinking(thinking) => thinking.text.len() + thinking.signature.as_ref().map_or(0, |it| it.len()),
            Content::ToolCall(call) => call.arguments.text().len() + call.id.len() + call.name.len(),
            Content::ToolResult(result) => {
                result.text.len() + result.call_id.len() + result.attachments.iter().map(media_bytes).sum::<usize>()
            }
            Content::Opaque(opaque) => opaque.json.len(),
            Content::Media(media) => media_bytes(media),
            Content::Gone => 0,
        };
        own + raw + size_of::<epitome::session::Block>()
    };
    size_of::<Message>() + message.blocks.iter().map(block).sum::<usize>()
}

fn media_bytes(media: &Media) -> usize {
    match &media.source {
        MediaSource::Base64(text) | MediaSource::Url(text) => text.len(),
        MediaSource::Missing => 0,
    }
}

/// Bytes that a compaction takes, near enough.
pub fn epoch_bytes(epoch: &Epoch) -> usize {
    let added: usize = epoch.synthetics.iter().map(|it| message_bytes(&it.message)).sum();
    let edits: usize = epoch.edits.iter().map(|edit| edit.reason.detail.len() + edit.changes.len() * 96 + 256).sum();
    added + edits
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(length: usize) -> ArchivedContent {
        ArchivedContent::Text(Arc::from("x".repeat(length)))
    }

    #[test]
    fn the_least_recently_used_leaves_first() {
        let archives = Archives::new(3 * (1_000 + size_of::<ArchivedItem>()));
        let alice: Arc<str> = Arc::from("alice");
        for name in ["one", "two", "three"] {
            archives.keep(&alice, [(Arc::from(name), text(1_000))]);
        }
        assert_eq!(archives.find("alice", "one").unwrap().retrievals, 1);
        archives.keep(&alice, [(Arc::from("four"), text(1_000))]);
        assert!(archives.find("alice", "two").is_none(), "the one that nobody asked for left");
        assert_eq!(archives.find("alice", "one").unwrap().retrievals, 2);
        assert_eq!(archives.find("alice", "four").unwrap().item, text(1_000));
        assert_eq!(archives.size().0, 3);
    }

    #[test]
    fn tenants_do_not_share() {
        let archives = Archives::new(10_000);
        archives.keep(&Arc::from("alice"), [(Arc::from("h"), text(10))]);
        assert!(archives.find("bob", "h").is_none());
        archives.keep(&Arc::from("bob"), [(Arc::from("g"), text(9_000)), (Arc::from("f"), text(9_000))]);
        assert!(archives.find("alice", "h").is_some(), "another tenant's use costs nothing here");
    }

    #[test]
    fn what_is_larger_than_all_is_not_kept() {
        let archives = Archives::new(1_000);
        let alice: Arc<str> = Arc::from("alice");
        archives.keep(&alice, [(Arc::from("small"), text(10)), (Arc::from("huge"), text(2_000))]);
        assert!(archives.find("alice", "huge").is_none());
        assert!(archives.find("alice", "small").is_some());
        archives.keep(&alice, [(Arc::from("small"), text(20))]);
        assert_eq!(archives.size(), (1, 20 + size_of::<ArchivedItem>()), "the same handle takes its place once");
    }
}
