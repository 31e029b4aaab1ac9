//! What the headers and the query of a request say of its provider.

use axum::http::header::{self, HeaderMap};

use super::named::Provider;
use crate::proxy::percent::percent_decode;

/// Beginnings of keys that no other provider's have. Sources: the key formats that the providers publish for secret scanning
/// (<https://docs.github.com/code-security/secret-scanning>), Google's for OAuth tokens
/// (<https://docs.cloud.google.com/docs/authentication/token-types>).
const FORMS: [(&str, Provider); 11] = [
    ("sk-ant-", Provider::Anthropic),
    ("sk-proj-", Provider::OpenAi),
    ("sk-svcacct-", Provider::OpenAi),
    ("sk-admin-", Provider::OpenAi),
    ("AIza", Provider::Google),
    ("ya29.", Provider::Google),
    // OpenRouter, Groq, xAI, Hugging Face, NVIDIA.
    ("sk-or-", Provider::Other),
    ("gsk_", Provider::Other),
    ("xai-", Provider::Other),
    ("hf_", Provider::Other),
    ("nvapi-", Provider::Other),
];

/// In the middle of each of OpenAI's older keys: its name in base64.
const IN_OPENAIS: &str = "T3BlbkFJ";

/// The beginning of OpenAI's keys in `Authorization`; others write `sk-` too, and none of the other three in that place.
const OPENAIS: &str = "sk-";

/// The beginning of the sub-protocol with a key of OpenAI's: browsers give WebSockets no header.
/// Source: <https://platform.openai.com/docs/guides/realtime-websocket>.
const OPENAIS_PROTOCOL: &str = "openai-insecure-api-key.";

/// Headers that hold one provider's keys. Sources: the API references of Anthropic, Google, and Azure OpenAI.
const KEY_HEADERS: [(&str, Provider); 4] = [
    ("x-api-key", Provider::Anthropic),
    ("x-goog-api-key", Provider::Google),
    ("api-key", Provider::Azure),
    ("ocp-apim-subscription-key", Provider::Azure),
];

/// Parameters that hold one provider's keys, from the same sources.
const KEY_PARAMETERS: [(&str, Provider); 5] = [
    ("key", Provider::Google),
    ("access_token", Provider::Google),
    ("api-key", Provider::Azure),
    ("api_key", Provider::Azure),
    ("subscription-key", Provider::Azure),
];

/// Headers without keys that one provider's clients send.
const HEADERS: [(&str, Provider); 5] = [
    ("anthropic-version", Provider::Anthropic),
    ("anthropic-beta", Provider::Anthropic),
    ("openai-organization", Provider::OpenAi),
    ("openai-project", Provider::OpenAi),
    ("openai-beta", Provider::OpenAi),
];

/// Whose a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::proxy) struct Owner {
    pub(super) provider: Provider,
    /// Whether its form shows it, and not only the place where it stands: others that speak a provider's interface have
    /// their keys there too.
    pub(super) by_form: bool,
}

/// What a request shows of its provider beside the path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::proxy) struct Evidence {
    /// Whose its keys are, each once.
    pub(super) owners: Vec<Owner>,
    /// Whose clients send its other headers, each once.
    pub(super) senders: Vec<Provider>,
    /// Whether there is a key in `Authorization` that could be anybody's.
    pub(super) has_unknown_key: bool,
}

