//! The proxy: what goes through, what is made smaller, and that it stays as it was decided.

use epitome::formats::{Wire as ProviderWire, validate};
use epitome_harness::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
use serde_json::{Value, json};

use crate::support::{Running, SMALL, Wire, asked, header, read};

const EVENTS: &str = "event: message_start\ndata: {\"type\":\"message_start\"}\n\ndata: {\"delta\":\"caf\u{e9}\"}\n\n: ping\n\ndata: [DONE]\n\n";

fn profile(wire: Wire) -> ProviderWire {
    match wire {
        Wire::Chat => ProviderWire::OpenaiChat,
        Wire::Responses => ProviderWire::OpenaiResponses,
        Wire::Anthropic => ProviderWire::Anthropic,
    }
}

/// The messages of a request as the provider got it, each as JSON text.
fn sent(wire: Wire, seen: &ReceivedRequest) -> Vec<String> {
    let body: Value = seen.json();
    body[wire.list()].as_array().unwrap().iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn below_the_threshold_bytes_go_through() {
    let answer = "{ \"id\" : \"x\",\"n\": 1.0 }";
    let upstream = ScriptedServer::start(vec![
        ScriptedAnswer::bytes(200, answer).header("content-type", "application/json").header("x-of-provider", "7"),
    ]);
    let service = Running::proxy(&upstream, SMALL).await;
    for (number, wire) in Wire::ALL.into_iter().enumerate() {
        let body = wire.request(2).to_string().replace("\"model\"", "\n \"model\" ") + "  ";
        let response = service.post_text(&format!("{}?beta=true", wire.path()), &body).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-epitome-status")), (200, "passed"));
        assert_eq!(header(&response, "x-of-provider"), "7");
        let before: u32 = header(&response, "x-epitome-tokens-before").parse().unwrap();
        assert!(before > 500, "{before}");
        assert_eq!(header(&response, "x-epitome-tokens-after"), before.to_string());
        assert_eq!(response.text().await.unwrap(), answer);
        let seen = &upstream.requests()[number];
        assert_eq!(seen.text(), body, "byte for byte");
        assert_eq!(seen.path, format!("{}?beta=true", wire.path()));
    }
}

/// The configuration in which the proxy adds no tools: what it forwards can be compared byte for byte.
fn without_recall() -> String {
    format!("{SMALL}[proxy]\nrecall = false\n")
}

#[tokio::test]
async fn streams_go_through() {
    let upstream =
        ScriptedServer::start(vec![ScriptedAnswer::bytes(200, EVENTS).header("content-type", "text/event-stream")]);
    let service = Running::proxy(&upstream, &without_recall()).await;
    for wire in Wire::ALL {
        for steps in [1, 20] {
            let mut request = wire.request(steps);
            request["stream"] = json!(true);
            let response = service.post(wire.path(), &request).send().await.unwrap();
            assert_eq!(header(&response, "content-type"), "text/event-stream");
            assert_eq!(response.bytes().await.unwrap(), EVENTS.as_bytes(), "byte for byte");
        }
    }
}

#[tokio::test]
async fn a_stream_arrives_piece_by_piece() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (go_on, mut may_go_on) = tokio::sync::mpsc::channel::<()>(1);
    let upstream = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut read = vec![0; 64 * 1024];
        assert!(stream.read(&mut read).await.unwrap() > 0);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        for piece in ["data: 1\n\n", "data: 2\n\n"] {
            stream.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
            may_go_on.recv().await;
        }
        stream.write_all(b"0\r\n\r\n").await.unwrap();
    });
    let service = Running::start(SMALL, crate::support::in_front_of(&url)).await;
    let mut response = service.post(Wire::Chat.path(), &Wire::Chat.request(0)).send().await.unwrap();
    // The provider does not go on before the client has the first piece.
    assert_eq!(response.chunk().await.unwrap().unwrap(), "data: 1\n\n".as_bytes());
    go_on.send(()).await.unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "data: 2\n\n".as_bytes());
    go_on.send(()).await.unwrap();
    assert_eq!(response.chunk().await.unwrap(), None);
    upstream.await.unwrap();
}

