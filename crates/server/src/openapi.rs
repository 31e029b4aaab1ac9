//! The OpenAPI document, generated from the routes and their types.

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::routes::{check, compact, compress, inspect, retrieve, status};

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
        status::alive,
        status::ready,
        status::metrics,
        status::openapi,
    ),
    tags(
        (name = "compaction", description = "For runtimes that keep their own history"),
        (name = "gateways", description = "In the shape that gateways call compression services in"),
        (name = "operation", description = "For whoever runs the service"),
    ),
    modifiers(&Token)
)]
pub(crate) struct Document;

/// The token, where the service has any.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_route_is_described() {
        let described: BTreeSet<String> = Document::openapi().paths.paths.into_keys().collect();
        let routes: BTreeSet<String> = crate::routes::PATHS.iter().map(|path| (*path).to_owned()).collect();
        assert_eq!(described, routes);
    }
}
