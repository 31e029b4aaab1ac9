//! `…/undo`, `…/history`, `…/epochs/{epoch}` and `…/recall/{handle}`: the compactions, and the session before them.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use epitome::Session;
use epitome::engine::{EditReport, ReasonReport};
use epitome::live::{ContextTokens, HistoryEntry, LiveError, epoch_views};
use epitome::session::{EntryKey, Epoch, Message, MessageId, Origin, SummarizerRecord};
use epitome::store::{Removal, StoredMessage, removals_of};
use epitome::strategy::ArchivedContent;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::failure::live;
use super::input::{PathPart, SessionId};
use super::named::NamedSession;
use super::open::Operation;
use super::opened::CachedSession;
use super::state::Sessions;
use crate::http::{ApiError, Problem, json_or_default};

/// Which compaction to take back.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UndoRequest {
    /// The compaction's number; the newest in force without it.
    #[schema(value_type = Option<u64>, maximum = 4_294_967_295_u64)]
    pub(super) epoch: Option<u32>,
}

/// A compaction that was taken back.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Undone {
    /// The compaction's number.
    pub(super) epoch: u32,
    /// The session's version now.
    version: u64,
    /// The fill of the context now.
    context: ContextTokens,
}

/// Takes a compaction back.
struct Undo(UndoRequest);

impl Operation for Undo {
    type Output = u32;

    async fn run(&self, _app: &Arc<Sessions>, opened: &mut CachedSession) -> Result<u32, ApiError> {
        let newest = || opened.live.newest_compaction().ok_or(LiveError::NothingToUndo);
        let epoch = self.0.epoch.map_or_else(newest, Ok).map_err(live)?;
        opened.live.undo(epoch).map_err(live)?;
        Ok(epoch)
    }

    const NEEDS_SETTINGS: bool = false;
}

/// Takes a compaction back: the context is what it would be without it, newer messages included.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/undo", tag = "sessions", request_body = UndoRequest,
    params(SessionId),
    responses((status = 200, description = "It is undone", body = Undone))
)]
pub(crate) async fn undo(named: NamedSession, request: Request) -> Result<Json<Undone>, ApiError> {
    let ask = json_or_default(request, &named.sessions.core.settings.limits).await?;
    undo_now(&named, ask).await.map(Json)
}

/// The same after the request was read.
pub(super) async fn undo_now(named: &NamedSession, ask: UndoRequest) -> Result<Undone, ApiError> {
    let changed = named.change(Undo(ask)).await?;
    Ok(Undone { epoch: changed.value, version: changed.version, context: changed.context })
}

/// The compactions of a session.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct History {
    /// The compactions, the oldest first, undone ones included.
    epochs: Vec<HistoryItem>,
}

/// A compaction of a session's history.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HistoryItem {
    /// The compaction's entry.
    #[serde(flatten)]
    entry: HistoryEntry,
    /// When it was stored, in milliseconds since 1970.
    #[schema(required)]
    at: Option<i64>,
    /// When it was undone; null where it was not.
    #[schema(required)]
    undone_at: Option<i64>,
    /// The later compaction that is built on this one, and has to be undone before it; null where there is none.
    #[schema(required)]
    covered_by: Option<u32>,
}

/// The compactions of a session. For each, linear in the changes of all later ones.
fn items(opened: &CachedSession) -> Vec<HistoryItem> {
    let item = |entry: HistoryEntry| {
        let times = opened.times(entry.epoch);
        let undone_at = times.and_then(|times| times.undone_at);
        let covered_by = opened.live.session().covered_by(entry.epoch);
        HistoryItem { entry, at: times.map(|times| times.committed_at), undone_at, covered_by }
    };
    opened.live.history().into_iter().map(item).collect()
}

impl History {
    /// The number of compactions.
    pub(super) fn count(&self) -> usize {
        self.epochs.len()
    }
}

/// Lists the compactions of a session.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/history", tag = "sessions",
    params(SessionId),
    responses((status = 200, description = "The compactions", body = History))
)]
pub(crate) async fn history(named: NamedSession) -> Result<Json<History>, ApiError> {
    history_now(&named).await.map(Json)
}

/// The history, for an answer of another form.
pub(super) async fn history_now(named: &NamedSession) -> Result<History, ApiError> {
    named.read(|seen| Ok(History { epochs: items(seen.opened) })).await
}

/// A compaction, side by side.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EpochAnswer {
    /// The compaction's entry in the history.
    entry: HistoryItem,
    /// The edits, each with its reason.
    edits: Vec<EditReport>,
    /// The record of its summaries, where a model was asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    summarizer: Option<Arc<SummarizerRecord>>,
    /// The view before the compaction.
    before: Vec<StoredMessage>,
    /// The view after it.
    after: Vec<StoredMessage>,
}

