//! `POST /v1/inspect`.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Request, State};
use epitome::session::CallId;
use epitome::strategy::Verdict;
use serde::Serialize;
use utoipa::ToSchema;

use super::job::{Job, Subject};
use crate::auth::Caller;
use crate::http::{ApiError, ErrorBody, json_of};
use crate::state::Core;

/// How many of the largest messages are listed.
const LISTED: usize = 10;

/// What a request is made of.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InspectAnswer {
    /// The format of the request.
    format: String,
    /// How many messages, each result of a tool counted as one.
    messages: usize,
    /// How many messages a person typed.
    rounds: usize,
    /// How many calls of tools.
    calls: usize,
    /// Tokens of all messages.
    tokens: u32,
    /// Tokens of the tool definitions.
    tool_definition_tokens: u32,
    /// Tokens by role.
    tokens_by_role: BTreeMap<&'static str, u32>,
    /// Tokens of calls and results by tool.
    tokens_by_tool: BTreeMap<String, u32>,
    /// The largest messages, the largest first.
    largest: Vec<LargeMessage>,
    /// The kind of task, with its confidence and evidence.
    #[schema(value_type = Object)]
    task: Verdict,
    /// The token counter.
    counter: String,
}

/// A large message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LargeMessage {
    /// Its id, as reports name it.
    id: String,
    /// Its position among the messages, from 0.
    position: usize,
    /// Its role.
    role: &'static str,
    /// Its tokens.
    tokens: u32,
}

/// Shows what a request is made of.
#[utoipa::path(
    post, path = "/v1/inspect", tag = "compaction", request_body = Subject, security(("token" = [])),
    responses(
        (status = 200, description = "Tokens by role and tool, the kind of task", body = InspectAnswer),
        (status = 400, description = "The body is not what the route takes", body = ErrorBody),
    )
)]
pub(crate) async fn inspect(
    State(core): State<Arc<Core>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<InspectAnswer>, ApiError> {
    let subject = json_of::<Subject>(request, &core.settings.limits).await?.without_draft()?;
    let shared = Arc::clone(&core);
    core.turns
        .run(&caller.tenant, move |cancellation| Ok(Json(answer(&Job::new(&shared, &subject, cancellation)?))))
        .await?
}

fn answer(job: &Job) -> InspectAnswer {
    let session = job.session();
    let mut by_role: BTreeMap<&'static str, u32> = BTreeMap::new();
    let mut by_tool: BTreeMap<String, u32> = BTreeMap::new();
    let mut names: HashMap<CallId, Arc<str>> = HashMap::new();
    let mut largest = Vec::new();
    let (mut rounds, mut calls) = (0, 0);
    for (position, entry) in session.view().iter().enumerate() {
        let message = &entry.message;
        let Some(tokens) = job.ledger.of(entry.key) else { continue };
        *by_role.entry(message.role.as_str()).or_default() += tokens.total;
        rounds += usize::from(message.is_typed());
        for (block, tokens) in message.blocks.iter().zip(&tokens.blocks) {
            let name = match (block.as_call(), block.as_result()) {
                (Some(call), _) => {
                    calls += 1;
                    names.insert(Arc::clone(&call.id), Arc::clone(&call.name));
                    Some(Arc::clone(&call.name))
                }
                (None, Some(result)) => names.get(&result.call_id).cloned().or_else(|| result.name.clone()),
                (None, None) => continue,
            };
            let name = name.map_or_else(|| "unknown".to_owned(), |name| name.to_string());
            *by_tool.entry(name).or_default() += tokens;
        }
        let id = message.id.to_string();
        largest.push(LargeMessage { id, position, role: message.role.as_str(), tokens: tokens.total });
    }
    largest.sort_by_key(|message| (std::cmp::Reverse(message.tokens), message.position));
    largest.truncate(LISTED);
    InspectAnswer {
        format: job.loaded.format.to_string(),
        messages: session.view().len(),
        rounds,
        calls,
        tokens: job.ledger.total(),
        tool_definition_tokens: job.budget.tool_definitions,
        tokens_by_role: by_role,
        tokens_by_tool: by_tool,
        largest,
        task: job.engine.detect(session, &job.ledger),
        counter: job.engine.counter.name().to_owned(),
    }
}
