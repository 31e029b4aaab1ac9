//! Chat models over HTTP, in both wire formats, against a server that answers from a script.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used)]

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use epitome_engine::block_on;
use epitome_harness::{ScriptedAnswer, ScriptedServer};
use epitome_providers::chat::{
    ChannelError, ChannelKind, ChannelSettings, ChatAnswer, ChatError, ChatErrorKind, ChatModel, ChatRequest,
    KeySource, Stop,
};
use epitome_providers::http::RetryPolicy;
use serde_json::{Value, json};

use ChannelKind::{Anthropic, OpenAi};
use ChatErrorKind::{Rejected, TooLong, Transient, Unreadable};

const BOTH: [ChannelKind; 2] = [OpenAi, Anthropic];

/// A variable that is set wherever tests run; its value stands for the key.
const KEY_VARIABLE: &str = "PATH";

fn key() -> String {
    std::env::var(KEY_VARIABLE).unwrap()
}

fn settings(kind: ChannelKind, server: &ScriptedServer) -> ChannelSettings {
    ChannelSettings {
        kind,
        base_url: format!("{}/v1", server.url()),
        key: KeySource::Environment(KEY_VARIABLE.to_owned()),
        model: "m-1".to_owned(),
        window: 1000,
        timeout: Duration::from_secs(20),
        retry: RetryPolicy { tries: 3, first_wait: Duration::ZERO, longest_wait: Duration::from_secs(5) },
        ..ChannelSettings::default()
    }
}

fn request() -> ChatRequest {
    ChatRequest { system: "Be brief.".to_owned(), user: "What?".to_owned(), max_tokens: 50 }
}

/// A server with a model that asks it.
struct Asked {
    server: ScriptedServer,
    settings: ChannelSettings,
    model: Arc<dyn ChatModel>,
}

impl Asked {
    fn new(kind: ChannelKind, answers: Vec<ScriptedAnswer>, change: impl FnOnce(&mut ChannelSettings)) -> Self {
        let server = ScriptedServer::start(answers);
        let mut settings = settings(kind, &server);
        change(&mut settings);
        let model = settings.open().unwrap();
        Self { server, settings, model }
    }

    /// The outcome, in which nothing shows the key.
    fn ask(&self) -> Result<ChatAnswer, ChatError> {
        let outcome = block_on(self.model.complete(&request()));
        for shown in [format!("{outcome:?}"), format!("{:?}", self.model), format!("{:?}", self.settings)] {
            assert!(!shown.contains(&key()), "{shown}");
        }
        outcome
    }

    fn bodies(&self) -> Vec<Value> {
        self.server.requests().iter().map(epitome_harness::ReceivedRequest::json).collect()
    }
}

