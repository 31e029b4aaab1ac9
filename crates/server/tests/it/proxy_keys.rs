//! Keys and tokens on their way through the proxy: a client's key reaches its own provider, the service's token none.

use epitome_harness::{ScriptedAnswer, ScriptedServer};
use epitome_server::{Settings, Upstreams};
use reqwest::Method;

use crate::support::{Running, SMALL, Wire, code, read, with_tokens};

const NAMES: [&str; 3] = ["openai", "anthropic", "gemini"];

#[tokio::test]
async fn a_key_reaches_its_own_provider() {
    let providers = NAMES.map(|_| ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]));
    let mut upstreams = Upstreams::default();
    for (name, provider) in NAMES.iter().zip(&providers) {
        upstreams.add(&format!("{name}={}", provider.url())).unwrap();
    }
    let service = Running::start(SMALL, Settings { upstreams, ..Settings::default() }).await;
    let check = async |method: Method, path: &str, (name, value): (&str, &str), expect: Result<&str, (u16, &str)>| {
        let before = providers.each_ref().map(|provider| provider.requests().len());
        let mut request = service.client.request(method.clone(), service.url(path)).header(name, value);
        if method == Method::POST {
            request = request.header("content-type", "application/json").body(r#"{"role":"user","content":"quay"}"#);
        }
        let (status, body) = read(request).await;
        let reached: Vec<&str> = (0..NAMES.len())
            .filter(|number| providers[*number].requests().len() > before[*number])
            .map(|number| NAMES[number])
            .collect();
        match expect {
            Ok(provider) => assert_eq!((status, &*reached), (200, &[provider][..]), "{path} {name}: {body}"),
            Err((expected, problem)) => {
                assert_eq!((status, code(&body), &*reached), (expected, problem, &[][..]), "{path} {name}: {body}");
                assert!(!body.to_string().contains("quay"), "{body}");
            }
        }
    };
    let (openai, anthropic, google) =
        (("authorization", "Bearer sk-quay"), ("x-api-key", "quay"), ("x-goog-api-key", "quay"));
    let unclear = Err((400, "unclear-provider"));
    for path in ["/v1/models", "/v1/files", "/v1/models/m"] {
        check(Method::GET, path, openai, Ok("openai")).await;
        check(Method::GET, path, anthropic, Ok("anthropic")).await;
        check(Method::GET, path, google, Ok("gemini")).await;
        check(Method::GET, &format!("{path}?key=quay"), ("accept", "*/*"), Ok("gemini")).await;
    }
    check(Method::POST, "/v1/threads/thread_ab/messages", openai, Ok("openai")).await;
    check(Method::POST, "/v1/threads/thread_ab/messages", anthropic, unclear).await;
    check(Method::POST, "/v1/messages", anthropic, Ok("anthropic")).await;
    check(Method::POST, "/v1/messages", openai, unclear).await;
    check(Method::POST, "/v1/messages/count_tokens", anthropic, Ok("anthropic")).await;
    check(Method::POST, "/v1/messages/count_tokens", google, unclear).await;
    check(Method::POST, "/v1/messages/batches", anthropic, Ok("anthropic")).await;
    check(Method::POST, "/v1/responses/r/cancel", openai, Ok("openai")).await;
    check(Method::POST, "/v1beta/models/m:generateContent", google, Ok("gemini")).await;
    check(Method::POST, "/v1beta/models/m:generateContent", openai, unclear).await;
    check(Method::GET, "/v1/models", ("api-key", "quay"), Err((404, "no-route"))).await;
    check(Method::GET, "/v1/models", ("accept", "*/*"), unclear).await;
}

#[tokio::test]
async fn no_provider_gets_a_token_of_the_service() {
    const TOKEN: &str = "quay-token-of-alice-1";
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let tokens = with_tokens(&format!("alice {TOKEN}\nbob quay-token-of-bob-22\n")).tokens;
    let settings = Settings { tokens, ..crate::support::in_front_of(&upstream.url()) };
    let service = Running::start(SMALL, settings).await;
    let wire = Wire::Anthropic;
    // As it comes, read, compacted, and beside conversations.
    for (path, body) in [
        ("/v1/files", "{}".to_owned()),
        (wire.path(), wire.request(1).to_string()),
        (wire.path(), wire.request(16).to_string()),
        ("/v1/messages/count_tokens", "{}".to_owned()),
        ("/v1/responses/compact", "{}".to_owned()),
    ] {
        for (name, value) in [
            ("authorization", format!("Bearer {TOKEN}")),
            ("authorization", "Bearer quay-token-of-bob-22".to_owned()),
            ("x-api-key", TOKEN.to_owned()),
            ("cookie", format!("token={TOKEN}; theme=dark")),
            ("sec-websocket-protocol", "epitome.token.cXVheS10b2tlbi1vZi1hbGljZS0x, realtime".to_owned()),
            ("x-other", "%71uay-token-of-alice-1".to_owned()),
        ] {
            let url = format!("{path}?a=1&key={TOKEN}");
            let request = service.post_text(&url, &body).header("x-epitome-token", TOKEN).header(name, value);
            assert_eq!(read(request).await.0, 200, "{path} {name}");
            let seen = upstream.requests();
            let seen = seen.last().unwrap();
            assert_eq!(seen.path, format!("{path}?a=1"), "{name}");
            assert!(!format!("{:?}", seen.headers).contains("quay-token"), "{path} {name}: {:?}", seen.headers);
            assert!(!format!("{:?}", seen.headers).contains("cXVheS10b2tlbi"), "{path} {name}: {:?}", seen.headers);
        }
    }
    let n_requests = upstream.requests().len();
    let (status, body) = read(service.post_text(&format!("/{TOKEN}/v1/files"), "{}").bearer_auth(TOKEN)).await;
    assert_eq!((status, code(&body), upstream.requests().len()), (400, "bad-path", n_requests));
}
