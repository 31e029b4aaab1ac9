#![allow(clippy::unwrap_used)]
use axum::http::{HeaderMap, HeaderName};

use super::*;

const PROVIDERS: [(&str, Provider); 3] =
    [("https://o.example/", OpenAi), ("https://a.example/", Anthropic), ("https://g.example/", Google)];

/// `NAME=URL`, as on the command line.
fn addresses(specs: &str) -> Addresses {
    let mut addresses = Addresses::default();
    for spec in specs.split_whitespace() {
        let (name, url) = spec.split_once('=').unwrap_or(("", spec));
        let place = match name {
            "openai" => &mut addresses.openai,
            "anthropic" => &mut addresses.anthropic,
            "gemini" => &mut addresses.gemini,
            _ => &mut addresses.any,
        };
        *place = Some(Url::parse(url).unwrap());
    }
    addresses
}

/// `name: value` a line; a line that begins with `?` is the query.
fn evidence(lines: &str) -> Evidence {
    let mut headers = HeaderMap::new();
    let mut query = "";
    for line in lines.lines().map(str::trim) {
        if let Some(parameters) = line.strip_prefix('?') {
            query = parameters;
        } else if let Some((name, value)) = line.split_once(": ") {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
    }
    Evidence::read(query, &headers)
}

/// Every kind of key, with its owner.
const KEYS: [(&str, Provider); 19] = [
    ("authorization: Bearer sk-quay", OpenAi),
    ("authorization: Bearer sk-proj-quay", OpenAi),
    ("authorization: bearer sk-svcacct-quay", OpenAi),
    ("authorization: sk-quay", OpenAi),
    ("sec-websocket-protocol: realtime, openai-insecure-api-key.sk-quay", OpenAi),
    ("x-api-key: quay", Anthropic),
    ("x-api-key: sk-ant-api03-quay", Anthropic),
    ("authorization: Bearer sk-ant-oat01-quay", Anthropic),
    ("x-api-key: quay\nanthropic-version: 2023-06-01", Anthropic),
    ("authorization: Bearer quay\nx-api-key: quay", Anthropic),
    ("x-goog-api-key: quay", Google),
    ("x-goog-api-key: AIzaQuay", Google),
    ("?key=quay", Google),
    ("?alt=sse&k%65y=AIzaQuay", Google),
    ("?access_token=ya29.quay", Google),
    ("authorization: Bearer ya29.quay", Google),
    ("authorization: Bearer AIzaQuay", Google),
    ("api-key: quay", Azure),
    ("?api-version=1&api-key=quay", Azure),
];

/// Paths, with the providers that have them.
const PATHS: &str = "\
/v1/chat/completions o a | /chat/completions o a | /v1/chat/completions/c o | /v1/chat/completions/c/messages o
/v1/completions o | /v1/responses o | /responses o | /v1/responses/compact o | /v1/responses/input_tokens o
/v1/responses/r o | /v1/responses/r/cancel o | /v1/responses/r/input_items o | /v1/conversations/c/items o
/v1/embeddings o | /v1/moderations o | /v1/uploads/u/parts o | /v1/batches o g | /v1/batches/b o g | /v1/batches/b/cancel o
/v1/audio/speech o | /v1/images/generations o | /v1/videos/v/content o | /v1/realtime o | /v1/realtime/sessions o
/v1/fine_tuning/jobs o | /v1/assistants o | /v1/threads o | /v1/threads/t/messages o | /v1/threads/t/messages/m o
/v1/threads/t/runs/r/submit_tool_outputs o | /v1/vector_stores/v/search o | /v1/containers/c/files o | /v1/evals/e/runs o
/v1/organization/usage/completions o
/v1/messages a | /messages a | /anthropic/v1/messages a | /v1/messages/count_tokens a | /v1/messages/batches a
/v1/messages/batches/b/results a | /v1/messages/batches/b/cancel a | /v1/complete a | /v1/organizations/me a
/v1/models o a g | /v1/models/m o a g | /v1/files o a g | /v1/files/f o a g | /v1/files/f/content o a | /v1/skills o a
/v1/models/m:generateContent g | /v1/models/m:streamGenerateContent g | /v1beta/models g | /v1beta/models/m g
/v1beta/models/m:countTokens g | /v1beta/models/m:batchEmbedContents g | /v1alpha/models/m:bidiGenerateContent g
/v1beta/files g | /upload/v1beta/files g | /v1beta/cachedContents/c g | /v1beta/openai/chat/completions g
/v1/projects/p/locations/l/publishers/google/models/m:generateContent g
/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent g
/openai/deployments/d/chat/completions - | /v1/nobody/knows o a g | /x/v1/messages o a g | /v1/%6dessages o a g";

fn paths() -> impl Iterator<Item = (&'static str, Vec<Provider>)> {
    PATHS.split(['|', '\n']).map(|line| {
        let mut words = line.split_whitespace();
        let path = words.next().unwrap();
        let of = words.filter_map(|word| match word {
            "o" => Some(OpenAi),
            "a" => Some(Anthropic),
            "g" => Some(Google),
            _ => None,
        });
        (path, of.collect())
    })
}

/// Each key on each path, whatever else is configured: to its owner, or nowhere.
#[test]
fn every_key_on_every_path() {
    let sets = [
        "openai=https://o.example anthropic=https://a.example gemini=https://g.example",
        "openai=https://o.example anthropic=https://a.example",
        "openai=https://o.example gemini=https://g.example",
        "anthropic=https://a.example gemini=https://g.example",
        "openai=https://o.example",
        "anthropic=https://a.example",
        "gemini=https://g.example",
    ];
    for set in sets {
        let addresses = addresses(set);
        for (path, of_path) in paths() {
            for (key, owner) in KEYS {
                let found = choose(&addresses, path, &evidence(key));
                let address = PROVIDERS.iter().find(|(_, provider)| *provider == owner).map(|(url, _)| *url);
                let is_configured = address.is_some_and(|address| addresses.all().any(|url| url.as_str() == address));
                let expect = address.filter(|_| is_configured && of_path.contains(&owner));
                assert_eq!(found.map(Url::as_str).ok(), expect, "{set}: {path} with {key}");
            }
        }
    }
}

#[test]
fn where_requests_go() {
    let check = |specs: &str, path: &str, lines: &str, expect: Result<&str, RoutingError>| {
        let addresses = addresses(specs);
        let found = choose(&addresses, path, &evidence(lines)).map(Url::as_str);
        assert_eq!(found, expect.as_ref().copied().map_err(Clone::clone), "{specs}: {path} with {lines}");
    };
    let all = "openai=https://o.example anthropic=https://a.example gemini=https://g.example";
    let (o, a, g) = (Ok("https://o.example/"), Ok("https://a.example/"), Ok("https://g.example/"));
    // Keys without a form.
    let bearer = "authorization: Bearer quay";
    check(all, "/v1/messages", bearer, a.clone());
    check(all, "/v1/responses", bearer, o.clone());
    check(all, "/v1/chat/completions", bearer, o.clone());
    check(all, "/v1beta/models", bearer, g.clone());
    check(all, "/v1/models", bearer, o.clone());
    check(all, "/v1/models", "authorization: Bearer quay\nanthropic-version: 2023-06-01", a.clone());
    check(
        all,
        "/v1/responses",
        "authorization: Bearer quay\nanthropic-version: 2023-06-01",
        Err(RoutingError::Unclear),
    );
    check(all, "/v1/nobody/knows", bearer, Err(RoutingError::Unclear));
    check("anthropic=https://a.example", "/v1/models", bearer, Err(RoutingError::NoAddress(OpenAi)));
    check("anthropic=https://a.example https://rest.example", "/v1/models", bearer, Ok("https://rest.example/"));
    // No key.
    check(all, "/v1/responses", "", o.clone());
    check(all, "/v1/chat/completions", "", o.clone());
    check(all, "/v1/models", "", Err(RoutingError::Unclear));
    check("anthropic=https://a.example", "/v1/models", "", a.clone());
    check("openai=https://o.example", "/v1/nobody/knows", "", o.clone());
    // What speaks against itself.
    let two = "authorization: Bearer sk-quay\nx-api-key: quay";
    check(all, "/v1/models", two, Err(RoutingError::SeveralKeys(OpenAi, Anthropic)));
    check(all, "/v1/messages", "x-api-key: sk-proj-quay", Err(RoutingError::SeveralKeys(Anthropic, OpenAi)));
    let foreign = |key, other| Err(RoutingError::AnothersKey { key, other });
    check(all, "/v1/messages", "authorization: Bearer sk-quay", foreign(OpenAi, Anthropic));
    check(
        all,
        "/v1/models",
        "authorization: Bearer sk-quay\nanthropic-version: 2023-06-01",
        foreign(OpenAi, Anthropic),
    );
    check(all, "/v1/threads/t/messages", "x-api-key: quay", foreign(Anthropic, OpenAi));
    // A plain address alone is a gateway, unless it is a provider's own.
    let gateway = Ok("https://gateway.example/");
    check("https://gateway.example", "/v1/messages", two, gateway.clone());
    check("https://gateway.example", "/v1/nobody/knows", "?key=quay", gateway);
    check("https://api.anthropic.com", "/v1/messages", "x-api-key: quay", Ok("https://api.anthropic.com/"));
    check("https://api.anthropic.com", "/v1/models", bearer, Ok("https://api.anthropic.com/"));
    check("https://api.anthropic.com", "/v1/models", "x-goog-api-key: quay", Err(RoutingError::NoAddress(Google)));
    check(
        "https://api.anthropic.com",
        "/v1/models",
        "authorization: Bearer sk-quay",
        Err(RoutingError::NoAddress(OpenAi)),
    );
    // Beside others it is for all whose provider has none.
    let rest = "openai=https://o.example https://rest.example";
    check(rest, "/v1/messages", "x-api-key: quay", Ok("https://rest.example/"));
    check(rest, "/v1/models", "authorization: Bearer sk-quay", o.clone());
    check(
        "openai=https://o.example https://api.anthropic.com",
        "/v1beta/models",
        "?key=quay",
        Err(RoutingError::NoAddress(Google)),
    );
    // Azure, by its host.
    let azure = "openai=https://mine.openai.azure.com anthropic=https://mine.services.ai.azure.com";
    check(azure, "/openai/deployments/d/chat/completions", "api-key: quay", Ok("https://mine.openai.azure.com/"));
    check(azure, "/openai/deployments/d/chat/completions", bearer, Ok("https://mine.openai.azure.com/"));
    check(azure, "/openai/v1/responses", "api-key: quay\nopenai-beta: a=b", Ok("https://mine.openai.azure.com/"));
    check(azure, "/v1/messages", "api-key: quay", Ok("https://mine.services.ai.azure.com/"));
    check(azure, "/v1/messages", "x-api-key: quay", Ok("https://mine.services.ai.azure.com/"));
    check(azure, "/v1/messages", "x-api-key: sk-ant-quay", Err(RoutingError::NoAddress(Anthropic)));
    check(azure, "/v1/responses", "authorization: Bearer sk-quay", Err(RoutingError::NoAddress(OpenAi)));
    check(
        "https://mine.openai.azure.com",
        "/openai/v1/responses",
        "api-key: quay",
        Ok("https://mine.openai.azure.com/"),
    );
    check(all, "/v1/responses", "api-key: quay", Err(RoutingError::NoAddress(Azure)));
    // Others that speak OpenAI's interface.
    let router = "authorization: Bearer sk-or-v1-quay";
    check("openai=https://openrouter.ai/api", "/v1/responses", router, Ok("https://openrouter.ai/api"));
    check(all, "/v1/chat/completions", router, o);
    check("openai=https://api.openai.com", "/v1/responses", router, Err(RoutingError::NoAddress(Other)));
    // Claude on Vertex AI: Anthropic's client under Google's keys.
    let claude = "/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict";
    check(all, claude, "authorization: Bearer ya29.quay\nanthropic-version: 2023-06-01", g);
    let _ = a;
}
