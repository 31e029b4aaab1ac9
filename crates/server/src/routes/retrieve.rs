//! `GET /v1/retrieve/{hash}` and `POST /v1/retrieve`: what left a context.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use epitome::engine::count_message;
use epitome::formats::{Wire, render};
use epitome::lookup::item_text;
use epitome::session::{Message, Session};
use epitome::strategy::ArchivedContent;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::http::{ApiError, PathParameters, Problem, QueryParameters, json_of, provider_format};
use crate::requester::Requester;

/// Lines that a search gives at most.
const MOST_LINES: usize = 50;

/// The options for a retrieved text.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct RetrieveQuery {
    /// Only the lines that hold every word of this.
    query: Option<String>,
    /// The format of whole messages: `openai-chat`, `openai-responses`, `anthropic` or `gemini`.
    format: Option<String>,
}

/// The text to retrieve.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct RetrieveRequest {
    /// The handle, as marks and summaries name it.
    #[serde(alias = "handle")]
    hash: String,
    /// Only the lines that hold every word of this.
    query: Option<String>,
    /// The format of whole messages.
    format: Option<String>,
}

/// The text that left the context.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RetrieveAnswer {
    /// The handle.
    hash: String,
    /// `text` for a part of a message, `messages` for whole ones.
    kind: &'static str,
    /// It as text.
    original_content: String,
    /// The text's tokens.
    original_tokens: u32,
    /// The number of messages; 1 for a part of one.
    original_item_count: usize,
    /// The messages in a provider's format, where it is whole ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    messages: Option<Box<RawValue>>,
    /// The number of retrievals of this text, this one included.
    retrieval_count: u32,
    /// The lines that were searched for, each with its number from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<FoundLine>>,
    /// The number of lines that match the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
}

/// A line that matches the search.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FoundLine {
    /// The line's number, from 1.
    line: usize,
    /// The line's text.
    text: String,
}

/// Gives back what left a context, by its handle. Each tenant has an archive of its own.
#[utoipa::path(
    get, path = "/v1/retrieve/{hash}", tag = "gateways",
    params(("hash" = String, Path, description = "The handle, as marks and summaries name it"), RetrieveQuery),
    responses((status = 200, description = "What left the context", body = RetrieveAnswer))
)]
pub(crate) async fn by_path(
    requester: Requester,
    PathParameters(hash): PathParameters<String>,
    QueryParameters(how): QueryParameters<RetrieveQuery>,
) -> Result<Json<RetrieveAnswer>, ApiError> {
    retrieve(requester, hash, how).await
}

/// The same with the handle in the body.
#[utoipa::path(
    post, path = "/v1/retrieve", tag = "gateways", request_body = RetrieveRequest,
    responses((status = 200, description = "What left the context", body = RetrieveAnswer))
)]
pub(crate) async fn by_body(requester: Requester, request: Request) -> Result<Json<RetrieveAnswer>, ApiError> {
    let request: RetrieveRequest = json_of(request, &requester.core.settings.limits).await?;
    retrieve(requester, request.hash, RetrieveQuery { query: request.query, format: request.format }).await
}

async fn retrieve(requester: Requester, hash: String, how: RetrieveQuery) -> Result<Json<RetrieveAnswer>, ApiError> {
    let format = provider_format(how.format.as_deref().unwrap_or("openai-chat"))?;
    let found = requester.core.archives.find(&requester.caller.tenant, hash.trim()).ok_or(Problem::UnknownHash)?;
    requester
        .answer(move |requester, _| {
            let counter = &*requester.core.runtime.counter;
            let content = item_text(&found.item, &[]);
            let (kind, tokens, items, messages) = match &found.item {
                ArchivedContent::Text(text) => ("text", counter.count(text), 1, None),
                ArchivedContent::Messages(messages) => {
                    let tokens = messages.iter().map(|message| count_message(counter, message).total).sum();
                    let profile = format.wire().unwrap_or(Wire::OpenaiChat);
                    ("messages", tokens, messages.len(), Some(as_request(messages, profile)?))
                }
            };
            let results = how.query.as_deref().map(|query| search(&content, query));
            Ok(RetrieveAnswer {
                hash: hash.trim().to_owned(),
                kind,
                count: results.as_ref().map(|(_, count)| *count),
                results: results.map(|(lines, _)| lines),
                original_content: content,
                original_tokens: tokens,
                original_item_count: items,
                messages,
                retrieval_count: found.retrievals,
            })
        })
        .await
}

/// The lines that hold every word, and how many there are.
fn search(content: &str, query: &str) -> (Vec<FoundLine>, usize) {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let holds = |line: &str| {
        let line = line.to_lowercase();
        words.iter().all(|word| line.contains(word))
    };
    let all: Vec<(usize, &str)> = (1..).zip(content.lines()).filter(|(_, line)| holds(line)).collect();
    let lines = all.iter().take(MOST_LINES).map(|(line, text)| FoundLine { line: *line, text: (*text).to_owned() });
    (lines.collect(), all.len())
}

fn as_request(messages: &[Arc<Message>], profile: Wire) -> Result<Box<RawValue>, ApiError> {
    let mut session = Session::new();
    for message in messages {
        session.push(Message { records: Vec::new(), ..Message::clone(message) });
    }
    let rendered = render(session.view(), profile, None, None);
    RawValue::from_string(rendered.json.trim().to_owned()).map_err(|_| Problem::Internal.into())
}
