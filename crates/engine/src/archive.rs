//! An archive in memory.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_strategy::archive::insert;
use epitome_strategy::{Archive, ArchiveError, ArchivedContent};

/// Keeps what leaves the context in memory, by content: equal content always has the same handle.
#[derive(Debug, Default, Clone)]
pub struct MemoryArchive {
    items: HashMap<Arc<str>, ArchivedContent>,
}

impl MemoryArchive {
    /// Returns an empty archive.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns how many items it holds.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns every item with its handle, in no order.
    pub fn items(&self) -> impl Iterator<Item = (&Arc<str>, &ArchivedContent)> {
        self.items.iter()
    }

    /// Whether it holds no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl Archive for MemoryArchive {
    fn put(&mut self, item: ArchivedContent) -> Result<Arc<str>, ArchiveError> {
        Ok(insert(&mut self.items, item)?.0)
    }

    fn get(&self, handle: &str) -> Result<Option<ArchivedContent>, ArchiveError> {
        Ok(self.items.get(handle).cloned())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn content_comes_back_by_its_handle() {
        let mut archive = MemoryArchive::new();
        let item = ArchivedContent::Text(Arc::from("some text"));
        let handle = archive.put(item.clone()).unwrap();
        assert_eq!(archive.put(item.clone()).unwrap(), handle, "the same content has the same handle");
        assert_eq!(archive.get(&handle).unwrap(), Some(item));
        assert_eq!(archive.get("nothing").unwrap(), None);
        let other = archive.put(ArchivedContent::Messages(vec![])).unwrap();
        assert_ne!(other, handle);
    }
}
