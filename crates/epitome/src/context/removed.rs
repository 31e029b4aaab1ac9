//! What has left a context, and under which handle it is found again.

use std::collections::HashSet;
use std::sync::Arc;

use epitome_engine::count_message;
use epitome_recall::edit_handle;
use epitome_session::{AppliedEdit, Change, EditKind, EntryKey, Epoch, EpochOrigin, Session, Trigger};
use epitome_strategy::{TokenCounter, Tokens};
use serde::Serialize;

use super::first_words::first_words;

/// What has left a context.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RemovedContent))]
pub struct Removed {
    /// How many messages are gone whole.
    pub messages: u32,
    /// How many messages have lost a part.
    pub shortened: u32,
    /// Tokens of the messages that are gone whole.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens: Tokens,
    /// How many compactions are in force.
    pub compactions: u32,
    /// What each edit of the compactions in force took out, in their order.
    pub items: Vec<RemovedItem>,
}

/// What one edit of a compaction took out of a context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RemovedItem {
    /// The number of the compaction.
    pub epoch: u32,
    /// Its author.
    pub origin: EpochOrigin,
    /// What started it.
    pub trigger: Trigger,
    /// The kind of edit.
    pub edit: EditKind,
    /// How many messages it changed or took out.
    pub messages: u32,
    /// The number of the first of them in the full history, from 0; `null` where all of them were summaries.
    #[cfg_attr(feature = "schema", schema(required))]
    pub first: Option<u32>,
    /// Tokens that left: of the messages that were taken out; of those that were shortened what the edit saved.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens: Tokens,
    /// The first words of the first message.
    pub words: String,
    /// Why, in a line.
    pub reason: String,
    /// The handle that brings it back; `null` where only an undo of the compaction does.
    #[cfg_attr(feature = "schema", schema(required))]
    pub handle: Option<Arc<str>>,
}

impl Removed {
    /// What has left the context of a session. Linear in the log: what left is counted.
    pub fn measure(session: &Session, counter: &dyn TokenCounter) -> Self {
        let mut is_here = vec![false; session.log().len()];
        let mut removed = Self { compactions: session.cycle(), ..Self::default() };
        for entry in session.view() {
            if let EntryKey::Log(number) = entry.key
                && let Some(is_here) = is_here.get_mut(number as usize)
            {
                *is_here = true;
                removed.shortened += u32::from(entry.is_edited());
            }
        }
        let count = |(message, is_here): (&Arc<_>, &bool)| (!is_here).then(|| count_message(counter, message).total);
        let tokens: Vec<Option<Tokens>> = session.log().iter().zip(&is_here).map(count).collect();
        removed.messages = tokens.iter().flatten().count() as u32;
        removed.tokens = tokens.iter().flatten().copied().fold(0, Tokens::saturating_add);
        let in_force = session.journal().iter().filter(|epoch| !epoch.undone);
        let edits = in_force.flat_map(|epoch| epoch.edits.iter().map(move |edit| (epoch, edit)));
        removed.items = edits.filter_map(|(epoch, edit)| item(session, epoch, edit, &tokens)).collect();
        removed
    }

    /// Whether nothing has left.
    pub fn is_empty(&self) -> bool {
        self.messages == 0 && self.shortened == 0
    }
}

/// What an edit took out; `None` for one that only added a message. Linear in its changes.
fn item(session: &Session, epoch: &Epoch, edit: &AppliedEdit, tokens: &[Option<Tokens>]) -> Option<RemovedItem> {
    let number = |key: EntryKey| match key {
        EntryKey::Log(number) => Some(number),
        EntryKey::Synthetic { .. } => None,
    };
    let entries: HashSet<EntryKey> = edit.changes.iter().map(Change::entry).collect();
    if entries.is_empty() {
        return None;
    }
    let gone = edit.changes.iter().filter(|change| matches!(change, Change::Remove { .. }));
    let gone: HashSet<u32> = gone.filter_map(|change| number(change.entry())).collect();
    let of_gone = gone.iter().filter_map(|number| tokens.get(*number as usize).copied().flatten());
    let first = entries.iter().copied().filter_map(number).min();
    let message = first.and_then(|first| session.log().get(first as usize));
    Some(RemovedItem {
        epoch: epoch.id,
        origin: epoch.origin,
        trigger: epoch.trigger,
        edit: edit.kind,
        messages: entries.len() as u32,
        first,
        tokens: if gone.is_empty() { edit.tokens_saved } else { of_gone.fold(0, Tokens::saturating_add) },
        words: message.map_or_else(String::new, |message| first_words(message)),
        reason: edit.reason.detail.clone(),
        handle: edit_handle(session, edit),
    })
}
