//! Resolves a handle or a message's number from the session alone.

use std::sync::Arc;

use epitome_session::{AppliedEdit, Block, Change, Message, Session};
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

/// What the search for a stretch may cost, in bytes hashed. Source: some seconds of one core in an optimised build; a
/// session of 1,000,000 tokens in 2,000 messages needs three quarters of it.
const MOST_COST: u64 = 8 << 30;

/// What a message costs beside its bytes, each time that it is hashed. Source: its hash is finished and compared, which
/// takes as long as hashing about so many bytes.
const MESSAGE_COST: u64 = 1 << 10;

/// The result of a search for a stretch.
#[derive(Debug, Clone, PartialEq)]
pub enum StretchSearch {
    /// The messages that have the handle together.
    Found(ArchivedContent),
    /// No neighbouring messages of the session have it.
    Nowhere,
    /// The session is too long to be searched to its end, and what was searched does not have it: a place helps.
    Unfinished,
}

/// Searches a session for the neighbouring messages that have this handle together, as a summary names those in whose
/// place it stands. It needs no record of the compaction: the handle is a hash of the messages. With `at` the stretch is
/// the one that begins at this message, by its number in the full history or in what the context shows.
///
/// The cost is linear with `at`, and grows with the square of the session without it, up to some seconds: for handles that
/// [`find_by_handle`] does not find, and for people.
pub fn find_stretch_by_handle(session: &Session, handle: &str, at: Option<u32>) -> StretchSearch {
    find_within(session, handle.trim(), at, MOST_COST)
}

fn find_within(session: &Session, handle: &str, at: Option<u32>, mut budget: u64) -> StretchSearch {
    let mut find = |messages: &[Arc<Message>]| {
        let starts = at.map_or(0..messages.len(), |at| at as usize..(at as usize + 1).min(messages.len()));
        let mut rest: u64 = messages[starts.start.min(messages.len())..].iter().map(|message| cost_of(message)).sum();
        for start in starts {
            if let Some(count) = beginning_with_handle(&messages[start..], handle) {
                return StretchSearch::Found(ArchivedContent::Messages(messages[start..start + count].to_vec()));
            }
            // One start is always affordable, and with `at` it is all.
            let Some(left) = budget.checked_sub(rest).or(at.map(|_| 0)) else { return StretchSearch::Unfinished };
            budget = left;
            rest = rest.saturating_sub(cost_of(&messages[start]));
        }
        StretchSearch::Nowhere
    };
    match find(session.log()) {
        StretchSearch::Nowhere if !session.journal().is_empty() => {
            let shown: Vec<Arc<Message>> = session.view().iter().map(|entry| Arc::clone(&entry.original)).collect();
            find(&shown)
        }
        searched => searched,
    }
}

/// What hashing a message costs, in bytes, near enough.
fn cost_of(message: &Message) -> u64 {
    bytes_of(message) + MESSAGE_COST
}

/// The bytes of a message's texts, near enough.
fn bytes_of(message: &Message) -> u64 {
    message.blocks.iter().filter_map(Block::recorded_text).map(|text| text.len() as u64).sum()
}

/// Returns what an archive of a session may contain: every text, every message, and what each edit of a compaction
/// removed.
fn items(session: &Session) -> impl Iterator<Item = ArchivedContent> {
    let blocks = session.log().iter().flat_map(|message| &message.blocks);
    let texts = blocks.filter_map(Block::recorded_text).map(|text| ArchivedContent::Text(Arc::clone(text)));
    let messages = session.log().iter().map(|message| ArchivedContent::Messages(vec![message.clone()]));
    let edits = session.journal().iter().flat_map(|epoch| &epoch.edits);
    let removed = edits.map(|edit| ArchivedContent::Messages(removed_by(session, edit)));
    texts.chain(messages).chain(removed)
}

/// Returns the messages that an edit of the session's journal took out whole, in its order. Linear in the edit.
fn removed_by(session: &Session, edit: &AppliedEdit) -> Vec<Arc<Message>> {
    let removed = edit.changes.iter().filter_map(|change| match change {
        Change::Remove { entry } => session.message(*entry).cloned(),
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

#[cfg(test)]
mod tests {
    use epitome_session::{Origin, Role};

    use super::*;

    #[test]
    fn a_search_that_would_take_too_long_says_that_it_has_no_end() {
        let mut session = Session::new();
        session.extend((0..9).map(|number| Message::text("", Role::User, Origin::Typed, format!("message {number}"))));
        let stretch = ArchivedContent::Messages(session.log()[6..8].to_vec());
        let handle = handles(&stretch).next().unwrap_or_default();
        let check = |at: Option<u32>, budget: u64, expect: StretchSearch| {
            assert_eq!(find_within(&session, &handle, at, budget), expect, "{at:?} {budget}");
        };
        let found = || StretchSearch::Found(stretch.clone());
        check(None, MOST_COST, found());
        check(Some(6), MOST_COST, found());
        // Nine messages that are tiny cost little by their bytes alone: what each costs beside them counts.
        check(None, 20 * MESSAGE_COST, StretchSearch::Unfinished);
        check(Some(6), 0, found());
        check(Some(5), 0, StretchSearch::Nowhere);
    }
}
