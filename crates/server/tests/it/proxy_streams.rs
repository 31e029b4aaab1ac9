//! The proxy and what arrives in pieces: streams that begin with an error, streams that break off, clients that vanish
//! or do not read, bodies that are no good.

use std::net::SocketAddr;
use std::time::Duration;

use epitome_harness::{ScriptedAnswer, ScriptedServer};
use epitome_server::{Limits, Settings};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::support::{Running, SMALL, Wire, asked, code, header, in_front_of, read};

const ANSWER: &str = "event: message_start\ndata: {\"type\":\"message_start\"}\n\ndata: [DONE]\n\n";

fn stream(events: &str) -> ScriptedAnswer {
    ScriptedAnswer::bytes(200, events).header("content-type", "text/event-stream; charset=utf-8")
}

/// A stream that begins with a provider's word for a request that is too long.
fn too_long(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic => {
            "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\
             \"message\":\"prompt is too long: 6000 tokens > 3000 maximum\"}}\n\n"
        }
        Wire::Chat => {
            ": first\n\ndata: {\"error\":{\"message\":\"This model's maximum context length is 3000 tokens.\",\
             \"code\":\"context_length_exceeded\"}}\n\ndata: [DONE]\n\n"
        }
        Wire::Responses => {
            "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"error\":null}}\n\n\
             event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\
             \"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window.\"}}}\n\n"
        }
    }
}

#[tokio::test]
async fn a_stream_that_begins_with_too_long_is_sent_once_more() {
    for wire in Wire::ALL {
        let upstream = ScriptedServer::start_with(move |_, seen| match seen.body.len() {
            ..12_000 => stream(ANSWER),
            _ => stream(too_long(wire)),
        });
        let service = Running::proxy(&upstream, SMALL).await;
        let request = wire.request(6);
        let response = service.post(wire.path(), &request).send().await.unwrap();
        let status = header(&response, "x-epitome-status");
        assert_eq!((response.status().as_u16(), status), (200, "overflow-retried"), "{wire:?}");
        assert_eq!(response.text().await.unwrap(), ANSWER, "nothing of the refusal is in it");
        assert_eq!(upstream.requests().len(), 2);
        assert_eq!(upstream.requests()[0].text(), request.to_string());
        let request = wire.longer(&request, vec![wire.said("Good."), asked("Next?")]);
        let response = service.post(wire.path(), &request).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), "replayed", "{wire:?}");
        assert_eq!(upstream.requests().len(), 3);
    }
}

#[tokio::test]
async fn a_stream_that_begins_otherwise_goes_through() {
    let late = format!("{ANSWER}{}", too_long(Wire::Anthropic));
    let no_stream =
        ScriptedAnswer::json(200, r#"{"error":{"code":"context_length_exceeded","message":"prompt is too long"}}"#);
    let other =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy\"}}\n\n";
    let long = format!("data: {{\"text\":\"{}\"}}\n\n", "context_length_exceeded ".repeat(9_000));
    for (answer, expect) in [
        (stream(&late), late.as_str()),
        (stream(other), other),
        (stream(&long), &long),
        (stream(""), ""),
        (stream("data: {\"half\":"), "data: {\"half\":"),
        (no_stream, r#"{"error":{"code":"context_length_exceeded","message":"prompt is too long"}}"#),
    ] {
        let upstream = ScriptedServer::start(vec![answer]);
        let service = Running::proxy(&upstream, SMALL).await;
        let response = service.post(Wire::Anthropic.path(), &Wire::Anthropic.request(6)).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-epitome-status")), (200, "passed"));
        assert_eq!(response.text().await.unwrap(), expect);
        assert_eq!(upstream.requests().len(), 1);
    }
    // Nothing can leave: the provider's own words.
    let upstream = ScriptedServer::start(vec![stream(too_long(Wire::Chat))]);
    let service = Running::proxy(&upstream, SMALL).await;
    let response = service.post(Wire::Chat.path(), &json!({"messages": [asked("hi")]})).send().await.unwrap();
    assert_eq!(header(&response, "x-epitome-detail"), "too-long");
    assert_eq!(response.text().await.unwrap(), too_long(Wire::Chat));
}

/// A provider that takes one connection, reads a request and sends the beginning of a stream.
async fn half_a_stream(pieces: &'static [&'static str]) -> (String, tokio::task::JoinHandle<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let provider = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        assert!(stream.read(&mut [0; 64 * 1024]).await.unwrap() > 0);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        for piece in pieces {
            stream.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes()).await.unwrap();
            stream.flush().await.unwrap();
        }
        stream
    });
    (url, provider)
}

