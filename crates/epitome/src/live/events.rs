//! Events of a live session, and its metrics.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use epitome_engine::{Check, Observer, Progress, Report, Status, Step};
use epitome_session::{SummaryUsage, Trigger, Usage};
use epitome_strategy::lock;
use serde::Serialize;

use super::LiveError;

/// Something that happened to a live session. The fields are named as clients of the service get them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SessionEvent))]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A compaction starts.
    #[serde(rename_all = "camelCase")]
    CompactionStart {
        /// The compaction's trigger.
        reason: Trigger,
        /// Messages of the view.
        message_count: u32,
    },
    /// A strategy, or a stage of the engine, is done.
    #[serde(rename_all = "camelCase")]
    CompactionStep {
        /// Which.
        strategy: Arc<str>,
        /// Tokens of the view before it.
        tokens_before: u32,
        /// Tokens of the view after it.
        tokens_after: u32,
        /// Edits that were made.
        edits: u32,
    },
    /// Summaries are being written.
    #[serde(rename_all = "camelCase")]
    SummaryStart {
        /// The number of summaries that are written at once.
        count: u32,
        /// The number of messages that the summaries will replace.
        message_count: u32,
    },
    /// One of them is written.
    #[serde(rename_all = "camelCase")]
    SummaryDone {
        /// Tokens a model read for it.
        input_tokens: u64,
        /// Tokens a model wrote for it.
        output_tokens: u64,
        /// The reason why there is no summary, or why the rules wrote it.
        #[cfg_attr(feature = "schema", schema(required))]
        problem: Option<String>,
    },
    /// A compaction is over.
    #[serde(rename_all = "camelCase")]
    CompactionDone {
        /// Whether the view is now smaller.
        success: bool,
        /// The status, as in the report.
        status: Status,
        /// Where it stopped above its target, or why it was not made; as in its report.
        #[cfg_attr(feature = "schema", schema(required))]
        stopped: Option<String>,
        /// Messages that left or were shortened.
        compacted_count: u32,
        /// Messages that stay as they were.
        keep_recent_count: u32,
        /// The id of the message that is the compaction's summary.
        #[cfg_attr(feature = "schema", schema(required))]
        summary_message_id: Option<String>,
        /// The summary's text.
        #[cfg_attr(feature = "schema", schema(required))]
        summary_content: Option<String>,
        /// Tokens of the view before.
        tokens_before: u32,
        /// Tokens of the view after.
        tokens_after: u32,
        /// The share of the tokens before that was saved, from 0 to 1.
        saved_ratio: f64,
        /// The compaction's number, to undo it by.
        #[cfg_attr(feature = "schema", schema(required))]
        epoch: Option<u32>,
        /// Facts that were put into the memory store.
        flushed_memories: u32,
    },
    /// A compaction failed: the session is as it was.
    #[serde(rename_all = "camelCase")]
    CompactionError {
        /// The error's message.
        message: String,
        /// Whether trying again may help.
        retryable: bool,
    },
    /// A huge result was cut before it was sent.
    #[serde(rename_all = "camelCase")]
    ArrivalCut {
        /// The compaction's number, to undo it by.
        epoch: u32,
        /// Tokens of the view before.
        tokens_before: u32,
        /// Tokens of the view after.
        tokens_after: u32,
    },
    /// Old results of tools were cleared below the thresholds.
    #[serde(rename_all = "camelCase")]
    ResultsCleared {
        /// The number of the epoch, to undo it by.
        epoch: u32,
        /// Tokens of the view before.
        tokens_before: u32,
        /// Tokens of the view after.
        tokens_after: u32,
    },
    /// A compaction was undone.
    #[serde(rename_all = "camelCase")]
    Undone {
        /// The number of the compaction.
        epoch: u32,
        /// Tokens of the view now.
        tokens: u32,
    },
    /// The fill of the context has changed.
    #[serde(rename_all = "camelCase")]
    TokenUpdate {
        /// The figures.
        context: ContextTokens,
        /// What the provider counted since the newest message that a person typed; `null` where it counted nothing.
        #[cfg_attr(feature = "schema", schema(required))]
        usage: Option<TurnUsage>,
    },
}

