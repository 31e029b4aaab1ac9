//! Compactions by hand: at once, or previewed, edited and then made.

use std::sync::Arc;

use epitome_engine::{Chain, Draft, Engine, EngineError, Observer, Report, Request, Urgency};
use epitome_session::{EntryKey, Epoch, MessageRange, Role, SummaryUsage, Trigger};
use epitome_strategy::{Archive, SummarizeError, TaskKind, Tokens};
use tracing::Instrument;

use super::events::{Event, StartedCompaction, compaction_event};
use super::{LiveError, LiveSession};

/// The share of the view that a compaction by hand, or one that rounds or the model ask for, gets down to where the budget's
/// target is not below it: a compaction that was asked for is made even where the view is below the target.
const ASKED_SHARE: f64 = 0.5;

/// The least share of the view that a compaction by hand has to save; less is a rewording.
const LEAST_SAVED: f64 = 0.05;

/// A request for a compaction. The default is one by hand, down to the budget's target.
#[derive(Debug, Clone)]
pub struct Compaction {
    /// The trigger.
    pub trigger: Trigger,
    /// The subject to keep in focus, as in `/compact the parser`; the newest user message without it.
    pub focus: Option<String>,
    /// Tokens to get down to; without it the budget's target, or half of the view where that is less and the compaction is
    /// asked for by hand, by rounds or by the model, and no messages are named to keep or to drop.
    pub target: Option<Tokens>,
    /// The kind of task, where the host knows it better than the detector.
    pub task: Option<TaskKind>,
    /// The chain to use; the configuration's without it.
    pub chain: Option<Chain>,
    /// Messages that are kept by hand, from here on until they are [released](LiveSession::release).
    pub keep: Vec<MessageRange>,
    /// Messages that leave by hand, before anything else does.
    pub drop: Vec<MessageRange>,
}

impl Default for Compaction {
    fn default() -> Self {
        Self {
            trigger: Trigger::Manual,
            focus: None,
            target: None,
            task: None,
            chain: None,
            keep: Vec::new(),
            drop: Vec::new(),
        }
    }
}

impl Compaction {
    /// A compaction by hand with something in focus.
    pub fn focused(focus: impl Into<String>) -> Self {
        Self { focus: Some(focus.into()), ..Self::default() }
    }
}

/// The span of a compaction, with the fields that [`record_compaction`] fills in: names of the conventions for generative
/// AI, and `epitome.…` for what these do not name.
pub fn compaction_span(trigger: Trigger, tokens: u32) -> tracing::Span {
    tracing::info_span!(
        "compaction",
        epitome.trigger = ?trigger,
        // Signed: the numbers of traces are.
        epitome.tokens.before = i64::from(tokens),
        epitome.tokens.after = tracing::field::Empty,
        epitome.status = tracing::field::Empty,
        epitome.chain = tracing::field::Empty,
        gen_ai.conversation.compacted = tracing::field::Empty,
    )
}

/// Records the result of a compaction in its span.
pub fn record_compaction(span: &tracing::Span, report: &Report) {
    span.record("epitome.tokens.after", i64::from(report.tokens_after));
    span.record("epitome.status", report.status.as_str());
    span.record("epitome.chain", report.chain.join(" "));
    span.record("gen_ai.conversation.compacted", report.status.is_compaction());
}

impl LiveSession {
    /// Compacts now, whether it is due or not. Nothing to do is a normal answer: [`Status::NoChange`](epitome_engine::Status::NoChange).
    ///
    /// # Errors
    ///
    /// [`LiveError::Infeasible`] where what must stay is larger than the hard limit; a summary that could not be written
    /// where the settings say that nothing is done without; trouble with the file. The session is as it was.
    pub async fn compact(&mut self, compaction: &Compaction) -> Result<Report, LiveError> {
        let span = compaction_span(compaction.trigger, self.ledger.total());
        let noted = span.clone();
        async {
            let started = self.announce_start(compaction.trigger);
            let made = match self.draft(compaction, true).await {
                Ok(draft) => self.apply(draft).await,
                Err(error) => Err(error),
            };
            let report = started.announce_end(made)?;
            record_compaction(&noted, &report);
            Ok(report)
        }
        .instrument(span)
        .await
    }

