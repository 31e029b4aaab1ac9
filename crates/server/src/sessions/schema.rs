//! What types of other crates look like as JSON, for the OpenAPI document. A test holds answers against it.
#![allow(dead_code, reason = "these describe values and are never made")]

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What kind of task a session is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TaskKind {
    Code,
    Analysis,
    Conversation,
    Mixed,
    Unknown,
}

/// What started a compaction.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Trigger {
    Manual,
    Soft,
    Hard,
    RemainingShare,
    Rounds,
    Marker,
    Overflow,
    Arrival,
    Recorded,
}

/// How urgent a compaction is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Urgency {
    None,
    Soft,
    Hard,
}

/// Who speaks.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// Where a message really comes from.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Origin {
    Instructions,
    Typed,
    Injected,
    ToolOutput,
    Model,
    Tool,
    Summary,
    Notice,
    Answer,
}

/// How full a context is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContextTokens {
    /// Tokens of the messages.
    used_tokens: u32,
    /// Tokens that they may take.
    max_tokens: u32,
    /// The former as a percentage of the latter.
    percent: f64,
    /// The percentage from which on a compaction is suggested.
    threshold_percent: f64,
    /// Whether the figures are estimates.
    estimated: bool,
}

/// Whether a compaction is due.
#[derive(Serialize, ToSchema)]
pub(crate) struct Check {
    /// Whether a threshold is reached.
    should_compact: bool,
    /// Tokens of the messages now.
    current_tokens: u32,
    /// The threshold that was reached, or the soft one.
    threshold_tokens: u32,
    /// Tokens that messages may take.
    usable_tokens: u32,
    /// `current_tokens` as a share of `usable_tokens`.
    share: f64,
    /// How urgent it is.
    urgency: Urgency,
    /// What calls for it.
    #[schema(required)]
    trigger: Option<Trigger>,
}

/// A session in a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionInfo {
    /// Its id.
    id: String,
    /// The agent that it belongs to.
    #[schema(nullable = false)]
    agent: Option<String>,
    /// Its title.
    #[schema(nullable = false)]
    title: Option<String>,
    /// Settings of its own.
    #[schema(nullable = false)]
    settings: Option<Map<String, Value>>,
    /// How many changes it has seen.
    version: u64,
    /// How many messages were said.
    messages: u32,
    /// How many compactions were made, undone ones included.
    epochs: u32,
    /// When it was made, in milliseconds since 1970.
    created_at: i64,
    /// When it last changed.
    updated_at: i64,
}

/// A message of a session.
#[derive(Serialize, ToSchema)]
pub(crate) struct Message {
    /// Unique in the session.
    id: String,
    role: Role,
    origin: Origin,
    /// Its parts, in order.
    blocks: Vec<Block>,
    /// The participant's name, where there are several of one role.
    #[schema(nullable = false)]
    name: Option<String>,
    /// When it was said, in milliseconds since 1970, where that is known.
    #[schema(nullable = false)]
    timestamp: Option<i64>,
    /// Whether it was pinned.
    #[schema(nullable = false)]
    pinned: Option<bool>,
    /// Tool calls written in plain text.
    #[schema(nullable = false)]
    text_calls: Option<Vec<Map<String, Value>>>,
    /// What the provider reported for the request that produced it.
    #[schema(nullable = false)]
    usage: Option<Map<String, Value>>,
    /// Its places in the file that it was read from.
    #[schema(nullable = false)]
    records: Option<Vec<u32>>,
}

/// A part of a message.
#[derive(Serialize, ToSchema)]
#[schema(as = MessageBlock)]
pub(crate) struct Block {
    content: BlockContent,
    /// Its recorded JSON, where that says more.
    #[schema(nullable = false)]
    raw: Option<Map<String, Value>>,
}

/// What a part holds; the other fields go by its type: `text`; `id`, `name` and `arguments` of a call; `call_id`, `text` and
/// `is_error` of a result.
#[derive(Serialize, ToSchema)]
pub(crate) struct BlockContent {
    #[serde(rename = "type")]
    kind: BlockType,
    #[serde(flatten)]
    fields: BTreeMap<String, Value>,
}

/// What a part is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BlockType {
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Media,
    Opaque,
    Gone,
}

/// A message with what has become of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct StoredMessage {
    /// Its number in the log, from 0; null for what a compaction added.
    #[schema(required)]
    number: Option<u32>,
    message: Message,
    /// Whether it is shown otherwise than it was recorded.
    is_edited: bool,
    /// Whether it is a summary.
    is_summary: bool,
    /// When it left the context, in milliseconds since 1970; null while it is there, or where that is not known.
    #[schema(required)]
    compacted_at: Option<i64>,
    /// The id of the message that stands in its place, where one does.
    #[schema(required)]
    compacted_into: Option<String>,
}

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
    /// Tokens that a model wrote.
    output_tokens: u64,
    /// Whether the rules stepped in for a model.
    fell_back: bool,
    /// Why they did, or why there is no summary.
    #[schema(nullable = false)]
    problem: Option<String>,
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

/// Every decision of a compaction with its reason, as `epitome compact --report` writes it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Report {
    status: Status,
    /// The limit, in tokens.
    budget: u32,
    tokens_before: u32,
    tokens_after: u32,
    #[schema(required)]
    floor: Option<Floor>,
    /// Where it stopped above the target and why; not there at or under the target.
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
    quality: Option<Map<String, Value>>,
    edits: Vec<EditReport>,
    /// A receipt for every message of the view before.
    messages: Vec<Receipt>,
    /// The newest summary that was written.
    #[schema(required)]
    summary: Option<String>,
    summarizer: SummarizerReport,
    /// The token counter.
    counter: String,
    timings: Timings,
}

/// A summary of a preview.
#[derive(Serialize, ToSchema)]
pub(crate) struct DraftSummary {
    /// Its number.
    number: u32,
    /// Its first line, which stays.
    heading: String,
    /// Its text, which may be replaced.
    text: String,
    /// Tokens of both, and of the message's frame.
    tokens: u32,
    /// Tokens that they may be at most.
    most_tokens: u32,
}

/// Who made a compaction.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EpochOrigin {
    Engine,
    Recorded,
}

/// A compaction of a session's history.
#[derive(Serialize, ToSchema)]
pub(crate) struct HistoryEntry {
    /// Its number, to undo it by.
    epoch: u32,
    origin: EpochOrigin,
    trigger: Trigger,
    /// How many messages the session had.
    messages: u32,
    #[schema(required)]
    tokens_before: Option<u32>,
    #[schema(required)]
    tokens_after: Option<u32>,
    /// How many edits each strategy made.
    edits: BTreeMap<String, u32>,
    /// Handles of what left, in order.
    recall: Vec<String>,
    /// The summaries that it wrote.
    summaries: Vec<String>,
    /// Whether it was undone.
    undone: bool,
}
