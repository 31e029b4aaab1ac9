//! A compaction of an agent's own that is recorded as the whole of what it put in place of its history.

use std::sync::Arc;

use epitome_session::{Entry, EntryKey, Message, Position, Session, SyntheticMessage};

/// The entries that leave the view, and the messages that come into it, for it to read as `wanted`; `head` stays. Messages
/// that stay are recognised by their content, in order; the messages of an earlier compaction are added anew, because no
/// message can be placed in front of them.
pub(crate) fn difference(
    session: &Session,
    head: Option<EntryKey>,
    wanted: Vec<Message>,
) -> (Vec<EntryKey>, Vec<SyntheticMessage>) {
    let view = session.view();
    let epoch = session.next_epoch();
    let is_head = |entry: &Entry| Some(entry.key) == head;
    let may_stay = |entry: &Entry| matches!(entry.key, EntryKey::Log(_)) && !is_head(entry);
    let mut staying: Vec<EntryKey> = Vec::new();
    let mut synthetics: Vec<SyntheticMessage> = Vec::new();
    let mut waiting: Vec<Message> = Vec::new();
    let mut at = 0;
    for message in wanted {
        let found =
            (at..view.len()).find(|index| may_stay(&view[*index]) && same_message(&view[*index].message, &message));
        let Some(index) = found else {
            waiting.push(message);
            continue;
        };
        place(&mut synthetics, &mut waiting, |sequence| Position::before(view[index].position, epoch, sequence));
        staying.push(view[index].key);
        at = index + 1;
    }
    let end = session.log().len() as u32;
    place(&mut synthetics, &mut waiting, |sequence| Position::at_end(end, epoch, sequence));
    let leaves = |entry: &&Entry| !is_head(entry) && !staying.contains(&entry.key);
    (view.iter().filter(leaves).map(|entry| entry.key).collect(), synthetics)
}

fn place(synthetics: &mut Vec<SyntheticMessage>, waiting: &mut Vec<Message>, position: impl Fn(u32) -> Position) {
    for message in waiting.drain(..) {
        let position = position(synthetics.len() as u32);
        synthetics.push(SyntheticMessage { position, message: Arc::new(message) });
    }
}

/// Whether two messages say the same, wherever they were recorded.
fn same_message(left: &Message, right: &Message) -> bool {
    left.role == right.role
        && left.blocks.len() == right.blocks.len()
        && left.blocks.iter().zip(&right.blocks).all(|(left, right)| left.content == right.content)
}
