//! `/v1/sessions/{id}/messages`: appending and reading messages.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::Request;
use epitome::engine::Check;
use epitome::live::ContextTokens;
use epitome::session::{Entry, Message, Role, Usage};
use epitome::store::{Messages, Slice, StoredMessage, ViewKind};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::command::{self, CommandResult};
use super::create::MOST_TIMES_PARTS;
use super::failure::live;
use super::input::{PathPart, SessionId, messages_of, read_messages};
use super::named::NamedSession;
use super::open::Operation;
use super::opened::CachedSession;
use super::state::Sessions;
use crate::http::{ApiError, Problem, QueryParameters, json_of, page_size, too_many_parts};

/// Messages to append to a session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewMessages {
    /// The messages, as a provider's request has them; an empty list where only `tools` change.
    #[schema(value_type = Vec<Object>)]
    messages: Box<RawValue>,
    /// Their format: `openai-chat`, `openai-responses`, `anthropic` or `gemini`; recognised without it.
    format: Option<String>,
    /// The tool definitions that are sent with every request from here on; as before without it.
    #[schema(value_type = Option<Vec<Object>>)]
    tools: Option<Box<RawValue>>,
    /// What the provider counted for the call that the last message of the model answers.
    usage: Option<CallUsage>,
    /// Whether a single typed message that begins with a command (`/compact [focus]`, `/undo [EPOCH]`, `/history`,
    /// `/recall HANDLE`, `/context`) is run, and not stored.
    #[serde(default = "yes")]
    #[schema(default = true)]
    commands: bool,
}

/// What a provider counted for one call of the model, in tokens.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallUsage {
    /// All input tokens, cached ones included.
    input: u64,
    /// Output tokens.
    output: u64,
    /// Of the input, the tokens that were read from the prompt cache.
    #[serde(default)]
    cache_read: u64,
    /// Of the input, the tokens that were written to the prompt cache.
    #[serde(default)]
    cache_write: u64,
}

/// Records the usage of a call with the message that it gave.
fn note_usage(messages: &mut [Message], usage: Option<CallUsage>) -> Result<(), ApiError> {
    let Some(CallUsage { input, output, cache_read, cache_write }) = usage else { return Ok(()) };
    let said = messages.iter_mut().rfind(|message| message.role == Role::Assistant).ok_or_else(|| {
        Problem::BadRequest
            .with("`usage` is given, and none of `messages` is the model's")
            .with_help("send it with the message that the call gave")
    })?;
    said.usage = Some(Usage { input, cache_read, cache_write, output });
    Ok(())
}

fn yes() -> bool {
    true
}

/// The outcome of new messages.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Appended {
    /// The session's version now.
    version: u64,
    /// The number of messages that were stored.
    appended: u32,
    /// Their ids in the session.
    ids: Vec<String>,
    /// The fill of the context now.
    context: ContextTokens,
    /// Whether a compaction is due now.
    check: Check,
    /// The outcome of a command; null where the message was not a command.
    #[schema(required)]
    command: Option<CommandResult>,
}

/// Pushes messages.
struct Append {
    messages: Vec<Message>,
    tools: Option<Box<RawValue>>,
}

impl Operation for Append {
    type Output = Vec<String>;

    async fn run(&self, sessions: &Arc<Sessions>, opened: &mut CachedSession) -> Result<Vec<String>, ApiError> {
        let most = sessions.core.settings.limits.parts.saturating_mul(MOST_TIMES_PARTS);
        if opened.live.session().log().len() + self.messages.len() > most {
            return Err(too_many_parts("the session", most));
        }
        if let Some(tools) = &self.tools {
            opened.live.set_tools(Some(tools.get())).map_err(live)?;
        }
        let from = opened.live.session().log().len();
        for message in &self.messages {
            opened.live.push(message.clone()).map_err(live)?;
        }
        Ok(opened.live.session().log()[from..].iter().map(|message| message.id.to_string()).collect())
    }

    const NEEDS_SETTINGS: bool = false;
}

