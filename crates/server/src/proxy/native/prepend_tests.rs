#![allow(clippy::unwrap_used)]

use axum::http::{HeaderValue, StatusCode};
use serde_json::json;

use super::*;

fn prepended(wire: Wire) -> PrependedItem {
    let item = match wire {
        Wire::Anthropic => json!({"type": "compaction", "content": "So far.", "encrypted_content": "epitome.c1.x"}),
        _ => json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "epitome.c1.x"}),
    };
    PrependedItem { wire, item }
}

async fn put(wire: Wire, status: u16, kind: &'static str, body: impl Into<Body>) -> (u16, String) {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("7"));
    let answer = prepended(wire).prepend_to(response).await;
    let status = answer.status().as_u16();
    let body = axum::body::to_bytes(answer.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

fn stream_of(events: &[Value]) -> String {
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())).collect()
}

fn events_of(stream: &str) -> Vec<Value> {
    stream.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
}

#[tokio::test]
async fn an_answer_in_one_piece() {
    let (_, body) =
        put(Wire::OpenaiResponses, 200, "application/json", r#"{"id":"r","output":[{"type":"message"}]}"#).await;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&body["output"][0]["id"], &body["output"][1]["type"]), (&json!("cmp_1"), &json!("message")));
    let (_, body) = put(Wire::Anthropic, 200, "application/json", r#"{"content":[{"type":"text"}]}"#).await;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&body["content"][0]["content"], &body["content"][1]["type"]), (&json!("So far."), &json!("text")));
    for (status, text) in [(400, r#"{"output":[]}"#), (200, "no"), (200, "{}"), (200, r#"{"output":7}"#)] {
        let expect = (status, text.to_owned());
        assert_eq!(put(Wire::OpenaiResponses, status, "application/json", text).await, expect, "as it came");
    }
}

#[tokio::test]
async fn a_stream_of_openais() {
    let events = [
        json!({"type": "response.created", "sequence_number": 0, "response": {"output": []}}),
        json!({"type": "response.in_progress", "sequence_number": 1}),
        json!({"type": "response.output_item.added", "sequence_number": 2, "output_index": 0, "item": {"type": "message"}}),
        json!({"type": "response.output_text.delta", "sequence_number": 3, "output_index": 0, "delta": "Hello"}),
        json!({"type": "response.completed", "sequence_number": 4, "response": {"output": [{"type": "message"}]}}),
    ];
    let stream = format!(": alive\n\n{}data: [DONE]\n\n", stream_of(&events));
    let expect = [
        ("response.created", 0, None),
        ("response.in_progress", 1, None),
        ("response.output_item.added", 2, Some(0)),
        ("response.output_item.done", 3, Some(0)),
        ("response.output_item.added", 4, Some(1)),
        ("response.output_text.delta", 5, Some(1)),
        ("response.completed", 6, None),
    ];
    for size in [1, 7, 50, stream.len()] {
        let pieces: Vec<Result<Bytes, std::io::Error>> =
            stream.as_bytes().chunks(size).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let body = Body::from_stream(stream::iter(pieces));
        let (_, written) = put(Wire::OpenaiResponses, 200, "text/event-stream; charset=utf-8", body).await;
        assert!(written.starts_with(": alive\n\n") && written.ends_with("data: [DONE]\n\n"), "{written}");
        let events = events_of(&written);
        let found: Vec<(&str, u64, Option<u64>)> = events
            .iter()
            .map(|event| {
                let number = event["sequence_number"].as_u64().unwrap();
                (event["type"].as_str().unwrap(), number, event["output_index"].as_u64())
            })
            .collect();
        assert_eq!(found, expect, "{size}");
        assert_eq!(events[3]["item"]["encrypted_content"], "epitome.c1.x");
        assert_eq!(events[6]["response"]["output"][0]["id"], "cmp_1");
    }
}

#[tokio::test]
async fn a_stream_of_anthropics() {
    let events = [
        json!({"type": "message_start", "message": {"content": []}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ];
    let (_, written) = put(Wire::Anthropic, 200, "text/event-stream", stream_of(&events)).await;
    let found = events_of(&written);
    let indexes: Vec<Option<u64>> = found.iter().map(|event| event["index"].as_u64()).collect();
    assert_eq!(indexes, [None, Some(0), Some(0), Some(0), None, Some(1), Some(1), Some(1), None, None]);
    let delta = &found[2]["delta"];
    assert_eq!((&delta["content"], &delta["encrypted_content"]), (&json!("So far."), &json!("epitome.c1.x")));
}

#[tokio::test]
async fn an_answer_that_failed_has_nothing_in_front() {
    let failed = stream_of(&[
        json!({"type": "response.created", "response": {"output": []}}),
        json!({"type": "response.failed", "response": {"output": [], "error": {}}}),
    ]);
    let (_, written) = put(Wire::OpenaiResponses, 200, "text/event-stream", failed.clone()).await;
    assert_eq!(written, failed);
    let error = stream_of(&[json!({"type": "error", "error": {"type": "overloaded_error"}})]);
    for wire in [Wire::OpenaiResponses, Wire::Anthropic] {
        assert_eq!(put(wire, 200, "text/event-stream", error.clone()).await.1, error);
    }
}