#[tokio::test]
async fn signs_of_life_do_not_wait_for_an_event() {
    let (url, provider) = half_a_stream(&[": processing\n\n"]).await;
    let service = Running::start(SMALL, in_front_of(&url)).await;
    let mut response = service.post(Wire::Chat.path(), &Wire::Chat.request(1)).send().await.unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), ": processing\n\n".as_bytes());
    drop(provider);
}

#[tokio::test]
async fn a_stream_that_begins_late_is_not_held_back() {
    let (url, provider) = half_a_stream(&[]).await;
    let service = Running::start(SMALL, in_front_of(&url)).await;
    let request = service.post(Wire::Chat.path(), &Wire::Chat.request(1)).send();
    let response = timeout(Duration::from_secs(30), request).await.unwrap().unwrap();
    assert_eq!(header(&response, "x-epitome-status"), "passed");
    drop(provider);
}

#[tokio::test]
async fn a_provider_that_goes_away_within_a_stream() {
    const WHOLE: &[&str] = &["data: {\"a\":1}\n\n"];
    const HALF: &[&str] = &["data: {\"a\""];
    for pieces in [WHOLE, HALF] {
        let (url, provider) = half_a_stream(pieces).await;
        let service = Running::start(SMALL, in_front_of(&url)).await;
        let request = tokio::spawn(service.post(Wire::Chat.path(), &Wire::Chat.request(1)).send());
        drop(provider.await.unwrap());
        let mut response = request.await.unwrap().unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), pieces[0].as_bytes());
        assert!(response.chunk().await.is_err(), "the client is told");
    }
}

#[tokio::test]
async fn a_client_that_vanishes_within_a_stream_is_told_to_the_provider() {
    let (url, provider) = half_a_stream(&["data: 1\n\n"]).await;
    let service = Running::start(SMALL, in_front_of(&url)).await;
    let mut response = service.post(Wire::Chat.path(), &Wire::Chat.request(1)).send().await.unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "data: 1\n\n".as_bytes());
    drop(response);
    let mut provider = provider.await.unwrap();
    // Its side of the connection ends, or breaks.
    let rest = timeout(Duration::from_secs(30), provider.read(&mut [0; 16])).await.unwrap();
    assert!(matches!(rest, Ok(0) | Err(_)), "{rest:?}");
}

