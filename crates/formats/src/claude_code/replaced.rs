//! A compaction by a function hook: behind the boundary stand the messages that the hook gave, as records that are older than
//! the boundary. What it kept is recorded once more; what it wrote says so.
//!
//! epitome's plug-in compacts in this way, and its texts have its headings.

use std::collections::BTreeSet;
use std::sync::Arc;

use epitome_session::{
    AppliedEdit, Change, EditKind, EntryKey, Epoch, EpochOrigin, Heading, Message, Origin, Position, Reason, Role,
    Session, SyntheticMessage,
};

use crate::claude_code::boundary::Boundary;

/// The name of epitome's plug-in where the strategies of a compaction are told: which ones it used is recorded nowhere.
const PLUGIN: &str = "plug-in";

/// The messages that stand behind a boundary, and the boundary.
#[derive(Debug, Clone)]
pub(super) struct ReplacedView {
    pub(super) boundary: Boundary,
    pub(super) messages: Vec<GivenMessage>,
}

/// A message that stands once more behind a boundary.
#[derive(Debug, Clone)]
pub(super) struct GivenMessage {
    pub(super) message: Message,
    /// Whether a hook wrote it.
    pub(super) is_written: bool,
}

impl GivenMessage {
    /// The heading by which epitome's own text begins.
    fn heading(&self) -> Option<(u64, Option<Arc<str>>)> {
        let text = self.message.plain_text();
        let heading = Heading::read(&text).filter(|_| self.is_written && self.message.role == Role::User)?;
        Some((heading.messages, heading.handle.map(Arc::from)))
    }
}

impl ReplacedView {
    /// Commits the compaction: what was kept stays where it is, what was written is added. Linear in the view for each of
    /// the messages.
    pub(super) fn commit(self, session: &mut Session) {
        let headings: Vec<_> = self.messages.iter().filter_map(GivenMessage::heading).collect();
        let (epoch, end) = (session.next_epoch(), session.log().len() as u32);
        let mut kept: BTreeSet<EntryKey> = BTreeSet::new();
        let mut synthetics: Vec<SyntheticMessage> = Vec::new();
        // Messages that wait for the entry in front of which they stand.
        let mut waiting: Vec<Message> = Vec::new();
        let mut from = 0;
        let mut place = |waiting: &mut Vec<Message>, before: Option<Position>| {
            for message in waiting.drain(..) {
                let sequence = synthetics.len() as u32;
                let position = match before {
                    Some(first) => Position::before(first, epoch, sequence),
                    None => Position::at_end(end, epoch, sequence),
                };
                synthetics.push(SyntheticMessage { position, message: Arc::new(message) });
            }
        };
        for given in self.messages {
            let mut behind = session.view().iter().enumerate().skip(from);
            let same = behind.find(|(_, entry)| is_same(&entry.message, &given.message));
            match same {
                Some((at, entry)) => {
                    place(&mut waiting, Some(entry.position));
                    kept.insert(entry.key);
                    from = at + 1;
                }
                None => waiting.push(with_origin(given, session)),
            }
        }
        place(&mut waiting, None);
        let removed = session.view().iter().map(|entry| entry.key).filter(|key| !kept.contains(key));
        let recorded = Epoch {
            tokens_before: self.boundary.tokens_before,
            tokens_after: self.boundary.tokens_after,
            ..Epoch::recorded(self.boundary.trigger, removed.collect::<Vec<_>>(), synthetics)
        };
        session.commit(match headings.is_empty() {
            true => recorded,
            false => made_by_plugin(recorded, &headings),
        });
    }
}

/// A compaction as one of epitome's plug-in, with what its headings tell: an edit for each.
fn made_by_plugin(recorded: Epoch, headings: &[(u64, Option<Arc<str>>)]) -> Epoch {
    let mut changes: Vec<Change> = recorded.changes().cloned().collect();
    let edits = headings.iter().map(|(messages, handle)| AppliedEdit {
        kind: EditKind::Summarize,
        strategy: Arc::from(PLUGIN),
        reason: Reason::new("plug-in", format!("{messages} messages, compacted by epitome's plug-in of the agent")),
        recall: handle.clone(),
        tokens_saved: 0,
        into: None,
        changes: std::mem::take(&mut changes),
    });
    Epoch { origin: EpochOrigin::Engine, edits: edits.collect(), ..recorded }
}

/// Whether a message was recorded once more. An answer's texts may stand in fewer blocks.
fn is_same(one: &Message, other: &Message) -> bool {
    one.role == other.role && one.blocks == other.blocks
}

/// A message of the view with who is its author: the summary has epitome's heading, and what a person typed is in the log.
fn with_origin(given: GivenMessage, session: &Session) -> Message {
    let is_summary = given.heading().is_some();
    let mut message = given.message;
    if given.is_written && message.role == Role::User {
        let text = message.plain_text();
        let is_typed = || session.log().iter().any(|said| said.is_typed() && said.plain_text().contains(text.trim()));
        message.origin = match is_summary {
            true => Origin::Summary,
            false if is_typed() => Origin::Typed,
            false => Origin::Injected,
        };
    }
    message
}
