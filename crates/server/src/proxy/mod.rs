//! The proxy: requests of clients go on to their provider, smaller where they are too long.
//!
//! A client changes its base address and nothing else. A decision about a conversation is made once: each request
//! brings the whole history, the conversation is recognised by it, and the decisions are made again at the same places,
//! so that the provider's prompt cache stays warm. On any failure here, the request is still sent: with the earlier
//! decisions, where these can be carried out, else as it came.

mod account;
mod answer;
mod checked;
mod compaction;
mod compaction_support;
mod conversation;
mod forward;
mod handoff;
mod headers;
mod incoming;
mod learn;
mod list;
mod lookup;
mod native;
mod opening;
mod own_tokens;
mod percent;
mod provider;
mod read;
mod state;
mod unpack_budget;
mod unread;
mod upstream;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::response::{IntoResponse, Response};
use epitome::wire::Route;

use forward::{forward, pass};
pub(crate) use list::router as list_router;
pub(crate) use native::random_key;
pub use native::{ItemKeyError, ItemKeys};
pub(crate) use state::Proxy;
pub use upstream::{UpstreamError, Upstreams};

use crate::auth::Caller;
use crate::http::{ApiError, Problem};

/// Whether the proxy reads a request; all others are sent as they come.
pub(crate) fn is_conversation(method: &Method, path: &str) -> bool {
    method == Method::POST && Route::of_path(path).is_some()
}

/// The router for paths that no feature has: they are the provider's.
pub(crate) fn router(proxy: Arc<Proxy>) -> Router {
    Router::new().fallback(self::proxy).with_state(proxy)
}

/// Whether a request opens a WebSocket.
fn is_socket(headers: &HeaderMap) -> bool {
    let names = headers.get_all(header::UPGRADE).iter().filter_map(|value| value.to_str().ok());
    names.flat_map(|value| value.split(',')).any(|name| name.trim().eq_ignore_ascii_case("websocket"))
}

/// Sends a request on.
pub(crate) async fn proxy(State(proxy): State<Arc<Proxy>>, mut request: Request) -> Response {
    // Codex goes on over HTTP at once with this status, and tries six times with any other.
    if is_socket(request.headers()) {
        return Problem::NoProviderSocket.into_response();
    }
    let tokens = &proxy.core.settings.tokens;
    // A token of the service's is no sign of a provider either.
    own_tokens::clean_headers(tokens, request.headers_mut());
    let query = request.uri().query().and_then(|query| own_tokens::clean_query(tokens, query));
    let path = request.uri().path();
    if own_tokens::are_in_path(tokens, path) {
        let help = "send it in `X-Epitome-Token` alone";
        return Problem::BadPath.with("the path holds a token of the service").with_help(help).into_response();
    }
    let url = match proxy.core.settings.upstreams.target(path, query.as_deref(), request.headers()) {
        Ok(url) => url,
        Err(refused) => return ApiError::from(refused).into_response(),
    };
    let Some(caller) = request.extensions().get::<Caller>().cloned() else {
        return Problem::Internal.into_response();
    };
    let route = Route::of_path(request.uri().path()).filter(|_| request.method() == Method::POST);
    let answered = match route {
        Some(route) => forward(&proxy, caller, route, url, request).await,
        None => pass(&proxy, url, request).await,
    };
    answered.unwrap_or_else(IntoResponse::into_response)
}
