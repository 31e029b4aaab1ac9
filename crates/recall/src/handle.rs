//! Resolves a handle or a message's number from the session alone.

use std::sync::Arc;

use epitome_session::{AppliedEdit, Change, Content, EntryKey, Message, Session};
use epitome_strategy::ArchivedContent;
use epitome_strategy::archive::{beginning_with_handle, handles, is_handle_of};

/// The most digits of a message's number. Source: a handle that is read has at least eight hexadecimal digits.
const MOST_DIGITS: usize = 7;

/// Returns the number of the message that `name` means: `#37`, or `37`, which is too short to be a handle.
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

/// Returns the handle by which [`find_by_handle`] finds a message. Linear in the message.
pub(crate) fn message_handle(message: &Arc<Message>) -> Option<Arc<str>> {
    handles(&ArchivedContent::Messages(vec![Arc::clone(message)])).next()
}

/// Returns what left a session under a handle, or the message with that handle, from the session alone: a handle is a
/// hash of the content. `None` for content that the session does not have. Linear in the session.
pub fn find_by_handle(session: &Session, handle: &str) -> Option<ArchivedContent> {
    items(session).find(|item| is_handle_of(item, handle.trim()))
}

/// The most bytes that are hashed in search of a stretch. Source: some seconds of one core; a session of 1,000,000 tokens
/// needs half of them.
const MOST_HASHED_BYTES: u64 = 8 << 30;

/// Returns the neighbouring messages of a session that have this handle together, as a summary names those in whose place
/// it stands. It needs no record of the compaction: the handle is a hash of the messages. `None` where no stretch of the
/// session has it, and where the session is too long for the search.
///
/// The cost grows with the square of the session: for handles that [`find_by_handle`] does not find, and for people.
pub fn find_stretch_by_handle(session: &Session, handle: &str) -> Option<ArchivedContent> {
    let handle = handle.trim();
    let find = |messages: &[Arc<Message>]| {
        let mut budget = MOST_HASHED_BYTES;
        let mut rest: u64 = messages.iter().map(|message| bytes_of(message)).sum();
        for (start, message) in messages.iter().enumerate() {
            if let Some(count) = beginning_with_handle(&messages[start..], handle) {
                return Some(ArchivedContent::Messages(messages[start..start + count].to_vec()));
            }
            budget = budget.checked_sub(rest)?;
            rest = rest.saturating_sub(bytes_of(message));
        }
        None
    };
    let in_view = || {
        let shown: Vec<Arc<Message>> = session.view().iter().map(|entry| Arc::clone(&entry.original)).collect();
        find(&shown)
    };
    find(session.log()).or_else(|| if session.journal().is_empty() { None } else { in_view() })
}

/// The bytes of a message's texts, near enough.
fn bytes_of(message: &Message) -> u64 {
    let bytes = message.blocks.iter().map(|block| match &block.content {
        Content::Text { text } => text.len(),
        Content::Thinking(thinking) => thinking.text.len(),
        Content::ToolCall(call) => call.arguments.text().len(),
        Content::ToolResult(result) => result.text.len(),
        Content::Media(_) | Content::Opaque(_) | Content::Gone => 0,
    });
    bytes.sum::<usize>() as u64
}

/// Returns what an archive of a session may contain: every text, every message, and what each edit of a compaction
/// removed.
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
    let edits = session.journal().iter().flat_map(|epoch| &epoch.edits);
    let removed = edits.map(|edit| ArchivedContent::Messages(removed_by(session, edit)));
    texts.chain(messages).chain(removed)
}

/// Returns the messages that an edit of the session's journal took out whole, in its order. Linear in the edit.
fn removed_by(session: &Session, edit: &AppliedEdit) -> Vec<Arc<Message>> {
    let removed = edit.changes.iter().filter_map(|change| match change {
        Change::Remove { entry } => message_of(session, *entry),
        Change::Excerpt { .. } | Change::Trim { .. } | Change::Strip { .. } => None,
    });
    removed.collect()
}

/// Returns the handle under which what an edit of the session's journal took out is found: the archive's, or where the
/// edit names none, as the compactions that agents record, the one by which [`find_by_handle`] finds the messages that it
/// removed. `None` where it removed no whole message and names no handle. Linear in the messages that it removed.
pub fn edit_handle(session: &Session, edit: &AppliedEdit) -> Option<Arc<str>> {
    edit.recall.clone().or_else(|| {
        let removed = removed_by(session, edit);
        if removed.is_empty() { None } else { handles(&ArchivedContent::Messages(removed)).next() }
    })
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