impl Evidence {
    /// Reads a request from which the service's own tokens were taken.
    pub(in crate::proxy) fn read(query: &str, headers: &HeaderMap) -> Self {
        let mut found = Self::default();
        for (name, value) in headers {
            // A value of other bytes is no key that any of them takes.
            let value = String::from_utf8_lossy(value.as_bytes());
            let of_header = |known: &[(&str, Provider)]| {
                known.iter().find(|(known, _)| *known == name.as_str()).map(|(_, provider)| *provider)
            };
            match *name {
                _ if value.trim().is_empty() => {}
                header::AUTHORIZATION => found.add_authorization(&value),
                header::SEC_WEBSOCKET_PROTOCOL => {
                    let mut offered = value.split(',').map(str::trim);
                    if offered.any(|protocol| protocol.starts_with(OPENAIS_PROTOCOL)) {
                        found.add_owner(Provider::OpenAi, true);
                    }
                }
                _ => {
                    found.add(of_header(&KEY_HEADERS), key_of(&value));
                    found.senders.extend(of_header(&HEADERS).filter(|it| !found.senders.contains(it)));
                }
            }
        }
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let [name, value] = [name, value].map(|text| percent_decode(text.as_bytes()));
            let (name, value) = (String::from_utf8_lossy(&name), String::from_utf8_lossy(&value));
            if value.is_empty() {
                continue;
            }
            let of_name = KEY_PARAMETERS.iter().find(|(known, _)| *known == name).map(|(_, provider)| *provider);
            found.add(of_name, &value);
        }
        found
    }

    fn add_authorization(&mut self, value: &str) {
        let key = key_of(value);
        match of_form(key) {
            Some(owner) => self.add_owner(owner, true),
            None if key.starts_with(OPENAIS) => self.add_owner(Provider::OpenAi, true),
            None => self.has_unknown_key = true,
        }
    }

    /// Takes note of a key by its place and its form.
    fn add(&mut self, by_place: Option<Provider>, key: &str) {
        if let Some(provider) = by_place {
            self.add_owner(provider, false);
        }
        if let Some(provider) = of_form(key) {
            self.add_owner(provider, true);
        }
    }

    fn add_owner(&mut self, provider: Provider, by_form: bool) {
        match self.owners.iter_mut().find(|owner| owner.provider == provider) {
            Some(known) => known.by_form |= by_form,
            None => self.owners.push(Owner { provider, by_form }),
        }
    }
}

/// The key in a value: without the word in front of it that says how it is used.
fn key_of(value: &str) -> &str {
    let value = value.trim();
    value.split_once(' ').map_or(value, |(_, key)| key.trim())
}

/// Whose a key is by its form alone.
fn of_form(key: &str) -> Option<Provider> {
    let known = FORMS.iter().find(|(beginning, _)| key.starts_with(beginning));
    let known = known.map(|(_, provider)| *provider);
    known.or_else(|| (key.starts_with(OPENAIS) && key.contains(IN_OPENAIS)).then_some(Provider::OpenAi))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::named::Provider::{Anthropic, Azure, Google, OpenAi, Other};
    use super::*;

    #[test]
    fn whose_a_request_looks() {
        let check = |query: &str, headers: &[(&'static str, &str)], owners: &[Provider], unknown: bool| {
            let map = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            let found = Evidence::read(query, &map);
            let found_owners: Vec<Provider> = found.owners.iter().map(|owner| owner.provider).collect();
            assert_eq!((&*found_owners, found.has_unknown_key), (owners, unknown), "{query} {headers:?}");
        };
        check("", &[], &[], false);
        check("", &[("authorization", "Bearer sk-proj-a")], &[OpenAi], false);
        check("", &[("authorization", "bearer   sk-a")], &[OpenAi], false);
        check("", &[("authorization", "sk-ant-a")], &[Anthropic], false);
        check("", &[("authorization", "Bearer sk-ant-oat01-a")], &[Anthropic], false);
        check("", &[("authorization", "Bearer ya29.a")], &[Google], false);
        check("", &[("authorization", "Bearer sk-or-v1-a")], &[Other], false);
        check("", &[("authorization", "Bearer anything")], &[], true);
        check("", &[("authorization", "Basic dTpw")], &[], true);
        check("", &[("x-api-key", "anything")], &[Anthropic], false);
        check("", &[("x-api-key", "sk-anything")], &[Anthropic], false);
        check("", &[("x-api-key", "sk-aT3BlbkFJb")], &[Anthropic, OpenAi], false);
        check("", &[("x-api-key", "")], &[], false);
        check("", &[("x-goog-api-key", "anything")], &[Google], false);
        check("", &[("api-key", "anything")], &[Azure], false);
        check("", &[("x-of-a-client", "Bearer sk-ant-a")], &[Anthropic], false);
        check("", &[("sec-websocket-protocol", "realtime, openai-insecure-api-key.sk-a")], &[OpenAi], false);
        check("", &[("authorization", "Bearer a"), ("x-api-key", "b")], &[Anthropic], true);
        check("", &[("authorization", "Bearer sk-a"), ("x-api-key", "b")], &[OpenAi, Anthropic], false);
        check("alt=sse&key=a", &[], &[Google], false);
        check("k%65y=a", &[], &[Google], false);
        check("key=", &[], &[], false);
        check("api-key=a", &[], &[Azure], false);
        check("token=sk-ant-a", &[], &[Anthropic], false);
    }
}
