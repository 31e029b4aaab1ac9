//! The records of a stored session, as in the file.

use std::sync::Arc;

use epitome_session::{Epoch, Message};
use serde::{Deserialize, Serialize};

/// The version of the format that is written, and the newest that is read.
pub(crate) const VERSION: u32 = 1;

/// The first line of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    pub epitome: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Arc<str>>,
}

/// The fields of the first line in every version.
#[derive(Debug, Deserialize)]
pub(crate) struct AnyHeader {
    pub epitome: u32,
}

/// A line as it is read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Record {
    Tools(Option<Arc<str>>),
    Message(Box<Message>),
    Archived(StoredItem),
    Compaction(Box<Compaction>),
    Undo(u32),
}

/// An epoch and how many archived items were written with it, in the lines in front of it.
#[derive(Debug, Deserialize)]
pub(crate) struct Compaction {
    pub items: u32,
    pub epoch: Epoch,
}

/// A line as it is written.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RecordRef<'a> {
    Tools(Option<&'a str>),
    Message(&'a Message),
    Archived(StoredItem),
    Compaction { items: u32, epoch: &'a Epoch },
    Undo(u32),
}

/// An archived item: the place of its content in the same file, or the content itself.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredItem {
    pub handle: Arc<str>,
    #[serde(flatten)]
    pub content: StoredContent,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StoredContent {
    /// The text of a block of a message of the log: message and block.
    Block(u32, u32),
    /// A text that is nowhere else in the file.
    Text(Arc<str>),
    /// Messages, in their order.
    Messages(Vec<StoredMessages>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StoredMessages {
    /// The messages of the log from the first number up to the second, which is not among them.
    Log(u32, u32),
    /// A message that an epoch added: the epoch, and the number among its additions.
    Added(u32, u32),
    /// A message that is nowhere else in the file.
    Inline(Arc<Message>),
}