/// Appends messages in the order in which they arrive: those that arrive during a compaction wait for its end.
#[utoipa::path(
    post, path = "/v1/sessions/{id}/messages", tag = "sessions", request_body = NewMessages,
    params(SessionId),
    responses((status = 200, description = "They are stored, or the command was run", body = Appended))
)]
pub(crate) async fn append(named: NamedSession, request: Request) -> Result<Json<Appended>, ApiError> {
    let new: NewMessages = json_of(request, &named.sessions.core.settings.limits).await?;
    let NewMessages { messages: given, format, tools, usage, commands } = new;
    if let Some(tools) = &tools {
        let list: Result<Vec<serde_json::Map<String, serde_json::Value>>, _> = serde_json::from_str(tools.get());
        list.map_err(|_| {
            Problem::BadRequest
                .with("`tools` is not a list of objects")
                .with_help("send the list of a provider's request")
        })?;
    }
    let has_tools = tools.is_some();
    let core = &named.sessions.core;
    let most_parts = core.settings.limits.parts;
    let prepared = async {
        let mut messages =
            core.workers.run(&named.owner(), move |_| read_new(&given, format.as_deref(), most_parts)).await??;
        note_usage(&mut messages, usage)?;
        match messages.as_slice() {
            [message] if commands && !has_tools => match command::parse_command(message)? {
                Some(command) => Ok(Err(command)),
                None => Ok(Ok(Append { messages, tools })),
            },
            _ => Ok(Ok(Append { messages, tools })),
        }
    };
    match named.change_with(prepared).await? {
        Ok(changed) => Ok(Json(Appended {
            version: changed.version,
            appended: changed.value.len() as u32,
            ids: changed.value,
            context: changed.context,
            check: changed.check,
            command: None,
        })),
        Err(command) => {
            let command = command::run(&named, command).await?;
            named
                .read(move |seen| {
                    let (live, version) = (&seen.opened.live, seen.opened.version);
                    let (context, check) = (live.context(), live.check());
                    Ok(Json(Appended { version, appended: 0, ids: Vec::new(), context, check, command: Some(command) }))
                })
                .await
        }
    }
}

fn read_new(given: &RawValue, format: Option<&str>, most_parts: usize) -> Result<Vec<Message>, ApiError> {
    let parts: Vec<&RawValue> = serde_json::from_str(given.get())
        .map_err(|_| Problem::BadRequest.with("`messages` is not a list").with_help("send a list of messages"))?;
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    // When it was said is when it came, unless it says otherwise.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_millis() as i64);
    let mut messages = messages_of(&read_messages(given.get(), format, most_parts)?);
    messages.iter_mut().for_each(|message| message.timestamp = message.timestamp.or(now));
    Ok(messages)
}

/// Which messages.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct MessagesQuery {
    /// `compacted`, or `full` for everything that was ever said.
    #[serde(default)]
    #[param(inline, default = "compacted")]
    view: ViewKind,
    /// The first message, from 0.
    #[serde(default)]
    #[param(value_type = u64, maximum = 4_294_967_295_u64)]
    from: u32,
    /// The most messages: 50 without it.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// Gives messages of a view, in order.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/messages", tag = "sessions",
    params(SessionId, MessagesQuery),
    responses((status = 200, description = "A page of them", body = Messages))
)]
pub(crate) async fn messages(
    named: NamedSession,
    QueryParameters(which): QueryParameters<MessagesQuery>,
) -> Result<Json<Messages>, ApiError> {
    let most = page_size(which.limit)?;
    named
        .read(move |seen| {
            let session = seen.opened.live.session();
            let full = (which.view == ViewKind::Full).then(|| (session.full_view(), seen.opened.removals()));
            let entries = full.as_ref().map_or(session.view(), |(entries, _)| entries);
            let left = |entry: &Entry| full.as_ref().and_then(|(_, left)| left.get(&entry.key));
            let page = entries.iter().skip(which.from as usize).take(most as usize);
            let messages = page.map(|entry| StoredMessage::new(entry, left(entry))).collect();
            Ok(Json(Messages { version: seen.opened.version, total: entries.len() as u32, messages }))
        })
        .await
}

/// Which of the messages behind a summary.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SummarizedQuery {
    /// The first message, from 0.
    #[serde(default)]
    #[param(value_type = u64, maximum = 4_294_967_295_u64)]
    from: u32,
    /// The most messages: 50 without it.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// Returns the messages that a summary in force replaces.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/messages/{message}/behind", tag = "sessions",
    params(
        SessionId,
        ("message" = String, Path, description = "The summary's message id"),
        SummarizedQuery,
    ),
    responses((status = 200, description = "A page of them", body = Messages))
)]
pub(crate) async fn behind(
    named: NamedSession,
    PathPart(summary): PathPart,
    QueryParameters(which): QueryParameters<SummarizedQuery>,
) -> Result<Json<Messages>, ApiError> {
    let slice = Slice { from: which.from, most: page_size(which.limit)? };
    let (storage, (tenant, id)) = (named.sessions.storage()?, &named.key);
    let page = storage.store.behind(tenant, id, &summary, slice).await;
    Ok(Json(page.map_err(|error| storage.api_error(error))?))
}

/// Gives the summary of the newest compaction of which one is in force.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/summary", tag = "sessions",
    params(SessionId),
    responses((status = 200, description = "The summary", body = StoredMessage))
)]
pub(crate) async fn summary(named: NamedSession) -> Result<Json<StoredMessage>, ApiError> {
    let (storage, (tenant, id)) = (named.sessions.storage()?, &named.key);
    let summary = storage.store.latest_summary(tenant, id).await.map_err(|error| storage.api_error(error))?;
    summary.map(Json).ok_or_else(|| Problem::NoSummary.into())
}
