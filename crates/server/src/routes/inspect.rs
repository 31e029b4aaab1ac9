//! `POST /v1/inspect`.

use axum::Json;
use axum::extract::Request;
use epitome::context::{Contents, MessageSize};
use epitome::session::Role;
use serde::Serialize;
use utoipa::ToSchema;

use super::job::{Job, Subject};
use crate::http::{ApiError, json_of};
use crate::requester::Requester;

/// The number of largest messages in the list.
const LISTED: usize = 10;

/// The composition of a request.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InspectAnswer {
    /// The format of the request.
    format: String,
    /// The number of messages, each result of a tool counted as one.
    messages: usize,
    /// What the messages are made of.
    #[serde(flatten)]
    contents: Contents,
    /// The largest messages, the largest first.
    largest: Vec<LargeMessage>,
}

/// A large message.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LargeMessage {
    /// The message's id, as in reports.
    id: String,
    /// The message's position in the list, from 0.
    position: usize,
    /// The message's role.
    role: Role,
    /// The message's tokens.
    tokens: u32,
}

/// Shows what a request is made of.
#[utoipa::path(
    post, path = "/v1/inspect", tag = "compaction", request_body = Subject,
    responses((status = 200, description = "Tokens by role, tool and part, the kind of task", body = InspectAnswer))
)]
pub(crate) async fn inspect(requester: Requester, request: Request) -> Result<Json<InspectAnswer>, ApiError> {
    let subject = json_of::<Subject>(request, &requester.core.settings.limits).await?.without_draft()?;
    requester
        .answer(move |requester, cancellation| Ok(answer(&Job::new(&requester.core, &subject, cancellation)?)))
        .await
}

fn answer(job: &Job) -> InspectAnswer {
    let session = job.session();
    let mut largest = MessageSize::measure(&job.engine, session, &job.ledger);
    largest.sort_by_key(|message| (std::cmp::Reverse(message.tokens), message.position));
    let largest = largest.into_iter().take(LISTED);
    let largest = largest
        .map(|MessageSize { id, position, role, tokens, .. }| LargeMessage { id, position, role, tokens })
        .collect();
    InspectAnswer {
        format: job.loaded.format.to_string(),
        messages: session.view().len(),
        contents: Contents::measure(&job.engine, session, &job.ledger),
        largest,
    }
}
