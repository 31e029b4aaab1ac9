//! The service's own tokens, taken out of what goes to a provider.
//!
//! A client may send its token in any place: in `Authorization` beside the header that is meant for it, as a provider's key,
//! in the query, among the sub-protocols. Wherever one stands, and however it is encoded there, it does not go on.

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use reqwest::Url;

use super::percent::percent_decode;
use crate::auth::Tokens;

/// How often a text is decoded in search of a token: percent-encoded Basic authorization of an encoded token is three.
const TIMES: usize = 3;

/// The shortest base64 of a token of 16 bytes, the shortest that is taken.
const SHORTEST_BASE64: usize = 22;

/// Base64 as anybody may have written it: with padding or without, and whatever its last bits are.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Takes the service's tokens out of a request for a provider: the header, the cookie, the sub-protocol or the parameter in
/// which one stands goes whole. The path is not changed: [`are_in_path`].
pub(super) fn strip_tokens(tokens: &Tokens, url: &mut Url, headers: &mut HeaderMap) {
    if let Some(query) = url.query() {
        let left = clean_query(tokens, query);
        if left.as_deref() != Some(query) {
            url.set_query(left.as_deref());
        }
    }
    clean_headers(tokens, headers);
}

/// A query without the parameters that hold one of the tokens; `None` where nothing is left of it.
pub(super) fn clean_query(tokens: &Tokens, query: &str) -> Option<String> {
    if tokens.is_empty() || !are_within(tokens, query.as_bytes(), TIMES) {
        return Some(query.to_owned());
    }
    let left = without(tokens, query.as_bytes(), b'&')?;
    String::from_utf8(left).ok().filter(|left| !left.is_empty())
}

/// Whether a path has a token in it. A provider would be sent another path without it, so such a request is refused.
pub(super) fn are_in_path(tokens: &Tokens, path: &str) -> bool {
    !tokens.is_empty() && are_within(tokens, path.as_bytes(), TIMES)
}

/// Takes the tokens out of headers.
pub(super) fn clean_headers(tokens: &Tokens, headers: &mut HeaderMap) {
    if tokens.is_empty() {
        return;
    }
    let is_touched = |(name, value): (&HeaderName, &HeaderValue)| {
        are_within(tokens, value.as_bytes(), TIMES) || tokens.are_in(name.as_str().as_bytes())
    };
    if !headers.iter().any(is_touched) {
        return;
    }
    let mut clean = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers.iter() {
        if !is_touched((name, value)) {
            clean.append(name, value.clone());
            continue;
        }
        let between = match *name {
            header::COOKIE => b';',
            header::SEC_WEBSOCKET_PROTOCOL => b',',
            _ => continue,
        };
        let left = without(tokens, value.as_bytes(), between).filter(|left| !left.trim_ascii().is_empty());
        if let Some(left) = left.and_then(|left| HeaderValue::from_bytes(left.trim_ascii()).ok()) {
            clean.append(name, left);
        }
    }
    *headers = clean;
}

/// A list without its parts that hold a token; `None` where a token is in what is left, over several parts.
fn without(tokens: &Tokens, list: &[u8], between: u8) -> Option<Vec<u8>> {
    let parts = list.split(|byte| *byte == between).filter(|part| !are_within(tokens, part, TIMES));
    let left = parts.collect::<Vec<_>>().join(&between);
    (!are_within(tokens, &left, TIMES)).then_some(left)
}

