//! The proxy: requests of clients go on to their provider, smaller where they are too long.
//!
//! A client changes its base address and nothing else. What was decided for a conversation is decided once: each request
//! brings the whole history, the conversation is recognised by it, and the decisions are made again at the same places, so
//! that the provider's prompt cache stays warm. Whatever goes wrong here, the request is sent: with what was decided before,
//! where that can still be carried out, else as it came.

mod answer;
mod bare;
mod chain;
mod checked;
mod compaction;
mod forward;
mod glance;
mod handoff;
mod headers;
mod incoming;
mod items;
mod lookup;
mod memory;
mod offers;
mod opening;
mod outline;
mod prepare;
mod prepared;
mod recipe;
mod state;
mod tail;
mod upstream;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use epitome::formats::Format;

use forward::{forward, pass};
pub(crate) use state::Proxy;
use upstream::NoTarget;
pub use upstream::{UpstreamError, Upstreams};

use crate::auth::Caller;
use crate::http::{ApiError, no_route};

/// What the log and the metrics call the routes of providers.
pub(crate) const ROUTE: &str = "proxy";

/// The format of the requests that a path takes, where the proxy knows it.
pub(crate) fn format_of(path: &str) -> Option<Format> {
    let path = path.trim_end_matches('/');
    if path.ends_with("/chat/completions") {
        Some(Format::OpenaiChat)
    } else if path.ends_with("/responses") {
        Some(Format::OpenaiResponses)
    } else {
        path.ends_with("/messages").then_some(Format::Anthropic)
    }
}

/// Whether a request is one that the proxy looks into; all others go on as they come.
pub(crate) fn is_conversation(method: &Method, path: &str) -> bool {
    method == Method::POST && format_of(path).is_some()
}

/// What no feature has a route for: it is the provider's.
pub(crate) fn router(proxy: Arc<Proxy>) -> Router {
    Router::new().fallback(self::proxy).with_state(proxy)
}

/// Sends a request on.
pub(crate) async fn proxy(State(proxy): State<Arc<Proxy>>, request: Request) -> Response {
    let target = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let url = match proxy.core.settings.upstreams.target(target, request.headers()) {
        Ok(url) => url,
        Err(NoTarget::Nobody) => return no_route().into_response(),
        Err(NoTarget::Outside) => {
            let help = "write the path without `.` and `..`, encoded or not";
            return ApiError::bad("bad-path", "the path leaves the provider's address", help).into_response();
        }
    };
    let Some(caller) = request.extensions().get::<Caller>().cloned() else {
        return ApiError::internal().into_response();
    };
    let format = format_of(request.uri().path()).filter(|_| request.method() == Method::POST);
    let answered = match format {
        Some(format) => forward(&proxy, caller, format, url, request).await,
        None => pass(&proxy, &caller, url, request).await,
    };
    answered.unwrap_or_else(IntoResponse::into_response)
}
