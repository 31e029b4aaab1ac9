#![allow(clippy::unwrap_used)]

use serde_json::Value;

use super::*;
use crate::check::NESTING;

#[test]
fn messages_come_back_as_they_were() {
    let check = |profile: Wire, json: &str| {
        let messages = read_message(profile, json).unwrap();
        let written = write_messages(profile, &messages).unwrap();
        let values: Vec<Value> = written.iter().map(|item| serde_json::from_str(item).unwrap()).collect();
        assert_eq!(values, [serde_json::from_str::<Value>(json).unwrap()], "{profile:?}: {written:?}");
    };
    check(Wire::OpenaiChat, r#"{"role":"user","content":"Fix the build"}"#);
    check(Wire::OpenaiChat, r#"{"role":"assistant","content":"Done."}"#);
    check(Wire::Anthropic, r#"{"role":"user","content":"Fix the build"}"#);
    check(Wire::Anthropic, r#"{"role":"assistant","content":[{"type":"text","text":"Done."}]}"#);
    check(Wire::OpenaiChat, r#"{"role":"system","content":"You are terse."}"#);
    check(
        Wire::OpenaiChat,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",
            "function":{"name":"bash","arguments":"{\"command\": \"make\"}"}}]}"#,
    );
    check(Wire::OpenaiChat, r#"{"role":"tool","tool_call_id":"c1","content":"All is well."}"#);
    check(
        Wire::Anthropic,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"text","text":"I look."},
            {"type":"tool_use","id":"t1","name":"bash","input":{"command":"make"}}]}"#,
    );
    check(
        Wire::Anthropic,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"All is well."},
            {"type":"text","text":"And now?"}]}"#,
    );
    check(Wire::OpenaiResponses, r#"{"type":"function_call","call_id":"c1","name":"bash","arguments":"{}"}"#);
    check(Wire::OpenaiResponses, r#"{"type":"function_call_output","call_id":"c1","output":"All is well."}"#);
    check(
        Wire::OpenaiResponses,
        r#"{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I cannot."}]}"#,
    );
    check(Wire::OpenaiChat, r#"{"role":"assistant","content":[{"type":"refusal","refusal":"I cannot."}]}"#);
    check(Wire::OpenaiChat, r#"{"role":"assistant","content":null,"audio":{"id":"audio_1"}}"#);
}

#[test]
fn a_refusal_comes_back_as_a_part() {
    let check = |profile: Wire, expect: &str| {
        let message = r#"{"role":"assistant","content":null,"refusal":"I cannot."}"#;
        let messages = read_message(Wire::OpenaiChat, message).unwrap();
        assert_eq!(write_messages(profile, &messages).unwrap(), [expect]);
    };
    check(Wire::OpenaiChat, r#"{"role":"assistant","content":[{"type":"refusal","refusal":"I cannot."}]}"#);
    check(Wire::Anthropic, r#"{"role":"assistant","content":[{"type":"text","text":"I cannot."}]}"#);
    check(
        Wire::OpenaiResponses,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I cannot."}]}"#,
    );
}

#[test]
fn one_form_becomes_another() {
    let result = r#"{"role":"tool","tool_call_id":"c1","content":"All is well."}"#;
    let messages = read_message(Wire::OpenaiChat, result).unwrap();
    let written = write_messages(Wire::OpenaiResponses, &messages).unwrap();
    assert_eq!(written.len(), 1, "{written:?}");
    let item: Value = serde_json::from_str(&written[0]).unwrap();
    assert_eq!((&item["type"], &item["call_id"]), (&"function_call_output".into(), &"c1".into()));
    let system = read_message(Wire::OpenaiChat, r#"{"role":"system","content":"You are terse."}"#).unwrap();
    assert_eq!(write_messages(Wire::Anthropic, &system).unwrap_err().field, "role");
}

#[test]
fn errors_name_the_field() {
    let check = |profile: Wire, json: &str, expect: &str| {
        assert_eq!(read_message(profile, json).unwrap_err().to_string(), expect, "{json}")
    };
    let missing = |field: &str| format!("`{field}`: a text is expected, and it is missing");
    check(Wire::OpenaiChat, "[]", "a message is an object, and this is a list");
    check(Wire::OpenaiChat, r#"{"content":"x"}"#, &missing("role"));
    check(
        Wire::OpenaiChat,
        r#"{"role":"tool","tool_call_id":7,"content":"x"}"#,
        "`tool_call_id`: a text is expected, and this is a number",
    );
    check(
        Wire::OpenaiChat,
        r#"{"role":"assistant","tool_calls":[{"id":"c1","function":{}}]}"#,
        &missing("tool_calls[0].function.name"),
    );
    check(
        Wire::OpenaiChat,
        r#"{"role":"user","content":7}"#,
        "`content`: a text or a list of parts is expected, and this is a number",
    );
    check(
        Wire::Anthropic,
        r#"{"role":"tool","content":"x"}"#,
        "`role`: `tool` is not a role of this form: system, user, assistant",
    );
    check(
        Wire::Anthropic,
        r#"{"role":"user","content":[{"type":"tool_result","content":"x"}]}"#,
        &missing("content[0].tool_use_id"),
    );
    check(Wire::OpenaiResponses, r#"{"output":"x"}"#, &missing("type"));
    check(Wire::OpenaiResponses, r#"{"type":"function_call_output","output":"x"}"#, &missing("call_id"));
    let error = read_message(Wire::OpenaiChat, "{").unwrap_err().to_string();
    assert!(error.starts_with("it is not JSON: "), "{error}");
}

#[test]
fn json_beyond_the_limits_is_said_to_be_json() {
    let check = |content: &str, expect: &str| {
        let json = format!(r#"{{"role":"user","content":[{{"type":"text","text":"x","other":{content}}}]}}"#);
        let found = check_message(Wire::OpenaiChat, &json).map_err(|error| error.to_string());
        let is_expected = match expect {
            "" => found.is_ok(),
            expect => found.as_ref().is_err_and(|error| error.starts_with(expect)),
        };
        assert!(is_expected, "{found:?}");
    };
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    // The message, its list and its part are three levels.
    check(&nested(NESTING - 3), "");
    check(&nested(NESTING - 2), "it is JSON that cannot be read here: recursion limit exceeded");
    check("1e308", "");
    check("1e999", "it is JSON that cannot be read here: number out of range");
    check(r#""\ud800""#, "it is JSON that cannot be read here: ");
    check("1e", "it is not JSON: ");
}