/// Whether a token is in a text, as it is or encoded: by per cent, or in base64.
fn are_within(tokens: &Tokens, text: &[u8], times: usize) -> bool {
    if tokens.are_in(text) {
        return true;
    }
    let Some(times) = times.checked_sub(1) else { return false };
    let decoded = percent_decode(text);
    if decoded != text && are_within(tokens, &decoded, times) {
        return true;
    }
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let runs = text.split(|byte| !is_base64(byte)).filter(|run| run.len() >= SHORTEST_BASE64);
    runs.flat_map(|run| (0..4).map(move |from| &run[from..])).any(|run| {
        // It may stand behind a word and a hyphen, so each beginning is tried; both alphabets are read.
        let whole = &run[..run.len() - usize::from(run.len() % 4 == 1)];
        let standard: Vec<u8> = whole
            .iter()
            .map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                other => *other,
            })
            .collect();
        LENIENT.decode(standard).is_ok_and(|decoded| are_within(tokens, &decoded, times))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    use super::*;

    /// With characters that mean something in a query, a cookie and a list.
    const TOKENS: &str = "alice open-sesame-one-two\nbob two?open&sesame;three,four=\n";

    fn encoded(text: &str) -> String {
        text.bytes().map(|byte| format!("%{byte:02x}")).collect()
    }

    /// The query and the headers that go on.
    fn sent(query: &str, headers: &[(&'static str, String)]) -> (Option<String>, Vec<String>) {
        let tokens = Tokens::parse(TOKENS).unwrap();
        let mut url = Url::parse("https://provider/v1/models").unwrap();
        url.set_query((!query.is_empty()).then_some(query));
        let mut map = HeaderMap::new();
        headers.iter().for_each(|(name, value)| assert!(!map.append(*name, value.parse().unwrap())));
        strip_tokens(&tokens, &mut url, &mut map);
        let headers = map.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        (url.query().map(str::to_owned), headers.collect())
    }

    #[test]
    fn a_token_goes_with_the_header_that_holds_it() {
        let check = |name: &'static str, value: String, expect: &str| {
            let kept = ("x-kept", "1".to_owned());
            let (_, headers) = sent("", &[(name, value.clone()), kept]);
            let expect: Vec<&str> = [expect, "x-kept: 1"].into_iter().filter(|it| !it.is_empty()).collect();
            assert_eq!(headers, expect, "{name}: {value}");
        };
        for token in ["open-sesame-one-two", "two?open&sesame;three,four="] {
            let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
            let websocket = format!("epitome.token.{}", URL_SAFE_NO_PAD.encode(token));
            for value in [
                token.to_owned(),
                format!("Bearer {token}"),
                format!("bearer  {token} "),
                format!("a{token}b"),
                encoded(token),
                encoded(&encoded(token)),
                basic(&format!("user:{token}")),
                basic(&format!("{token}:")),
                basic(&encoded(token)),
                encoded(&basic(token)),
                format!("key-{}", URL_SAFE_NO_PAD.encode(format!("{{\"token\":\"{token}\"}}"))),
            ] {
                for name in
                    ["authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "x-anything", "referer"]
                {
                    check(name, value.clone(), "");
                }
            }
            check("cookie", format!("a=1; token={}; b=2", encoded(token)), "cookie: a=1; b=2");
            check("sec-websocket-protocol", format!("realtime, {websocket}"), "sec-websocket-protocol: realtime");
            check("sec-websocket-protocol", websocket, "");
        }
        check("authorization", "Bearer sk-of-the-client".to_owned(), "authorization: Bearer sk-of-the-client");
        check("authorization", "Bearer open-sesame-one-twO".to_owned(), "authorization: Bearer open-sesame-one-twO");
        let long = STANDARD.encode([7; 900]);
        check("x-long", long.clone(), &format!("x-long: {long}"));
    }

    #[test]
    fn a_token_goes_with_its_parameter() {
        let check = |query: &str, expect: Option<&str>| {
            assert_eq!(sent(query, &[]).0.as_deref(), expect, "{query}");
        };
        check("a=1&key=open-sesame-one-two&b=%20", Some("a=1&b=%20"));
        check("key=open-sesame-one-two", None);
        check(&format!("key={}&b=2", encoded("two?open&sesame;three,four=")), Some("b=2"));
        check("key=two?open&sesame;three,four=&b", None);
        check("key=of-a-provider&alt=sse", Some("key=of-a-provider&alt=sse"));
    }

    #[test]
    fn a_path_with_a_token() {
        let tokens = Tokens::parse(TOKENS).unwrap();
        let check = |path: &str, expect: bool| assert_eq!(are_in_path(&tokens, path), expect, "{path}");
        check("/v1/models", false);
        check("/open-sesame-one-two/v1/models", true);
        check(&format!("/v1/{}", encoded("open-sesame-one-two")), true);
        assert!(!are_in_path(&Tokens::default(), "/open-sesame-one-two"));
    }
}
