//! `POST /v1/count`.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use epitome::strategy::TokenCounter;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::http::{ApiError, Problem, json_of, provider_format, read_request};
use crate::requester::Requester;
use crate::state::{Core, suited};

/// A text, or the messages of a request, to be counted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CountRequest {
    /// A text.
    text: Option<String>,
    /// A request in a provider's format, or the bare list of its messages.
    #[schema(value_type = Option<Object>)]
    request: Option<Box<RawValue>>,
    /// The request's format; recognised from it without this.
    format: Option<String>,
    /// The counter or estimator, such as `weighted`; the configuration's without it.
    counter: Option<String>,
}

/// Tokens of what was counted.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CountAnswer {
    /// Tokens of the text, or of the messages; tool definitions are not counted in.
    tokens: u32,
    /// The name of the counter.
    counter: String,
    /// Whether the counter gives a provider's own figure and not an estimate.
    exact: bool,
}

/// Counts the tokens of a text or of messages.
#[utoipa::path(
    post, path = "/v1/count", tag = "compaction", request_body = CountRequest,
    responses((status = 200, description = "The tokens, and what they are counted by", body = CountAnswer))
)]
pub(crate) async fn count(requester: Requester, request: Request) -> Result<Json<CountAnswer>, ApiError> {
    let ask: CountRequest = json_of(request, &requester.core.settings.limits).await?;
    requester.answer(move |requester, _| counted(&requester.core, &ask)).await
}

fn counted(core: &Core, ask: &CountRequest) -> Result<CountAnswer, ApiError> {
    let mut counter: Arc<dyn TokenCounter> = match &ask.counter {
        None => Arc::clone(&core.runtime.counter),
        Some(name) => epitome::tokens::by_name(name).map_err(|error| Problem::BadRequest.with(error.to_string()))?,
    };
    let tokens = match (&ask.text, &ask.request) {
        (Some(text), None) => counter.count(text),
        (None, Some(request)) => {
            let format = ask.format.as_deref().map(provider_format).transpose()?;
            let loaded = read_request(request.get().as_bytes().to_vec(), format, core.settings.limits.parts)?;
            let mut engine = suited(core.engine.clone(), loaded.format);
            engine.counter = Arc::clone(&counter);
            let ledger = engine.ledger(&loaded.sessions[0].session);
            counter = Arc::clone(ledger.counter());
            ledger.total()
        }
        (None, None) | (Some(_), Some(_)) => {
            let problem = Problem::BadRequest.with("one of `text` and `request` is counted");
            return Err(problem.with_help("give one of them"));
        }
    };
    Ok(CountAnswer { tokens, counter: counter.name().to_owned(), exact: counter.is_exact() })
}
