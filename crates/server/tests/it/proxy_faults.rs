//! The proxy when something goes wrong: here, at the provider, at the client.

use std::time::Duration;

use epitome_harness::{ScriptedAnswer, ScriptedServer};
use epitome_server::{Limits, Settings};
use serde_json::json;

use crate::support::{Running, SMALL, Wire, asked, code, header, in_front_of, read};

/// A provider's word for a request that is too long, in each dialect.
fn too_long(wire: Wire) -> ScriptedAnswer {
    match wire {
        Wire::Anthropic => ScriptedAnswer::json(
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error",
                "message": "prompt is too long: 6000 tokens > 3000 maximum"}}),
        ),
        Wire::Chat | Wire::Responses => ScriptedAnswer::json(
            400,
            json!({"error": {"code": "context_length_exceeded", "type": "invalid_request_error",
                "message": "Your input exceeds the context window of this model."}}),
        ),
    }
}

#[tokio::test]
async fn what_is_too_long_is_made_smaller_and_sent_once_more() {
    for wire in Wire::ALL {
        let refusal = too_long(wire);
        let upstream = ScriptedServer::start_with(move |_, seen| match seen.body.len() {
            ..12_000 => ScriptedAnswer::json(200, r#"{"ok":true}"#),
            _ => refusal.clone(),
        });
        let service = Running::proxy(&upstream, SMALL).await;
        // Below our threshold, above the provider's.
        let request = wire.request(6);
        let response = service.post(wire.path(), &request).send().await.unwrap();
        let status = header(&response, "x-epitome-status");
        assert_eq!((response.status().as_u16(), status), (200, "overflow-retried"), "{wire:?}");
        assert_eq!(response.text().await.unwrap(), r#"{"ok":true}"#);
        let seen = upstream.requests();
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[0].text(), request.to_string());
        assert!(seen[1].body.len() < 12_000, "{wire:?}: {}", seen[1].body.len());
        // What was learnt is not forgotten: the next request does not have to fail first.
        let request = wire.longer(&request, vec![wire.said("Good."), asked("Next?")]);
        let response = service.post(wire.path(), &request).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), "replayed", "{wire:?}");
        assert_eq!(upstream.requests().len(), 3);
    }
}

#[tokio::test]
async fn what_stays_too_long_is_the_providers_answer() {
    let upstream = ScriptedServer::start(vec![too_long(Wire::Chat)]);
    let service = Running::proxy(&upstream, SMALL).await;
    let (status, answer) = read(service.post(Wire::Chat.path(), &Wire::Chat.request(6))).await;
    assert_eq!((status, answer["error"]["code"].as_str()), (400, Some("context_length_exceeded")));
    assert_eq!(upstream.requests().len(), 2, "once more and not again");
    // Nothing can leave: the provider's own words, and no second try.
    let (status, answer) = read(service.post(Wire::Chat.path(), &json!({"messages": [asked("hi")]}))).await;
    assert_eq!((status, answer["error"]["code"].as_str()), (400, Some("context_length_exceeded")));
    assert_eq!(upstream.requests().len(), 3);
}

#[tokio::test]
async fn other_errors_of_the_provider_go_through() {
    for (status, body) in [
        (401, r#"{"error":{"message":"Incorrect API key"}}"#.to_owned()),
        (429, r#"{"error":{"message":"Rate limit reached"}}"#.to_owned()),
        (500, "oops \u{e9}".to_owned()),
        (529, "x".repeat(600_000)),
    ] {
        let upstream =
            ScriptedServer::start(vec![ScriptedAnswer::bytes(status, body.clone()).header("retry-after", "17")]);
        let service = Running::proxy(&upstream, SMALL).await;
        let response = service.post(Wire::Chat.path(), &Wire::Chat.request(1)).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "retry-after")), (status, "17"));
        assert_eq!(response.text().await.unwrap(), body);
        assert_eq!(upstream.requests().len(), 1);
    }
}

