#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn the_conversation_stays_as_it_is() {
    let check = |wire: Wire, request: &str, expect: &str| {
        let asked = ask_within(wire, request.as_bytes(), "Say \"so\".", 900).unwrap();
        let asked = String::from_utf8(asked).unwrap();
        assert_eq!(asked, expect, "{request}");
    };
    check(
        Wire::Anthropic,
        r#"{"model":"m","system":"S","tools":[{"name":"t"}],"messages":[{"role":"user" ,"content":"a\u0062"}],"max_tokens":100,"stream":true,"stop_sequences":["x"]}"#,
        r#"{"max_tokens":900,"messages":[{"role":"user" ,"content":"a\u0062"},{"role":"user","content":"Say \"so\"."}],"model":"m","stream":true,"system":"S","tools":[{"name":"t"}]}"#,
    );
    check(
        Wire::Anthropic,
        r#"{"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"any"},"max_tokens":1000}"#,
        r#"{"max_tokens":1000,"messages":[{"role":"user","content":"a"},{"role":"user","content":"Say \"so\"."}],"tool_choice":{"type":"none"}}"#,
    );
    check(
        Wire::Anthropic,
        r#"{"messages":[{"role":"user","content":"a"}],"tool_choice":{"type":"auto"}}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"user","content":"Say \"so\"."}],"tool_choice":{"type":"auto"}}"#,
    );
    check(
        Wire::OpenaiChat,
        r#"{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function"}],"stream":true,"n":2,"response_format":{"type":"json_object"}}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"user","content":"Say \"so\"."}],"stream":true,"stream_options":{"include_usage":true},"tool_choice":"none","tools":[{"type":"function"}]}"#,
    );
    check(
        Wire::OpenaiResponses,
        r#"{"input":[{"role":"user","content":"a"}],"instructions":"S","tools":[{"type":"function"}],"tool_choice":"auto","previous_response_id":null}"#,
        r#"{"input":[{"role":"user","content":"a"},{"type":"message","role":"user","content":[{"type":"input_text","text":"Say \"so\"."}]}],"instructions":"S","previous_response_id":null,"tool_choice":"none","tools":[{"type":"function"}]}"#,
    );
}

#[test]
fn where_nothing_can_be_asked() {
    let check = |wire: Wire, request: &str, expect: AskWithinError| {
        assert_eq!(ask_within(wire, request.as_bytes(), "x", 1), Err(expect), "{request}");
    };
    check(Wire::Anthropic, "[]", AskWithinError::NotJson);
    check(Wire::Anthropic, "{}", AskWithinError::NoMessages("messages"));
    check(Wire::OpenaiChat, r#"{"messages":[ ]}"#, AskWithinError::NoMessages("messages"));
    check(Wire::OpenaiResponses, r#"{"input":"a"}"#, AskWithinError::NoMessages("input"));
    let kept = r#"{"input":[{}],"previous_response_id":"r1"}"#;
    check(Wire::OpenaiResponses, kept, AskWithinError::Elsewhere("previous_response_id"));
}