#[tokio::test]
async fn past_the_threshold_it_compacts_and_stays_with_it() {
    for wire in Wire::ALL {
        let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
        let service = Running::proxy(&upstream, &without_recall()).await;
        let mut request = wire.request(16);
        let response = service.post(wire.path(), &request).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), "compacted", "{wire:?}");
        assert_eq!(header(&response, "x-epitome-epoch"), "1");
        let figure = |name: &str| header(&response, name).parse::<u32>().unwrap();
        assert!(figure("x-epitome-tokens-before") > 6_400 && figure("x-epitome-tokens-after") <= 4_000);
        let seen = upstream.requests();
        let first = sent(wire, &seen[0]);
        assert!(seen[0].body.len() < request.to_string().len() * 2 / 3);
        assert_eq!(seen[0].json()["temperature"], 0.25, "other fields stay");
        assert_eq!(validate(&seen[0].text(), profile(wire)), []);
        // A few turns on: each time the same beginning, and the new messages as they came.
        for turn in 0..3 {
            let more = vec![wire.said(&format!("Answer {turn}.")), asked(&format!("Question {turn}?"))];
            request = wire.longer(&request, more.clone());
            let response = service.post(wire.path(), &request).send().await.unwrap();
            assert_eq!(header(&response, "x-epitome-status"), "replayed", "{wire:?} {turn}");
            assert_eq!(header(&response, "x-epitome-epoch"), "1");
            let seen = upstream.requests();
            let now = sent(wire, seen.last().unwrap());
            assert_eq!(now[..first.len()], first[..], "{wire:?} {turn}: the provider's cache stays warm");
            let tail: Vec<String> = more.iter().map(ToString::to_string).collect();
            assert_eq!(now[now.len() - 2..], tail[..]);
            let beginning = seen[0].text();
            let beginning = &beginning[..beginning.rfind(']').unwrap()];
            assert!(seen.last().unwrap().text().starts_with(beginning), "byte for byte, {wire:?} {turn}");
        }
        // The same request again is the same bytes again.
        service.post(wire.path(), &request).send().await.unwrap();
        let seen = upstream.requests();
        assert_eq!(seen[seen.len() - 1].body, seen[seen.len() - 2].body);
    }
}

/// What the provider reports of its requests, in one piece or at either end of a stream, is what the next ones are counted by.
#[tokio::test]
async fn the_providers_count_corrects_ours() {
    let answers = |wire: Wire, input: u32, is_stream: bool| {
        let usage = match wire {
            Wire::Chat => json!({"prompt_tokens": input, "completion_tokens": 5}),
            Wire::Responses => json!({"input_tokens": input, "output_tokens": 5}),
            Wire::Anthropic => json!({"input_tokens": 1, "cache_read_input_tokens": input - 1, "output_tokens": 5}),
        };
        let event = match wire {
            Wire::Chat => json!({"choices": [], "usage": usage}),
            Wire::Responses => json!({"type": "response.completed", "response": {"usage": usage}}),
            Wire::Anthropic => json!({"type": "message_start", "message": {"usage": usage}}),
        };
        match is_stream {
            false => ScriptedAnswer::json(200, json!({"usage": usage}).to_string()),
            true => ScriptedAnswer::bytes(200, format!("data: {{}}\n\ndata: {event}\n\n"))
                .header("content-type", "text/event-stream"),
        }
    };
    for (wire, is_stream) in Wire::ALL.into_iter().flat_map(|wire| [(wire, false), (wire, true)]) {
        let told = async |usage: bool| {
            let answer = if usage { answers(wire, 6_000, is_stream) } else { ScriptedAnswer::json(200, "{}") };
            let upstream = ScriptedServer::start(vec![answer]);
            let service = Running::proxy(&upstream, SMALL).await;
            let (mut request, mut figures) = (wire.request(6), Vec::new());
            for turn in 0..3 {
                let response = service.post(wire.path(), &request).send().await.unwrap();
                figures.push(header(&response, "x-epitome-tokens-before").parse::<f64>().unwrap());
                response.bytes().await.unwrap();
                request = wire.longer(&request, vec![wire.said("Done."), asked(&format!("Question {turn}?"))]);
            }
            figures
        };
        let (counted, reported) = (told(false).await, told(true).await);
        assert_eq!(reported[0], counted[0], "{wire:?}: nothing was known of the first");
        let share = 6_000.0 / counted[0];
        let corrected = reported[2] / counted[2];
        assert!(share > 1.3 && corrected > 1.0 + (share - 1.0) / 2.0, "{wire:?} {is_stream}: {counted:?} {reported:?}");
    }
}

