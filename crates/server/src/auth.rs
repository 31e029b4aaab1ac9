//! Callers: tokens and their tenants.

mod scanner;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use thiserror::Error;

use scanner::TokenScanner;

/// The header with the service's own token where `Authorization` is a provider's.
pub(crate) const TOKEN_HEADER: HeaderName = HeaderName::from_static("x-epitome-token");

/// Begins the sub-protocol with a token: browsers give WebSockets no other header.
const TOKEN_PREFIX: &str = "epitome.token.";

/// The shortest token that is taken, in bytes: a guess a nanosecond would need 10^21 years.
const SHORTEST: usize = 16;

/// The name of the tenant where there are no tokens, or only one.
const ONLY_TENANT: &str = "default";

/// The tokens that are taken and the tenant of each. Only digests of tokens are kept; `Debug` shows tenants alone.
#[derive(Clone, Default)]
pub struct Tokens {
    known: Vec<(blake3::Hash, Arc<str>)>,
    scanner: TokenScanner,
}

/// Why tokens are not taken. None of these holds a token.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The environment has no such variable, or it is empty.
    #[error("the environment variable {0} holds no token: set it to one of {SHORTEST} characters or more")]
    NoVariable(String),
    /// The file cannot be read.
    #[error("the token file {path} cannot be read: {error}")]
    File {
        /// The file.
        path: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// A line of the file is not `tenant token`.
    #[error("line {line} of the token file is not `tenant token`: two words, # begins a comment")]
    Line {
        /// The line, from 1.
        line: usize,
    },
    /// A token is too easy to guess.
    #[error("{place}: a token needs {SHORTEST} characters or more, such as the output of `openssl rand -hex 24`")]
    Short {
        /// The token's line, or its option.
        place: String,
    },
    /// A token is not a text that a header can carry.
    #[error("{place}: a token is made of visible ASCII characters")]
    NotVisible {
        /// The token's line, or its option.
        place: String,
    },
    /// Two tenants have one token.
    #[error("{place}: this token was given before")]
    Twice {
        /// The token's line, or its option.
        place: String,
    },
    /// The file holds none.
    #[error("the token file holds no token: write a line `tenant token`")]
    Empty,
}

impl Tokens {
    /// One token, in an environment variable.
    pub fn from_variable(name: &str) -> Result<Self, TokenError> {
        let token = std::env::var(name).ok().filter(|token| !token.trim().is_empty());
        let token = token.ok_or_else(|| TokenError::NoVariable(name.to_owned()))?;
        let mut tokens = Self::default();
        tokens.add(token.trim(), ONLY_TENANT, || format!("the environment variable {name}"))?;
        Ok(tokens)
    }

    /// The tokens of a file, one `tenant token` a line. A tenant may have several.
    pub fn from_file(path: &Path) -> Result<Self, TokenError> {
        let shown = path.display().to_string();
        let text = epitome_shelf::read_plain_text(path).map_err(|error| TokenError::File { path: shown, error })?;
        Self::parse(&text)
    }

    /// The same from the file's text.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let mut tokens = Self::default();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let mut words = content.split_whitespace();
            let (Some(tenant), Some(token), None) = (words.next(), words.next(), words.next()) else {
                return Err(TokenError::Line { line });
            };
            tokens.add(token, tenant, || format!("line {line} of the token file"))?;
        }
        if tokens.is_empty() { Err(TokenError::Empty) } else { Ok(tokens) }
    }

    fn add(&mut self, token: &str, tenant: &str, place: impl Fn() -> String) -> Result<(), TokenError> {
        if token.len() < SHORTEST {
            return Err(TokenError::Short { place: place() });
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::NotVisible { place: place() });
        }
        let digest = blake3::hash(token.as_bytes());
        if self.known.iter().any(|(known, _)| *known == digest) {
            return Err(TokenError::Twice { place: place() });
        }
        self.known.push((digest, Arc::from(tenant)));
        self.scanner.add(token.as_bytes());
        Ok(())
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The tenants, each once.
    pub fn tenants(&self) -> Vec<Arc<str>> {
        let mut tenants: Vec<Arc<str>> = self.known.iter().map(|(_, tenant)| Arc::clone(tenant)).collect();
        tenants.sort();
        tenants.dedup();
        tenants
    }

    /// Whether there is more than one tenant, so that limits between tenants matter.
    pub(crate) fn has_several_tenants(&self) -> bool {
        self.tenants().len() > 1
    }

    /// The tenant of a token. Takes as long for a wrong token as for a right one: digests are compared in constant time,
    /// and all of them.
    fn tenant(&self, token: &str) -> Option<Arc<str>> {
        let digest = blake3::hash(token.as_bytes());
        let mut found = None;
        for (known, tenant) in &self.known {
            if *known == digest {
                found = Some(tenant);
            }
        }
        found.cloned()
    }

    /// Whether a part of `text` is one of the tokens, of whichever tenant.
    pub(crate) fn are_in(&self, text: &[u8]) -> bool {
        self.scanner.finds(text, |part| {
            let digest = blake3::hash(part);
            self.known.iter().any(|(known, _)| *known == digest)
        })
    }

    /// The caller with these headers.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Option<Caller> {
        if self.is_empty() {
            return Some(Caller { tenant: Arc::from(ONLY_TENANT) });
        }
        let own = headers.get(TOKEN_HEADER).and_then(|value| value.to_str().ok());
        if let Some(tenant) = own.and_then(|token| self.tenant(token.trim())) {
            return Some(Caller { tenant });
        }
        if let Some(tenant) = token_in_protocol(headers).and_then(|token| self.tenant(&token)) {
            return Some(Caller { tenant });
        }
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(bearer_token);
        let tenant = bearer.and_then(|token| self.tenant(token))?;
        Some(Caller { tenant })
    }
}