/// Shows a compaction side by side: the views before and after it, and every edit with its reason.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/epochs/{epoch}", tag = "sessions",
    params(
        SessionId,
        ("epoch" = u64, Path, description = "The compaction's number", maximum = 4_294_967_295_u64),
    ),
    responses((status = 200, description = "The compaction", body = EpochAnswer))
)]
pub(crate) async fn epoch(named: NamedSession, PathPart(number): PathPart) -> Result<Json<EpochAnswer>, ApiError> {
    let number: u32 = number.parse().map_err(|_| Problem::BadEpoch)?;
    named
        .read(move |seen| {
            let session = seen.opened.live.session();
            let unknown = || ApiError::from(Problem::UnknownEpoch);
            let epoch = session.journal().get(number as usize).ok_or_else(unknown)?;
            let entry = items(seen.opened).into_iter().nth(number as usize).ok_or_else(unknown)?;
            let sides = epoch_views(session, number).ok_or_else(unknown)?;
            let left: HashMap<EntryKey, Removal> = removals_of(epoch, entry.at).collect();
            Ok(Json(EpochAnswer {
                entry,
                edits: edits(session, epoch),
                summarizer: epoch.summarizer.clone(),
                before: sides.before.iter().map(|entry| StoredMessage::new(entry, left.get(&entry.key))).collect(),
                after: sides.after.iter().map(|entry| StoredMessage::new(entry, None)).collect(),
            }))
        })
        .await
}

/// The edits of a compaction, as in its report.
fn edits(session: &Session, epoch: &Epoch) -> Vec<EditReport> {
    let report = |edit: &epitome::session::AppliedEdit| {
        let mut messages: Vec<MessageId> =
            edit.changes.iter().filter_map(|change| Some(session.message(change.entry())?.id.clone())).collect();
        messages.dedup();
        let reason = ReasonReport {
            code: Arc::clone(&edit.reason.code),
            detail: edit.reason.detail.clone(),
            score: edit.reason.score,
        };
        EditReport {
            edit: edit.kind,
            strategy: Arc::clone(&edit.strategy),
            messages,
            tokens_saved: edit.tokens_saved,
            reason,
            recall: edit.recall.clone(),
        }
    };
    epoch.edits.iter().map(report).collect()
}

/// The text that left the context under a handle.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecalledContent {
    /// The handle.
    handle: String,
    /// `text` for a part of a message, `messages` for whole ones.
    kind: &'static str,
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    text: Option<Arc<str>>,
    /// The messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    messages: Option<Vec<StoredMessage>>,
}

impl RecalledContent {
    /// The text for a person.
    pub(super) fn text(&self) -> String {
        match (&self.text, &self.messages) {
            (Some(text), _) => format!("{} characters under `{}`.", text.chars().count(), self.handle),
            (None, messages) => {
                format!("{} messages under `{}`.", messages.as_ref().map_or(0, Vec::len), self.handle)
            }
        }
    }
}

/// Gives back what left the context, by the handle that marks, summaries and reports name.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/recall/{handle}", tag = "sessions",
    params(
        SessionId,
        ("handle" = String, Path, description = "The handle"),
    ),
    responses((status = 200, description = "What left the context", body = RecalledContent))
)]
pub(crate) async fn recall(named: NamedSession, PathPart(handle): PathPart) -> Result<Json<RecalledContent>, ApiError> {
    recall_now(&named, handle).await.map(Json)
}

/// The same for an answer of another form.
pub(super) async fn recall_now(named: &NamedSession, handle: String) -> Result<RecalledContent, ApiError> {
    named
        .read(move |seen| {
            let found = seen.opened.live.recall(&handle).map_err(live)?.ok_or(Problem::UnknownHandle)?;
            let handle = handle.trim().to_owned();
            match found {
                ArchivedContent::Text(text) => {
                    Ok(RecalledContent { handle, kind: "text", text: Some(text), messages: None })
                }
                ArchivedContent::Messages(messages) => {
                    let messages = of_log(seen.opened, messages);
                    Ok(RecalledContent { handle, kind: "messages", text: None, messages: Some(messages) })
                }
            }
        })
        .await
}

/// Messages of the log as they were said, with their states. Linear in the log.
fn of_log(opened: &CachedSession, messages: Vec<Arc<Message>>) -> Vec<StoredMessage> {
    let log = opened.live.session().log().iter().zip(0..);
    let numbers: HashMap<&MessageId, u32> = log.map(|(message, number)| (&message.id, number)).collect();
    let left = opened.removals();
    let stored = |message: Arc<Message>| {
        let number = numbers.get(&message.id).copied();
        let (compacted_at, compacted_into) =
            number.and_then(|number| left.get(&EntryKey::Log(number))).cloned().unwrap_or_default();
        let is_summary = message.origin == Origin::Summary;
        StoredMessage { number, message, is_edited: false, is_summary, compacted_at, compacted_into }
    };
    messages.into_iter().map(stored).collect()
}
