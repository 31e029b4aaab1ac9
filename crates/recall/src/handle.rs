//! What a handle or a message's number stands for, where only the session is there to ask.

use std::sync::Arc;

use epitome_session::{Change, Content, EntryKey, Message, Session};
use epitome_strategy::ArchivedContent;
use epitome_strategy::archive::handles;

/// The most digits of a message's number. Source: a handle has eight hexadecimal digits at least.
const MOST_DIGITS: usize = 7;

/// The number of the message that `name` means: `#37`, or `37`, which is too short to be a handle.
///
/// ```
/// use epitome_recall::message_number;
///
/// assert_eq!((message_number("#37"), message_number(" 37 ")), (Some(37), Some(37)));
/// assert_eq!((message_number("12345678"), message_number("#12345678")), (None, Some(12_345_678)));
/// assert_eq!((message_number("0a1b2c3d"), message_number("#"), message_number("+7")), (None, None, None));
/// ```
pub fn message_number(name: &str) -> Option<u32> {
    let name = name.trim();
    let digits = name.strip_prefix('#').map_or(name, str::trim);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = digits.len() <= MOST_DIGITS || name.starts_with('#');
    digits.parse().ok().filter(|_| is_number && is_short)
}

/// The handle by which [`find_by_handle`] finds a message. Linear in the message.
pub(crate) fn message_handle(message: &Arc<Message>) -> Option<Arc<str>> {
    handles(&ArchivedContent::Messages(vec![Arc::clone(message)])).next()
}

/// What left a session under a handle, or the message whose handle it is, from the session alone: a handle is a hash of
/// what it stands for. `None` for what the session does not hold. Linear in the session.
pub fn find_by_handle(session: &Session, handle: &str) -> Option<ArchivedContent> {
    items(session).find(|item| has_handle(item, handle.trim()))
}

/// Whether an item may have this handle: one of at least the shortest length.
fn has_handle(item: &ArchivedContent, handle: &str) -> bool {
    let mut all = handles(item);
    all.next().is_some_and(|shortest| handle.starts_with(&*shortest)) && {
        handles(item).any(|known| *known == *handle)
    }
}

/// What an archive of a session could hold: every text, every message, and what each edit of a compaction removed.
fn items(session: &Session) -> impl Iterator<Item = ArchivedContent> {
    let texts = session.log().iter().flat_map(|message| {
        message.blocks.iter().filter_map(|block| match &block.content {
            Content::Text { text } => Some(ArchivedContent::Text(text.clone())),
            Content::Thinking(thinking) => Some(ArchivedContent::Text(thinking.text.clone())),
            Content::ToolCall(call) => Some(ArchivedContent::Text(call.arguments.text().clone())),
            Content::ToolResult(result) => Some(ArchivedContent::Text(result.text.clone())),
            Content::Media(_) | Content::Opaque(_) | Content::Gone => None,
        })
    });
    let messages = session.log().iter().map(|message| ArchivedContent::Messages(vec![message.clone()]));
    let removed = session.journal().iter().flat_map(|epoch| &epoch.edits).map(|edit| {
        let removed = edit.changes.iter().filter_map(|change| match change {
            Change::Remove { entry } => message_of(session, *entry),
            Change::Excerpt { .. } | Change::Trim { .. } | Change::Strip { .. } => None,
        });
        ArchivedContent::Messages(removed.collect())
    });
    texts.chain(messages).chain(removed)
}

fn message_of(session: &Session, key: EntryKey) -> Option<Arc<Message>> {
    match key {
        EntryKey::Log(index) => session.log().get(index as usize).cloned(),
        EntryKey::Synthetic { epoch, index } => {
            let epoch = session.journal().get(epoch as usize)?;
            epoch.synthetics.get(index as usize).map(|synthetic| synthetic.message.clone())
        }
    }
}