#[tokio::test]
async fn a_long_session_is_compacted_again_and_again() {
    for wire in Wire::ALL {
        let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
        let service = Running::proxy(&upstream, SMALL).await;
        let mut request = wire.request(0);
        let mut compactions = 0;
        let mut last: Option<Vec<String>> = None;
        for step in 0..45 {
            request = wire.longer(&request, wire.step(step));
            let response = service.post(wire.path(), &request).send().await.unwrap();
            let status = header(&response, "x-epitome-status").to_owned();
            let after: u32 = header(&response, "x-epitome-tokens-after").parse().unwrap();
            assert!(after <= 7_600, "{wire:?} {step}: {after}");
            let seen = upstream.requests();
            let now = sent(wire, seen.last().unwrap());
            assert_eq!(validate(&seen.last().unwrap().text(), profile(wire)), [], "{wire:?} {step}");
            if status == "compacted" {
                compactions += 1;
            } else if let Some(last) = &last {
                assert_eq!(now[..last.len()], last[..], "{wire:?} {step}: nothing changes between compactions");
            }
            last = Some(now);
        }
        assert!((3..15).contains(&compactions), "{wire:?}: {compactions}");
        let metrics = service.get("/metrics").await.text().await.unwrap();
        assert!(metrics.contains(&format!("epitome_proxied_total{{status=\"compacted\"}} {compactions}")), "{metrics}");
        assert!(
            metrics.contains(&format!("epitome_session_compactions_total{{of=\"proxy\"}} {compactions}")),
            "{metrics}"
        );
        assert!(metrics.contains("\nepitome_sessions 1\n"), "{metrics}");
    }
}

#[tokio::test]
async fn a_conversation_that_parts_keeps_what_was_decided_before() {
    let wire = Wire::Anthropic;
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::proxy(&upstream, SMALL).await;
    let base = wire.request(16);
    service.post(wire.path(), &base).send().await.unwrap();
    let first = sent(wire, &upstream.requests()[0]);
    for (turn, answer) in ["One way.", "Another way.", "One way."].into_iter().enumerate() {
        let request = wire.longer(&base, vec![wire.said(answer), asked("And now?")]);
        let response = service.post(wire.path(), &request).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), "replayed", "{turn}");
        let now = sent(wire, upstream.requests().last().unwrap());
        assert_eq!(now[..first.len()], first[..]);
        assert!(now.iter().any(|message| message.contains(answer)));
    }
    // Rewound to before the decision: it is the client's history that counts.
    let rewound = wire.request(3);
    let response = service.post(wire.path(), &rewound).send().await.unwrap();
    assert_eq!(header(&response, "x-epitome-status"), "passed");
    assert_eq!(upstream.requests().last().unwrap().text(), rewound.to_string());
}

#[tokio::test]
async fn moving_cache_marks_and_dates_do_not_part_a_conversation() {
    let wire = Wire::Anthropic;
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::proxy(&upstream, SMALL).await;
    let mut base = wire.request(16);
    let mark = json!({"type": "ephemeral"});
    let end = base["messages"].as_array().unwrap().len() - 1;
    let unmarked = wire.longer(&base, vec![wire.said("Yes."), asked("And now?")]);
    base["messages"][end]["content"] =
        json!([{"type": "text", "text": "What do you know now?", "cache_control": mark}]);
    service.post(wire.path(), &base).send().await.unwrap();
    let mut next = unmarked;
    next["system"] = json!([{"type": "text", "text": "You build parsers. It is Tuesday.", "cache_control": mark}]);
    let response = service.post(wire.path(), &next).send().await.unwrap();
    assert_eq!(header(&response, "x-epitome-status"), "replayed");
    let seen = upstream.requests();
    assert_eq!(seen[1].json()["system"], next["system"], "the prompt is the client's own");
    let (first, now) = (sent(wire, &seen[0]), sent(wire, &seen[1]));
    assert_eq!(now[..first.len() - 1], first[..first.len() - 1]);
}

#[tokio::test]
async fn clients_with_other_keys_have_other_conversations() {
    let wire = Wire::Chat;
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::proxy(&upstream, SMALL).await;
    let statuses = async |key: &'static str| {
        let response = service.post(wire.path(), &wire.request(16)).bearer_auth(key).send().await.unwrap();
        header(&response, "x-epitome-status").to_owned()
    };
    assert_eq!(statuses("sk-one").await, "compacted");
    assert_eq!(statuses("sk-two").await, "compacted");
    assert_eq!(statuses("sk-one").await, "replayed");
}

