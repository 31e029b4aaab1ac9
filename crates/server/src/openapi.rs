//! The OpenAPI document. Each feature's router declares its routes once, with [`routes!`](utoipa_axum::routes): what
//! answers them and what the document says of them are the same declaration.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::Extension;
use axum::{Json, Router};
use utoipa::OpenApi as _;
use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Required, Response, ResponseBuilder};
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::http::{ErrorBody, Problem};

/// The document's own route.
pub(crate) fn router() -> OpenApiRouter {
    OpenApiRouter::new().routes(routes!(openapi))
}

/// This document.
#[utoipa::path(
    get, path = "/openapi.json", tag = "operation", security(()),
    responses((status = 200, description = "The OpenAPI document of this service", body = Object))
)]
async fn openapi(Extension(document): Extension<Arc<OpenApi>>) -> Json<Arc<OpenApi>> {
    Json(document)
}

/// The part of the document that does not come from the routes.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "epitome",
        description = "Fits an agent's session into a token budget. Paths of a provider are sent on where the service runs \
                       with an upstream; they are not listed here."
    ),
    // Events are written as text in a stream, so no route names their type.
    components(schemas(ErrorBody, epitome::live::Event)),
    security(("token" = [])),
    tags(
        (name = "compaction", description = "For runtimes that keep their own history"),
        (name = "gateways", description = "In the shape that gateways call compression services in"),
        (name = "sessions", description = "Sessions that the service keeps"),
        (name = "events", description = "What happens to them, as it happens"),
        (name = "settings", description = "What agents do differently, and the channels to models that write summaries"),
        (name = "operation", description = "For whoever runs the service"),
    ),
)]
struct Head;

/// The problems that any route answers before its handler is asked: see `guard`.
const OF_ALL: [Problem; 7] = [
    Problem::Unauthorized,
    Problem::NotLocal,
    Problem::TooManyRequests,
    Problem::Busy,
    Problem::Timeout,
    Problem::StoreFull,
    Problem::StoreUnavailable,
];

/// The problems of every request with a body.
const OF_BODIES: [Problem; 6] = [
    Problem::BadRequest,
    Problem::BrokenBody,
    Problem::SlowBody,
    Problem::TooLarge,
    Problem::TooManyParts,
    Problem::NotJson,
];

/// The routes of all parts, and the document that they make together, which one of the routes serves.
pub(crate) fn serve(parts: impl IntoIterator<Item = (Router, OpenApi)>) -> Router {
    let (mut router, mut document) = (Router::new(), Head::openapi());
    for (routes, described) in parts {
        router = router.merge(routes);
        document.merge(described);
    }
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    for operation in document.paths.paths.values_mut().flat_map(operations) {
        // Routes that need no token pass nothing that could refuse them.
        if operation.security.is_none() {
            let has = |place: ParameterIn| {
                let mut parameters = operation.parameters.iter().flatten();
                parameters.any(|parameter| matches!(parameter, RefOr::T(parameter) if parameter.parameter_in == place))
            };
            let by_path = has(ParameterIn::Path).then_some(Problem::BadPath);
            let by_query = has(ParameterIn::Query).then_some(Problem::BadQuery);
            let by_body = OF_BODIES.iter().filter(|_| operation.request_body.is_some()).copied();
            let problems: Vec<Problem> = OF_ALL.into_iter().chain(by_path).chain(by_query).chain(by_body).collect();
            add_problems(operation, &problems);
        }
    }
    router.layer(Extension(Arc::new(document)))
}

/// Routes with the problems that their handlers answer, beside those of every route.
pub(crate) fn with_problems<S>(mut routes: UtoipaMethodRouter<S>, problems: &[&[Problem]]) -> UtoipaMethodRouter<S> {
    let problems = problems.concat();
    routes.1.paths.values_mut().flat_map(operations).for_each(|operation| add_problems(operation, &problems));
    routes
}

/// Routes whose body may be left out where there is nothing to say.
pub(crate) fn with_optional_body<S>(mut routes: UtoipaMethodRouter<S>) -> UtoipaMethodRouter<S> {
    for operation in routes.1.paths.values_mut().flat_map(operations) {
        if let Some(RefOr::T(body)) = &mut operation.request_body {
            body.required = Some(Required::False);
        }
    }
    routes
}

fn operations(path: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut path.get, &mut path.post, &mut path.put, &mut path.patch, &mut path.delete].into_iter().flatten()
}

/// Describes the answers with these problems, one for each status; each lists the codes that it may have.
fn add_problems(operation: &mut Operation, problems: &[Problem]) {
    let mut by_status: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for problem in problems {
        let status = problem.status().as_u16().to_string();
        by_status.entry(status).or_default().push(format!("`{}`: {}", problem.code(), problem.title()));
    }
    for (status, lines) in by_status {
        let described = operation.responses.responses.entry(status).or_insert_with(|| error_response().into());
        if let RefOr::T(response) = described {
            let before = std::mem::take(&mut response.description);
            let all = before.split('\n').map(str::to_owned).filter(|line| !line.is_empty());
            let mut all: Vec<String> = all.collect();
            all.extend(lines.into_iter().filter(|line| !all.contains(line)).collect::<Vec<_>>());
            response.description = all.join("\n");
        }
    }
}

fn error_response() -> Response {
    let content = Content::new(Some(Ref::from_schema_name("ErrorBody")));
    ResponseBuilder::new().content("application/json", content).build()
}
