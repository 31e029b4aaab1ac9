#![allow(clippy::unwrap_used, clippy::panic)]
use super::*;

#[test]
fn a_clients_request_becomes_one_for_its_compaction() {
    let check = |form: CompactionForm, request: Value, expect: Value| {
        let body = compact_within(form, request.to_string().as_bytes(), "Keep it.", 900).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), expect);
    };
    let messages = json!([{ "role": "user", "content": "Hi" }]);
    let on_demand = json!({ "type": "summarize", "instructions": "Keep it." });
    check(
        CompactionForm::OnDemand,
        json!({ "model": "m", "system": "s", "tools": [{ "name": "t" }], "messages": messages, "max_tokens": 9_000,
            "stream": true, "stop_sequences": ["x"], "tool_choice": { "type": "any" }, "thinking": { "type": "adaptive" },
            "context_management": { "edits": [] },
            "output_config": { "effort": "low", "format": {}, "task_budget": { "remaining": 1 } } }),
        json!({ "model": "m", "system": "s", "tools": [{ "name": "t" }], "messages": messages, "max_tokens": 9_000,
            "thinking": { "type": "adaptive" }, "output_config": { "effort": "low" }, "compaction": on_demand }),
    );
    check(
        CompactionForm::OnDemand,
        json!({ "messages": messages, "max_tokens": 10, "tool_choice": { "type": "auto" } }),
        json!({ "messages": messages, "max_tokens": 4_096, "tool_choice": { "type": "auto" }, "compaction": on_demand }),
    );
    let edit = json!({ "type": "compact_20260112", "trigger": { "type": "input_tokens", "value": 50_000 },
        "pause_after_compaction": true, "instructions": "Keep it." });
    check(
        CompactionForm::Threshold,
        json!({ "messages": messages, "compaction": { "type": "summarize" } }),
        json!({ "messages": messages, "max_tokens": 4_096, "context_management": { "edits": [edit] } }),
    );
    let refused = |request: &str| compact_within(CompactionForm::OnDemand, request.as_bytes(), "", 1).unwrap_err();
    assert_eq!(refused("nothing"), AskWithinError::NotJson);
    assert_eq!(refused(r#"{"messages":"Hi"}"#), AskWithinError::NoMessages("messages"));
    assert_eq!(refused("{}"), AskWithinError::NoMessages("messages"));
}

#[test]
fn bytes_of_the_conversation_stay() {
    let request = r#"{"messages": [ {"content":"a\u0062" ,"role":"user"} ], "system" : [ {"text":"1.0e2"} ]}"#;
    let body = compact_within(CompactionForm::OnDemand, request.as_bytes(), "Keep it.", 1).unwrap();
    let body = String::from_utf8(body).unwrap();
    for part in [r#"[ {"content":"a\u0062" ,"role":"user"} ]"#, r#"[ {"text":"1.0e2"} ]"#] {
        assert!(body.contains(part), "{body}");
    }
}

#[test]
fn who_does_not_know_it() {
    let check =
        |status: u16, body: &str, expect: bool| assert_eq!(is_compaction_unknown(status, body), expect, "{body}");
    check(404, "", true);
    check(405, "", true);
    check(501, "", true);
    check(400, "compaction: Extra inputs are not permitted", true);
    check(422, r#"{"detail":[{"loc":["body","context_management"],"msg":"Extra inputs are not permitted"}]}"#, true);
    check(400, "Unexpected value(s) `compact-2026-09-04` for the `anthropic-beta` header", true);
    check(400, "Input tag 'compact_20260112' does not match any of the expected tags", true);
    check(400, "claude-haiku-4-5 does not support compaction", true);
    // It knows it, and refuses this one.
    check(400, "compaction_nothing_to_summarize", false);
    check(400, "stop_sequences can't be sent with compaction", false);
    check(400, "messages.0.content.0.citations: Extra inputs are not permitted", false);
    check(400, "prompt is too long: 210000 tokens > 200000 maximum", false);
    check(529, "Compaction is not available", false);
    check(401, "compaction: not permitted", false);
    // What stands behind the refusal may be the conversation.
    check(400, &format!("a bad request{}compaction is not supported", " ".repeat(1_000)), false);
}

#[test]
fn answers() {
    let check = |answer: Value, text: &str, stop: Stop, tokens: [u64; 3]| {
        let CompactionReading::Compacted(answer) = read_compaction(&answer).unwrap() else { panic!("{answer}") };
        let usage = [answer.input_tokens, answer.cached_tokens, answer.output_tokens];
        assert_eq!((answer.text.as_str(), answer.stop, usage), (text, stop, tokens));
    };
    let block = |text: Value| json!({ "type": "compaction", "content": text });
    let iterations = json!({ "input_tokens": 0, "output_tokens": 0, "iterations": [
        { "type": "compaction", "input_tokens": 1, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 4, "output_tokens": 8 },
        { "type": "message", "input_tokens": 16, "output_tokens": 32 },
    ] });
    check(
        json!({ "content": [block(json!(" So far. "))], "stop_reason": "compaction", "usage": iterations }),
        "So far.",
        Stop::End,
        [23, 2, 40],
    );
    // A service that does not pause goes on behind the block.
    let went_on = json!([block(json!("So far.")), { "type": "text", "text": "Next" }]);
    let usage = json!({ "input_tokens": 5, "output_tokens": 6 });
    check(json!({ "content": went_on, "stop_reason": "max_tokens", "usage": usage }), "So far.", Stop::End, [5, 0, 6]);
    check(json!({ "content": [block(Value::Null)], "stop_reason": "compaction" }), "", Stop::End, [0; 3]);
    for (reason, stop) in [("max_tokens", Stop::Length), ("tool_use", Stop::ToolCall), ("refusal", Stop::Refused)] {
        check(json!({ "content": [], "stop_reason": reason }), "", stop, [0; 3]);
    }
    let full = json!({ "content": [], "stop_reason": "model_context_window_exceeded" });
    assert_eq!(read_compaction(&full), Err(AnswerError::Full));
    assert!(matches!(read_compaction(&json!({ "content": "So far." })), Err(AnswerError::Wrong(_))));
    let ignored = json!({ "content": [{ "type": "text", "text": "Next" }], "stop_reason": "end_turn", "usage": usage });
    let Ok(CompactionReading::Ignored(answer)) = read_compaction(&ignored) else { panic!("{ignored}") };
    assert_eq!((answer.text.as_str(), answer.input_tokens, answer.output_tokens), ("", 5, 6));
}