    /// Works out a compaction without making it. The draft's summaries may be edited ([`Draft::edit_summary`]);
    /// [`apply`](Self::apply) makes exactly what the draft shows.
    ///
    /// The draft belongs to the session as it is now: when a message has arrived since, it is stale.
    pub async fn preview(&mut self, compaction: &Compaction) -> Result<Draft, LiveError> {
        self.draft(compaction, false).await
    }

    /// Works out a compaction; subscribers receive its steps where it is going to be made.
    pub(super) async fn draft(&mut self, compaction: &Compaction, is_told: bool) -> Result<Draft, LiveError> {
        let memories = self.memories_for(compaction.focus.as_deref()).await;
        let mut request = self.request(compaction);
        request.memories = memories;
        request.observer = is_told.then(|| Arc::new(self.listeners.clone()) as Arc<dyn Observer>);
        let refused = self.backoff.len();
        let drafted = self.drafting().draft(&self.session, &self.ledger, &mut self.archive, &request).await;
        if self.backoff.len() > refused {
            tracing::warn!(
                "a model gave no summary of the session: for a while others write it, and it is not asked again"
            );
        }
        match drafted {
            Ok(draft) => {
                self.listeners.metrics.summary(&draft.report);
                self.pay(&draft.report.summarizer.models);
                Ok(draft)
            }
            Err(error) => {
                if let EngineError::NoSummary(SummarizeError { usage, .. }) = &error {
                    self.pay(usage);
                }
                Err(self.record_failure(error.into(), compaction.trigger))
            }
        }
    }

    /// Puts what models took for summaries on the bill, and counts it.
    fn pay(&self, usage: &SummaryUsage) {
        self.listeners.metrics.paid(usage);
        self.bill.add(usage);
    }

    /// The engine for a draft of the session as it is.
    fn drafting(&self) -> Engine {
        let mut engine = self.engine.clone();
        if let Some(answering) = &self.conversation {
            engine.summarizer = answering.summarizer(&self.session);
        }
        if let Some(own) = engine.summarizer.as_ref().and_then(|summarizer| summarizer.for_session(&self.backoff)) {
            engine.summarizer = Some(own);
        }
        engine
    }

