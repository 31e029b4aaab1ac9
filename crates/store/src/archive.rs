//! The archive of a stored session.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Block, EntryKey, Message, MessageId, Session};
use epitome_strategy::archive::insert;
use epitome_strategy::{Archive, ArchiveError, ArchivedContent};

use crate::record::{StoredContent, StoredItem, StoredMessages};

/// Keeps what leaves the context of a stored session, by content: the same content has the same handle.
///
/// Contents are shared with the session's log, in memory and in the file: an item costs a reference. What is put is
/// pending until a compaction is committed to the file; handles of pending items answer already. A lookup costs the size
/// of the item.
#[derive(Debug, Default, Clone)]
pub struct SessionArchive {
    items: HashMap<Arc<str>, ArchivedContent>,
    /// Handles in the order in which their items were put.
    order: Vec<Arc<str>>,
    /// The number of items that are in the file.
    stored: usize,
}

impl SessionArchive {
    /// An empty archive.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether the archive holds no item.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The number of items that are not in the file yet.
    pub fn pending(&self) -> usize {
        self.order.len() - self.stored
    }

    /// Everything that it holds, by handle, in the order in which it was put.
    pub fn items(&self) -> impl Iterator<Item = (&Arc<str>, &ArchivedContent)> {
        self.order.iter().filter_map(|handle| Some((handle, self.items.get(handle)?)))
    }

    /// Forgets the items that are not in the file: those of a preview that was not applied.
    pub fn discard_pending(&mut self) {
        for handle in self.order.drain(self.stored..) {
            self.items.remove(&handle);
        }
    }

    pub(crate) fn pending_items(&self) -> impl Iterator<Item = (&Arc<str>, &ArchivedContent)> {
        self.order[self.stored..].iter().filter_map(|handle| Some((handle, self.items.get(handle)?)))
    }

    pub(crate) fn all_stored(&mut self) {
        self.stored = self.order.len();
    }

    /// Adds an item of the file under the handle that it has there.
    pub(crate) fn restore(&mut self, handle: Arc<str>, item: ArchivedContent) {
        if self.items.insert(Arc::clone(&handle), item).is_none() {
            self.order.push(handle);
            self.stored = self.order.len();
        }
    }
}

impl Archive for SessionArchive {
    fn put(&mut self, item: ArchivedContent) -> Result<Arc<str>, ArchiveError> {
        let (handle, is_new) = insert(&mut self.items, item)?;
        if is_new {
            self.order.push(Arc::clone(&handle));
        }
        Ok(handle)
    }

    fn get(&self, handle: &str) -> Result<Option<ArchivedContent>, ArchiveError> {
        Ok(self.items.get(handle).cloned())
    }
}

/// A text of the log, with the numbers of its message and block.
type TextAt<'a> = (u32, u32, &'a Arc<str>);

/// Finds the places of contents in a session.
pub(crate) struct Locator<'a> {
    session: &'a Session,
    messages: HashMap<&'a MessageId, EntryKey>,
    /// Every text of the log by its length; made when the first text is looked for.
    texts: Option<HashMap<usize, Vec<TextAt<'a>>>>,
}

impl<'a> Locator<'a> {
    /// Linear in the number of messages.
    pub(crate) fn new(session: &'a Session) -> Self {
        let log = session.log().iter().enumerate();
        let mut messages: HashMap<&MessageId, EntryKey> =
            log.map(|(index, message)| (&message.id, EntryKey::Log(index as u32))).collect();
        for epoch in session.journal() {
            for (index, synthetic) in epoch.synthetics.iter().enumerate() {
                let key = EntryKey::Synthetic { epoch: epoch.id, index: index as u32 };
                messages.entry(&synthetic.message.id).or_insert(key);
            }
        }
        Self { session, messages, texts: None }
    }

    /// The item as it is stored: references wherever its content stands in the session. Linear in the item where it is
    /// shared with the log, as it is when the engine archives.
    pub(crate) fn stored(&mut self, handle: &Arc<str>, item: &ArchivedContent) -> StoredItem {
        let content = match item {
            ArchivedContent::Text(text) => match self.text(text) {
                Some((message, block)) => StoredContent::Block(message, block),
                None => StoredContent::Text(Arc::clone(text)),
            },
            ArchivedContent::Messages(messages) => StoredContent::Messages(self.runs(messages)),
        };
        StoredItem { handle: Arc::clone(handle), content }
    }

    fn text(&mut self, wanted: &Arc<str>) -> Option<(u32, u32)> {
        let texts = self.texts.get_or_insert_with(|| {
            let mut texts: HashMap<usize, Vec<TextAt<'_>>> = HashMap::new();
            for (message, block, text) in self.session.log().iter().enumerate().flat_map(texts_of) {
                texts.entry(text.len()).or_default().push((message, block, text));
            }
            texts
        });
        let same = |text: &Arc<str>| Arc::ptr_eq(text, wanted) || text == wanted;
        let found = texts.get(&wanted.len())?.iter().find(|(_, _, text)| same(text))?;
        Some((found.0, found.1))
    }

    fn runs(&self, messages: &[Arc<Message>]) -> Vec<StoredMessages> {
        let mut runs: Vec<StoredMessages> = Vec::new();
        for message in messages {
            let key = self.messages.get(&message.id).copied();
            let key = key.filter(|key| {
                self.session.message(*key).is_some_and(|known| Arc::ptr_eq(known, message) || known == message)
            });
            match (key, runs.last_mut()) {
                (Some(EntryKey::Log(index)), Some(StoredMessages::Log(_, end))) if *end == index => *end += 1,
                (Some(EntryKey::Log(index)), _) => runs.push(StoredMessages::Log(index, index + 1)),
                (Some(EntryKey::Synthetic { epoch, index }), _) => runs.push(StoredMessages::Added(epoch, index)),
                (None, _) => runs.push(StoredMessages::Inline(Arc::clone(message))),
            }
        }
        runs
    }
}

/// The content of a stored item; an error says what it refers to that is not there. Linear in the number of messages of
/// the item.
pub(crate) fn content_of(session: &Session, stored: StoredContent) -> Result<ArchivedContent, String> {
    let missing = |message: u32| format!("it refers to message {message}, of which there is no such part");
    let messages = match stored {
        StoredContent::Text(text) => return Ok(ArchivedContent::Text(text)),
        StoredContent::Block(message, block) => {
            let found = session.log().get(message as usize).and_then(|it| it.blocks.get(block as usize));
            let text = found.and_then(Block::recorded_text).ok_or_else(|| missing(message))?;
            return Ok(ArchivedContent::Text(Arc::clone(text)));
        }
        StoredContent::Messages(messages) => messages,
    };
    let mut found = Vec::new();
    for part in messages {
        match part {
            StoredMessages::Log(from, to) => {
                let range = from as usize..to as usize;
                found.extend_from_slice(session.log().get(range).ok_or_else(|| missing(to))?);
            }
            StoredMessages::Added(epoch, index) => {
                let message = session.message(EntryKey::Synthetic { epoch, index });
                found.push(Arc::clone(message.ok_or_else(|| missing(index))?));
            }
            StoredMessages::Inline(message) => found.push(message),
        }
    }
    Ok(ArchivedContent::Messages(found))
}

/// The texts of a message that an archive may be given on their own, with the numbers of message and block.
fn texts_of<'m>((message, of): (usize, &'m Arc<Message>)) -> impl Iterator<Item = TextAt<'m>> {
    let text = move |(number, block): (usize, &'m Block)| Some((message as u32, number as u32, block.recorded_text()?));
    of.blocks.iter().enumerate().filter_map(text)
}
