//! Do receipts and figures add up?

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use epitome_engine::{Ledger, Outcome, count_message};
use epitome_session::{Change, Content, Entry, EntryKey, Message, MessageId, Origin, Session};
use epitome_strategy::EntryTokens;

use super::Laws;

/// Edits that follow from validity and not from a plan: they may save nothing.
const ENTAILED: [&str; 5] = ["repair", "thinking", "notices", "memories", "refill"];

impl Laws<'_> {
    /// Every message has one receipt, and the log is either shown or removed by one epoch.
    pub(super) fn conservation(&mut self) {
        let ids: Vec<&MessageId> = self.before.view().iter().map(|entry| &entry.message.id).collect();
        let receipts: Vec<&MessageId> = self.report.messages.iter().map(|receipt| &receipt.id).collect();
        self.law("conservation", ids == receipts, || "receipts are not one per message, in order".to_owned());
        self.law("conservation", self.before.log() == self.after.log(), || "the log was rewritten".to_owned());
        let removals: Vec<EntryKey> = self
            .after
            .journal()
            .iter()
            .filter(|epoch| !epoch.undone)
            .flat_map(|epoch| epoch.changes())
            .filter(|change| matches!(change, Change::Remove { .. }))
            .map(Change::entry)
            .collect();
        let distinct: HashSet<EntryKey> = removals.iter().copied().collect();
        self.law("conservation", distinct.len() == removals.len(), || "a message was removed twice".to_owned());
        for index in 0..self.after.log().len() as u32 {
            let key = EntryKey::Log(index);
            let accounted = usize::from(distinct.contains(&key)) + usize::from(self.shown.contains_key(&key));
            self.law("conservation", accounted == 1, || format!("message {index} is accounted for {accounted} times"));
        }
    }

    /// A receipt agrees with a comparison of the two views.
    pub(super) fn receipts(&mut self) {
        let summarized = self.summarized();
        for (entry, receipt) in self.before.view().iter().zip(&self.report.messages) {
            let expected: &[Outcome] = match self.shown.get(&entry.key) {
                None if summarized.contains(&entry.key) => &[Outcome::Summarized],
                None => &[Outcome::Dropped],
                Some(shown) if shown.message == entry.message => &[Outcome::Kept, Outcome::Pinned],
                Some(shown) if same_but_for_arguments(&entry.message, &shown.message) => &[Outcome::Trimmed],
                Some(_) => &[Outcome::Excerpted],
            };
            self.law("receipts", expected.contains(&receipt.outcome) && receipt.role == entry.message.role, || {
                format!("{} is {:?}, the views say {expected:?}", receipt.id, receipt.outcome)
            });
        }
        let (before, after) = (self.before.view().len() as u32, self.after.view().len() as u32);
        let counts = (self.report.messages_before, self.report.messages_after);
        self.law("receipts", counts == (before, after), || format!("{counts:?} messages, not {before} and {after}"));
    }

    /// Returns the messages of the view before in whose place a summary stands; one that a notice replaced, or that left
    /// again, stands for nothing.
    fn summarized(&self) -> HashSet<EntryKey> {
        let Some(epoch) = self.epoch() else { return HashSet::new() };
        let mut became: HashMap<EntryKey, EntryKey> = HashMap::new();
        for edit in &epoch.edits {
            let Some(index) = edit.into else { continue };
            let text = EntryKey::Synthetic { epoch: epoch.id, index };
            became.extend(edit.changes.iter().map(|change| (change.entry(), text)));
        }
        let text = |entry: &Entry| {
            let mut key = *became.get(&entry.key)?;
            while let Some(next) = became.get(&key).filter(|next| **next != key) {
                key = *next;
            }
            self.shown.get(&key).filter(|shown| shown.message.origin == Origin::Summary)
        };
        self.before.view().iter().filter(|entry| text(entry).is_some()).map(|entry| entry.key).collect()
    }

    /// The reported first changed message and the loss of the provider's cache agree with the two views.
    pub(super) fn cache(&mut self) {
        let (before, after) = (self.before.view(), self.after.view());
        let same = |index: &usize| {
            after.get(*index).is_some_and(|now| now.key == before[*index].key && now.message == before[*index].message)
        };
        let common = (0..before.len()).take_while(same).count();
        let first = (before != after).then_some(common);
        let reported = self.report.first_changed_message.map(|first| first as usize);
        self.law("cache", reported == first, || format!("first change at {reported:?}, the views say {first:?}"));
        let sent = before.len().saturating_sub(self.request.unsent_messages as usize);
        let behind = first.map_or(&[][..], |first| before.get(first..sent).unwrap_or_default());
        let lost: u32 = behind.iter().map(|entry| self.count(&entry.message).total).sum();
        let reported = self.report.cache_loss_tokens;
        self.law("cache", reported == lost, || format!("a loss of {reported} reported, {lost} counted"));
    }

    /// Every edit of a strategy saves tokens.
    pub(super) fn progress(&mut self) {
        let is_entailed = |strategy: &str| ENTAILED.contains(&strategy);
        for edit in &self.report.edits {
            let only_writes = edit.messages.is_empty();
            self.law("progress", only_writes || is_entailed(&edit.strategy) || edit.tokens_saved > 0, || {
                format!("an edit of {} saves nothing: {edit:?}", edit.strategy)
            });
        }
        let repaired = self.report.steps.iter().any(|step| &*step.strategy == "repair");
        let lower = self.report.tokens_after < self.report.tokens_before || repaired;
        self.law("progress", lower, || "the result is not smaller".to_owned());
        for step in self.report.steps.iter().filter(|step| !is_entailed(&step.strategy)) {
            let grew = step.tokens_after > step.tokens_before + 32; // a message put in front may cost a few
            self.law("progress", !grew, || format!("{} made the view larger", step.strategy));
        }
    }

    /// The running totals, of the view and of each message, agree with a recount.
    pub(super) fn counting(&mut self) {
        self.recounted(self.ledger_after, self.after, "after the compaction");
        let recount = self.recount(self.after);
        let reported = self.report.tokens_after;
        self.law("counting", reported == recount, || format!("{reported} reported, {recount} recounted"));
        let before = self.recount(self.before);
        let figures = (self.report.tokens_before, self.ledger_before.total());
        self.law("counting", figures == (before, before), || format!("{figures:?} before, {before} recounted"));
        if let Some(epoch) = self.epoch() {
            let stored = (epoch.tokens_before, epoch.tokens_after);
            self.law("counting", stored == (Some(before), Some(recount)), || format!("the journal says {stored:?}"));
        }
    }

    /// A ledger agrees with a recount of a session, in all and message for message.
    pub(super) fn recounted(&mut self, ledger: &Ledger, session: &Session, when: &str) {
        let recount = self.recount(session);
        let total = ledger.total();
        self.law("counting", total == recount, || format!("{total} {when}, {recount} recounted"));
        for entry in session.view() {
            let counted = self.count(&entry.message);
            let known = ledger.entry(entry.key);
            self.law("counting", known == Some(&counted), || {
                format!("{} {when}: {known:?}, {counted:?} recounted", entry.message.id)
            });
        }
    }

    /// Returns the tokens of a session's view, counted anew.
    pub(super) fn recount(&mut self, session: &Session) -> u32 {
        session.view().iter().map(|entry| self.count(&entry.message).total).sum()
    }

    pub(super) fn count(&mut self, message: &Arc<Message>) -> EntryTokens {
        let counted = || (Arc::clone(message), count_message(&*self.counter, message));
        self.counts.0.entry(Arc::as_ptr(message)).or_insert_with(counted).1.clone()
    }
}

/// Whether two messages differ only in the arguments of calls.
fn same_but_for_arguments(one: &Message, other: &Message) -> bool {
    one.blocks.len() == other.blocks.len()
        && one.blocks.iter().zip(&other.blocks).all(|(one, other)| match (&one.content, &other.content) {
            (Content::ToolCall(_), Content::ToolCall(_)) => true,
            _ => one == other,
        })
}