impl Event {
    /// The event's name, as in its JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::CompactionStart { .. } => "compaction_start",
            Self::CompactionStep { .. } => "compaction_step",
            Self::SummaryStart { .. } => "summary_start",
            Self::SummaryDone { .. } => "summary_done",
            Self::CompactionDone { .. } => "compaction_done",
            Self::CompactionError { .. } => "compaction_error",
            Self::ArrivalCut { .. } => "arrival_cut",
            Self::ResultsCleared { .. } => "results_cleared",
            Self::Undone { .. } => "undone",
            Self::TokenUpdate { .. } => "token_update",
        }
    }
}

/// What the calls of the model in one turn took, by the provider's own figures: a turn begins with a message that a person
/// typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TurnUsage {
    /// Input tokens of all calls, cached ones included.
    pub input_tokens: u64,
    /// Output tokens of all calls.
    pub output_tokens: u64,
    /// Both together.
    pub total_tokens: u64,
    /// The calls.
    pub calls: u32,
}

impl TurnUsage {
    /// The figures with those of one more call.
    pub(super) fn and(self, call: Usage) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(call.input),
            output_tokens: self.output_tokens.saturating_add(call.output),
            total_tokens: self.total_tokens.saturating_add(call.input).saturating_add(call.output),
            calls: self.calls.saturating_add(1),
        }
    }
}

/// The fill of the context.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContextTokens {
    /// Tokens of the messages.
    pub used_tokens: u32,
    /// Tokens that they may take.
    pub max_tokens: u32,
    /// The former as a percentage of the latter.
    pub percent: f64,
    /// The percentage from which on a compaction is suggested; 0 where no percentage is.
    pub threshold_percent: f64,
    /// Whether the figures are estimates.
    pub estimated: bool,
}

impl ContextTokens {
    pub(super) fn new(check: &Check, threshold: Option<u32>, estimated: bool) -> Self {
        let percent = |tokens: u32| f64::from(tokens) * 100.0 / f64::from(check.usable_tokens.max(1));
        Self {
            used_tokens: check.current_tokens,
            max_tokens: check.usable_tokens,
            percent: percent(check.current_tokens),
            threshold_percent: threshold.map_or(0.0, percent),
            estimated,
        }
    }
}

/// Receives events. Called on the thread that works on the session: it should return at once, by handing the event to a
/// channel for instance.
pub type Listener = Arc<dyn Fn(&Event) + Send + Sync>;

/// Counters since the start, for a metrics endpoint. One object may serve many sessions.
#[derive(Debug, Default)]
pub struct Metrics(Mutex<Counters>);

/// The figures of [`Metrics`] at one moment; all of them only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[expect(missing_docs, reason = "the names say it; the units are messages, events and tokens")]
pub struct Counters {
    pub messages: u64,
    pub compactions: u64,
    pub failures: u64,
    pub undos: u64,
    pub overflows: u64,
    pub arrival_cuts: u64,
    pub tokens_saved: u64,
    pub summary_input_tokens: u64,
    pub summary_output_tokens: u64,
    pub summary_fallbacks: u64,
    pub summary_retries: u64,
    pub summary_unverified: u64,
    pub summary_added_demands: u64,
    pub summary_added_files: u64,
    pub summary_left_out: u64,
    pub flushed_memories: u64,
}

impl Metrics {
    /// The figures now.
    pub fn counters(&self) -> Counters {
        *lock(&self.0)
    }

    pub(super) fn message(&self) {
        lock(&self.0).messages += 1;
    }

    pub(super) fn overflow(&self) {
        lock(&self.0).overflows += 1;
    }

