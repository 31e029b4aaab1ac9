//! The providers behind the proxy.

use std::time::Duration;

use axum::http::{HeaderMap, Method};
use epitome::wire::is_version;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use thiserror::Error;

use super::own_tokens;
use super::percent::percent_decode;
use super::provider::{Addresses, Evidence, Provider, RoutingError, choose};
use crate::auth::Tokens;
use crate::http::{ApiError, Problem};

/// The time for a connection to a provider.
const CONNECT: Duration = Duration::from_secs(10);

/// The addresses of the providers, by what they speak.
#[derive(Debug, Clone, Default)]
pub struct Upstreams(Addresses);

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
    #[error(
        "`{0}`: there is an address of this kind already; give one for each of openai=, anthropic=, gemini= and all others"
    )]
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
            "openai" => &mut self.0.openai,
            "anthropic" => &mut self.0.anthropic,
            "gemini" => &mut self.0.gemini,
            _ => &mut self.0.any,
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
        self.0.all().next().is_none()
    }

    /// The URL of a request: its path with its query under the address of its provider, which [`choose`] finds. A version at
    /// the end of the address, as in `https://host/v4`, replaces the `/v1` that clients begin with. Several slashes in a row
    /// are one.
    pub(super) fn target(&self, path: &str, query: Option<&str>, headers: &HeaderMap) -> Result<Url, NoTarget> {
        if self.is_empty() {
            return Err(NoTarget::Nobody);
        }
        let path = with_single_slashes(path);
        let evidence = Evidence::read(query.unwrap_or_default(), headers);
        let mut url = choose(&self.0, &path, &evidence).map_err(NoTarget::Refused)?.clone();
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoTarget {
    /// No provider is configured.
    Nobody,
    /// Its provider is not clear, or has no address.
    Refused(RoutingError),
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

impl From<NoTarget> for ApiError {
    fn from(refused: NoTarget) -> Self {
        const ONE_KEY: &str = "send one provider's key, in the header that this provider has for it, to a path of this \
            provider's; a gateway that takes several providers' keys is `--upstream URL`, alone";
        match refused {
            NoTarget::Nobody => Problem::NoRoute.into(),
            NoTarget::Outside => Problem::BadPath
                .with("the path leaves the provider's address")
                .with_help("write the path without `.` and `..`, encoded or not"),
            NoTarget::Refused(RoutingError::Unclear) => Problem::UnclearProvider.into(),
            NoTarget::Refused(RoutingError::SeveralKeys(one, other)) => Problem::UnclearProvider
                .with(format!("the request has keys of {one} and of {other}, and a provider is sent no other's key"))
                .with_help(ONE_KEY),
            NoTarget::Refused(RoutingError::AnothersKey { key, other }) => Problem::UnclearProvider
                .with(format!("the key is one of {key}, and the request is one for {other}"))
                .with_help(ONE_KEY),
            NoTarget::Refused(RoutingError::NoAddress(provider)) => {
                let name = match provider {
                    Provider::OpenAi => "openai=URL",
                    Provider::Anthropic => "anthropic=URL",
                    Provider::Google => "gemini=URL",
                    Provider::Azure => "openai=https://NAME.openai.azure.com",
                    Provider::Other => "URL",
                };
                let help = format!(
                    "--upstream {name} is where such requests go; or send a key of a provider that is configured"
                );
                Problem::NoRoute
                    .with(format!("the request is for {provider}, of which no address is configured"))
                    .with_help(help)
            }
        }
    }
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
    /// What no provider is sent.
    tokens: Tokens,
    client: Client,
    /// For addresses of this machine, which no proxy of the environment knows.
    local: Client,
}

impl Sender {
    pub(crate) fn new(silence: Duration, tokens: Tokens) -> Result<Self, String> {
        // Building a client panics without a provider of cryptography; one that is there already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || Client::builder().redirect(Policy::none()).connect_timeout(CONNECT).read_timeout(silence);
        let build = |builder: reqwest::ClientBuilder| builder.build().map_err(|error| error.to_string());
        Ok(Self { tokens, client: build(builder())?, local: build(builder().no_proxy())? })
    }

    /// Sends a request, without the service's own tokens: nothing else in the proxy speaks to a provider.
    pub(crate) async fn send(
        &self,
        method: Method,
        mut url: Url,
        mut headers: HeaderMap,
        body: Option<reqwest::Body>,
    ) -> Result<reqwest::Response, UpstreamFailure> {
        own_tokens::strip_tokens(&self.tokens, &mut url, &mut headers);
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
            let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
            let target = upstreams(specs).target(path, query, &HeaderMap::new());
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
        check(&all, "/v1/models", "");
        check(&["https://g.example"], "/v1beta/models/m:x?alt=sse", "https://g.example/v1beta/models/m:x?alt=sse");
    }

    #[test]
    fn paths_stay_under_their_address() {
        let check = |path: &str, expect: &str| {
            let target = upstreams(&["https://api.example/base/v1"]).target(path, None, &HeaderMap::new());
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
        check("/v1/files/a%20b/...", "https://api.example/base/v1/files/a%20b/...");
        check("/", "https://api.example/base/v1/");
        let nobody = Upstreams::default().target("/v1/../../x", None, &HeaderMap::new());
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
        check(&["https://one", "https://two"], "already");
    }
}
