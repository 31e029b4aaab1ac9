//! Compactions that are prepared while the session continues, so that no call waits for the model that writes the
//! hand-off.
//!
//! From the soft threshold on one is worked out in the background, from the session as it is then. When the hard threshold
//! comes it is made, with what arrived meanwhile as it came.

use std::sync::Arc;

use epitome_engine::{Check, Draft, Report, Urgency};
use epitome_session::{EntryKey, Epoch, Trigger};
use epitome_store::SessionArchive;
use epitome_strategy::{Archive, HostChanges, Tokens};

use super::compact::Compaction;
use super::events::compaction_event;
use super::maintain::MaintainOutcome;
use super::preparation::{BackgroundExecutor, BackgroundPreparation, Preparation, PreparationGuard};
use super::{LiveError, LiveSession};

/// After a preparation that failed, the next one waits until the view has grown by this share of the usable window.
const PATIENCE: f64 = 0.02;

impl LiveSession {
    /// From here on compactions are prepared ahead: [`maintain`](Self::maintain) begins one in `background` when a threshold
    /// suggests it and changes nothing yet, and makes it when there is no room left. The same `preparation` may be given to a
    /// session that is read again, as long as it is the same session's.
    ///
    /// Only what asks a model is worth it: without one a compaction takes milliseconds, and nothing is prepared.
    pub fn prepare_in(&mut self, background: Arc<dyn BackgroundExecutor>, preparation: Preparation) {
        self.ahead = Some(BackgroundPreparation { preparation, background });
    }

    /// Makes a prepared compaction that is due, or begins to prepare one: the part of [`maintain`](Self::maintain) for
    /// preparations. `None` where a compaction that is not prepared is to be made at once, or where none is prepared
    /// ahead. It waits only for a preparation that is under way when there is no room left.
    ///
    /// # Errors
    ///
    /// The prepared compaction cannot be made; the session is as it was.
    pub async fn maintain_ahead(&mut self) -> Result<Option<MaintainOutcome>, LiveError> {
        let check = self.check();
        let Some(trigger) = check.trigger else { return Ok(None) };
        self.ahead_of(&Compaction { trigger, ..Compaction::default() }, check).await
    }

    /// The preparation, where compactions are prepared ahead.
    pub fn preparation(&self) -> Option<&Preparation> {
        self.ahead.as_ref().map(|ahead| &ahead.preparation)
    }

    /// The outcome of a triggered compaction, where compactions are prepared ahead; `None` where it is to be made at
    /// once.
    pub(super) async fn ahead_of(
        &mut self,
        compaction: &Compaction,
        check: Check,
    ) -> Result<Option<MaintainOutcome>, LiveError> {
        let Some(BackgroundPreparation { preparation, background }) = self.ahead.clone() else { return Ok(None) };
        if !self.asks_model() {
            return Ok(None);
        }
        // A compaction with another trigger than a threshold is made as soon as it is ready.
        let by_threshold = matches!(compaction.trigger, Trigger::Soft | Trigger::RemainingShare | Trigger::Hard);
        let is_due = check.urgency == Urgency::Hard;
        if is_due {
            // It is asked for already: a second request would take longer than the rest of the first.
            preparation.wait_until_done().await;
        }
        if (is_due || !by_threshold)
            && let Some(report) = self.make_prepared(&preparation).await?
        {
            return Ok(Some(MaintainOutcome::Compacted(Box::new(report))));
        }
        if is_due {
            return Ok(None);
        }
        self.prepare(compaction, &preparation, &*background);
        Ok(Some(MaintainOutcome::Preparing(check)))
    }

    /// Whether a compaction waits for a model.
    fn asks_model(&self) -> bool {
        let is_model = |summarizer: &Arc<dyn epitome_strategy::Summarizer>| summarizer.kind() != "rules";
        self.conversation.is_some() || self.engine.summarizer.as_ref().is_some_and(is_model)
    }

    /// Begins to prepare the compaction, unless one is under way or ready.
    fn prepare(&self, compaction: &Compaction, preparation: &Preparation, background: &dyn BackgroundExecutor) {
        let patience = (f64::from(self.budget.usable()) * PATIENCE) as Tokens;
        let Some(number) = preparation.begin(self.tokens(), patience) else { return };
        let mut copy = self.copy();
        copy.listeners.metrics = Arc::clone(&self.listeners.metrics);
        let under_way = PreparationGuard { preparation: preparation.clone(), number };
        let compaction = compaction.clone();
        background.run(Box::pin(async move {
            let clock = copy.engine.clock.clone();
            let started = clock.now();
            match copy.draft(&compaction, false).await {
                Ok(draft) if draft.epoch().is_some() => {
                    tracing::info!(took_ms = clock.microseconds_since(started) / 1_000, "a compaction is prepared");
                    under_way.preparation.end(number, Some((draft, copy.archive)));
                }
                Ok(_) => tracing::info!("a compaction that was prepared would change nothing"),
                Err(error) => tracing::warn!(%error, "a compaction could not be prepared"),
            }
            drop(under_way);
        }));
    }

    /// Makes the compaction that is prepared, with what arrived meanwhile as it came; `None` where none is ready, or where it
    /// is of no use any more.
    async fn make_prepared(&mut self, preparation: &Preparation) -> Result<Option<Report>, LiveError> {
        let Some((draft, archive)) = preparation.take() else { return Ok(None) };
        let usable = self.budget.usable();
        let limit = self.budget.hard.tokens(usable).min(usable);
        let arrived =
            (draft.log_length().unwrap_or_default() as u32..self.session.log().len() as u32).map(EntryKey::Log);
        let arrived: Tokens = arrived.filter_map(|key| self.ledger.entry(key)).map(|entry| entry.total).sum();
        if !draft.is_of_prefix(&self.session) || draft.report.tokens_after.saturating_add(arrived) > limit {
            return Ok(None);
        }
        let started = self.announce_start(draft.report.trigger);
        let made = self.apply_on_prefix(draft, &archive, limit).await;
        started.announce_end(made).map(Some)
    }

    async fn apply_on_prefix(
        &mut self,
        draft: Draft,
        archive: &SessionArchive,
        limit: Tokens,
    ) -> Result<Report, LiveError> {
        // Archive first: what leaves must be there to be recalled.
        let handles = draft.epoch().into_iter().flat_map(|epoch| &epoch.edits).filter_map(|edit| edit.recall.clone());
        for handle in handles {
            let Some(item) = archive.get(&handle)? else {
                return Err(LiveError::NotArchived { handle: handle.to_string() });
            };
            self.archive.put(item)?;
        }
        let flushed = self.flush_memories().await;
        let before = self.snapshot();
        let mut report = self.engine.commit_on_prefix(&mut self.session, &mut self.ledger, draft, limit)?;
        self.store_epoch(before)?;
        let before = self.snapshot();
        let strips = self.host == HostChanges::Any;
        if strips && self.engine.strip_arrived(&mut self.session, &mut self.ledger, &mut self.archive)? {
            self.store_epoch(before)?;
        }
        report.tokens_after = self.ledger.total();
        self.watch.record_compaction(&report);
        let epoch = self.session.journal().iter().rposition(Epoch::is_compaction).map(|at| at as u32);
        self.listeners.tell(&compaction_event(&report, epoch, self.summary_id(epoch), flushed));
        self.tell_tokens();
        Ok(report)
    }
}