    /// Counts what models took for summaries that came to something or to nothing.
    pub(super) fn paid(&self, usage: &SummaryUsage) {
        let mut counters = lock(&self.0);
        counters.summary_input_tokens += usage.input_tokens();
        counters.summary_output_tokens += usage.output_tokens();
    }

    /// Counts the summaries that the rules wrote for a model, and the findings in their texts.
    pub(super) fn summary(&self, report: &Report) {
        let paid = &report.summarizer;
        let mut counters = lock(&self.0);
        counters.summary_fallbacks += u64::from(paid.fell_back);
        for check in &paid.checks {
            counters.summary_retries += u64::from(check.asked_again.is_some());
            counters.summary_unverified += check.unknown.len() as u64;
            counters.summary_added_demands += check.added_demands.len() as u64;
            counters.summary_added_files += check.added_files.len() as u64;
            counters.summary_left_out += check.left_out.len() as u64;
        }
    }

    fn event(&self, event: &Event) {
        let mut counters = lock(&self.0);
        match event {
            Event::CompactionDone { success, tokens_before, tokens_after, flushed_memories, .. } => {
                counters.compactions += u64::from(*success);
                counters.tokens_saved += u64::from(tokens_before.saturating_sub(*tokens_after));
                counters.flushed_memories += u64::from(*flushed_memories);
            }
            Event::CompactionError { .. } => counters.failures += 1,
            Event::ArrivalCut { tokens_before, tokens_after, .. } => {
                counters.arrival_cuts += 1;
                counters.tokens_saved += u64::from(tokens_before.saturating_sub(*tokens_after));
            }
            Event::ResultsCleared { tokens_before, tokens_after, .. } => {
                counters.tokens_saved += u64::from(tokens_before.saturating_sub(*tokens_after));
            }
            Event::Undone { .. } => counters.undos += 1,
            Event::CompactionStart { .. }
            | Event::CompactionStep { .. }
            | Event::SummaryStart { .. }
            | Event::SummaryDone { .. }
            | Event::TokenUpdate { .. } => {}
        }
    }
}

/// Everybody who watches a session.
#[derive(Clone, Default)]
pub(super) struct Listeners {
    listeners: Vec<Listener>,
    pub(super) metrics: Arc<Metrics>,
    /// Whether the start of a compaction was announced, and its end was not yet.
    is_open: Arc<AtomicBool>,
}

/// A compaction whose start was announced. Its end is announced in any case: also where its future is dropped.
#[derive(Debug)]
pub(super) struct StartedCompaction(Listeners);

impl StartedCompaction {
    /// Announces the compaction's end, and an error that was not announced yet.
    pub(super) fn announce_end<T>(self, outcome: Result<T, LiveError>) -> Result<T, LiveError> {
        if let Err(error) = &outcome {
            self.0.close(|| (error.to_string(), error.is_retryable()));
        }
        outcome
    }
}

impl Drop for StartedCompaction {
    fn drop(&mut self) {
        self.0.close(|| ("the compaction was cancelled before its end".to_owned(), true));
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Listeners").field("listeners", &self.listeners.len()).finish()
    }
}

impl Listeners {
    pub(super) fn add(&mut self, listener: Listener) {
        self.listeners.push(listener);
    }

    /// Removes all listeners.
    pub(super) fn clear(&mut self) {
        self.listeners.clear();
    }

    /// Whether there are listeners: figures that only events carry need not be worked out otherwise.
    pub(super) fn has_watchers(&self) -> bool {
        !self.listeners.is_empty()
    }

    /// Says that a compaction starts.
    pub(super) fn start(&self, reason: Trigger, message_count: u32) -> StartedCompaction {
        self.tell(&Event::CompactionStart { reason, message_count });
        StartedCompaction(self.clone())
    }

    /// Announces why the started compaction failed, unless its end was announced.
    fn close(&self, why: impl FnOnce() -> (String, bool)) {
        if self.is_open.load(Ordering::Relaxed) {
            let (message, retryable) = why();
            self.tell(&Event::CompactionError { message, retryable });
        }
    }