/// The token that a browser hides among the sub-protocols: `epitome.token.` and the token in URL-safe base64.
fn token_in_protocol(headers: &HeaderMap) -> Option<String> {
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let mut offered = offered.flat_map(|value| value.split(',')).map(str::trim);
    let encoded = offered.find_map(|protocol| protocol.strip_prefix(TOKEN_PREFIX))?;
    String::from_utf8(URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')).ok()?).ok()
}

impl fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tokens").field("tenants", &self.tenants()).finish()
    }
}

/// The caller of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) tenant: Arc<str>,
}

fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_file_of_tokens() {
        let check = |text: &str, expect: Result<&[&str], &str>| match (Tokens::parse(text), expect) {
            (Ok(tokens), Ok(tenants)) => {
                assert_eq!(tokens.tenants().iter().map(AsRef::as_ref).collect::<Vec<&str>>(), tenants);
            }
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{error}");
                assert!(!error.to_string().contains("sesame"), "{error}");
            }
            (got, expect) => assert!(got.is_err() == expect.is_err(), "{text}: {got:?}"),
        };
        check("# who\nalice open-sesame-one-two\n\nbob  open-sesame-two-two\n", Ok(&["alice", "bob"]));
        check("alice open-sesame-one-two\nalice open-sesame-two-two\n", Ok(&["alice"]));
        check("alice open-sesame\n", Err("16 characters"));
        check("alice\n", Err("line 1"));
        check("alice open-sesame-one-two more\n", Err("line 1"));
        check("alice open-sesame-öne-twö\n", Err("visible"));
        check("alice open-sesame-one-two\nbob open-sesame-one-two\n", Err("line 2"));
        check("# nobody\n", Err("no token"));
    }

    #[test]
    fn who_calls() {
        let tokens = Tokens::parse("alice open-sesame-one-two\nbob open-sesame-two-two\n").unwrap();
        let check = |headers: &[(&'static str, &str)], expect: Option<&str>| {
            let headers: HeaderMap =
                headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect();
            let caller = tokens.caller(&headers);
            assert_eq!(caller.as_ref().map(|caller| &*caller.tenant), expect, "{headers:?}");
        };
        check(&[], None);
        check(&[("authorization", "Bearer open-sesame-one-two")], Some("alice"));
        check(&[("authorization", "bearer  open-sesame-two-two")], Some("bob"));
        check(&[("authorization", "Basic open-sesame-one-two")], None);
        check(&[("authorization", "Bearer open-sesame-one-twO")], None);
        check(&[("x-epitome-token", "open-sesame-one-two")], Some("alice"));
        check(&[("x-epitome-token", "open-sesame-two-two"), ("authorization", "Bearer sk-of-a-provider")], Some("bob"));
        assert!(!format!("{tokens:?}").contains("sesame"));
        let anybody = Tokens::default().caller(&HeaderMap::new()).unwrap();
        assert_eq!(&*anybody.tenant, ONLY_TENANT);
    }

    #[test]
    fn a_token_among_sub_protocols() {
        let check = |value: &str, expect: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::SEC_WEBSOCKET_PROTOCOL, value.parse().unwrap());
            assert_eq!(token_in_protocol(&headers).as_deref(), expect, "{value}");
        };
        check("epitome, epitome.token.b3Blbi1zZXNhbWU", Some("open-sesame"));
        check("epitome.token.b3Blbi1zZXNhbWU=,epitome", Some("open-sesame"));
        check("epitome", None);
        check("epitome.token.!", None);
        check("epitome.token._w", None);
    }
}
