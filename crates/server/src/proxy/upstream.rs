//! The providers behind the proxy.

use std::time::Duration;

use axum::http::{HeaderMap, Method};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use thiserror::Error;

use super::path::gemini_model;
use crate::http::{ApiError, Problem};

/// The time for a connection to a provider.
const CONNECT: Duration = Duration::from_secs(10);

/// The addresses of the providers, by what they speak.
#[derive(Debug, Clone, Default)]
pub struct Upstreams {
    any: Option<Url>,
    openai: Option<Url>,
    anthropic: Option<Url>,
    gemini: Option<Url>,
}

/// Why an address is not taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UpstreamError {
    /// The text is not a URL.
    #[error(
        "this is no address of a provider: https://HOST, http://HOST:PORT/v1, openai=URL, anthropic=URL or gemini=URL"
    )]
    NoUrl,
    /// It holds what belongs into a header.
    #[error("the address of a provider holds no password, key or query: clients send their keys themselves")]
    NotPlain,
    /// There is one of its kind already.
    #[error("`{0}` is the second address of its kind: one for each of openai=, anthropic=, gemini= and all others")]
    Second(String),
}

impl Upstreams {
    /// Adds an address: `URL` for whatever has no other, `openai=URL`, `anthropic=URL` and `gemini=URL`
    /// for requests of these.
    pub fn add(&mut self, spec: &str) -> Result<(), UpstreamError> {
        let (kind, address) = match spec.split_once('=') {
            Some((kind @ ("openai" | "anthropic" | "gemini"), address)) => (kind, address),
            _ => ("", spec),
        };
        let url = Url::parse(address.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let plain = |url: &Url| {
            url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none()
        };
        let url = match url {
            Some(url) if !plain(&url) => return Err(UpstreamError::NotPlain),
            Some(url) if url.has_host() => url,
            // The text is not repeated: it may be a key that was put here by mistake.
            _ => return Err(UpstreamError::NoUrl),
        };
        let place = match kind {
            "openai" => &mut self.openai,
            "anthropic" => &mut self.anthropic,
            "gemini" => &mut self.gemini,
            _ => &mut self.any,
        };
        match place {
            Some(_) => Err(UpstreamError::Second(spec.to_owned())),
            None => {
                *place = Some(url);
                Ok(())
            }
        }
    }

    /// Whether no provider is configured.
    pub fn is_empty(&self) -> bool {
        [&self.any, &self.openai, &self.anthropic, &self.gemini].into_iter().all(Option::is_none)
    }

    /// The URL of a request: `path` with its query under the address of its provider. A version at the end of the
    /// address, as in `https://host/v4`, replaces the `/v1` that clients begin with. Several slashes in a row are one.
    pub(crate) fn target(&self, path_and_query: &str, headers: &HeaderMap) -> Result<Url, NoTarget> {
        let (path, query) =
            path_and_query.split_once('?').map_or((path_and_query, None), |(path, query)| (path, Some(query)));
        let path = with_single_slashes(path);
        let of_anthropic = headers.contains_key("anthropic-version") || path.ends_with("/messages");
        // Google's paths have a version of their own; its interface in OpenAI's form stands below them.
        let of_gemini =
            headers.contains_key("x-goog-api-key") || path.starts_with("/v1beta") || gemini_model(&path).is_some();
        let own = match (of_anthropic, of_gemini && self.gemini.is_some()) {
            (true, _) => &self.anthropic,
            (false, true) => &self.gemini,
            (false, false) => &self.openai,
        };
        let mut url = own.as_ref().or(self.any.as_ref()).ok_or(NoTarget::Nobody)?.clone();
        if leads_upwards(&path) {
            return Err(NoTarget::Outside);
        }
        let base = url.path().trim_end_matches('/').to_owned();
        let has_version = base.rsplit('/').next().is_some_and(is_version);
        let rest = match path.strip_prefix("/v1") {
            Some(rest) if has_version && (rest.is_empty() || rest.starts_with('/')) => rest,
            _ => &path,
        };
        url.set_path(&format!("{base}{rest}"));
        url.set_query(query);
        // Whatever the rules for addresses have made of it.
        if url.path() != base && !url.path().starts_with(&format!("{base}/")) {
            return Err(NoTarget::Outside);
        }
        Ok(url)
    }
}

/// Why a request is sent nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoTarget {
    /// No provider is configured for it.
    Nobody,
    /// The path would leave the address of its provider.
    Outside,
}

