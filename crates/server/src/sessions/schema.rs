//! What types of other crates look like as JSON, for the OpenAPI document. A test holds answers against it.
#![allow(dead_code, reason = "these describe values and are never made")]

mod report;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

pub(crate) use report::{EditReport, Report, SummarizerRecord};

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
    Clearing,
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
    #[schema(required)]
    threshold_tokens: Option<u32>,
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
