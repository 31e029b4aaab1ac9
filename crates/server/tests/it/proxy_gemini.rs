//! The proxy in front of Google: contents are compacted like other lists, the model is named by the path.

use epitome::formats::{Wire, validate};
use epitome_harness::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
use epitome_server::Settings;
use reqwest::Response;
use serde_json::{Value, json};

use crate::support::{Running, SMALL, header, in_front_of};

pub(crate) const PATH: &str = "/v1beta/models/gemini-test:streamGenerateContent?alt=sse";

/// A stream of two events, as Google sends them.
const EVENTS: &str = "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"So\"}]}}]}\r\n\r\n\
                      data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{}}\r\n\r\n";

pub(crate) fn text(role: &str, text: &str) -> Value {
    json!({"role": role, "parts": [{"text": text}]})
}

/// A call of a tool with its result: about 650 tokens.
fn step(number: usize) -> [Value; 2] {
    let lines: Vec<String> = (0..30)
        .map(|line| format!("src/part_{number}/file_{line}.rs: checked, {} warnings, nothing else to say", line * 7))
        .collect();
    let call = json!({"functionCall": {"name": "bash", "args": {"command": format!("make part_{number}")}},
        "thoughtSignature": format!("signature-{number}")});
    let response = json!({"functionResponse": {"name": "bash", "response": {"output": lines.join("\n")}}});
    [json!({"role": "model", "parts": [call]}), json!({"role": "user", "parts": [response]})]
}

pub(crate) fn request(steps: usize) -> Value {
    let mut contents = vec![text("user", "Find out why the build of the parser fails.")];
    contents.extend((0..steps).flat_map(step));
    json!({"systemInstruction": {"parts": [{"text": "You build parsers."}]}, "contents": contents,
        "tools": [{"functionDeclarations": [{"name": "bash"}]}], "generationConfig": {"temperature": 0.25}})
}

fn stream() -> ScriptedServer {
    ScriptedServer::start(vec![ScriptedAnswer::bytes(200, EVENTS).header("content-type", "text/event-stream")])
}

async fn send(service: &Running, request: &Value) -> Response {
    service.post(PATH, request).header("x-goog-api-key", "key-of-the-client").send().await.unwrap()
}

fn contents(seen: &ReceivedRequest) -> Vec<Value> {
    seen.json()["contents"].as_array().unwrap().clone()
}

#[tokio::test]
async fn below_the_threshold_bytes_go_through() {
    let upstream = stream();
    let service = Running::proxy(&upstream, SMALL).await;
    let request = request(2);
    let response = send(&service, &request).await;
    assert_eq!((response.status().as_u16(), header(&response, "x-epitome-status")), (200, "passed"));
    assert_eq!(response.text().await.unwrap(), EVENTS, "byte for byte");
    let seen = &upstream.requests()[0];
    assert_eq!((seen.path.as_str(), seen.text()), (PATH, request.to_string()));
    assert_eq!(seen.header("x-goog-api-key"), Some("key-of-the-client"));
}

#[tokio::test]
async fn a_session_is_compacted_again_and_again_and_stays_with_each() {
    let upstream = stream();
    let service = Running::proxy(&upstream, SMALL).await;
    let mut request = request(0);
    let (mut compactions, mut last): (u32, Option<Vec<Value>>) = (0, None);
    for number in 0..45 {
        request["contents"].as_array_mut().unwrap().extend(step(number));
        let response = send(&service, &request).await;
        let status = header(&response, "x-epitome-status").to_owned();
        let after: u32 = header(&response, "x-epitome-tokens-after").parse().unwrap();
        assert!(after <= 7_600, "{number}: {after}");
        let seen = upstream.requests().pop().unwrap();
        assert_eq!(validate(&seen.text(), Wire::Gemini), [], "{number}");
        assert_eq!(seen.json()["generationConfig"]["temperature"], 0.25, "other fields stay");
        let now = contents(&seen);
        match &last {
            _ if status == "compacted" => compactions += 1,
            Some(last) => assert_eq!(now[..last.len()], last[..], "{number}: nothing changes between compactions"),
            None => {}
        }
        let calls = seen.text().matches("\"functionCall\"").count();
        assert_eq!(seen.text().matches("\"thoughtSignature\"").count(), calls, "each call keeps its signature");
        assert_eq!(seen.text().contains("search_history"), compactions > 0, "the tools come with what left");
        last = Some(now);
    }
    assert!((3..15).contains(&compactions), "{compactions}");
}

#[tokio::test]
async fn the_path_names_the_model_whose_window_counts() {
    let upstream = stream();
    let config = "[models.gemini-small]\nwindow = 9_000\nreserve_output = 1_000\n";
    let settings = Settings { budget_by_model: true, ..in_front_of(&upstream.url()) };
    let service = Running::start(config, settings).await;
    let request = request(20);
    for (model, expect) in [("gemini-large", "passed"), ("gemini-small", "compacted")] {
        let path = format!("/v1beta/models/{model}:generateContent");
        let response = service.post(&path, &request).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), expect, "{model}");
    }
}

#[tokio::test]
async fn a_refusal_as_too_long_is_sent_once_more() {
    let refusal = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT",
        "message": "The input token count (6000) exceeds the maximum number of tokens allowed (3000)."}});
    let upstream = ScriptedServer::start_with(move |_, seen| match seen.body.len() {
        ..12_000 => ScriptedAnswer::bytes(200, EVENTS).header("content-type", "text/event-stream"),
        _ => ScriptedAnswer::json(400, refusal.to_string()),
    });
    let service = Running::proxy(&upstream, SMALL).await;
    let response = send(&service, &request(6)).await;
    assert_eq!((response.status().as_u16(), header(&response, "x-epitome-status")), (200, "overflow-retried"));
    assert_eq!(response.text().await.unwrap(), EVENTS, "nothing of the refusal is in it");
    let seen = upstream.requests();
    assert_eq!((seen.len(), validate(&seen[1].text(), Wire::Gemini)), (2, vec![]));
}

#[tokio::test]
async fn what_the_proxy_does_not_read_goes_through() {
    let upstream = stream();
    let service = Running::proxy(&upstream, SMALL).await;
    let check = async |path: &str, body: Value, expect: &str| {
        let response = service.post(path, &body).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-epitome-status")), (200, "bypassed"), "{path}");
        assert_eq!(header(&response, "x-epitome-detail"), expect, "{path} {body}");
        assert_eq!(upstream.requests().pop().unwrap().text(), body.to_string());
    };
    check("/v1beta/models/m:countTokens", request(20), "").await;
    check("/v1beta/models/m:embedContent", json!({"content": {"parts": [{"text": "x"}]}}), "").await;
    check(PATH, json!({"contents": "a text"}), "one-text").await;
    check(PATH, json!({"contents": [{"role": "user"}]}), "not-understood").await;
    let mut cached = request(20);
    cached["cachedContent"] = json!("cachedContents/x");
    check(PATH, cached, "history-at-the-provider").await;
}