    /// The numbers of the messages that are kept by hand, in order. Linear in the view.
    pub fn kept_messages(&self) -> Vec<u32> {
        let kept = self.session.view().iter().filter(|entry| entry.is_kept);
        let mut numbers: Vec<u32> = kept.filter_map(|entry| entry.key.number()).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Lets messages go that were kept by hand: later compactions treat them as any other. Returns those that were kept, as
    /// ranges of their numbers. Linear in the view.
    ///
    /// # Errors
    ///
    /// The change cannot be stored; the session is as it was.
    pub fn release(&mut self, messages: &[MessageRange]) -> Result<Vec<MessageRange>, LiveError> {
        let is_named = |number: &u32| messages.iter().any(|range| range.contains(*number));
        let kept = self.session.view().iter().filter(|entry| entry.is_kept).map(|entry| entry.key);
        // A text is named by all that it stands for, as it was when it was kept.
        let released: Vec<EntryKey> =
            kept.filter(|key| self.session.original_numbers(*key).iter().all(is_named)).collect();
        if released.is_empty() {
            return Ok(Vec::new());
        }
        let mut numbers: Vec<u32> = released.iter().filter_map(|key| key.number()).collect();
        numbers.sort_unstable();
        let before = self.snapshot();
        self.session.commit(Epoch::keeping(Vec::new(), released));
        self.store_epoch(before)?;
        Ok(MessageRange::runs(numbers))
    }

    /// Announces that a compaction starts; dropping the returned value announces its end.
    pub(super) fn announce_start(&self, reason: Trigger) -> StartedCompaction {
        self.listeners.start(reason, self.session.view().len() as u32)
    }

    /// Makes the compaction that was previewed: facts worth keeping are remembered first, then it is made and stored.
    ///
    /// # Errors
    ///
    /// The draft is stale, was made where the archive is another one, does not fit, or cannot be stored; the session is as
    /// it was.
    pub async fn apply(&mut self, draft: Draft) -> Result<Report, LiveError> {
        if draft.made_from() != self.session.state_hash() {
            return Err(EngineError::Stale.into());
        }
        // Archive first: what leaves must be there to be recalled, also where the draft was stored in between.
        let handles = draft.epoch().into_iter().flat_map(|epoch| &epoch.edits).filter_map(|edit| edit.recall.as_ref());
        for handle in handles {
            if self.archive.get(handle)?.is_none() {
                return Err(LiveError::NotArchived { handle: handle.to_string() });
            }
        }
        if let Some(floor) = draft.report.floor.clone() {
            let (limit, trigger) = (draft.report.budget, draft.report.trigger);
            let error = LiveError::Infeasible { limit, floor: Box::new(floor), report: Box::new(draft.report) };
            return Err(self.record_failure(error, trigger));
        }
        let (changes, trigger) = (draft.epoch().is_some(), draft.report.trigger);
        let flushed = if changes { self.flush_memories().await } else { 0 };
        let before = self.snapshot();
        let committed = self.engine.commit(&mut self.session, &mut self.ledger, draft);
        let report = match committed {
            Ok(report) => Report { flushed_memories: flushed, ..report },
            Err(error) => return Err(self.record_failure(error.into(), trigger)),
        };
        if changes && let Err(error) = self.store_epoch(before) {
            return Err(self.record_failure(error, trigger));
        }
        self.watch.record_compaction(&report);
        let epoch = changes.then(|| self.session.next_epoch().saturating_sub(1));
        self.listeners.tell(&compaction_event(&report, epoch, self.summary_id(epoch), flushed));
        self.tell_tokens();
        Ok(report)
    }

    /// The id of an epoch's summary.
    pub(super) fn summary_id(&self, epoch: Option<u32>) -> Option<String> {
        Some(self.session.summary_of(epoch?)?.message.id.to_string())
    }

    /// Announces that a compaction failed. It is not retried at once.
    pub(super) fn record_failure(&mut self, error: LiveError, trigger: Trigger) -> LiveError {
        if matches!(error, LiveError::Engine(EngineError::Cancelled)) {
            // This says nothing about the session: the next request tries again.
            self.listeners.tell(&Event::CompactionError { message: error.to_string(), retryable: true });
            return error;
        }
        let urgency = if trigger == Trigger::Hard { Urgency::Hard } else { Urgency::Soft };
        self.watch.record_failure(self.ledger.total(), urgency);
        self.listeners.tell(&Event::CompactionError { message: error.to_string(), retryable: error.is_retryable() });
        error
    }

    /// The engine's request for a compaction: from the budget to the target.
    pub(super) fn request(&self, compaction: &Compaction) -> Request {
        let usable = self.budget.usable();
        let limit = self.budget.hard.tokens(usable).min(usable);
        let current = self.ledger.total();
        let share = |share: f64| (f64::from(current) * share) as Tokens;
        // Who keeps or drops messages by hand wants that, and a compaction beside it only where one is due anyway.
        let is_by_hand = !compaction.keep.is_empty() || !compaction.drop.is_empty();
        let (target, min_saving) = match (compaction.target, compaction.trigger) {
            (Some(target), _) => (target, 0),
            (None, Trigger::Manual) if is_by_hand => (self.watch.target(&self.budget), share(LEAST_SAVED).max(1)),
            (None, Trigger::Manual) => {
                (self.watch.target(&self.budget).min(share(ASKED_SHARE)).max(1), share(LEAST_SAVED).max(1))
            }
            (None, Trigger::Rounds | Trigger::Marker) => (
                self.watch.target(&self.budget).min(share(ASKED_SHARE)).max(1),
                self.watch.min_saving(&self.budget, current).min(share(LEAST_SAVED)).max(1),
            ),
            (None, _) => (self.watch.target(&self.budget), self.watch.min_saving(&self.budget, current)),
        };
        Request {
            limit: limit.max(compaction.target.unwrap_or(0).min(usable)),
            target: target.min(limit),
            window: Some(self.budget.window),
            min_saving,
            trigger: compaction.trigger,
            mode: self.mode,
            task: compaction.task,
            chain: compaction.chain.clone().or_else(|| self.fixed.clone()),
            focus: compaction.focus.clone(),
            memories: Vec::new(),
            keep: compaction.keep.clone(),
            drop: compaction.drop.clone(),
            observer: None,
            unsent_messages: self.unsent(),
            cancellation: self.cancellation.clone(),
            host: self.host,
        }
    }

    /// How many messages at the view's end were never sent: those behind the model's newest message. Linear in these.
    fn unsent(&self) -> u32 {
        let view = self.session.view().iter().rev();
        view.take_while(|entry| entry.message.role != Role::Assistant).count() as u32
    }
}
