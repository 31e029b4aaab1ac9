//! Commits a compaction that was worked out while messages arrived; these messages stay as they came.

use std::sync::Arc;

use epitome_session::{EntryKey, Epoch, Message, Session, Trigger};
use epitome_strategy::{Archive, Cancellation, Tokens};

use crate::arrival::Arrival;
use crate::draft::Draft;
use crate::editor::Editor;
use crate::engine::{Engine, EngineError, working};
use crate::language::language;
use crate::ledger::Ledger;
use crate::report::{Outcome, Receipt, Report};

impl Draft {
    /// How many messages the log held when the draft was made; `None` where nothing would change.
    pub fn log_length(&self) -> Option<usize> {
        Some(self.epoch.as_ref()?.log_length as usize)
    }

    /// Whether the draft was made from this session as it is, or as it was before its newest messages arrived. Linear
    /// in the session's log.
    pub fn is_of_prefix(&self, session: &Session) -> bool {
        match self.log_length() {
            Some(messages) => session.state_hash_at(messages) == Some(self.made_from),
            None => self.made_from == session.state_hash(),
        }
    }
}

impl Engine {
    /// Commits a draft that was made before the session's newest messages arrived; these messages stay as they came.
    /// The report's figures are those of the session as it is now. [`strip_arrived`](Self::strip_arrived) removes the
    /// signed thinking in these messages that a provider would refuse. Linear in the session.
    ///
    /// # Errors
    ///
    /// [`Stale`](EngineError::Stale) where anything but new messages has changed since;
    /// [`Outgrown`](EngineError::Outgrown) where the result would be more than `limit` tokens. The session is unchanged
    /// then.
    pub fn commit_on_prefix(
        &self,
        session: &mut Session,
        ledger: &mut Ledger,
        draft: Draft,
        limit: Tokens,
    ) -> Result<Report, EngineError> {
        if draft.made_from == session.state_hash() {
            return self.commit(session, ledger, draft);
        }
        let is_of_prefix = draft.is_of_prefix(session);
        let Draft { mut report, epoch: Some(mut epoch), counts, .. } = draft else { return Err(EngineError::Stale) };
        if !is_of_prefix {
            return Err(EngineError::Stale);
        }
        let newer = (epoch.log_length..session.log().len() as u32).map(EntryKey::Log);
        let newer: Tokens = newer.filter_map(|key| ledger.entry(key)).map(|entry| entry.total).sum();
        let tokens = report.tokens_after.saturating_add(newer);
        if tokens > limit {
            return Err(EngineError::Outgrown { tokens, limit });
        }
        let arrived = &session.log()[epoch.log_length as usize..];
        let kept =
            |message: &Arc<Message>| Receipt { id: message.id.clone(), role: message.role, outcome: Outcome::Kept };
        report.messages.extend(arrived.iter().map(kept));
        let count = arrived.len() as u32;
        let more = |figure: Option<Tokens>| figure.map(|figure| figure.saturating_add(newer));
        (epoch.tokens_before, epoch.tokens_after) = (more(epoch.tokens_before), more(epoch.tokens_after));
        session.commit(epoch);
        ledger.adopt(counts, tokens);
        report.tokens_before = report.tokens_before.saturating_add(newer);
        report.tokens_after = ledger.total();
        report.messages_before += count;
        report.messages_after += count;
        Ok(report)
    }

    /// Removes the signed thinking that a provider refuses behind the changes of the newest epoch, except that of the
    /// newest step: messages that arrived while the epoch was worked out may hold some. The removal is an epoch of its
    /// own, which does not count as a compaction. Returns whether there is one. Linear in the view.
    pub fn strip_arrived(
        &self,
        session: &mut Session,
        ledger: &mut Ledger,
        archive: &mut dyn Archive,
    ) -> Result<bool, EngineError> {
        let Some(first) = session.journal().last().and_then(|epoch| first_change(session, epoch)) else {
            return Ok(false);
        };
        let never = Cancellation::never();
        let context = self.context(session, ledger, language(session.view()), &never);
        let mut editor = Editor::new(working(session, ledger, &self.pins), &context, archive);
        editor.strip_thinking_behind(first).map_err(|refusal| EngineError::Refused(refusal.to_string()))?;
        let mut working = editor.working;
        working.end_pass();
        if working.is_untouched() {
            return Ok(false);
        }
        let (before, after) = (ledger.total(), working.total);
        Arrival::commit(session, ledger, Trigger::Arrival, working, (before, after));
        Ok(true)
    }
}

/// Returns the position in the view of the first message that an epoch changed, or that is behind one which it removed.
fn first_change(session: &Session, epoch: &Epoch) -> Option<usize> {
    let changed = epoch.changes().filter_map(|change| session.position(change.entry()));
    let first = changed.chain(epoch.synthetics.iter().map(|synthetic| synthetic.position)).min()?;
    Some(session.view().partition_point(|entry| entry.position < first))
}
