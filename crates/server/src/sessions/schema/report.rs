//! What the report of a compaction looks like as JSON.
#![allow(dead_code, reason = "these describe values and are never made")]

use serde::Serialize;
use utoipa::ToSchema;

use super::{Role, TaskKind, Trigger};

/// What must stay, where it is too much.
#[derive(Serialize, ToSchema)]
pub(crate) struct Floor {
    /// Tokens of everything that must stay.
    tokens: u32,
    /// Its parts, the largest first.
    parts: Vec<FloorPart>,
}

/// A part of what must stay.
#[derive(Serialize, ToSchema)]
pub(crate) struct FloorPart {
    /// What it is.
    part: String,
    tokens: u32,
    /// How many messages it takes.
    messages: u32,
}

/// A kind of task, and why.
#[derive(Serialize, ToSchema)]
pub(crate) struct Verdict {
    kind: TaskKind,
    /// From 0 to 1.
    confidence: f64,
    /// For people.
    evidence: Vec<String>,
}

/// One strategy's turn.
#[derive(Serialize, ToSchema)]
pub(crate) struct Step {
    strategy: String,
    tokens_before: u32,
    tokens_after: u32,
    /// Edits that were applied.
    edits: u32,
    /// Edits that a guard refused.
    refused: u32,
    /// Why it did nothing, or how it failed.
    #[schema(required)]
    declined: Option<String>,
    /// How long it took, in microseconds.
    duration_us: u64,
}

/// What was done to messages.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EditKind {
    Drop,
    Summarize,
    Excerpt,
    Trim,
}

/// Why.
#[derive(Serialize, ToSchema)]
pub(crate) struct Reason {
    /// For programs.
    code: String,
    /// For people.
    detail: String,
    /// The strategy's own score, where it has one.
    #[schema(required)]
    score: Option<f32>,
}

/// One edit.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditReport {
    edit: EditKind,
    /// The strategy that planned it, or the engine's stage.
    strategy: String,
    /// The messages that it touched.
    messages: Vec<String>,
    /// Tokens that it saved.
    tokens_saved: u32,
    reason: Reason,
    /// The handle of what it removed.
    #[schema(required)]
    recall: Option<String>,
}

/// What became of a message.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    Kept,
    Excerpted,
    Trimmed,
    Summarized,
    Dropped,
    Pinned,
}

/// What became of one message.
#[derive(Serialize, ToSchema)]
pub(crate) struct Receipt {
    id: String,
    role: Role,
    outcome: Outcome,
}

/// Who wrote the summaries.
#[derive(Serialize, ToSchema)]
pub(crate) struct SummarizerReport {
    kind: String,
    /// Tokens that a model read.
    input_tokens: u64,
    /// Those of them that came out of the provider's cache.
    #[schema(nullable = false)]
    cached_tokens: Option<u64>,
    /// Tokens that a model wrote.
    output_tokens: u64,
    /// Whether another summarizer stepped in for the one that was asked.
    fell_back: bool,
    /// Why it did, or why there is no summary.
    #[schema(nullable = false)]
    problem: Option<String>,
    /// What was found when each summary that a model wrote was held against the session.
    #[schema(nullable = false)]
    checks: Option<Vec<SummaryCheck>>,
}

/// What became of the summaries of a compaction that a model was asked for.
#[derive(Serialize, ToSchema)]
pub(crate) struct SummarizerRecord {
    kind: String,
    /// Whether another summarizer stepped in for the one that was asked.
    fell_back: bool,
    /// Why it did, or why there is no summary.
    #[schema(nullable = false)]
    problem: Option<String>,
    /// What was found when each summary that a model wrote was held against the session.
    #[schema(nullable = false)]
    checks: Option<Vec<SummaryCheck>>,
}

/// What was found when a model's summary was held against the session's log.
#[derive(Serialize, ToSchema)]
pub(crate) struct SummaryCheck {
    /// Paths, identifiers, numbers, commands and quotations that were looked up in the session.
    strings: u32,
    /// Those that the session does not hold; the summary marks each as unverified.
    #[schema(nullable = false)]
    unknown: Option<Vec<String>>,
    /// Demands of the user.
    demands: u32,
    /// Those that rules added.
    #[schema(nullable = false)]
    added_demands: Option<Vec<String>>,
    /// Files that calls changed.
    files: u32,
    /// Those that rules added.
    #[schema(nullable = false)]
    added_files: Option<Vec<String>>,
    /// Demands and files for which there was no room.
    #[schema(nullable = false)]
    left_out: Option<Vec<String>>,
    /// What was wrong with the model's first answer, where it was asked again.
    #[schema(nullable = false)]
    asked_again: Option<String>,
}

/// How a compaction ended.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    NoChange,
    Compacted,
    Hollow,
    Infeasible,
    RolledBack,
}

/// How the chain is chosen.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    Fixed,
    Adaptive,
    Tournament,
}

