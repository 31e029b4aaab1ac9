//! The console: a page and its files, compiled in. The files hold no data of a tenant and need no token; what the page
//! shows it asks for over the HTTP interface like any other client.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::http::Problem;
use crate::settings::Settings;

/// The page.
const INDEX: &str = "index.html";

/// Names and contents, sorted by name, as the build script found them.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/console_files"));

/// The page's permissions: run its own script, use its own styles, and talk to the service that it came from. Markup
/// and code are never made from strings, and browsers that know trusted types enforce it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// The headers of every answer.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The routes. The service's own address leads to the console, unless it is a provider's.
pub(crate) fn router(settings: &Settings) -> Router {
    let router = Router::new()
        .route("/console", get(|| async { redirect("console/") }))
        .route("/console/", get(page))
        .route("/console/{*path}", get(part));
    if settings.upstreams.is_empty() { router.route("/", get(|| async { redirect("console/") })) } else { router }
}

async fn page(headers: HeaderMap) -> Response {
    file(INDEX, &headers)
}

async fn part(Path(path): Path<String>, headers: HeaderMap) -> Response {
    file(&path, &headers)
}

/// The address is relative, so that it holds behind a reverse proxy that puts the service into a folder.
fn redirect(to: &'static str) -> Response {
    (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, to)]).into_response()
}

/// A file of the console, or that the caller has it already.
fn file(name: &str, asked: &HeaderMap) -> Response {
    let Ok(place) = FILES.binary_search_by_key(&name, |(name, _)| name) else {
        return Problem::NoRoute.into_response();
    };
    let (name, content) = FILES[place];
    let tag = &TAGS[place];
    let known = asked.get_all(header::IF_NONE_MATCH).iter().any(|tags| knows(tags, tag));
    let mut response = if known { StatusCode::NOT_MODIFIED.into_response() } else { content.into_response() };
    let headers = response.headers_mut();
    if !known {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching(name)));
    headers.insert(header::ETAG, tag.clone());
    headers.extend(HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    response
}

/// The hash of each file, as an `ETag`.
static TAGS: LazyLock<Vec<HeaderValue>> = LazyLock::new(|| {
    let tag = |content: &[u8]| format!("\"{}\"", &blake3::hash(content).to_hex()[..24]);
    let value = |content: &[u8]| HeaderValue::try_from(tag(content)).unwrap_or(HeaderValue::from_static("\"\""));
    FILES.iter().map(|(_, content)| value(content)).collect()
});

fn knows(tags: &HeaderValue, tag: &HeaderValue) -> bool {
    let (Ok(tags), Ok(tag)) = (tags.to_str(), tag.to_str()) else { return false };
    tags.split(',').map(|it| it.trim().trim_start_matches("W/")).any(|it| it == tag || it == "*")
}

/// The media type of a file.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Files whose names hold a hash of their content never change; the others are asked for again.
fn caching(name: &str) -> &'static str {
    if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn get(name: &str, known: Option<&str>) -> Response {
        let mut headers = HeaderMap::new();
        headers.extend(known.map(|known| (header::IF_NONE_MATCH, HeaderValue::try_from(known).unwrap())));
        file(name, &headers)
    }

    fn value(response: &Response, name: HeaderName) -> String {
        response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }

    #[test]
    fn files_with_their_headers() {
        let ending = |ending: &str| FILES.iter().map(|(name, _)| *name).find(|name| name.ends_with(ending)).unwrap();
        let check = |name: &str, kind: &str, caching: &str| {
            let response = get(name, None);
            assert_eq!(response.status(), StatusCode::OK, "{name}");
            assert_eq!(value(&response, header::CONTENT_TYPE), kind, "{name}");
            assert_eq!(value(&response, header::CACHE_CONTROL), caching, "{name}");
            for (header, expect) in HEADERS {
                assert_eq!(value(&response, header), expect, "{name}");
            }
        };
        const FOREVER: &str = "public, max-age=31536000, immutable";
        check(INDEX, "text/html; charset=utf-8", "no-cache");
        check("icon.svg", "image/svg+xml", "no-cache");
        check(ending(".js"), "text/javascript; charset=utf-8", FOREVER);
        check(ending(".css"), "text/css; charset=utf-8", FOREVER);
    }

    #[test]
    fn what_is_known_is_not_sent_again() {
        let tag = value(&get(INDEX, None), header::ETAG);
        let check = |known: &str, expect: u16| assert_eq!(get(INDEX, Some(known)).status().as_u16(), expect, "{known}");
        check(&tag, 304);
        check(&format!("\"other\", W/{tag}"), 304);
        check("*", 304);
        check("\"other\"", 200);
        check("", 200);
        assert_eq!(value(&get(INDEX, Some(&tag)), header::ETAG), tag);
    }

    #[test]
    fn nothing_else_is_served() {
        for name in ["", "..", "../Cargo.toml", "assets", "assets/", "index.html/", "INDEX.HTML", "/index.html"] {
            assert_eq!(get(name, None).status(), StatusCode::NOT_FOUND, "{name}");
        }
    }

    /// The policy forbids scripts and styles in the page itself, and everything from elsewhere: a page that has any
    /// would be empty.
    #[test]
    fn the_page_asks_for_nothing_that_the_policy_forbids() {
        let page = FILES.iter().find(|(name, _)| *name == INDEX).unwrap().1;
        let page = std::str::from_utf8(page).unwrap();
        for forbidden in ["<style", " style=", " onload=", "javascript:", "http://", "https://"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        let ours = page.matches("<script type=\"module\" crossorigin src=\"./").count();
        assert_eq!(page.matches("<script").count(), ours);
        for (name, content) in FILES.iter().filter(|(name, _)| name.ends_with(".css")) {
            let style = std::str::from_utf8(content).unwrap();
            assert!(!style.contains("url(") && !style.contains("@import"), "{name}");
        }
    }
}