#[tokio::test]
async fn what_it_cannot_read_it_sends_as_it_came() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::proxy(&upstream, SMALL).await;
    for (body, detail) in [
        ("not json", "not-json"),
        ("{\"messages\": 7}", "not-understood"),
        ("{\"messages\": [{\"content\": \"nobody\"}]}", "not-understood"),
    ] {
        let response = service.post_text(Wire::Chat.path(), body).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-epitome-status")), (200, "bypassed"), "{body}");
        assert_eq!(header(&response, "x-epitome-detail"), detail, "{body}");
        assert_eq!(upstream.requests().last().unwrap().text(), body);
    }
    let mut stored = Wire::Responses.request(20);
    stored["previous_response_id"] = json!("resp_1");
    let response = service.post(Wire::Responses.path(), &stored).send().await.unwrap();
    assert_eq!(header(&response, "x-epitome-detail"), "history-at-the-provider");
    let encoded = service.post(Wire::Chat.path(), &Wire::Chat.request(20)).header("content-encoding", "zstd");
    let response = encoded.send().await.unwrap();
    assert_eq!(header(&response, "x-epitome-detail"), "encoded");
    assert_eq!(upstream.requests().last().unwrap().header("content-encoding"), Some("zstd"));
}

#[tokio::test]
async fn what_cannot_fit_is_sent_as_it_came() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::proxy(&upstream, "[budget]\nwindow = 400\nreserve_output = 10\n").await;
    let request = json!({"messages": [json!({"role":"system","content":"rule ".repeat(900)}), asked("Hi")]});
    for _ in 0..2 {
        let response = service.post(Wire::Chat.path(), &request).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let status = header(&response, "x-epitome-status");
        let detail = header(&response, "x-epitome-detail");
        assert!(status == "passed" && ["infeasible", "tried-before"].contains(&detail), "{status} {detail}");
        assert_eq!(upstream.requests().last().unwrap().text(), request.to_string());
    }
}

/// A configuration whose summaries come from a model that nobody hears from.
fn with_model(url: &str) -> String {
    format!(
        "{SMALL}[channels.m]\nkind = \"openai\"\nbase_url = \"{url}\"\nmodels = [\"m\"]\ncompaction = true\nwindow = 20_000\n\
         [summary]\nsummarizer = \"llm\"\nchannel = \"m\"\nmodel = \"m\"\nfall_back_to_rules = false\non_failure = \"stop\"\n\
         [select]\nmode = \"fixed\"\nchain = \"only\"\n[chains]\nonly = [\"summary\"]\n"
    )
}

#[tokio::test]
async fn a_compaction_that_takes_too_long_does_not_hold_the_request_up() {
    let model = ScriptedServer::start(vec![ScriptedAnswer::hold()]);
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, r#"{"ok":1}"#)]);
    let limits = Limits { work_timeout: Duration::from_millis(400), ..Limits::default() };
    let settings = Settings { limits, ..in_front_of(&upstream.url()) };
    let service = Running::start(&with_model(&model.url()), settings).await;
    let request = Wire::Chat.request(20);
    let response = service.post(Wire::Chat.path(), &request).send().await.unwrap();
    assert_eq!((response.status().as_u16(), header(&response, "x-epitome-status")), (200, "failed-open"));
    assert_eq!(header(&response, "x-epitome-detail"), "timeout");
    assert_eq!(upstream.requests()[0].text(), request.to_string());
    model.release();
}

#[tokio::test]
async fn a_summarizer_that_fails_does_not_fail_the_request() {
    let model = ScriptedServer::start(vec![ScriptedAnswer::text(401, "no")]);
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, r#"{"ok":1}"#)]);
    let service = Running::start(&with_model(&model.url()), in_front_of(&upstream.url())).await;
    let request = Wire::Chat.request(20);
    for _ in 0..2 {
        let response = service.post(Wire::Chat.path(), &request).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(upstream.requests().last().unwrap().text(), request.to_string());
    }
    let asked = model.requests().len();
    assert!(asked >= 1, "the model was asked");
    service.post(Wire::Chat.path(), &request).send().await.unwrap();
    assert_eq!(model.requests().len(), asked, "what failed is not tried at every turn");
}