fn with_single_slashes(path: &str) -> String {
    let mut single = String::with_capacity(path.len());
    single.extend(path.chars().filter({
        let mut before = None;
        move |char| before.replace(*char) != Some('/') || *char != '/'
    }));
    single
}

/// Whether a path has a part that means its own folder, or the one above, however it is written: encoded, several times
/// over, behind a backslash, with parameters.
fn leads_upwards(path: &str) -> bool {
    /// The number of times that a path may be encoded; a path that is still encoded then is refused.
    const TIMES: usize = 4;
    let mut path = path.as_bytes().to_vec();
    for _ in 0..TIMES {
        let mut parts = path.split(|byte| matches!(byte, b'/' | b'\\'));
        let is_upwards = |part: &[u8]| {
            let name = part.split(|byte| *byte == b';').next().unwrap_or_default();
            name == b"." || name == b".."
        };
        if parts.any(is_upwards) {
            return true;
        }
        let decoded = percent_decode(&path);
        if decoded == path {
            return false;
        }
        path = decoded;
    }
    true
}

/// Percent-encoded bytes as themselves, once.
fn percent_decode(path: &[u8]) -> Vec<u8> {
    let hex = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(path.len());
    let mut at = 0;
    while let Some(byte) = path.get(at) {
        match (byte, hex(path.get(at + 1)), hex(path.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    decoded
}

/// Whether a part of a path is a version: `v1`, `v1beta`.
fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// Why a provider did not answer. Neither address nor headers are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UpstreamFailure {
    /// It said nothing for too long.
    Silent,
    /// The provider cannot be reached.
    Down,
}

impl From<UpstreamFailure> for ApiError {
    fn from(unreachable: UpstreamFailure) -> Self {
        match unreachable {
            UpstreamFailure::Silent => Problem::UpstreamTimeout.into(),
            UpstreamFailure::Down => Problem::UpstreamUnreachable.into(),
        }
    }
}

/// Sends requests on.
#[derive(Debug, Clone)]
pub(crate) struct Sender {
    client: Client,
    /// For addresses of this machine, which no proxy of the environment knows.
    local: Client,
}

impl Sender {
    pub(crate) fn new(silence: Duration) -> Result<Self, String> {
        // Building a client panics without a provider of cryptography; one that is there already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || Client::builder().redirect(Policy::none()).connect_timeout(CONNECT).read_timeout(silence);
        let build = |builder: reqwest::ClientBuilder| builder.build().map_err(|error| error.to_string());
        Ok(Self { client: build(builder())?, local: build(builder().no_proxy())? })
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Option<reqwest::Body>,
    ) -> Result<reqwest::Response, UpstreamFailure> {
        let host = url.host_str().unwrap_or_default();
        let is_local = host == "localhost" || host == "[::1]" || host.starts_with("127.");
        let client = if is_local { &self.local } else { &self.client };
        let mut request = client.request(method, url).headers(headers);
        if let Some(body) = body {
            request = request.body(body);
        }
        request.send().await.map_err(|error| {
            let error = error.without_url();
            tracing::warn!(%error, "the provider did not answer");
            let is_silence = error.is_timeout() && !error.is_connect();
            if is_silence { UpstreamFailure::Silent } else { UpstreamFailure::Down }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn upstreams(specs: &[&str]) -> Upstreams {
        let mut upstreams = Upstreams::default();
        specs.iter().for_each(|spec| upstreams.add(spec).unwrap());
        upstreams
    }

    #[test]
    fn where_a_request_goes() {
        let check = |specs: &[&str], path: &str, expect: &str| {
            let target = upstreams(specs).target(path, &HeaderMap::new());
            assert_eq!(target.map_or(String::new(), |url| url.to_string()), expect, "{specs:?} {path}");
        };
        check(&["https://api.example"], "/v1/messages", "https://api.example/v1/messages");
        check(&["https://api.example/"], "/v1/models?a=b", "https://api.example/v1/models?a=b");
        check(&["https://api.example/v1"], "/v1/chat/completions", "https://api.example/v1/chat/completions");
        check(&["https://api.example/v1/"], "/chat/completions", "https://api.example/v1/chat/completions");
        check(
            &["https://api.example/api/paas/v4"],
            "/v1/chat/completions",
            "https://api.example/api/paas/v4/chat/completions",
        );
        check(&["https://api.example/v1"], "/v1beta/x", "https://api.example/v1/v1beta/x");
        let both = ["openai=https://o.example/v1", "anthropic=https://a.example"];
        check(&both, "/v1/messages", "https://a.example/v1/messages");
        check(&both, "/v1/responses", "https://o.example/v1/responses");
        check(&["anthropic=https://a.example"], "/v1/responses", "");
        check(
            &["anthropic=https://a.example", "https://rest.example"],
            "/v1/responses",
            "https://rest.example/v1/responses",
        );
        let all = ["openai=https://o.example/v1", "gemini=https://g.example"];
        check(&all, "/v1beta/models/m:generateContent", "https://g.example/v1beta/models/m:generateContent");
        check(&all, "/v1/models", "https://o.example/v1/models");
        // OpenAI's own routes of one model get OpenAI's key.
        check(&all, "/v1/models/gpt-5", "https://o.example/v1/models/gpt-5");
        check(
            &all,
            "/v1/projects/p/models/m:generateContent",
            "https://g.example/v1/projects/p/models/m:generateContent",
        );
        check(&["https://g.example"], "/v1beta/models/m:x?alt=sse", "https://g.example/v1beta/models/m:x?alt=sse");
        let mut headers = HeaderMap::new();
        headers.insert("anthropic-version", "2023-06-01".parse().unwrap());
        let target = upstreams(&both).target("/v1/models", &headers).unwrap();
        assert_eq!(target.as_str(), "https://a.example/v1/models");
    }

    #[test]
    fn paths_stay_under_their_address() {
        let check = |path: &str, expect: &str| {
            let target = upstreams(&["https://api.example/base/v1"]).target(path, &HeaderMap::new());
            let shown = target.map_or_else(|refused| format!("{refused:?}"), |url| url.to_string());
            assert_eq!(shown, expect, "{path}");
        };
        for path in [
            "/v1/../../x",
            "/..",
            "/v1/.",
            "/v1/%2e%2e/%2E%2e/x",
            "/v1/.%2e/x",
            "/v1/%252e%252e/x",
            "/v1/a%2f..%2fb",
            "/v1/..%5c..%5cx",
            "/v1/..\\x",
            "/v1/..;a=b/x",
            "/v1/%25252525252e/x",
        ] {
            check(path, "Outside");
        }
        check("/v1/models", "https://api.example/base/v1/models");
        check("//v1///models//", "https://api.example/base/v1/models/");
        check("//evil.example/x", "https://api.example/base/v1/evil.example/x");
        check("/v1/models/org%2Fname..2", "https://api.example/base/v1/models/org%2Fname..2");
        check("/v1/files/a%20b/...?x=../..", "https://api.example/base/v1/files/a%20b/...?x=../..");
        check("/", "https://api.example/base/v1/");
        let nobody = Upstreams::default().target("/v1/../../x", &HeaderMap::new());
        assert_eq!(nobody, Err(NoTarget::Nobody), "there is no address that it could leave");
    }

    #[test]
    fn what_is_no_address() {
        let check = |specs: &[&str], part: &str| {
            let mut upstreams = Upstreams::default();
            let error = specs.iter().map(|spec| upstreams.add(spec)).find_map(Result::err).unwrap();
            assert!(error.to_string().contains(part), "{error}");
            assert!(!error.to_string().contains("sesame"), "{error}");
        };
        check(&["ftp://host"], "no address");
        check(&["host:7"], "no address");
        check(&["https://me:sesame@host"], "no password");
        check(&["https://host/?key=sesame"], "no password");
        check(&["https://one", "https://two"], "second");
    }
}
