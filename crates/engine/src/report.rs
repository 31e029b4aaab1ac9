//! The report of a compaction: one JSON object, every decision with its reason.

use std::sync::Arc;
use std::time::Instant;

use epitome_session::{EditKind, MessageId, Role, SummarizerRecord, SummaryCheck, Trigger};
use epitome_strategy::{TaskKind, Tokens, Verdict};
use serde::{Deserialize, Serialize};

use crate::quality::Quality;

/// How a compaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The session fits: it is untouched.
    NoChange,
    /// The session was compacted, to the target or at least under the limit.
    Compacted,
    /// The session was compacted and fits, but of what was asked for and worked on nothing is left: no exact string, no
    /// instruction and no file, by the figures of [`Quality`] ([`Quality::is_hollow`]). What comes next has nothing to go by.
    Hollow,
    /// What must stay is larger than the limit: the session is untouched.
    Infeasible,
    /// No chain kept what the configuration asks for, and [`OnLoss::RollBack`](crate::OnLoss) is what follows then: the
    /// session is untouched. The report names the best chain, its steps and what it would have lost.
    RolledBack,
}

impl Status {
    /// Whether a compaction was made: the session is another one now.
    pub fn is_compaction(self) -> bool {
        match self {
            Self::Compacted | Self::Hollow => true,
            Self::NoChange | Self::Infeasible | Self::RolledBack => false,
        }
    }
}

/// What must stay, when it is too much.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Floor {
    /// Tokens of everything that must stay.
    pub tokens: Tokens,
    /// Its parts, largest first.
    pub parts: Vec<FloorPart>,
}

/// A part of the floor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloorPart {
    /// What it is: `system`, `original-task`, `newest-user`, `pinned`, `protected-tool`, `recent-round`,
    /// `recent-message`, `open`,
    /// `newest-step`, `notice`.
    pub part: String,
    /// Its tokens.
    pub tokens: Tokens,
    /// How many messages it takes.
    pub messages: u32,
}

/// The newest messages that [`Pins::keep_recent`](crate::Pins::keep_recent) asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentMessages {
    /// How many are asked for.
    pub asked: u32,
    /// How many stay whole: fewer where the others take more than half of what the target leaves beside the rest that must
    /// stay, and where the session has fewer.
    pub kept: u32,
}

/// How the chain is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// One named chain.
    Fixed,
    /// By the detected kind of task.
    #[default]
    Adaptive,
    /// Every candidate chain is previewed and the best is taken.
    Tournament,
}

/// One strategy's turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The strategy, or a stage of the engine: `repair`, `thinking`, `floor`.
    pub strategy: Arc<str>,
    /// Tokens of the view before.
    pub tokens_before: Tokens,
    /// Tokens of the view after.
    pub tokens_after: Tokens,
    /// Edits that were applied.
    pub edits: u32,
    /// Edits that a guard refused.
    pub refused: u32,
    /// Why it did nothing, or how it failed.
    pub declined: Option<String>,
    /// How long it took, in microseconds.
    pub duration_us: u64,
}

/// One edit that was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EditReport {
    /// Its kind.
    pub edit: EditKind,
    /// The strategy that planned it, or the engine's stage.
    pub strategy: Arc<str>,
    /// The messages that it touched.
    pub messages: Vec<MessageId>,
    /// Tokens it saved, what it added already taken off.
    pub tokens_saved: Tokens,
    /// Why.
    pub reason: ReasonReport,
    /// The archive's handle of what it removed.
    pub recall: Option<Arc<str>>,
}

/// Why an edit was made, as the report tells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReasonReport {
    /// A documented kebab-case code.
    pub code: Arc<str>,
    /// One line for a person.
    pub detail: String,
    /// The strategy's own score, where it has one.
    pub score: Option<f32>,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Stays as it was.
    Kept,
    /// Parts of its texts left.
    Excerpted,
    /// Its calls' arguments were shortened.
    Trimmed,
    /// Replaced by a summary, together with others.
    Summarized,
    /// Left the context.
    Dropped,
    /// Stays as it was because it is protected.
    Pinned,
}

/// The receipt of one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The message.
    pub id: MessageId,
    /// Its role.
    pub role: Role,
    /// What became of it.
    pub outcome: Outcome,
}

/// Who wrote the summaries.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SummarizerReport {
    /// `rules`, `llm`; `off` where summaries are switched off.
    pub kind: String,
    /// Tokens that a model read.
    pub input_tokens: u64,
    /// Those of them that came out of the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Tokens that a model wrote.
    pub output_tokens: u64,
    /// Whether another summarizer stepped in for the one that was asked: the rules for a model, or another model.
    pub fell_back: bool,
    /// Why they did, or why there is no summary; the first such problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What was found when each summary that a model wrote was held against the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<SummaryCheck>,
}

