//! Providers by the hosts of their own addresses.

use reqwest::Url;

use super::named::Provider;

/// The domains under which providers serve their interfaces. Sources: the base addresses of the providers' API references;
/// for Azure the domains of its clouds and of its API Management.
const DOMAINS: [(&str, Provider); 10] = [
    ("openai.com", Provider::OpenAi),
    ("chatgpt.com", Provider::OpenAi),
    ("anthropic.com", Provider::Anthropic),
    ("claude.com", Provider::Anthropic),
    ("googleapis.com", Provider::Google),
    ("azure.com", Provider::Azure),
    ("azure.us", Provider::Azure),
    ("azure.cn", Provider::Azure),
    ("azure-api.net", Provider::Azure),
    ("openrouter.ai", Provider::Other),
];

/// The provider whose own address a URL is; `None` for a host of anybody else: a gateway, a model on this machine.
pub(super) fn of_address(url: &Url) -> Option<Provider> {
    let host = url.host_str()?.trim_end_matches('.');
    let is_in = |domain: &str| host.strip_suffix(domain).is_some_and(|left| left.is_empty() || left.ends_with('.'));
    DOMAINS.iter().find(|(domain, _)| is_in(domain)).map(|(_, provider)| *provider)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn known_hosts() {
        let check = |url: &str, expect: Option<Provider>| {
            assert_eq!(of_address(&Url::parse(url).unwrap()), expect, "{url}");
        };
        check("https://api.openai.com/v1", Some(Provider::OpenAi));
        check("https://API.Anthropic.com.", Some(Provider::Anthropic));
        check("https://mine.openai.azure.com/openai", Some(Provider::Azure));
        check("https://generativelanguage.googleapis.com", Some(Provider::Google));
        check("https://notopenai.com", None);
        check("https://openai.com.evil.example", None);
        check("http://127.0.0.1:8000", None);
    }
}