#[tokio::test]
async fn a_client_that_vanishes_frees_its_slot() {
    let upstream = ScriptedServer::start_with(|number, _| match number {
        0 => ScriptedAnswer::hold(),
        _ => ScriptedAnswer::json(200, "{}"),
    });
    let limits = Limits { concurrent: 1, ..Limits::default() };
    let service = Running::start(SMALL, Settings { limits, ..in_front_of(&upstream.url()) }).await;
    let request = tokio::spawn(service.post(Wire::Chat.path(), &Wire::Chat.request(1)).send());
    let upstream = tokio::task::spawn_blocking(move || {
        upstream.wait_for_requests(1);
        upstream
    });
    let upstream = upstream.await.unwrap();
    let (status, answer) = read(service.post(Wire::Chat.path(), &Wire::Chat.request(1))).await;
    assert_eq!((status, code(&answer)), (503, "busy"));
    request.abort();
    let upstream = tokio::task::spawn_blocking(move || {
        upstream.wait_for_hang_ups(1);
        upstream
    });
    let _upstream = upstream.await.unwrap();
    // The provider has heard of it, so the slot is free.
    let (status, _) = read(service.post(Wire::Chat.path(), &Wire::Chat.request(1))).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_waited_for_and_not_stored_for() {
    const MOST: usize = 64 << 20;
    let (url, provider) = half_a_stream(&["data: 1\n\n"]).await;
    let service = Running::start(SMALL, in_front_of(&url)).await;
    let response = service.post(Wire::Chat.path(), &Wire::Chat.request(1)).send().await.unwrap();
    let mut provider = provider.await.unwrap();
    let piece = format!("{:x}\r\n{}\r\n", 1 << 16, "x".repeat(1 << 16));
    let mut written = 0;
    while written < MOST {
        match timeout(Duration::from_millis(500), provider.write_all(piece.as_bytes())).await {
            Ok(sent) => sent.unwrap(),
            Err(_) => break,
        }
        written += piece.len();
    }
    assert!(written < MOST, "somebody keeps what nobody reads");
    drop(response);
}

/// What a connection gets before it is closed.
async fn until_closed(address: SocketAddr, sent: &[u8]) -> Vec<u8> {
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(sent).await.unwrap();
    let mut answer = Vec::new();
    timeout(Duration::from_secs(30), connection.read_to_end(&mut answer)).await.unwrap().unwrap();
    answer
}

#[tokio::test]
async fn headers_that_do_not_come() {
    let limits = Limits { body_timeout: Duration::from_millis(50), ..Limits::default() };
    let service = Running::start("", Settings { limits, ..Settings::default() }).await;
    for sent in ["", "POST /v1/mess", "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-slow: "] {
        let answer = until_closed(service.address, sent.as_bytes()).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{sent:?}");
    }
    // One that is quick is answered, and closed when no other request follows.
    let answer = until_closed(service.address, b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
}

#[tokio::test]
async fn bodies_that_are_no_good() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let limits = Limits { body_bytes: 1 << 20, ..Limits::default() };
    let service = Running::start(SMALL, Settings { limits, ..in_front_of(&upstream.url()) }).await;
    let (status, answer) = read(service.post_text(Wire::Chat.path(), &"x".repeat((1 << 20) + 1))).await;
    assert_eq!((status, code(&answer)), (413, "too-large"));
    assert_eq!(upstream.requests().len(), 0);
    let deep =
        format!("{{\"messages\":[{{\"role\":\"user\",\"content\":{}{}}}]}}", "[".repeat(99_999), "]".repeat(99_999));
    let bodies: [&[u8]; 9] = [
        b"",
        b"[]",
        b"null",
        b"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}",
        b"{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud83d cut\"}]}",
        b"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"messages\":[]}",
        b"{\"messages\":[{\"role\":\"tool\",\"tool_call_id\":\"none\",\"content\":7}]}",
        b"{\"messages\":[{\"role\":\"user\",\"content\":\"never closed",
        deep.as_bytes(),
    ];
    for body in bodies {
        for wire in Wire::ALL {
            let request = service.client.post(service.url(wire.path())).header("content-type", "application/json");
            let response = request.body(body.to_vec()).send().await.unwrap();
            let did = header(&response, "x-epitome-status").to_owned();
            assert!(["bypassed", "passed"].contains(&did.as_str()), "{did}: {}", String::from_utf8_lossy(body));
            assert_eq!(response.status(), 200);
            assert_eq!(upstream.requests().last().unwrap().body, body, "byte for byte");
        }
    }
}

#[tokio::test]
async fn first_requests_of_one_conversation_at_once_get_the_same_decision() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::proxy(&upstream, SMALL).await;
    let request = Wire::Responses.request(16);
    let together: Vec<_> =
        (0..6).map(|_| tokio::spawn(service.post(Wire::Responses.path(), &request).send())).collect();
    for request in together {
        let response = request.await.unwrap().unwrap();
        assert!(["compacted", "replayed"].contains(&header(&response, "x-epitome-status")));
    }
    let seen = upstream.requests();
    assert!(seen.iter().all(|it| it.body == seen[0].body) && seen[0].body.len() < request.to_string().len());
}