/// Where the time went, in microseconds by the clock; what was not timed is left out.
#[derive(Serialize, ToSchema)]
pub(crate) struct Timings {
    /// Reading, checking and building the configuration.
    #[schema(nullable = false)]
    configure_us: Option<u64>,
    /// Reading the session.
    #[schema(nullable = false)]
    read_us: Option<u64>,
    /// Counting it for the first time.
    #[schema(nullable = false)]
    count_us: Option<u64>,
    /// Telling what kind of task it is.
    detect_us: u64,
    /// Working out what leaves.
    plan_us: u64,
    /// Measuring what was kept.
    quality_us: u64,
    /// Writing the session.
    #[schema(nullable = false)]
    write_us: Option<u64>,
}

/// What the quality guard looks at.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum QualityPart {
    Typed,
    Instructions,
    Conclusions,
    Summaries,
    Strings,
    Files,
}

/// What was kept of one part.
#[derive(Serialize, ToSchema)]
pub(crate) struct Kept {
    /// How many the session held, its whole log.
    held: u32,
    /// How many of them stand in the view after.
    kept: u32,
    /// How many this compaction lost; earlier ones lost the rest of what is missing.
    lost_now: u32,
    /// The share of their weight that still stands, from 0 to 1; 1 where there was nothing to keep.
    share: f64,
    /// Some of what was lost, five at most, what this compaction lost first.
    #[schema(max_items = 5)]
    lost: Vec<String>,
}

/// A part of which less was kept than the configuration asks for.
#[derive(Serialize, ToSchema)]
pub(crate) struct Shortfall {
    part: QualityPart,
    /// The share that was kept.
    share: f64,
    /// The least share that is asked for.
    least: f64,
}

/// A chain that was tried.
#[derive(Serialize, ToSchema)]
pub(crate) struct Try {
    /// Its strategies.
    chain: Vec<String>,
    /// Tokens of the view that it came to; 0 where it came to none.
    tokens_after: u32,
    /// Its share; null where there was nothing to measure.
    #[schema(required)]
    share: Option<f64>,
    /// The thresholds that it misses.
    below: Vec<Shortfall>,
    /// Why it came to nothing.
    #[schema(nullable = false)]
    problem: Option<String>,
}

/// What was lost: how much of what the session held still stands in the view after.
#[derive(Serialize, ToSchema)]
pub(crate) struct Quality {
    /// All of it, from 0 to 1: the mean of the parts with their weights.
    share: f64,
    /// Short messages that people typed.
    typed: Kept,
    /// Sentences of people that demand something or tell a fact to be kept.
    instructions: Kept,
    /// What the model said last before each typed message, and last of all.
    conclusions: Kept,
    /// Lines of summaries that an agent or a model wrote.
    summaries: Kept,
    /// Exact strings that somebody asked for.
    strings: Kept,
    /// Files that calls wrote, edited or read.
    files: Kept,
    /// The thresholds that it misses.
    below: Vec<Shortfall>,
    /// The chains that were tried, where there were several.
    tried: Vec<Try>,
}

/// The newest messages that were to stay whole.
#[derive(Serialize, ToSchema)]
pub(crate) struct Recent {
    /// How many are asked for.
    asked: u32,
    /// How many stay.
    kept: u32,
}

/// Every decision of a compaction with its reason, as `epitome compact --report` writes it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Report {
    status: Status,
    /// The limit, in tokens.
    budget: u32,
    tokens_before: u32,
    tokens_after: u32,
    /// The share of the tokens before that was saved, from 0 to 1.
    saved_ratio: f64,
    #[schema(required)]
    floor: Option<Floor>,
    /// Tokens before that no compaction to this target can save.
    stays: u32,
    /// Where it stopped above the target and why, or why it was not made; not there at or under the target.
    #[schema(nullable = false)]
    stopped: Option<String>,
    messages_before: u32,
    messages_after: u32,
    task: Verdict,
    mode: Mode,
    /// The chain's strategies.
    chain: Vec<String>,
    /// How many compactions the session has had, this one included.
    cycle: u32,
    trigger: Trigger,
    /// The position of the first message that the provider's prompt cache no longer covers.
    #[schema(required)]
    first_changed_message: Option<u32>,
    /// Tokens already sent that stand behind it.
    cache_loss_tokens: u32,
    steps: Vec<Step>,
    /// What was lost, or would have been; null where nothing would have changed.
    #[schema(required)]
    quality: Option<Quality>,
    edits: Vec<EditReport>,
    /// A receipt for every message of the view before.
    messages: Vec<Receipt>,
    /// The newest messages that were to stay whole, and how many of them do.
    #[schema(nullable = false)]
    recent: Option<Recent>,
    /// Facts that were put into the memory store before it was made; new ones only.
    flushed_memories: u32,
    /// The newest summary that was written.
    #[schema(required)]
    summary: Option<String>,
    summarizer: SummarizerReport,
    /// The token counter.
    counter: String,
    timings: Timings,
}