/// An answer with this text, as `kind` has it.
fn says(kind: ChannelKind, text: &str) -> ScriptedAnswer {
    let body = match kind {
        OpenAi => json!({
            "choices": [{ "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 },
        }),
        Anthropic => json!({
            "type": "message",
            "content": [{ "type": "text", "text": text }],
            "stop_reason": "end_turn",
            "usage": { "input_tokens": 4, "cache_creation_input_tokens": 1, "cache_read_input_tokens": 2, "output_tokens": 3 },
        }),
    };
    ScriptedAnswer::json(200, body)
}

/// An error, as `kind` has it.
fn error(kind: ChannelKind, status: u16, code: &str, message: &str) -> ScriptedAnswer {
    let error = json!({ "type": code, "code": code, "message": message });
    ScriptedAnswer::json(
        status,
        match kind {
            OpenAi => json!({ "error": error }),
            Anthropic => json!({ "type": "error", "error": error }),
        },
    )
}

#[test]
fn what_is_sent() {
    let asked = Asked::new(OpenAi, vec![says(OpenAi, "hello")], |_| {});
    let answer =
        ChatAnswer { text: "hello".to_owned(), stop: Stop::End, input_tokens: 7, cached_tokens: 0, output_tokens: 3 };
    assert_eq!(asked.ask().unwrap(), answer);
    let seen = &asked.server.requests()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {}", key()).as_str()));
    assert_eq!((seen.header("content-type"), seen.header("x-api-key")), (Some("application/json"), None));
    let expect = json!({
        "model": "m-1",
        "messages": [{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "What?" }],
        "max_tokens": 50,
        "temperature": 0,
        "stream": false,
    });
    assert_eq!(seen.json(), expect);

    let asked = Asked::new(Anthropic, vec![says(Anthropic, "hello")], |_| {});
    assert_eq!(asked.ask().unwrap(), ChatAnswer { cached_tokens: 2, ..answer });
    let seen = &asked.server.requests()[0];
    assert_eq!(seen.path, "/v1/messages");
    assert_eq!((seen.header("x-api-key"), seen.header("authorization")), (Some(key().as_str()), None));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    let expect = json!({
        "model": "m-1",
        "system": "Be brief.",
        "messages": [{ "role": "user", "content": "What?" }],
        "max_tokens": 50,
        "temperature": 0,
        "stream": false,
    });
    assert_eq!(seen.json(), expect);
    assert_eq!((asked.model.name(), asked.model.window()), ("m-1", 1000));
}

#[test]
fn addresses_without_a_version() {
    for base in ["", "/"] {
        let asked = Asked::new(Anthropic, vec![says(Anthropic, "")], |settings| {
            settings.base_url = settings.base_url.replace("/v1", base);
        });
        asked.ask().unwrap();
        assert_eq!(asked.server.requests()[0].path, "/v1/messages");
    }
}

#[test]
fn requests_without_a_system_text_or_a_key() {
    for kind in BOTH {
        let asked = Asked::new(kind, vec![says(kind, "hello")], |settings| settings.key = KeySource::None);
        block_on(asked.model.complete(&ChatRequest { system: String::new(), ..request() })).unwrap();
        let seen = &asked.server.requests()[0];
        assert_eq!(seen.json()["messages"], json!([{ "role": "user", "content": "What?" }]));
        assert!(!seen.text().contains("system"));
        assert_eq!((seen.header("authorization"), seen.header("x-api-key")), (None, None));
    }
}

#[test]
fn keys_out_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    // The second is longer than what a message shows.
    for key in ["sk/12345".to_owned(), "sk/".repeat(200)] {
        std::fs::write(&path, format!("{key}\n")).unwrap();
        let escaped = key.replace('/', "\\u002f");
        // A gateway's own words around an answer that was JSON before.
        let inner = format!(r#"{{"message":"{}"}}"#, key.replace('/', "\\/"));
        let raw = serde_json::to_string(&inner).unwrap();
        let body = format!(r#"{{"error":{{"message":"wrong: {key} or {escaped}","metadata":{{"raw":{raw}}}}}}}"#);
        let refused = ScriptedAnswer::json(401, body);
        let asked = Asked::new(OpenAi, vec![refused], |settings| settings.key = KeySource::File(path.clone()));
        let message = asked.ask().unwrap_err().message;
        assert_eq!(asked.server.requests()[0].header("authorization"), Some(format!("Bearer {key}").as_str()));
        assert!(message.contains("wrong: [key] or [key]; [key]"), "{message}");
        assert!(message.contains(&path.display().to_string()), "{message}");
        let shown = format!("{message}{:?}{:?}", asked.model, asked.settings);
        assert!(!shown.contains(&key[..6.min(key.len())]), "{shown}");
    }
}

#[test]
fn further_parameters() {
    let extra = json!({ "top_p": 0.5, "temperature": 0.7, "max_completion_tokens": 9, "stop": null });
    let asked = Asked::new(OpenAi, vec![says(OpenAi, "")], |settings| {
        settings.extra = extra.as_object().unwrap().clone();
    });
    asked.ask().unwrap();
    let body = &asked.bodies()[0];
    assert_eq!((&body["top_p"], &body["temperature"]), (&json!(0.5), &json!(0.7)));
    assert_eq!((&body["max_completion_tokens"], body.get("max_tokens")), (&json!(9), None));
    assert_eq!(body.get("stop"), None, "null takes a parameter out");

    let asked = Asked::new(Anthropic, vec![says(Anthropic, "")], |settings| {
        settings.extra.insert("temperature".to_owned(), Value::Null);
    });
    asked.ask().unwrap();
    assert_eq!(asked.bodies()[0].get("temperature"), None);
}

#[test]
fn answers_of_the_openai_format() {
    let check = |choice: Value, text: &str, stop: Stop| {
        let asked = Asked::new(OpenAi, vec![ScriptedAnswer::json(200, json!({ "choices": [choice] }))], |_| {});
        let expect = ChatAnswer { text: text.to_owned(), stop, input_tokens: 0, cached_tokens: 0, output_tokens: 0 };
        assert_eq!(asked.ask(), Ok(expect), "{choice}");
    };
    let message = |content: Value| json!({ "message": { "content": content } });
    let ends = |reason: &str| json!({ "message": { "content": "a" }, "finish_reason": reason });
    check(message(json!("a")), "a", Stop::End);
    check(message(Value::Null), "", Stop::End);
    check(json!({ "message": { "reasoning_content": "hm" }, "finish_reason": "length" }), "", Stop::Length);
    check(json!({ "message": { "reasoning_content": "hm", "content": "a" } }), "a", Stop::End);
    check(message(json!("<think>\nhm</think>\n\na")), "a", Stop::End);
    let parts = json!([{ "type": "thinking", "thinking": [] }, { "type": "text", "text": "a" }, { "text": "b" }, "c"]);
    check(message(parts), "abc", Stop::End);
    check(message(json!([])), "", Stop::End);
    check(ends("length"), "a", Stop::Length);
    check(ends("tool_calls"), "a", Stop::ToolCall);
    check(ends("content_filter"), "a", Stop::Refused);
    check(ends("model_context_window_exceeded"), "a", Stop::Length);
    check(ends("whatever"), "a", Stop::End);
    check(
        json!({ "message": { "content": null, "tool_calls": [{ "id": "1" }] }, "finish_reason": "stop" }),
        "",
        Stop::ToolCall,
    );
    check(json!({ "message": { "content": "a", "tool_calls": [] }, "finish_reason": "stop" }), "a", Stop::End);
    check(json!({ "message": { "content": null, "refusal": "no" }, "finish_reason": "stop" }), "no", Stop::Refused);
}

#[test]
fn answers_of_the_anthropic_format() {
    let check = |content: Value, reason: Value, text: &str, stop: Stop| {
        let body = json!({ "content": content, "stop_reason": reason });
        let asked = Asked::new(Anthropic, vec![ScriptedAnswer::json(200, &body)], |_| {});
        let expect = ChatAnswer { text: text.to_owned(), stop, input_tokens: 0, cached_tokens: 0, output_tokens: 0 };
        assert_eq!(asked.ask(), Ok(expect), "{body}");
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    let blocks =
        json!([{ "type": "thinking", "thinking": "hm" }, { "type": "redacted_thinking" }, text("a"), text("b")]);
    check(blocks, json!("end_turn"), "ab", Stop::End);
    check(json!([]), Value::Null, "", Stop::End);
    check(json!([text("a")]), json!("max_tokens"), "a", Stop::Length);
    check(json!([text("a")]), json!("stop_sequence"), "a", Stop::End);
    check(json!([text("a"), { "type": "tool_use", "id": "1" }]), json!("tool_use"), "a", Stop::ToolCall);
    check(json!([{ "type": "tool_use" }]), json!("end_turn"), "", Stop::ToolCall);
    check(json!([]), json!("refusal"), "", Stop::Refused);
    check(json!([text("a")]), json!("model_context_window_exceeded"), "a", Stop::Length);
}

/// How a case ends: the kind of error, the tries, and what its message says.
fn fails(answers: Vec<ScriptedAnswer>, kind: ChannelKind, expect: (ChatErrorKind, usize), says: &[&str]) {
    let asked = Asked::new(kind, answers.clone(), |_| {});
    let error = asked.ask().unwrap_err();
    assert_eq!((error.kind, asked.server.requests().len()), expect, "{error:?} of {answers:?}");
    assert!(error.message.contains(&asked.server.url()), "{error:?}");
    for words in says {
        assert!(error.message.contains(words), "{words:?} in {error:?}");
    }
    // For readers who are not to know where the service and its key are.
    let hidden = Asked::new(kind, answers.clone(), |settings| settings.called = Some("channel c".to_owned()));
    let message = hidden.ask().unwrap_err().message;
    let host = hidden.server.url().trim_start_matches("http://").to_owned();
    assert!(message.contains("`channel c`") && !message.contains(&host), "{message} of {answers:?}");
    assert!(!message.contains(&format!("`{KEY_VARIABLE}`")), "{message}");
}

#[test]
fn refusals() {
    for kind in BOTH {
        let check = |status: u16, code: &str, expect: (ChatErrorKind, usize), says: &[&str]| {
            fails(vec![error(kind, status, code, "the service's words")], kind, expect, says);
            fails(vec![ScriptedAnswer::text(status, "the service's words")], kind, expect, says);
            fails(vec![ScriptedAnswer::text(status, "")], kind, expect, &says[1..]);
        };
        let words = "the service's words";
        check(400, "invalid_request_error", (Rejected, 1), &[words, "`m-1`"]);
        check(401, "authentication_error", (Rejected, 1), &[words, "environment variable `PATH`"]);
        check(402, "insufficient_balance", (Rejected, 1), &[words, "credit"]);
        check(403, "permission_error", (Rejected, 1), &[words, "may not use the model `m-1`"]);
        check(404, "not_found_error", (Rejected, 1), &[words, "`base_url`", "`m-1`"]);
        check(302, "moved", (Rejected, 1), &[words, "`base_url`"]);
        check(429, "rate_limit_error", (Transient, 3), &[words, "too often"]);
        for status in [408, 500, 502, 503, 504, 529] {
            check(status, "overloaded_error", (Transient, 3), &[words, "try later"]);
        }
        let used_up = error(kind, 429, "insufficient_quota", "You exceeded your current quota");
        fails(vec![used_up], kind, (Rejected, 1), &["credit"]);
        // The key as a service repeats it, written as JSON may write it.
        let escaped = key().replace('/', "\\u002f");
        let repeats = ScriptedAnswer::json(401, format!(r#"{{"error":{{"message":"no such key: {escaped}"}}}}"#));
        fails(vec![repeats], kind, (Rejected, 1), &["no such key: [key]"]);
    }
    let asked = Asked::new(OpenAi, vec![ScriptedAnswer::text(401, "")], |settings| settings.key = KeySource::None);
    assert!(asked.ask().unwrap_err().message.contains("no key was sent"));
}

#[test]
fn requests_that_are_too_long() {
    let message = "This model's maximum context length is 900 tokens. However, you requested 1200 tokens";
    for kind in BOTH {
        let check = |status: u16, code: &str, message: &str, says: &[&str]| {
            fails(vec![error(kind, status, code, message)], kind, (TooLong, 1), says);
        };
        check(
            400,
            "context_length_exceeded",
            message,
            &["1200 tokens of at most 900", "set `window` to 900, it is 1000"],
        );
        check(
            400,
            "invalid_request_error",
            "prompt is too long: 1200 tokens > 1100 maximum",
            &["1200 tokens of at most 1100"],
        );
        check(413, "request_too_large", "Request exceeds the maximum size", &["exceeds the maximum size"]);
        check(422, "exceed_context_size_error", "no", &[]);
        check(
            429,
            "rate_limit_exceeded",
            "Request too large for m on TPM: Limit 6000, Requested 9000",
            &["of at most 6000"],
        );
        fails(vec![error(kind, 200, "context_length_exceeded", "no")], kind, (TooLong, 1), &[]);
        // A broken service may mean it too, after all tries.
        let broken = error(kind, 500, "server_error", "the request exceeds the available context size");
        fails(vec![broken], kind, (TooLong, 3), &[]);
    }
    let full =
        json!({ "choices": [{ "message": { "content": "" }, "finish_reason": "model_context_window_exceeded" }] });
    fails(vec![ScriptedAnswer::json(200, full)], OpenAi, (TooLong, 1), &["before the first word"]);
    let full = json!({ "content": [], "stop_reason": "model_context_window_exceeded" });
    fails(vec![ScriptedAnswer::json(200, full)], Anthropic, (TooLong, 1), &["before the first word"]);
}

#[test]
fn errors_say_whether_other_requests_would_fail_too() {
    for kind in BOTH {
        let check = |answer: ScriptedAnswer, expect: bool| {
            let asked = Asked::new(kind, vec![answer], |settings| settings.timeout = Duration::from_millis(300));
            let error = asked.ask().unwrap_err();
            assert_eq!(error.fails_all, expect, "{error}");
        };
        for status in [301, 401, 402, 403, 404] {
            check(error(kind, status, "no", "no"), true);
        }
        check(ScriptedAnswer::hang_up(), true);
        check(ScriptedAnswer::hold(), true);
        for status in [400, 413, 429, 500, 503] {
            check(error(kind, status, "no", "no"), false);
        }
        let too_long = error(kind, 400, "no", "prompt is too long: 1200 tokens > 1100 maximum");
        let found = Asked::new(kind, vec![too_long], |_| {}).ask().unwrap_err();
        let overflow = found.overflow.unwrap();
        assert_eq!((overflow.actual, overflow.limit, found.fails_all), (Some(1200), Some(1100), false));
    }
}

#[test]
fn what_answers_depend_on() {
    let server = ScriptedServer::start(Vec::new());
    let identity = |change: fn(&mut ChannelSettings)| {
        let mut settings = settings(OpenAi, &server);
        change(&mut settings);
        let identity = settings.open().unwrap().identity();
        assert!(!identity.contains(&key()), "{identity}");
        identity
    };
    let all = [
        identity(|_| {}),
        identity(|settings| settings.base_url += "/other"),
        identity(|settings| settings.kind = Anthropic),
        identity(|settings| settings.model = "m-2".to_owned()),
        identity(|settings| drop(settings.extra.insert("top_p".to_owned(), json!(0.5)))),
    ];
    let distinct: std::collections::HashSet<&String> = all.iter().collect();
    assert_eq!(distinct.len(), all.len(), "{all:?}");
    assert_eq!(identity(|settings| settings.window = 7), all[0]);
}

#[test]
fn waits_that_services_ask_for() {
    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    for kind in BOTH {
        let check = |headers: &[(&str, &str)], tries: usize| {
            let busy = |answer: ScriptedAnswer| {
                headers.iter().fold(answer, |answer, (name, value)| answer.header(name, value))
            };
            let asked =
                Asked::new(kind, vec![busy(error(kind, 429, "rate_limit_error", "busy")), says(kind, "a")], |_| {});
            assert_eq!(asked.ask().is_ok(), tries == 2, "{headers:?}");
            assert_eq!(asked.server.requests().len(), tries, "{headers:?}");
        };
        check(&[("Retry-After", "0")], 2);
        check(&[("Retry-After", "3600")], 1);
        check(&[("Retry-After", "3600"), ("retry-after-ms", "1")], 2);
        check(&[("Retry-After", DATE), ("Date", DATE)], 2);
        check(&[("Retry-After", DATE)], 2);
        check(&[("Retry-After", "Sun, 06 Nov 1994 09:49:37 GMT"), ("Date", DATE)], 1);
        check(&[("Retry-After", "soon")], 2);
    }
}

#[test]
fn services_that_come_round() {
    for kind in BOTH {
        let answers = vec![
            error(kind, 529, "overloaded_error", "busy"),
            ScriptedAnswer::text(200, "{\"half").cut_after(3),
            says(kind, "at last"),
        ];
        let asked = Asked::new(kind, answers, |_| {});
        assert_eq!(asked.ask().unwrap().text, "at last");
        assert_eq!(asked.ask().unwrap().text, "at last");
        let bodies = asked.bodies();
        assert_eq!(bodies.len(), 4);
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    }
}

#[test]
fn connections_that_break() {
    for kind in BOTH {
        fails(vec![ScriptedAnswer::hang_up()], kind, (Transient, 3), &["cannot be reached"]);
        fails(vec![says(kind, "hello").cut_after(20)], kind, (Transient, 3), &["cannot be reached"]);
        fails(vec![says(kind, "hello").cut_after(0)], kind, (Transient, 3), &["cannot be reached"]);
    }
}

#[test]
fn answers_that_are_too_late() {
    for kind in BOTH {
        let asked = Asked::new(kind, vec![ScriptedAnswer::hold()], |settings| {
            settings.timeout = Duration::from_millis(40);
            settings.retry.tries = 2;
        });
        let error = asked.ask().unwrap_err();
        assert_eq!(
            (error.kind, error.message.contains("did not answer within 0.04 s")),
            (Transient, true),
            "{error:?}"
        );
        asked.server.wait_for_hang_ups(2);
    }
}

#[test]
fn answers_that_are_none() {
    for kind in BOTH {
        let check =
            |body: &str, says: &str| fails(vec![ScriptedAnswer::json(200, body)], kind, (Unreadable, 1), &[says]);
        check("<html>Sign in</html>", "it begins with `<html>Sign in</html>`");
        check("", "unreadable");
        check(r#"{"choices":[{"message""#, "EOF");
        check("[]", "not an answer of kind");
        check("null", "not an answer of kind");
        check("{}", "check `base_url` and `kind`");
        check(r#"{"choices":[],"content":{}}"#, "not an answer of kind");
        check(r#"{"choices":[{"message":{"content":7}}],"content":"text"}"#, "not an answer of kind");
        check(r#"{"error":{"message":"odd"}}"#, "an error as if it were a success: odd");
        check("data: {\"choices\":[]}\n\ndata: [DONE]\n\n", "a stream of events although none was asked for");
        let stream = ScriptedAnswer::text(200, "event: message_start\n")
            .header("Content-Type", "text/event-stream; charset=utf-8");
        fails(vec![stream.clone()], kind, (Unreadable, 1), &["a stream of events although none was asked for"]);
        // Its end is not waited for.
        fails(vec![stream.cut_after(5)], kind, (Unreadable, 1), &["a stream of events although none was asked for"]);
        // The other format.
        let other = if kind == OpenAi { Anthropic } else { OpenAi };
        fails(vec![says(other, "hello")], kind, (Unreadable, 1), &["check `base_url` and `kind`"]);
        // What a service says of itself.
        fails(vec![error(kind, 200, "overloaded_error", "busy")], kind, (Transient, 1), &["529", "busy"]);
        let body = json!({ "error": { "code": 502, "message": "no answer from upstream" } });
        fails(vec![ScriptedAnswer::json(200, body)], kind, (Transient, 1), &["502", "no answer from upstream"]);
    }
    let broken = json!({ "choices": [{ "message": { "content": "a" }, "finish_reason": "error" }] });
    fails(vec![ScriptedAnswer::json(200, broken)], OpenAi, (Transient, 1), &["it broke off"]);
}

#[test]
fn large_answers() {
    for kind in BOTH {
        let text = "word ".repeat(400_000) + "end";
        let asked = Asked::new(kind, vec![says(kind, &text)], |_| {});
        assert_eq!(asked.ask().unwrap().text, text);
        let huge = ScriptedAnswer::json(200, json!({ "choices": "x".repeat(17 * 1024 * 1024) }));
        fails(vec![huge], kind, (Unreadable, 1), &["larger than 16 MB"]);
        // Of a refusal no more than its beginning is read, and less is shown.
        let asked = Asked::new(kind, vec![ScriptedAnswer::text(400, "no ".repeat(700_000))], |_| {});
        let message = asked.ask().unwrap_err().message;
        assert!(message.len() < 600 && message.contains("no no no"), "{message}");
    }
}

#[test]
fn services_that_want_other_parameters() {
    let newer = error(
        OpenAi,
        400,
        "unsupported_parameter",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    );
    let no_temperature =
        |kind| error(kind, 400, "unsupported_value", "'temperature' does not support 0 with this model.");
    let asked = Asked::new(OpenAi, vec![newer.clone(), no_temperature(OpenAi), says(OpenAi, "a")], |_| {});
    asked.ask().unwrap();
    asked.ask().unwrap();
    let told = |body: &Value| {
        ["max_tokens", "max_completion_tokens", "temperature"].map(|name| body.get(name).and_then(Value::as_u64))
    };
    let expect = [
        [Some(50), None, Some(0)],
        [None, Some(50), Some(0)],
        [None, Some(50), None],
        // The next request begins with what was learned.
        [None, Some(50), None],
    ];
    assert_eq!(asked.bodies().iter().map(told).collect::<Vec<_>>(), expect);

    let asked = Asked::new(Anthropic, vec![no_temperature(Anthropic), says(Anthropic, "a")], |_| {});
    asked.ask().unwrap();
    assert_eq!(
        asked.bodies().iter().map(told).collect::<Vec<_>>(),
        [[Some(50), None, Some(0)], [Some(50), None, None]]
    );

    // Each is tried once, and what the settings say is not taken back.
    fails(vec![newer.clone()], OpenAi, (Rejected, 2), &["max_completion_tokens"]);
    fails(vec![no_temperature(Anthropic)], Anthropic, (Rejected, 2), &["temperature"]);
    let extra = json!({ "temperature": 1, "max_tokens": 5 });
    for answer in [newer, no_temperature(OpenAi)] {
        let asked = Asked::new(OpenAi, vec![answer], |settings| settings.extra = extra.as_object().unwrap().clone());
        assert_eq!(asked.ask().unwrap_err().kind, Rejected);
        assert_eq!(asked.bodies().len(), 1);
    }
    // A service that names the parameter where the request is too long is not asked again.
    let long = "'max_tokens' or 'max_completion_tokens' is too large: 50. This model's maximum context length is 40 tokens \
                and your request has 20 input tokens";
    fails(vec![error(OpenAi, 400, "BadRequestError", long)], OpenAi, (TooLong, 1), &["70 tokens of at most 40"]);
}

#[test]
fn who_waits_no_longer_hangs_up() {
    for kind in BOTH {
        let asked = Asked::new(kind, vec![ScriptedAnswer::hold()], |settings| {
            // Longer than the server waits: a hang-up at the time-out is none.
            settings.timeout = Duration::from_secs(600);
        });
        let request = request();
        {
            let mut future = pin!(asked.model.complete(&request));
            assert!(matches!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
            asked.server.wait_for_requests(1);
        }
        asked.server.wait_for_hang_ups(1);
        assert_eq!(asked.server.requests().len(), 1, "and nothing is tried again");
    }
}

#[test]
fn many_requests_at_once() {
    let server = ScriptedServer::start_with(|_, request| {
        let body = request.json();
        says(OpenAi, body["messages"][1]["content"].as_str().unwrap_or_default()).held()
    });
    let model = settings(OpenAi, &server).open().unwrap();
    std::thread::scope(|scope| {
        let model = &model;
        let asked: Vec<_> = (0..4)
            .map(|n| {
                scope.spawn(move || {
                    block_on(model.complete(&ChatRequest { user: format!("question {n}"), ..request() }))
                })
            })
            .collect();
        server.wait_for_requests(4);
        server.release();
        for (n, thread) in asked.into_iter().enumerate() {
            assert_eq!(thread.join().unwrap().unwrap().text, format!("question {n}"));
        }
    });
}

#[test]
fn settings_that_cannot_work() {
    let server = ScriptedServer::start(Vec::new());
    let check = |change: fn(&mut ChannelSettings), expect: &str| {
        let mut settings = settings(OpenAi, &server);
        change(&mut settings);
        let error: ChannelError = settings.open().unwrap_err();
        assert_eq!(error.to_string(), expect);
    };
    check(
        |settings| settings.model = " ".to_owned(),
        "the channel's `model` is empty: name the model as the service calls it",
    );
    check(
        |settings| settings.window = 0,
        "the channel's `window` is 0: it is the number of tokens that request and answer may take together",
    );
    check(|settings| settings.timeout = Duration::ZERO, "the channel's `timeout` is 0: nothing can answer in no time");
    for name in ["tools", "stream", "messages", "model"] {
        let mut settings = settings(Anthropic, &server);
        settings.extra.insert(name.to_owned(), json!(true));
        let expect = format!("the channel's `extra` has `{name}`, which is not to be set there");
        assert_eq!(settings.open().unwrap_err().to_string(), expect);
    }
    check(
        |settings| settings.key = KeySource::Environment("EPITOME_TEST_NO_SUCH_KEY".to_owned()),
        "no key: set the environment variable `EPITOME_TEST_NO_SUCH_KEY`",
    );
    check(
        |settings| settings.key = KeySource::File(env!("CARGO_MANIFEST_DIR").into()),
        concat!("no key in the file `", env!("CARGO_MANIFEST_DIR"), "`: Is a directory (os error 21)"),
    );
    check(
        |settings| settings.base_url = "localhost:80/v1".to_owned(),
        "`localhost:80/v1` is not the address of a service: it must begin with `http://` or `https://`",
    );
    check(
        |settings| settings.base_url = "https://host/v1?key=secret".to_owned(),
        "`(left out)` is not the address of a service: it must end before any `?` or `#`",
    );
    assert!(server.requests().is_empty());
}
