//! The report of a compaction: one JSON object, every decision with its reason.

use std::sync::Arc;

use epitome_session::{EditKind, MessageId, Role, SummarizerRecord, SummaryCheck, SummaryUsage, Trigger};
use epitome_strategy::{TaskKind, Tokens, Verdict, named};
use serde::{Deserialize, Serialize};

use crate::hand_report::ByHandReport;
use crate::quality::Quality;
use crate::status::Status;

/// The parts of a session that must stay, where they exceed the limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Floor {
    /// The least tokens that everything which must stay can be cut down to.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens: Tokens,
    /// Its parts, largest first.
    pub parts: Vec<FloorPart>,
}

/// A part of the floor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FloorPart {
    /// Its name: `system`, `original-task`, `newest-user`, `pinned`, `protected-tool`, `instructions`, `recent-round`,
    /// `recent-message`, `open`, `newest-step`, `notice`.
    pub part: String,
    /// The least tokens that it can be cut down to; those of all parts make the floor.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens: Tokens,
    /// Its tokens as it is; of the notice those of all messages that may leave.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = u32, required))]
    pub tokens_before: Tokens,
    /// How many messages it has.
    pub messages: u32,
}

/// The newest messages that [`Pins::keep_recent`](crate::Pins::keep_recent) asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RecentMessages {
    /// How many the configuration asks for.
    pub asked: u32,
    /// How many stay whole: fewer where the others take more than half of the target's room beside the rest that must
    /// stay, and where the session has fewer.
    pub kept: u32,
}

/// How the chain is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// One named chain.
    Fixed,
    /// The chain of the detected kind of task.
    #[default]
    Adaptive,
    /// Every candidate chain is previewed and the best is taken.
    Tournament,
}

named! { Mode { Fixed = "fixed", Adaptive = "adaptive", Tournament = "tournament" } }

/// One strategy's turn in the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Step {
    /// The strategy, or a stage of the engine: `repair`, `by-hand`, `thinking`, `oversize`, `floor`, `refill`, `notices`.
    pub strategy: Arc<str>,
    /// Tokens of the view before.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens_before: Tokens,
    /// Tokens of the view after.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens_after: Tokens,
    /// Edits that were applied.
    pub edits: u32,
    /// Edits that a guard refused.
    pub refused: u32,
    /// Why it changed nothing, or how it failed.
    #[cfg_attr(feature = "schema", schema(required))]
    pub declined: Option<String>,
    /// How long it took, in microseconds.
    pub duration_us: u64,
}

/// One edit that was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EditReport {
    /// Its kind.
    pub edit: EditKind,
    /// The strategy that planned it, or the engine's stage.
    pub strategy: Arc<str>,
    /// The messages that it changed.
    pub messages: Vec<MessageId>,
    /// Tokens that it saved, its own additions already subtracted; 0 for the repair.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens_saved: Tokens,
    /// Why it was made.
    pub reason: ReasonReport,
    /// The archive's handle of the removed content.
    #[cfg_attr(feature = "schema", schema(required))]
    pub recall: Option<Arc<str>>,
}

/// Why an edit was made, as the report shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReasonReport {
    /// A documented kebab-case code.
    pub code: Arc<str>,
    /// One line for a person.
    pub detail: String,
    /// The strategy's own score, where it has one.
    #[cfg_attr(feature = "schema", schema(required))]
    pub score: Option<f32>,
}

/// What the repair did to a recorded history before anything was compacted. It saves nothing: what it takes out could not
/// have been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Repairs {
    /// Results that left because no call for them can exist: nothing in front of them calls, or all that was called is
    /// answered.
    pub removed: u32,
    /// Calls that got an answer because their result was never recorded.
    pub answered: u32,
    /// Messages without content that left.
    pub empty: u32,
    /// Tokens that left, less those of the answers.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens: Tokens,
}

/// The outcome of a compaction for one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It stays as it was.
    Kept,
    /// Parts of its texts left.
    Excerpted,
    /// Its calls' arguments were shortened.
    Trimmed,
    /// It was replaced by a summary, together with others.
    Summarized,
    /// It left the context.
    Dropped,
    /// It stays as it was because it is protected.
    Pinned,
}

/// The receipt of one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// The message.
    pub id: MessageId,
    /// Its role.
    pub role: Role,
    /// Its outcome.
    pub outcome: Outcome,
}

/// Who wrote the summaries.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SummarizerReport {
    /// The summarizer: `rules`, `llm`; `off` where summaries are switched off.
    pub kind: String,
    /// Tokens that models read, those included whose answers could not be used.
    pub input_tokens: u64,
    /// The part of these that came from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// The same for each model that answered.
    #[serde(default, skip_serializing_if = "SummaryUsage::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<epitome_session::ModelUsage>))]
    pub models: SummaryUsage,
    /// Whether another summarizer replaced the configured one: the rules for a model, or another model.
    pub fell_back: bool,
    /// Why it did, or why there is no summary; the first such problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub problem: Option<String>,
    /// The results of checking each summary that a model wrote against the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<SummaryCheck>,
}

impl SummarizerReport {
    /// Adds what models took.
    pub(crate) fn add(&mut self, usage: &SummaryUsage) {
        self.models.add(usage);
        self.input_tokens = self.models.input_tokens();
        self.cached_tokens = self.models.cached_tokens();
        self.output_tokens = self.models.output_tokens();
    }

