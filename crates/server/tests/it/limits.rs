//! Who is refused.

use std::net::SocketAddr;
use std::time::Duration;

use epitome::Config;
use epitome_harness::{ScriptedAnswer, ScriptedServer};
use epitome_server::{Limits, ServeError, Service, Settings};
use serde_json::{Value, json};

use crate::support::{Running, SMALL, Wire, code, in_front_of, read, with_tokens};

#[tokio::test]
async fn unknown_routes_and_wrong_methods() {
    let service = Running::start("", Settings::default()).await;
    let (status, answer) = read(service.client.get(service.url("/v1/compact"))).await;
    assert_eq!((status, code(&answer)), (405, "wrong-method"));
    let (status, answer) = read(service.client.get(service.url("/v2/else"))).await;
    assert_eq!((status, code(&answer)), (404, "no-route"));
    let (status, answer) = read(service.post("/v1/chat/completions", &json!({}))).await;
    assert_eq!((status, code(&answer)), (404, "no-route"), "there is no provider");
}

#[tokio::test]
async fn bodies_that_are_no_json() {
    let service = Running::start("", Settings::default()).await;
    let (status, answer) = read(service.post_text("/v1/compact", "{\"request\":")).await;
    assert_eq!((status, code(&answer)), (400, "bad-request"));
    let plain = service.client.post(service.url("/v1/compact")).header("content-type", "text/plain").body("{}");
    let (status, answer) = read(plain).await;
    assert_eq!((status, code(&answer)), (415, "not-json"));
}

#[tokio::test]
async fn bodies_that_are_too_large() {
    let limits = Limits { body_bytes: 5_000, ..Limits::default() };
    let service = Running::start("", Settings { limits, ..Settings::default() }).await;
    let (status, answer) = read(service.post_text("/v1/compact", &"x".repeat(5_001))).await;
    assert_eq!((status, code(&answer)), (413, "too-large"));
    // The same without a length that says so.
    let pieces = futures_util::stream::iter((0..6).map(|_| Ok::<_, std::io::Error>("x".repeat(1_000))));
    let request = service.client.post(service.url("/v1/compact")).header("content-type", "application/json");
    let (status, answer) = read(request.body(reqwest::Body::wrap_stream(pieces))).await;
    assert_eq!((status, code(&answer)), (413, "too-large"));
}

#[tokio::test]
async fn bodies_that_do_not_come() {
    let limits = Limits { body_timeout: Duration::from_millis(50), ..Limits::default() };
    let service = Running::start("", Settings { limits, ..Settings::default() }).await;
    let never = futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>();
    let request = service.client.post(service.url("/v1/compact")).header("content-type", "application/json");
    let (status, answer) = read(request.body(reqwest::Body::wrap_stream(never))).await;
    assert_eq!((status, code(&answer)), (408, "slow-body"));
}

#[tokio::test]
async fn tokens() {
    let service = Running::start("", with_tokens("alice alices-own-token-1")).await;
    let body = json!({"request": Wire::Chat.request(1)});
    let check = async |name: &'static str, value: &'static str, expect: u16| {
        let (status, answer) = read(service.post("/v1/check", &body).header(name, value)).await;
        assert_eq!(status, expect, "{name}: {value}: {answer}");
        if expect == 401 {
            assert_eq!(code(&answer), "unauthorized");
            assert!(!answer.to_string().contains(value), "{answer}");
        }
    };
    check("authorization", "Bearer alices-own-token-1", 200).await;
    check("x-epitome-token", "alices-own-token-1", 200).await;
    check("authorization", "Bearer alices-own-token-2", 401).await;
    check("authorization", "alices-own-token-1", 401).await;
    check("x-other", "alices-own-token-1", 401).await;
    for (path, expect) in [("/healthz", 200), ("/readyz", 200), ("/openapi.json", 200), ("/metrics", 401), ("/x", 401)]
    {
        assert_eq!(service.get(path).await.status().as_u16(), expect, "{path}");
    }
}

#[tokio::test]
async fn nobody_else_reaches_it_without_a_token() {
    let registry = epitome::registry();
    let runtime = Config::default().build(&registry).unwrap();
    let listen = SocketAddr::from(([0, 0, 0, 0], 0));
    let settings = Settings { listen, ..Settings::default() };
    let refused = Service::bind(runtime.clone(), registry, settings).await.unwrap_err();
    assert!(matches!(refused, ServeError::TokenNeeded(_)), "{refused}");
    let settings = Settings { listen, ..with_tokens("alice alices-own-token-1") };
    Service::bind(runtime, epitome::registry(), settings).await.unwrap();
}

