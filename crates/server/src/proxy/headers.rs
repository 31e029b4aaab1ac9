//! Which headers go on, and which stay.

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Headers that concern one connection only.
const OF_A_CONNECTION: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The prefix of our own headers.
const OURS: &str = "x-epitome-";

/// Headers with what a client shows the provider.
pub(crate) const KEYS: [&str; 4] = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/// The headers of a request for the provider: the client's, without those of the connection and without ours. The
/// body's length stays where the body is sent as it came (`same_body`).
pub(crate) fn for_provider(client: &HeaderMap, same_body: bool) -> HeaderMap {
    let mut headers = common(client);
    headers.remove(header::HOST);
    headers.remove(header::EXPECT);
    if !same_body {
        headers.remove(header::CONTENT_LENGTH);
    }
    headers
}

/// The headers of an answer for the client: the provider's, without those of the connection.
pub(crate) fn for_client(provider: &HeaderMap) -> HeaderMap {
    common(provider)
}

fn common(from: &HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = from
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let goes_on = |name: &HeaderName| {
        !OF_A_CONNECTION.contains(&name.as_str()) && !name.as_str().starts_with(OURS) && !named.contains(name)
    };
    let mut headers = HeaderMap::with_capacity(from.len());
    for (name, value) in from.iter().filter(|(name, _)| goes_on(name)) {
        headers.append(name, value.clone());
    }
    headers
}

/// Asks for an answer that is not compressed: an error has to be read.
pub(crate) fn ask_for_plain(headers: &mut HeaderMap) {
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn what_goes_on() {
        let client = map(&[
            ("host", "localhost"),
            ("authorization", "Bearer of-the-client"),
            ("x-epitome-token", "ours"),
            ("connection", "keep-alive, x-hop"),
            ("x-hop", "1"),
            ("keep-alive", "5"),
            ("transfer-encoding", "chunked"),
            ("content-length", "10"),
            ("expect", "100-continue"),
            ("anthropic-beta", "a"),
            ("anthropic-beta", "b"),
        ]);
        let names = |headers: HeaderMap| {
            let mut names: Vec<String> = headers.iter().map(|(name, _)| name.to_string()).collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!(names(for_provider(&client, false)), "anthropic-beta anthropic-beta authorization");
        let as_it_came = names(for_provider(&client, true));
        assert_eq!(as_it_came, "anthropic-beta anthropic-beta authorization content-length");
        let provider =
            map(&[("content-type", "text/event-stream"), ("transfer-encoding", "chunked"), ("x-request-id", "7")]);
        assert_eq!(names(for_client(&provider)), "content-type x-request-id");
    }
}