impl SummarizerReport {
    /// What an epoch remembers of it; `None` where no model was asked, or nothing is to be told of what it wrote.
    pub(crate) fn record(&self) -> Option<SummarizerRecord> {
        let Self { kind, fell_back, problem, checks, .. } = self;
        let tells = *fell_back || problem.is_some() || !checks.is_empty();
        tells.then(|| SummarizerRecord {
            kind: Arc::from(kind.as_str()),
            fell_back: *fell_back,
            problem: problem.clone(),
            checks: checks.clone(),
        })
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Where the time of a compaction went: microseconds by the clock. What the engine did not do itself is `None` unless the
/// caller fills it in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Timings {
    /// Reading, checking and building the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configure_us: Option<u64>,
    /// Reading the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_us: Option<u64>,
    /// Counting it for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_us: Option<u64>,
    /// Telling what kind of task it is, and choosing the chain.
    pub detect_us: u64,
    /// Working out what leaves: the chain and the engine's own stages, summaries and archive included.
    pub plan_us: u64,
    /// Measuring what was kept, of all chains that were tried.
    pub quality_us: u64,
    /// Writing the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_us: Option<u64>,
}

impl Timings {
    /// Every phase that was timed, with its name, in the order in which they come.
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

/// What a compaction did, or would do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// The limit, in tokens.
    pub budget: Tokens,
    /// Tokens of the view before.
    pub tokens_before: Tokens,
    /// Tokens of the view after; the same as before when nothing was changed.
    pub tokens_after: Tokens,
    /// The share of the tokens before that was saved, from 0 to 1.
    #[serde(default)]
    pub saved_ratio: f64,
    /// What must stay, when it is too much.
    pub floor: Option<Floor>,
    /// Tokens before that no compaction to this target can save: what must stay, and earlier summaries as far as there is
    /// room for them.
    #[serde(default)]
    pub stays: Tokens,
    /// Where it stopped above the target and why, or why it was not made: the parts of what must stay, with their tokens.
    /// None at or under the target, and where `floor` tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// What started it.
    pub trigger: Trigger,
    /// The position of the first message that the provider's prompt cache no longer covers.
    pub first_changed_message: Option<u32>,
    /// Tokens already sent that stand behind it.
    pub cache_loss_tokens: Tokens,
    /// What each strategy did.
    pub steps: Vec<Step>,
    /// What was lost, or would have been; none where nothing would have changed.
    #[serde(default)]
    pub quality: Option<Quality>,
    /// Every edit.
    pub edits: Vec<EditReport>,
    /// A receipt for every message of the view before.
    pub messages: Vec<Receipt>,
    /// The newest messages that were to stay whole, and how many of them do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent: Option<RecentMessages>,
    /// Facts that were put into the memory store before it was made; new ones only. The host fills it in.
    #[serde(default)]
    pub flushed_memories: u32,
    /// The text of the newest summary that was asked for; where none was, of the newest that a strategy brought, if there is
    /// one. A hand-off tells more than the lines that are kept in front of it afterwards.
    pub summary: Option<String>,
    /// The strategy that brought that summary's text itself, where nobody was asked to write it. Not part of the written
    /// report.
    #[serde(skip)]
    pub summary_by: Option<String>,
    /// Who wrote the summaries.
    pub summarizer: SummarizerReport,
    /// The token counter.
    pub counter: String,
    /// Where the time went.
    #[serde(default)]
    pub timings: Timings,
}

impl Report {
    /// Takes another figure for what is left, and for what that saves.
    pub(crate) fn set_tokens_after(&mut self, tokens: Tokens) {
        self.tokens_after = tokens;
        self.saved_ratio = saved_ratio(self.tokens_before, tokens);
    }

    /// The kind of task.
    pub fn task_kind(&self) -> TaskKind {
        self.task.kind
    }
}

/// Microseconds since an instant.
pub(crate) fn microseconds(since: Instant) -> u64 {
    since.elapsed().as_micros() as u64
}

/// The share of `before` that is gone in `after`, to four digits; 0 where nothing was there.
pub(crate) fn saved_ratio(before: Tokens, after: Tokens) -> f64 {
    let saved = f64::from(before.saturating_sub(after)) / f64::from(before.max(1));
    (saved * 10_000.0).round() / 10_000.0
}