#[tokio::test]
async fn pages_of_others_do_not_reach_it() {
    let service = Running::start("", Settings::default()).await;
    let own = service.url("");
    let own_host = own.strip_prefix("http://").unwrap();
    let check = async |headers: &[(&'static str, &str)], expect: u16| {
        let request = service.client.get(service.url("/metrics"));
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let (status, answer) = read(request).await;
        assert_eq!(status, expect, "{headers:?}: {answer}");
    };
    check(&[("host", "evil.example")], 403).await;
    check(&[("host", "localhost:7777")], 200).await;
    check(&[("origin", "https://evil.example")], 403).await;
    check(&[("origin", "null")], 403).await;
    check(&[("origin", &own)], 200).await;
    check(&[("origin", &own), ("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")], 200).await;
    // Another program's page on this machine is somebody else's too.
    check(&[("origin", "http://localhost:3000")], 403).await;
    check(&[("origin", &format!("https://{own_host}"))], 403).await;
    // What a page loads without saying from where.
    check(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")], 403).await;
    check(&[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")], 403).await;
    check(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")], 200).await;
}

#[tokio::test]
async fn more_than_a_tenant_may_ask() {
    let limits = Limits { requests_per_minute: 2, ..Limits::default() };
    let settings = Settings { limits, ..with_tokens("alice alices-own-token-1\nbob bobs-own-token-0002") };
    let service = Running::start("", settings).await;
    let ask = |token: &'static str| service.client.get(service.url("/metrics")).bearer_auth(token).send();
    for _ in 0..2 {
        assert_eq!(ask("alices-own-token-1").await.unwrap().status(), 200);
    }
    let refused = ask("alices-own-token-1").await.unwrap();
    assert_eq!(refused.status(), 429);
    let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=30).contains(&wait), "{wait}");
    assert_eq!(code(&serde_json::from_str(&refused.text().await.unwrap()).unwrap()), "too-many-requests");
    assert_eq!(ask("bobs-own-token-0002").await.unwrap().status(), 200, "each tenant has its own");
    assert_eq!(service.get("/healthz").await.status(), 200);
}

#[tokio::test]
async fn more_than_it_takes_at_once() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}").held()]);
    let limits = Limits { concurrent: 1, ..Limits::default() };
    let service = Running::start(SMALL, Settings { limits, ..in_front_of(&upstream.url()) }).await;
    let first = tokio::spawn(service.post("/v1/chat/completions", &Wire::Chat.request(1)).send());
    let waiting = tokio::task::spawn_blocking(move || {
        upstream.wait_for_requests(1);
        upstream
    });
    let upstream = waiting.await.unwrap();
    let (status, answer) = read(service.post("/v1/check", &json!({"request": Wire::Chat.request(1)}))).await;
    assert_eq!((status, code(&answer)), (503, "busy"));
    assert_eq!(service.get("/healthz").await.status(), 200, "health is asked for at all times");
    upstream.release();
    assert_eq!(first.await.unwrap().unwrap().status(), 200);
    let (status, _) = read(service.post("/v1/check", &json!({"request": Wire::Chat.request(1)}))).await;
    assert_eq!(status, 200, "the slot is free again");
}

/// Two tenants.
fn two() -> Settings {
    with_tokens("alice alices-own-token-1\nbob bobs-own-token-0002")
}

/// A check by a tenant.
async fn checked(service: &Running, token: &str) -> (u16, Value) {
    let check = service.post("/v1/check", &json!({"request": Wire::Chat.request(1)}));
    tokio::time::timeout(Duration::from_secs(30), read(check.bearer_auth(token))).await.unwrap()
}

#[tokio::test]
async fn one_tenant_leaves_room_for_another() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}").held()]);
    let limits = Limits { concurrent: 2, ..Limits::default() };
    let upstreams = in_front_of(&upstream.url()).upstreams;
    let service = Running::start(SMALL, Settings { limits, upstreams, ..two() }).await;
    let first = service.post("/v1/chat/completions", &Wire::Chat.request(1));
    let first = tokio::spawn(first.header("x-epitome-token", "alices-own-token-1").send());
    let waiting = tokio::task::spawn_blocking(move || {
        upstream.wait_for_requests(1);
        upstream
    });
    let upstream = waiting.await.unwrap();
    let (status, busy) = checked(&service, "alices-own-token-1").await;
    assert_eq!((status, code(&busy)), (503, "busy"), "half of it");
    assert_eq!(checked(&service, "bobs-own-token-0002").await.0, 200);
    let metrics = service.client.get(service.url("/metrics")).bearer_auth("alices-own-token-1");
    assert_eq!(read(metrics).await.0, 200, "what happens can be asked at all times");
    upstream.release();
    assert_eq!(first.await.unwrap().unwrap().status(), 200);
    assert_eq!(checked(&service, "alices-own-token-1").await.0, 200);
}

#[tokio::test]
async fn bodies_that_do_not_come_keep_nobody_else_out() {
    let check = async |limits: Limits, sent: usize, most: usize| {
        let service = Running::start(SMALL, Settings { limits, ..two() }).await;
        let mut stalled = Vec::new();
        while checked(&service, "alices-own-token-1").await.0 == 200 {
            let begun = futures_util::stream::iter([Ok::<_, std::io::Error>("x".repeat(sent))]);
            let never = futures_util::StreamExt::chain(begun, futures_util::stream::pending());
            let request = service.post_text("/v1/compact", "").bearer_auth("alices-own-token-1");
            stalled.push(tokio::spawn(request.body(reqwest::Body::wrap_stream(never)).send()));
            assert!(stalled.len() < most, "there is no bound");
        }
        assert_eq!(checked(&service, "bobs-own-token-0002").await.0, 200);
        stalled.iter().for_each(|request| request.abort());
    };
    // By their number, and by what has come of them: four of the largest.
    check(Limits { concurrent: 2, ..Limits::default() }, 0, 200).await;
    check(Limits { body_bytes: 10_000, ..Limits::default() }, 9_900, 200).await;
}

#[tokio::test]
async fn a_shutdown_waits_for_what_is_under_way() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, r#"{"late":true}"#).held()]);
    let mut service = Running::proxy(&upstream, SMALL).await;
    let first = tokio::spawn(service.post("/v1/chat/completions", &Wire::Chat.request(1)).send());
    let waiting = tokio::task::spawn_blocking(move || {
        upstream.wait_for_requests(1);
        upstream
    });
    let upstream = waiting.await.unwrap();
    service.stop();
    // New connections are refused as soon as the listener is gone.
    while tokio::net::TcpStream::connect(service.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    upstream.release();
    assert_eq!(first.await.unwrap().unwrap().text().await.unwrap(), r#"{"late":true}"#);
    service.task.await.unwrap();
}