/// A loop of tools with signed reasoning that is still going on.
fn thinking_loop(steps: usize) -> Value {
    let mut request = Wire::Anthropic.request(14);
    let messages = request["messages"].as_array_mut().unwrap();
    for step in 100..100 + steps {
        let mut parts = Wire::Anthropic.step(step);
        let content = parts[0]["content"].as_array_mut().unwrap();
        content.insert(
            0,
            json!({"type": "thinking", "thinking": format!("I look at {step}."), "signature": format!("sig{step}==")}),
        );
        messages.extend(parts);
    }
    request["thinking"] = json!({"type": "enabled", "budget_tokens": 400});
    request
}

#[tokio::test]
async fn a_signed_loop_that_goes_on_is_not_touched() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let mut service = Running::proxy(&upstream, SMALL).await;
    // A loop that goes on behind a compaction, and one that is compacted when it has gone on for a while.
    for (steps, status) in [(1, "compacted"), (2, "replayed"), (3, "replayed"), (4, "compacted")] {
        if steps == 4 {
            service = Running::proxy(&upstream, SMALL).await;
        }
        let request = thinking_loop(steps);
        let response = service.post(Wire::Anthropic.path(), &request).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), status, "{steps}");
        let seen = upstream.requests();
        let now = sent(Wire::Anthropic, seen.last().unwrap());
        let before: Vec<String> = request["messages"].as_array().unwrap().iter().map(ToString::to_string).collect();
        let of_loop = (2 * steps).min(now.len());
        assert_eq!(now[now.len() - of_loop..], before[before.len() - of_loop..], "{steps}: signatures and all");
        assert_eq!(validate(&seen.last().unwrap().text(), ProviderWire::Anthropic), []);
    }
}

#[tokio::test]
async fn a_signed_loop_that_fills_the_window_keeps_its_newest_step() {
    let wire = Wire::Anthropic;
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::proxy(&upstream, SMALL).await;
    let mut last: Vec<String> = Vec::new();
    let mut compactions = 0;
    for steps in 1..30 {
        let request = thinking_loop(steps);
        let response = service.post(wire.path(), &request).send().await.unwrap();
        let seen = upstream.requests();
        let text = seen.last().unwrap().text();
        assert_eq!(validate(&text, ProviderWire::Anthropic), [], "{steps}");
        let now = sent(wire, seen.last().unwrap());
        let before = sent(wire, &ReceivedRequest { body: request.to_string().into_bytes(), ..seen[0].clone() });
        assert_eq!(now[now.len() - 2..], before[before.len() - 2..], "{steps}");
        if header(&response, "x-epitome-status") == "compacted" {
            compactions += 1;
        } else {
            assert_eq!(now[..last.len()], last[..], "{steps}: reasoning does not come and go between compactions");
        }
        last = now;
    }
    assert!((2..12).contains(&compactions), "{compactions}");
}

#[tokio::test]
async fn reasoning_behind_a_compaction_stays_when_its_loop_is_over() {
    let wire = Wire::Anthropic;
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::proxy(&upstream, SMALL).await;
    let thought = |number: usize| json!({"type": "thinking", "thinking": "Well.", "signature": format!("s{number}==")});
    let mut request = wire.request(16);
    let mut last: Vec<String> = Vec::new();
    for turn in 0..4 {
        let response = service.post(wire.path(), &request).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), if turn == 0 { "compacted" } else { "replayed" });
        let now = sent(wire, upstream.requests().last().unwrap());
        assert_eq!(now[..last.len()], last[..], "{turn}");
        last = now;
        // The second answer was interrupted: there is nothing but reasoning in it.
        let mut answer = vec![thought(turn)];
        answer.extend((turn != 1).then(|| json!({"type": "text", "text": "Yes."})));
        request = wire.longer(&request, vec![json!({"role": "assistant", "content": answer}), asked("And?")]);
    }
    assert!(last.iter().any(|message| message.contains("s2==")), "{last:?}");
}

