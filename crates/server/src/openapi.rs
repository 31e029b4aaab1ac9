//! The OpenAPI document, generated from the routes and their types.

use std::sync::LazyLock;

use axum::routing::get;
use axum::{Json, Router};
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Content, Ref, Required, ResponseBuilder};
use utoipa::{Modify, OpenApi};

use crate::agents;
use crate::channels;
use crate::events;
use crate::memories;
use crate::routes::{check, compact, compress, inspect, retrieve};
use crate::sessions;
use crate::status;

/// Its pattern.
pub(crate) const PATH: &str = "/openapi.json";

/// The route.
pub(crate) fn router() -> Router {
    Router::new().route(PATH, get(openapi))
}

/// This document.
#[utoipa::path(
    get, path = "/openapi.json", tag = "operation",
    responses((status = 200, description = "The OpenAPI document of this service", body = Object))
)]
pub(crate) async fn openapi() -> Json<&'static utoipa::openapi::OpenApi> {
    Json(&DOCUMENT)
}

/// The patterns of the routes that it describes.
pub(crate) fn described_paths() -> impl Iterator<Item = &'static str> {
    DOCUMENT.paths.paths.keys().map(String::as_str)
}

static DOCUMENT: LazyLock<utoipa::openapi::OpenApi> = LazyLock::new(Document::openapi);

/// The document.
#[derive(Debug, OpenApi)]
#[openapi(
    info(
        title = "epitome",
        description = "Fits an agent's session into a token budget. Paths of a provider are sent on where the service runs \
                       with an upstream; they are not listed here."
    ),
    paths(
        compact::compact,
        compact::preview,
        check::check,
        inspect::inspect,
        compress::compress,
        retrieve::by_body,
        retrieve::by_path,
        agents::list,
        agents::get,
        agents::put,
        agents::delete,
        channels::list,
        channels::put,
        channels::delete,
        sessions::list::list,
        sessions::create::create,
        sessions::create::import,
        sessions::list::get,
        sessions::list::describe,
        sessions::list::delete,
        sessions::messages::messages,
        sessions::messages::append,
        sessions::messages::behind,
        sessions::messages::summary,
        sessions::render::request,
        sessions::maintain::check,
        sessions::maintain::maintain,
        sessions::compact::preview,
        sessions::compact::apply,
        sessions::compact::compact,
        sessions::history::undo,
        sessions::history::history,
        sessions::history::epoch,
        sessions::history::recall,
        sessions::maintain::overflow,
        sessions::search::search,
        sessions::search::search_all,
        memories::list,
        memories::delete,
        events::stream,
        events::socket,
        status::alive,
        status::ready,
        status::metrics,
        openapi,
    ),
    tags(
        (name = "compaction", description = "For runtimes that keep their own history"),
        (name = "gateways", description = "In the shape that gateways call compression services in"),
        (name = "sessions", description = "Sessions that the service keeps"),
        (name = "events", description = "What happens to them, as it happens"),
        (name = "settings", description = "What agents do differently, and the channels to models that write summaries"),
        (name = "operation", description = "For whoever runs the service"),
    ),
    modifiers(&Token, &CommonResponses, &OptionalBodies)
)]
struct Document;

/// The token, where the service has any.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    }
}

/// What the service answers on any route before the route is asked: see `guard`.
struct CommonResponses;

/// For every request, where the service has tokens, limits or nobody at the gate.
const OF_ALL: [(&str, &str); 4] = [
    ("401", "There is no token in it that is known here"),
    ("403", "The service has no tokens, and the request does not come from this machine"),
    ("429", "More requests in a minute than one tenant may make; Retry-After says when to go on"),
    ("503", "Too many requests are under way, or the work took too long; Retry-After says when to try again"),
];

/// For every request with a body.
const OF_BODIES: [(&str, &str); 4] = [
    ("400", "The body, or what stands in it, cannot be taken"),
    ("408", "The body took too long to arrive"),
    ("413", "The body is larger, or has more parts, than the service takes"),
    ("415", "The body is not said to be of a kind that is taken"),
];

impl Modify for CommonResponses {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        for path in document.paths.paths.values_mut() {
            let operations = [&mut path.get, &mut path.post, &mut path.put, &mut path.patch, &mut path.delete];
            operations.into_iter().flatten().filter(|operation| operation.security.is_some()).for_each(add_common);
        }
    }
}

/// Bodies that may be left out where nothing is to be said.
struct OptionalBodies;

impl Modify for OptionalBodies {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        for name in ["maintain", "preview", "compact", "undo"] {
            let path = document.paths.paths.get_mut(&format!("/v1/sessions/{{id}}/{name}"));
            if let Some(body) = path.and_then(|path| path.post.as_mut()).and_then(|post| post.request_body.as_mut()) {
                body.required = Some(Required::False);
            }
        }
    }
}

/// Adds what a route does not describe itself.
fn add_common(operation: &mut Operation) {
    let of_bodies = OF_BODIES.iter().filter(|_| operation.request_body.is_some());
    for (status, description) in OF_ALL.iter().chain(of_bodies) {
        let content = Content::new(Some(Ref::from_schema_name("ErrorBody")));
        let response = ResponseBuilder::new().description(*description).content("application/json", content);
        let responses = &mut operation.responses.responses;
        responses.entry((*status).to_owned()).or_insert_with(|| response.build().into());
    }
}