#[tokio::test]
async fn a_client_that_vanishes_is_told_to_the_provider() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::hold()]);
    let service = Running::proxy(&upstream, SMALL).await;
    let request = tokio::spawn(service.post(Wire::Chat.path(), &Wire::Chat.request(1)).send());
    let upstream = tokio::task::spawn_blocking(move || {
        upstream.wait_for_requests(1);
        upstream
    });
    let upstream = upstream.await.unwrap();
    request.abort();
    tokio::task::spawn_blocking(move || upstream.wait_for_hang_ups(1)).await.unwrap();
}

#[tokio::test]
async fn a_provider_that_is_down_slow_or_breaks_off() {
    let limits = Limits { upstream_timeout: Duration::from_millis(100), ..Limits::default() };
    let check = async |url: &str, status: u16, expect: &str| {
        let service = Running::start(SMALL, Settings { limits: limits.clone(), ..in_front_of(url) }).await;
        for path in [Wire::Chat.path(), "/v1/embeddings"] {
            let (got, answer) = read(service.post(path, &Wire::Chat.request(1))).await;
            assert_eq!((got, code(&answer)), (status, expect), "{path} {answer}");
            assert!(!answer.to_string().contains("127.0.0.1"), "{answer}");
        }
    };
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    check(&format!("http://{free}"), 502, "upstream-unreachable").await;
    let slow = ScriptedServer::start(vec![ScriptedAnswer::hold()]);
    check(&slow.url(), 504, "upstream-timeout").await;
    let gone = ScriptedServer::start(vec![ScriptedAnswer::hang_up()]);
    check(&gone.url(), 502, "upstream-unreachable").await;
    // A stream that breaks off breaks off for the client too.
    let cut = ScriptedServer::start(vec![ScriptedAnswer::text(200, "data: 1\n\ndata: 2\n\n").cut_after(9)]);
    let service = Running::proxy(&cut, SMALL).await;
    let mut response = service.post(Wire::Chat.path(), &Wire::Chat.request(1)).send().await.unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "data: 1\n\n".as_bytes());
    assert!(response.chunk().await.is_err());
}

#[tokio::test]
async fn many_conversations_are_remembered_within_bounds() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let memory = epitome_server::Memory { sessions: 2, ..epitome_server::Memory::default() };
    let service = Running::start(SMALL, Settings { memory, ..in_front_of(&upstream.url()) }).await;
    let status = async |name: &'static str| {
        let mut request = Wire::Chat.request(16);
        request["messages"][1]["content"] = json!(name);
        let response = service.post(Wire::Chat.path(), &request).send().await.unwrap();
        header(&response, "x-epitome-status").to_owned()
    };
    assert_eq!(status("one").await, "compacted");
    assert_eq!(status("two").await, "compacted");
    assert_eq!(status("one").await, "replayed");
    assert_eq!(status("three").await, "compacted");
    assert_eq!(status("one").await, "replayed");
    assert_eq!(status("two").await, "compacted", "it was forgotten, and decided again");
}

#[tokio::test]
async fn requests_of_one_conversation_at_once_get_one_decision() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::proxy(&upstream, SMALL).await;
    let base = Wire::Chat.request(16);
    service.post(Wire::Chat.path(), &base).send().await.unwrap();
    let longer = Wire::Chat.longer(&base, vec![Wire::Chat.said("Yes."), asked("And?")]);
    let together: Vec<_> = (0..8).map(|_| tokio::spawn(service.post(Wire::Chat.path(), &longer).send())).collect();
    for request in together {
        assert_eq!(header(&request.await.unwrap().unwrap(), "x-epitome-status"), "replayed");
    }
    let seen = upstream.requests();
    assert_eq!(seen.len(), 9);
    assert!(seen[2..].iter().all(|it| it.body == seen[1].body));
}