#[tokio::test]
async fn what_left_can_be_retrieved() {
    let wire = Wire::Responses;
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::proxy(&upstream, &format!("{SMALL}[marks]\nhandles = true\n")).await;
    service.post(wire.path(), &wire.request(16)).send().await.unwrap();
    let text = upstream.requests()[0].text();
    let handle = text.split("recall ").nth(1).unwrap_or_else(|| panic!("a mark names a handle: {text}"));
    let handle: String = handle.chars().take_while(char::is_ascii_hexdigit).collect();
    let (status, item) = read(service.client.get(service.url(&format!("/v1/retrieve/{handle}")))).await;
    assert_eq!(status, 200, "{handle}: {item}");
    assert!(item["original_content"].as_str().unwrap().contains("warnings, nothing else to say"), "{item}");
}

#[tokio::test]
async fn other_paths_go_through() {
    let upstream = ScriptedServer::start_with(|_, seen| ScriptedAnswer::json(200, json!({"saw": seen.path})));
    let service = Running::proxy(&upstream, SMALL).await;
    for (method, path) in [
        (reqwest::Method::GET, "/v1/models?limit=3"),
        (reqwest::Method::POST, "/v1/messages/count_tokens"),
        (reqwest::Method::POST, "/v1/responses/compact"),
        (reqwest::Method::DELETE, "/v1/responses/resp_1"),
    ] {
        let mut request = service.client.request(method.clone(), service.url(path));
        if method == reqwest::Method::POST {
            request = request.body("{\"odd\" :1}");
        }
        let response = request.send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), "bypassed", "{path}");
        assert_eq!(response.text().await.unwrap(), json!({"saw": path}).to_string());
        let seen = upstream.requests();
        let seen = seen.last().unwrap();
        assert_eq!(seen.method, method.as_str());
        assert_eq!(seen.text(), if method == reqwest::Method::POST { "{\"odd\" :1}" } else { "" });
    }
}

#[tokio::test]
async fn a_socket_of_a_provider_is_declined() {
    let upstream = ScriptedServer::start(vec![]);
    let service = Running::proxy(&upstream, SMALL).await;
    let opens = service.client.get(service.url("/v1/responses")).header("upgrade", "WebSocket");
    let (status, body) = read(opens.header("connection", "upgrade")).await;
    // Codex goes on over HTTP with this status, and tries again with any other.
    assert_eq!((status, body["error"]["code"].as_str()), (426, Some("no-provider-socket")), "{body}");
    assert!(upstream.requests().is_empty());
}

#[tokio::test]
async fn headers_that_go_on() {
    let upstream = ScriptedServer::start(vec![
        ScriptedAnswer::json(200, "{}")
            .header("x-request-id", "req_1")
            .header("set-cookie", "a=1")
            .header("set-cookie", "b=2"),
    ]);
    let settings = epitome_server::Settings {
        tokens: crate::support::with_tokens("alice alices-own-token-1").tokens,
        ..crate::support::in_front_of(&upstream.url())
    };
    let service = Running::start(SMALL, settings).await;
    let response = service
        .post(Wire::Anthropic.path(), &Wire::Anthropic.request(1))
        .header("x-epitome-token", "alices-own-token-1")
        .header("authorization", "Bearer sk-of-the-client")
        .header("x-api-key", "key-of-the-client")
        .header("anthropic-version", "2023-06-01")
        .header("anthropic-beta", "one,two")
        .header("accept-encoding", "gzip")
        .header("connection", "x-hop")
        .header("x-hop", "1")
        .send()
        .await
        .unwrap();
    assert_eq!(header(&response, "x-request-id"), "req_1");
    assert_eq!(response.headers().get_all("set-cookie").iter().count(), 2);
    let seen = &upstream.requests()[0];
    for (name, expect) in [
        ("authorization", Some("Bearer sk-of-the-client")),
        ("x-api-key", Some("key-of-the-client")),
        ("anthropic-version", Some("2023-06-01")),
        ("anthropic-beta", Some("one,two")),
        ("accept-encoding", Some("identity")),
        ("x-epitome-token", None),
        ("x-hop", None),
    ] {
        assert_eq!(seen.header(name), expect, "{name}");
    }
    assert_eq!(seen.header("host"), Some(upstream.address().to_string().as_str()));
    // Where our token stands in Authorization, the provider does not get it.
    let request = service.post(Wire::Anthropic.path(), &Wire::Anthropic.request(1));
    request.bearer_auth("alices-own-token-1").header("x-api-key", "key-of-the-client").send().await.unwrap();
    let seen = &upstream.requests()[1];
    assert_eq!((seen.header("authorization"), seen.header("x-api-key")), (None, Some("key-of-the-client")));
}
