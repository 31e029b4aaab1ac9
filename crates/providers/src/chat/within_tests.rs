#![allow(clippy::unwrap_used)]
use super::*;
use crate::chat::Stop;

/// The text, why it ends, and the tokens read, read from the cache, and written.
fn answer(wire: Wire, body: &str) -> (String, Stop, [u64; 3]) {
    let read = read_answer(wire, 200, body.as_bytes()).unwrap();
    (read.text, read.stop, [read.input_tokens, read.cached_tokens, read.output_tokens])
}

#[test]
fn answers_of_three_wires_whole_and_as_streams() {
    let check = |wire: Wire, body: &str, text: &str, stop: Stop, usage: [u64; 3]| {
        assert_eq!(answer(wire, body), (text.to_owned(), stop, usage), "{body}");
    };
    check(
        Wire::Anthropic,
        r#"{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"so"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"cache_read_input_tokens":90,"cache_creation_input_tokens":3,"output_tokens":7}}"#,
        "so",
        Stop::End,
        [98, 90, 7],
    );
    let stream = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":90,\"output_tokens\":1}}}\n\n\
        event: ping\ndata: {\"type\":\"ping\"}\n\n\
        data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
        data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"s\"}}\n\n\
        data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"x\"}}\n\n\
        data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"o\"}}\n\n\
        data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\n\
        data: {\"type\":\"message_stop\"}\n\n";
    check(Wire::Anthropic, stream, "so", Stop::End, [95, 90, 7]);
    let call = "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\"}}\n\n";
    let called = format!("{call}{stream}");
    check(Wire::Anthropic, &called, "so", Stop::ToolCall, [95, 90, 7]);
    check(Wire::Anthropic, &stream.replace("end_turn", "max_tokens"), "so", Stop::Length, [95, 90, 7]);
    check(Wire::Anthropic, &stream.replace("end_turn", "refusal"), "so", Stop::Refused, [95, 90, 7]);

    let usage = r#"{"prompt_tokens":50,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":40}}"#;
    let whole = format!(r#"{{"choices":[{{"message":{{"content":"so"}},"finish_reason":"stop"}}],"usage":{usage}}}"#);
    check(Wire::OpenaiChat, &whole, "so", Stop::End, [50, 40, 7]);
    let stream = format!(
        ": keep-alive\n\ndata: {{\"choices\":[{{\"delta\":{{\"role\":\"assistant\",\"content\":\"s\"}}}}]}}\n\ndata: {{\"choices\":[{{\"delta\":{{\"content\":\"o\"}},\"finish_reason\":\"stop\"}}]}}\n\ndata: {{\"choices\":[],\"usage\":{usage}}}\n\ndata: [DONE]\n\n"
    );
    check(Wire::OpenaiChat, &stream, "so", Stop::End, [50, 40, 7]);
    let called = stream.replace("\"content\":\"o\"", "\"tool_calls\":[{\"index\":0}]");
    check(Wire::OpenaiChat, &called, "s", Stop::ToolCall, [50, 40, 7]);

    let usage = r#"{"input_tokens":60,"output_tokens":7,"input_tokens_details":{"cached_tokens":55}}"#;
    let message = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]}"#;
    let whole = format!(r#"{{"status":"completed","output":[{{"type":"reasoning"}},{message}],"usage":{usage}}}"#);
    check(Wire::OpenaiResponses, &whole, "so", Stop::End, [60, 55, 7]);
    let stream = format!(
        "event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"delta\":\"so\"}}\n\nevent: response.completed\ndata: {{\"type\":\"response.completed\",\"response\":{whole}}}\n\n"
    );
    check(Wire::OpenaiResponses, &stream, "so", Stop::End, [60, 55, 7]);
    let bare = stream.replace(&format!(r#"[{{"type":"reasoning"}},{message}]"#), "[]");
    check(Wire::OpenaiResponses, &bare, "so", Stop::End, [60, 55, 7]);
    let called = whole.replace("\"reasoning\"", "\"function_call\"");
    check(Wire::OpenaiResponses, &called, "so", Stop::ToolCall, [60, 55, 7]);
    let cut = whole.replace("\"completed\"", "\"incomplete\"");
    check(Wire::OpenaiResponses, &cut, "so", Stop::Length, [60, 55, 7]);
}

#[test]
fn what_is_no_answer() {
    let check = |wire: Wire, status: u16, body: &str, kind: ChatErrorKind, message: &str| {
        let error = read_answer(wire, status, body.as_bytes()).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{body}");
    };
    let cut = "data: {\"type\":\"message_start\",\"message\":{}}\n\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"s\"}}\n\n";
    let ended = "the provider's stream ended before the answer did";
    check(Wire::Anthropic, 200, cut, ChatErrorKind::Transient, ended);
    check(Wire::OpenaiChat, 200, "data: {\"choices\":[]}\n\n", ChatErrorKind::Transient, ended);
    let busy = "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    check(Wire::Anthropic, 200, busy, ChatErrorKind::Transient, "the provider answered 529: Overloaded");
    let long = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#;
    let too_long = "the conversation is too long for one more question";
    check(Wire::Anthropic, 400, long, ChatErrorKind::TooLong, too_long);
    let key = r#"{"error":{"message":"wrong key"}}"#;
    check(Wire::OpenaiChat, 401, key, ChatErrorKind::Rejected, "the provider answered 401: wrong key");
    check(Wire::OpenaiChat, 503, "", ChatErrorKind::Transient, "the provider answered 503");
    check(Wire::OpenaiChat, 200, "<html>", ChatErrorKind::Unreadable, "the provider's answer is not JSON");
    check(
        Wire::OpenaiResponses,
        200,
        "{}",
        ChatErrorKind::Unreadable,
        "the provider's answer cannot be read: it has no list `output`",
    );
    check(
        Wire::Anthropic,
        200,
        "data: {\n\n",
        ChatErrorKind::Unreadable,
        "the provider's stream holds something that is not JSON",
    );
}
