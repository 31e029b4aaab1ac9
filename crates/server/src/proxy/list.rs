//! `GET /v1/proxy/conversations`: the conversations that go through the proxy, and what they cost.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use epitome_fit::conversation::PreparedRequest;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::account::{ConversationEntry, saved};
use super::conversation::SharedConversation;
use super::incoming::Incoming;
use super::state::Proxy;
use crate::auth::Caller;
use crate::http::{ApiError, Problem, QueryParameters, page_size};
use crate::openapi::with_problems;
use crate::title::title_of;

/// The route. No provider has one of this name.
pub(crate) fn router(proxy: Arc<Proxy>) -> OpenApiRouter {
    OpenApiRouter::new().routes(with_problems(routes!(list), &[&[Problem::BadLimit]])).with_state(proxy)
}

impl Proxy {
    /// Notes a request that its provider accepted: its conversation, where this is remembered.
    pub(super) fn note(&self, incoming: &Arc<Incoming>, prepared: &PreparedRequest) -> Option<SharedConversation> {
        if let Some(counts) = prepared.counts {
            self.core.metrics.saved_by_proxy(saved(counts));
        }
        // It may be another conversation by now: one that parted from a known one was remembered on its own.
        let shared = self.decisions.find(&incoming.chain)?;
        let is_first = {
            let mut account = shared.account();
            account.note_request(&incoming.owner, incoming.wire, incoming.model.as_deref(), prepared.counts);
            account.is_new()
        };
        if is_first {
            let (incoming, shared) = (Arc::clone(incoming), shared.clone());
            // Elsewhere: the request is read once more, for the words that it begins with.
            tokio::task::spawn_blocking(move || {
                let loaded = incoming.load().ok();
                let session = loaded.as_ref().and_then(|loaded| loaded.sessions.first());
                if let Some(title) = session.and_then(|it| title_of(&it.session)) {
                    shared.account().entry.title = title;
                }
            });
        }
        Some(shared)
    }
}

/// The number of conversations to list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ConversationQuery {
    /// The most conversations: 50 without it.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
}

/// Conversations that go through the proxy.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ProxiedConversations)]
pub(crate) struct ConversationList {
    /// The conversations, the one with the newest request first.
    items: Vec<ConversationEntry>,
    /// How many there are, also those beyond the limit.
    total: usize,
}

/// Lists the conversations of the caller's that go through the proxy of this process, as long as it remembers them; the one
/// with the newest request first.
#[utoipa::path(
    get, path = "/v1/proxy/conversations", tag = "operation", params(ConversationQuery),
    responses((status = 200, description = "The conversations", body = ConversationList))
)]
pub(crate) async fn list(
    State(proxy): State<Arc<Proxy>>,
    Extension(caller): Extension<Caller>,
    QueryParameters(query): QueryParameters<ConversationQuery>,
) -> Result<Json<ConversationList>, ApiError> {
    let most = page_size(query.limit)? as usize;
    let known = proxy.decisions.all();
    let of_caller = known.iter().filter_map(|(shared, _)| {
        let account = shared.account();
        (account.owner.as_ref() == Some(&caller.tenant)).then(|| account.total(&proxy.prices))
    });
    let mut items: Vec<ConversationEntry> = of_caller.collect();
    let total = items.len();
    items.sort_by_key(|entry| Reverse(entry.last));
    items.truncate(most);
    Ok(Json(ConversationList { items, total }))
}
