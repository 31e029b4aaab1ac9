//! `…/request`: what to send to the model.

use axum::Json;
use epitome::formats::{Wire, render};
use epitome::store::ViewKind;
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::IntoParams;

use super::input::SessionId;
use super::named::NamedSession;
use crate::http::{ApiError, Problem, QueryParameters, provider_format};

/// Which request.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RenderQuery {
    /// `openai-chat`, `openai-responses`, `anthropic` or `gemini`; `openai-chat` without it.
    format: Option<String>,
    /// `compacted`, or `full` for everything that was ever said.
    #[serde(default)]
    #[param(inline, default = "compacted")]
    view: ViewKind,
}

/// Gives the messages, the system prompt and the tool definitions as a provider's request has them: what to send to the
/// model.
#[utoipa::path(
    get, path = "/v1/sessions/{id}/request", tag = "sessions",
    params(SessionId, RenderQuery),
    responses((status = 200, description = "The request, without model and sampling", body = Object))
)]
pub(crate) async fn request(
    named: NamedSession,
    QueryParameters(which): QueryParameters<RenderQuery>,
) -> Result<Json<Box<RawValue>>, ApiError> {
    let format = provider_format(which.format.as_deref().unwrap_or("openai-chat"))?;
    let profile = format.wire().unwrap_or(Wire::OpenaiChat);
    named
        .read(move |seen| {
            let session = seen.opened.live.session();
            let tools = session.tools.as_deref();
            let rendered = match which.view {
                ViewKind::Compacted => render(session.view(), profile, tools, None),
                ViewKind::Full => render(&session.full_view(), profile, tools, None),
            };
            RawValue::from_string(rendered.json.trim().to_owned()).map(Json).map_err(|_| Problem::Internal.into())
        })
        .await
}
