//! `summarizer = "provider"` in the proxy: the provider compacts the conversation by itself, asked with the client's own
//! request; where it offers that not, the conversation's model writes the hand-off.

use epitome_harness::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
use serde_json::{Value, json};

use crate::support::{Running, Wire, asked, header};

/// 8,000 usable tokens: soft 6,400, hard 7,600, target 4,000.
const PROVIDER: &str = "[budget]\nwindow = 9_000\nreserve_output = 1_000\nsoft = 0.8\ntarget = 0.5\n[summary]\nsummarizer = \"provider\"\n";

const SUMMARY: &str = "## Goal\n- Find out why the build of the parser fails.\n\n## Constraints\n- none\n\n## State\n- make was \
    run; src/part_1/file_2.rs was checked, 14 warnings.\n\n## Decisions\n- none\n\n## Findings\n- All files that were looked at \
    have warnings and nothing else to say, src/part_0/file_3.rs too.\n\n## Failed\n- none\n\n## Open\n- The reason is not \
    known.\n\n## Next step\n- Say what is known now.";

/// What a request is.
fn form(seen: &ReceivedRequest) -> &'static str {
    match seen.json() {
        body if body["compaction"].is_object() => "compaction",
        body if body["context_management"].is_object() => "context_management",
        _ if seen.text().contains("This is not a part of the work.") => "hand-off",
        _ => "request",
    }
}

fn forms(upstream: &ScriptedServer) -> Vec<&'static str> {
    upstream.requests().iter().map(form).collect()
}

/// A provider that answers a compaction so, and writes hand-offs when it is asked for one.
fn upstream(wire: Wire, to_compaction: ScriptedAnswer) -> ScriptedServer {
    ScriptedServer::start_with(move |_, seen| match form(seen) {
        "compaction" | "context_management" => to_compaction.clone(),
        "hand-off" => ScriptedAnswer::json(
            200,
            match wire {
                Wire::Anthropic => json!({ "content": [{ "type": "text", "text": SUMMARY }], "stop_reason": "end_turn",
                    "usage": { "input_tokens": 500, "output_tokens": 90 } }),
                Wire::Chat => json!({ "choices": [{ "message": { "content": SUMMARY }, "finish_reason": "stop" }] }),
                Wire::Responses => json!({ "status": "completed",
                    "output": [{ "type": "message", "content": [{ "type": "output_text", "text": SUMMARY }] }] }),
            },
        ),
        _ => ScriptedAnswer::json(200, "{}"),
    })
}

fn compacted() -> ScriptedAnswer {
    ScriptedAnswer::json(
        200,
        json!({
            "content": [{ "type": "compaction", "content": SUMMARY, "signature": "EuYB" }],
            "stop_reason": "compaction",
            "usage": { "input_tokens": 0, "output_tokens": 0, "iterations": [
                { "type": "compaction", "input_tokens": 10, "cache_read_input_tokens": 6_000, "output_tokens": 90 },
            ] },
        }),
    )
}

#[tokio::test]
async fn the_provider_compacts_the_clients_request() {
    let (wire, upstream) = (Wire::Anthropic, upstream(Wire::Anthropic, compacted()));
    let service = Running::proxy(&upstream, PROVIDER).await;
    let mut request = wire.request(16);
    request["stream"] = json!(true);
    let post = |request: &Value| {
        let builder = service.post(wire.path(), request);
        builder.header("x-api-key", "sesame").header("anthropic-beta", "oauth-2025-04-20").send()
    };
    let response = post(&request).await.unwrap();
    assert_eq!(header(&response, "x-epitome-status"), "compacted");
    assert_eq!(forms(&upstream), ["compaction", "request"], "the summary, and the smaller request");
    let seen = upstream.requests();
    assert_eq!(seen[0].header("x-api-key"), Some("sesame"), "the client's own credentials");
    assert_eq!(seen[0].header("anthropic-beta"), Some("oauth-2025-04-20,compact-2026-09-04"));
    let (compaction, sent) = (seen[0].json(), seen[1].json());
    for field in ["model", "system", "tools", "messages"] {
        assert_eq!(compaction[field], request[field], "{field}");
    }
    assert_eq!(compaction["stream"], Value::Null);
    let instructions = compaction["compaction"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("Write a hand-off"), "{instructions}");
    let text = sent.to_string();
    assert!(text.contains("## Goal\\n- Find out why") && !text.contains("EuYB"), "{text}");
    assert_eq!(seen[1].header("anthropic-beta"), Some("oauth-2025-04-20"), "what goes on is an ordinary request");
    let metrics = service.get("/metrics").await.text().await.unwrap();
    assert!(metrics.lines().any(|line| line.contains("summary") && line.ends_with(" 6010")), "{metrics}");
    let more = wire.longer(&request, vec![wire.said("A parser."), asked("And now?")]);
    assert_eq!(header(&post(&more).await.unwrap(), "x-epitome-status"), "replayed");
    assert_eq!(forms(&upstream)[2..], ["request"]);
}

#[tokio::test]
async fn where_it_does_not_the_conversations_model_writes() {
    let check = async |wire: Wire, to_compaction: ScriptedAnswer, expect: &[&str]| {
        let upstream = upstream(wire, to_compaction);
        let service = Running::proxy(&upstream, PROVIDER).await;
        for step in [16, 17] {
            // Two conversations.
            let mut request = wire.request(step);
            request["metadata"] = json!({ "user_id": step.to_string() });
            let response = service.post(wire.path(), &request).send().await.unwrap();
            assert_eq!(header(&response, "x-epitome-status"), "compacted", "{wire:?}");
        }
        let seen = upstream.requests();
        assert_eq!(forms(&upstream), expect, "{wire:?}");
        assert!(seen.last().unwrap().text().contains("## Goal\\n- Find out why"));
    };
    let unknown = || ScriptedAnswer::json(400, r#"{"error":{"message":"compaction: Extra inputs are not permitted"}}"#);
    let once = ["compaction", "hand-off", "request", "hand-off", "request"];
    check(Wire::Anthropic, unknown(), &once).await;
    // It answers instead.
    let said = json!({ "content": [{ "type": "text", "text": "I go on." }], "stop_reason": "end_turn" });
    check(Wire::Anthropic, ScriptedAnswer::json(200, said), &once).await;
    // Busy is not unknown.
    let each = ["compaction", "hand-off", "request", "compaction", "hand-off", "request"];
    check(Wire::Anthropic, ScriptedAnswer::json(529, "{}"), &each).await;
    // What OpenAI gives cannot be read, and is not asked for.
    let never = ["hand-off", "request", "hand-off", "request"];
    check(Wire::Chat, unknown(), &never).await;
    check(Wire::Responses, unknown(), &never).await;
}