    /// Returns what an epoch records of it; `None` where no model was asked, or where there is nothing to record.
    ///
    /// `written` are the numbers of the summaries that were requested and written.
    pub(crate) fn record(&self, written: Vec<u32>) -> Option<SummarizerRecord> {
        let Self { kind, fell_back, problem, checks, models, .. } = self;
        let tells = *fell_back || problem.is_some() || !checks.is_empty() || !models.is_empty();
        tells.then(|| SummarizerRecord {
            kind: Arc::from(kind.as_str()),
            fell_back: *fell_back,
            problem: problem.clone(),
            checks: checks.clone(),
            models: models.clone(),
            written,
        })
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The time that each phase of a compaction took, in microseconds by the clock. Phases outside the engine are `None`
/// unless the caller fills them in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Timings {
    /// Reading, checking and building the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub configure_us: Option<u64>,
    /// Reading the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub read_us: Option<u64>,
    /// Counting the session for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub count_us: Option<u64>,
    /// Detecting the kind of task, and choosing the chain.
    pub detect_us: u64,
    /// Planning: the chain and the engine's own stages, summaries and archive included.
    pub plan_us: u64,
    /// Measuring the quality, of all chains that were tried.
    pub quality_us: u64,
    /// Writing the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub write_us: Option<u64>,
}

impl Timings {
    /// Returns every phase that was timed, with its name, in the order in which they occur.
    pub fn phases(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let phases = [
            ("configure", self.configure_us),
            ("read", self.read_us),
            ("count", self.count_us),
            ("detect", Some(self.detect_us)),
            ("plan", Some(self.plan_us)),
            ("quality", Some(self.quality_us)),
            ("write", self.write_us),
        ];
        phases.into_iter().filter_map(|(name, microseconds)| Some((name, microseconds?)))
    }
}

/// The result of a compaction, or of a draft of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// The limit, in tokens.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub budget: Tokens,
    /// The tokens that it aims at, at most the limit: reached where `tokens_after` is not above it.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub target: Tokens,
    /// Tokens of the view before.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens_before: Tokens,
    /// Tokens of the view after; those before where nothing was changed.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens_after: Tokens,
    /// The share of the tokens before that was saved, from 0 to 1, without what the repair took out.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub saved_ratio: f64,
    /// What the repair did, where it did anything: its edits name the messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub repaired: Option<Repairs>,
    /// The floor, where what must stay exceeds the limit.
    #[cfg_attr(feature = "schema", schema(required))]
    pub floor: Option<Floor>,
    /// Tokens before that no compaction to this target can save: what must stay, and earlier summaries as far as the
    /// target has room for them.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(value_type = u32, required))]
    pub stays: Tokens,
    /// Where it stopped above the target and why, or why it was not made: the parts of what must stay, with their
    /// tokens, or why each strategy of a named chain declined. Text for a person: a program compares `tokens_after` with `target`. `None` at or under the target, and where `floor` has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub stopped: Option<String>,
    /// Messages of the view before.
    pub messages_before: u32,
    /// Messages of the view after.
    pub messages_after: u32,
    /// What kind of task the session is, and why.
    pub task: Verdict,
    /// How the chain was chosen.
    pub mode: Mode,
    /// The chain.
    pub chain: Vec<String>,
    /// How many compactions the session has had, this one included.
    pub cycle: u32,
    /// The trigger that started it.
    pub trigger: Trigger,
    /// The position of the first message that the provider's prompt cache no longer covers.
    #[cfg_attr(feature = "schema", schema(required))]
    pub first_changed_message: Option<u32>,
    /// Tokens that were sent before and are behind that message.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub cache_loss_tokens: Tokens,
    /// The result of each strategy and stage.
    pub steps: Vec<Step>,
    /// The losses, made or avoided; `None` where nothing would have changed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub quality: Option<Quality>,
    /// Every edit.
    pub edits: Vec<EditReport>,
    /// A receipt for every message of the view before.
    pub messages: Vec<Receipt>,
    /// The newest messages that were to stay whole, and how many of them do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub recent: Option<RecentMessages>,
    /// The outcome for the messages that were kept and dropped by hand; `None` where none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub by_hand: Option<ByHandReport>,
    /// New facts that were put into the memory store before the compaction. The host fills it in.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub flushed_memories: u32,
    /// The text of the summary, if any: the one that a model was asked for, where one was, else the longest
    /// ([`Epoch::summary`](epitome_session::Epoch::summary)). A hand-off is more informative than the lines that are kept in
    /// front of it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub summary: Option<String>,
    /// The strategy that supplied that summary's text itself, where no summarizer was asked. Not part of the written
    /// report.
    #[serde(skip)]
    pub summary_by: Option<String>,
    /// Who wrote the summaries.
    pub summarizer: SummarizerReport,
    /// The token counter.
    pub counter: String,
    /// The time that each phase took.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub timings: Timings,
}

impl Report {
    /// Sets the tokens after, and the share that is saved.
    pub(crate) fn set_tokens_after(&mut self, tokens: Tokens) {
        self.tokens_after = tokens;
        self.saved_ratio = saved_ratio(self.tokens_before, self.tokens_saved());
    }

    /// Returns the tokens that were saved: those before less those after, without what the repair took out.
    pub fn tokens_saved(&self) -> Tokens {
        let repaired = self.repaired.map_or(0, |repairs| repairs.tokens);
        self.tokens_before.saturating_sub(self.tokens_after).saturating_sub(repaired)
    }

    /// Returns the kind of task.
    pub fn task_kind(&self) -> TaskKind {
        self.task.kind
    }
}

/// Returns the share that `saved` tokens are of `before`, to four digits; 0 where `before` is 0.
pub(crate) fn saved_ratio(before: Tokens, saved: Tokens) -> f64 {
    let saved = f64::from(saved) / f64::from(before.max(1));
    (saved * 10_000.0).round() / 10_000.0
}