    pub(super) fn tell(&self, event: &Event) {
        let closes = matches!(event, Event::CompactionDone { .. } | Event::CompactionError { .. });
        if closes || matches!(event, Event::CompactionStart { .. }) {
            self.is_open.store(!closes, Ordering::Relaxed);
        }
        self.metrics.event(event);
        trace(event);
        for listener in &self.listeners {
            listener(event);
        }
    }
}

/// The engine's progress as events.
impl Observer for Listeners {
    fn on(&self, progress: Progress<'_>) {
        let event = match progress {
            Progress::Strategy { .. } => return,
            Progress::Step(Step { strategy, tokens_before, tokens_after, edits, .. }) => Event::CompactionStep {
                strategy: Arc::clone(strategy),
                tokens_before: *tokens_before,
                tokens_after: *tokens_after,
                edits: *edits,
            },
            Progress::Summaries { count, messages } => {
                Event::SummaryStart { count: count as u32, message_count: messages as u32 }
            }
            Progress::Summary { input_tokens, output_tokens, problem } => {
                Event::SummaryDone { input_tokens, output_tokens, problem: problem.map(str::to_owned) }
            }
        };
        self.tell(&event);
    }
}

/// The event as a record of `tracing`, inside the span of the compaction.
fn trace(event: &Event) {
    match event {
        Event::CompactionStart { reason, message_count } => {
            tracing::info!(?reason, message_count, "compaction starts");
        }
        Event::CompactionStep { strategy, tokens_before, tokens_after, edits } => {
            tracing::debug!(%strategy, tokens_before, tokens_after, edits, "step");
        }
        Event::SummaryStart { count, message_count } => tracing::debug!(count, message_count, "summaries start"),
        Event::SummaryDone { input_tokens, output_tokens, problem: None } => {
            tracing::debug!(input_tokens, output_tokens, "summary written");
        }
        Event::SummaryDone { problem: Some(problem), .. } => tracing::warn!(%problem, "summary"),
        Event::CompactionDone { success, tokens_before, tokens_after, epoch, .. } => {
            tracing::info!(success, tokens_before, tokens_after, epoch, "compaction done");
        }
        Event::CompactionError { message, retryable } => {
            tracing::warn!(error = %message, retryable, "compaction failed")
        }
        Event::ArrivalCut { epoch, tokens_before, tokens_after } => {
            tracing::info!(epoch, tokens_before, tokens_after, "huge result cut on arrival");
        }
        Event::ResultsCleared { epoch, tokens_before, tokens_after } => {
            tracing::info!(epoch, tokens_before, tokens_after, "old results cleared");
        }
        Event::Undone { epoch, tokens } => tracing::info!(epoch, tokens, "compaction undone"),
        Event::TokenUpdate { context, .. } => tracing::trace!(tokens = context.used_tokens, "tokens"),
    }
}

/// The event for a finished compaction. `epoch` is its number, `summary_message_id` the id of its summary.
pub(super) fn compaction_event(
    report: &Report,
    epoch: Option<u32>,
    summary_message_id: Option<String>,
    flushed_memories: u32,
) -> Event {
    use epitome_engine::Outcome;
    let stays = |outcome: Outcome| matches!(outcome, Outcome::Kept | Outcome::Pinned);
    let keep_recent_count = report.messages.iter().filter(|receipt| stays(receipt.outcome)).count() as u32;
    Event::CompactionDone {
        success: report.status.is_compaction(),
        status: report.status,
        stopped: report.stopped.clone(),
        compacted_count: report.messages.len() as u32 - keep_recent_count,
        keep_recent_count,
        summary_message_id,
        summary_content: report.summary.clone(),
        tokens_before: report.tokens_before,
        tokens_after: report.tokens_after,
        saved_ratio: report.saved_ratio,
        epoch,
        flushed_memories,
    }
}
