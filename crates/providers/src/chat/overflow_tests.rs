#![allow(clippy::unwrap_used)]

use super::*;
use serde_json::json;

fn check(status: u16, body: impl ToString, expect: Option<(Option<u32>, Option<u32>)>) {
    let body = body.to_string();
    let found = is_context_overflow(status, &body).map(|found| (found.limit, found.actual));
    assert_eq!(found, expect, "{status} {body}");
}

#[test]
fn every_sign_is_a_pattern() {
    for (who, sign) in signs() {
        assert!(pattern(sign).is_ok(), "{who}: {sign}");
    }
}

#[test]
fn messages_with_figures() {
    let openai = |message: &str| json!({ "error": { "message": message, "type": "invalid_request_error" } });
    let says = |message: &str, limit: u32, actual: u32| check(400, openai(message), Some((Some(limit), Some(actual))));
    says("prompt is too long: 215000 tokens > 200000 maximum", 200_000, 215_000);
    says(
        "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length or `max_tokens` \
         and try again",
        200_000,
        211_333,
    );
    says("request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it", 8192, 9412);
    says(
        "This model's maximum context length is 4097 tokens. However, you requested 5,000 tokens (4000 in the messages, 1000 \
         in the completion).",
        4097,
        5000,
    );
    says(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
        128_000,
        140_000,
    );
    says(
        "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (8000 of text input)",
        8192,
        9000,
    );
    says(
        "'max_tokens' or 'max_completion_tokens' is too large: 30000. This model's maximum context length is 32768 tokens and \
         your request has 5000 input tokens (30000 > 32768 - 5000).",
        32_768,
        35_000,
    );
    says(
        "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce the \
         length of the input messages.",
        4096,
        5000,
    );
    says(
        "You passed 5001 input tokens and requested 10 output tokens. However, the model's context length is only 5000 tokens",
        5000,
        5011,
    );
    says(
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
        272_000,
        300_000,
    );
    says("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072, 537_812);
    says(
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        1_048_575,
        1_196_265,
    );
    says(
        "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        32_768,
        65_673,
    );
    says("Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)", 131_072, 140_000);
    says("prompt token count of 140000 exceeds the limit of 128000", 128_000, 140_000);
    says("The input (210000 tokens) is longer than the model's context length (200000 tokens).", 200_000, 210_000);
    says(
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000 \
         tokens: 4000 tokens from the input messages and 1000 tokens for the completion.",
        4096,
        5000,
    );
    says(
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4500 `inputs` tokens and 1000 \
         `max_new_tokens`",
        4096,
        5500,
    );
    says("`inputs` must have less than 1024 tokens. Given: 2000", 1024, 2000);
    says(
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try a shorter prompt",
        4081,
        5000,
    );
    says(
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of \
         only 4096 tokens, which is not enough.",
        4096,
        5000,
    );
    says("Prompt has 32769 tokens, but the configured context size is 32768 tokens", 32_768, 32_769);
    says(
        "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 47000. The input \
         or output tokens must be reduced",
        30_000,
        47_000,
    );
}

#[test]
fn messages_without() {
    let none = Some((None, None));
    check(400, json!({ "error": { "code": "context_length_exceeded", "message": "…" } }), none);
    check(
        400,
        json!({ "error": { "type": "exceed_context_size_error", "n_prompt_tokens": 13392, "n_ctx": 8192 } }),
        Some((Some(8192), Some(13_392))),
    );
    check(413, json!({ "type": "error", "error": { "type": "request_too_large", "message": "Too big" } }), none);
    check(413, "<html>413 Request Entity Too Large</html>", none);
    check(413, "", none);
    for message in [
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "Please reduce the length of the messages or completion.",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "Input is too long for requested model.",
        "prompt too long; exceeded max context length by 4 tokens",
        "invalid params, context window exceeds limit (2013)",
        "Prompt exceeds max length",
    ] {
        check(400, message, none);
        check(500, json!({ "error": message }), none);
    }
    check(400, "Range of input length should be [1, 30720]", Some((Some(30_720), None)));
    // A gateway's own words around the service's.
    let raw = json!({ "error": { "message": "prompt is too long: 3 tokens > 2 maximum" } }).to_string();
    let around = json!({ "error": { "message": "Provider returned error", "code": 400, "metadata": { "raw": raw } } });
    check(400, around, Some((Some(2), Some(3))));
    check(422, json!({ "detail": [{ "msg": "prompt is too long" }] }), none);
    check(
        400,
        json!([{ "error": { "message": "input token count exceeds", "status": "context_length_exceeded" } }]),
        none,
    );
    // An error in a stream, or behind a success.
    check(200, json!({ "type": "error", "error": { "message": "prompt is too long" } }), none);
}

#[test]
fn other_trouble() {
    for status in [401, 403, 404, 429] {
        check(status, "prompt is too long: 3 tokens > 2 maximum", None);
    }
    check(400, "", None);
    check(400, json!({ "error": { "message": "Unsupported parameter: 'max_tokens'" } }), None);
    check(429, json!({ "error": { "message": "Rate limit reached: Limit 30000, Used 29000, Requested 2000" } }), None);
    let large = json!({ "error": { "message": "Request too large for m on TPM: Limit 6000, Requested 9000" } });
    check(429, large, Some((Some(6000), Some(9000))));
    check(529, json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }), None);
    // What a service repeats of the request, and an answer that only speaks of such errors.
    check(422, json!({ "detail": [{ "msg": "Field required", "input": { "content": "prompt is too long" } }] }), None);
    check(200, json!({ "choices": [{ "message": { "content": "context_length_exceeded" } }] }), None);
    check(200, json!({ "error": null, "message": "prompt is too long" }), None);
    check(400, "[".repeat(100_000), None);
    check(400, format!("{{\"error\":\"{}\"}}", "maximum context length is ".repeat(40_000)), None);
    check(400, "maximum context length is 99999999999999999999 tokens", Some((None, None)));
}
