//! Clients that hold what they do not use, send what is too much, or take nothing of what they asked for.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use epitome::store::Store;
use epitome_harness::{ScriptedAnswer, ScriptedServer};
use epitome_server::{Limits, Settings, StoreLocation};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{Running, SMALL, Wire, asked, code, header, in_front_of, read, with_tokens};

/// Longer than anything here takes; what does not come in this time does not come.
const NEVER: Duration = Duration::from_secs(60);

/// Settings with a store in memory.
async fn kept(limits: Limits) -> Settings {
    let store = Store::open("sqlite::memory:").await.unwrap();
    Settings { limits, store: StoreLocation::Store(store), ..Settings::default() }
}

/// What comes back on a connection until it is closed.
async fn answered(connection: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // A connection that is reset has said what it had to say, too.
    let _ = tokio::time::timeout(NEVER, connection.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// What comes back for bytes that are sent as they are.
async fn raw(address: SocketAddr, request: &str) -> String {
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    answered(&mut connection).await
}

#[tokio::test]
async fn idle_connections_make_room() {
    let limits = Limits { connections: 3, ..Limits::default() };
    let service = Running::start("", Settings { limits, ..Settings::default() }).await;
    let mut idle = Vec::new();
    for _ in 0..3 {
        idle.push(TcpStream::connect(service.address).await.unwrap());
    }
    assert_eq!(service.get("/healthz").await.status(), 200);
    assert_eq!(answered(&mut idle[0]).await, "", "the one that was idle longest is closed");
    let check = json!({"request": Wire::Chat.request(1)});
    assert_eq!(read(service.post("/v1/check", &check)).await.0, 200);
}

#[tokio::test]
async fn health_is_answered_where_all_connections_are_taken() {
    for limits in
        [Limits { connections: 1, ..Limits::default() }, Limits { connections_per_address: 1, ..Limits::default() }]
    {
        let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}").held()]);
        let service = Running::start(SMALL, Settings { limits, ..in_front_of(&upstream.url()) }).await;
        let first = tokio::spawn(service.post("/v1/chat/completions", &Wire::Chat.request(1)).send());
        let waiting = tokio::task::spawn_blocking(move || {
            upstream.wait_for_requests(1);
            upstream
        });
        let upstream = waiting.await.unwrap();
        for path in ["/healthz", "/readyz"] {
            let response = service.get(path).await;
            assert_eq!((response.status().as_u16(), header(&response, "connection")), (200, "close"), "{path}");
        }
        let response = service.get("/metrics").await;
        assert_eq!((response.status().as_u16(), header(&response, "connection")), (503, "close"));
        assert_eq!(code(&serde_json::from_str(&response.text().await.unwrap()).unwrap()), "busy");
        upstream.release();
        assert_eq!(first.await.unwrap().unwrap().status(), 200);
        // The client may have its answer before the service has counted the connection as idle.
        let idle_again = async { while service.get("/metrics").await.status() != 200 {} };
        tokio::time::timeout(Duration::from_secs(30), idle_again).await.expect("the connection is idle again");
    }
}

#[tokio::test]
async fn answers_that_nobody_takes() {
    // Answers may take eight times as much, some 33 MB: there is room for one of this session and not for two, also where
    // the system has taken ten of the first.
    let write_timeout = Duration::from_secs(2);
    let limits = Limits { body_bytes: 4 << 20, write_timeout, ..Limits::default() };
    let service = Running::start("", kept(limits).await).await;
    let (status, made) = read(service.post("/v1/sessions", &json!({"id": "big"}))).await;
    assert_eq!(status, 201, "{made}");
    for number in 0..9 {
        let text = format!("{number} {}", "some words ".repeat(300_000));
        let message = json!({"messages": [asked(&text)]});
        assert_eq!(read(service.post("/v1/sessions/big/messages", &message)).await.0, 200);
    }
    // Two ask at once and read no further than the status.
    let (mut unread, mut seen) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let mut connection = TcpStream::connect(service.address).await.unwrap();
        let request = "GET /v1/sessions/big/request HTTP/1.1\r\nHost: localhost\r\n\r\n";
        connection.write_all(request.as_bytes()).await.unwrap();
        unread.push(connection);
    }
    for connection in &mut unread {
        let mut status = [0; 12];
        connection.read_exact(&mut status).await.unwrap();
        seen.push(String::from_utf8_lossy(&status[9..]).into_owned());
    }
    seen.sort();
    assert_eq!(seen, ["200", "503"]);
    let again = || async { read(service.client.get(service.url("/v1/sessions/big/request"))).await };
    let gone = async {
        while again().await.0 != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(NEVER, gone).await.expect("what nobody takes is given up");
}

#[tokio::test]
async fn refusals_before_the_body_can_be_read() {
    let service = Running::start("", with_tokens("alice alices-own-token-1")).await;
    let limits = Limits { body_bytes: 1_000, ..Limits::default() };
    let small = Running::start("", Settings { limits, ..Settings::default() }).await;
    for (address, expect) in [(service.address, "HTTP/1.1 401"), (small.address, "HTTP/1.1 413")] {
        let mut connection = TcpStream::connect(address).await.unwrap();
        let head = "POST /v1/compact HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20000000\r\n\r\n";
        connection.write_all(head.as_bytes()).await.unwrap();
        // It goes on sending, as clients do that have not looked yet.
        connection.write_all(&vec![b'x'; 19_000_000]).await.unwrap();
        let answer = answered(&mut connection).await;
        assert!(answer.starts_with(expect), "{answer}");
        assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
    }
    // Without a body nothing is unread, and the connection stays.
    let response = service.get("/metrics").await;
    assert_eq!((response.status().as_u16(), header(&response, "connection")), (401, ""));
}

#[tokio::test]
async fn more_parts_than_a_request_may_have() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let limits = Limits { parts: 1_000, ..Limits::default() };
    let settings = Settings { upstreams: in_front_of(&upstream.url()).upstreams, ..kept(limits).await };
    let service = Running::start(SMALL, settings).await;
    let request = |messages: usize| json!({"messages": vec![asked("x"); messages]});
    let blocks = json!({"messages": [{"role": "user", "content": vec![json!({"type": "text", "text": "x"}); 1_000]}]});
    let refused = async |path: &'static str, body: Value| {
        let (status, answer) = read(service.post(path, &body)).await;
        assert_eq!((status, code(&answer)), (413, "too-many-parts"), "{path}");
    };
    for path in ["/v1/compact", "/v1/preview", "/v1/check", "/v1/inspect", "/v1/sessions"] {
        refused(path, json!({"request": request(1_000)})).await;
        refused(path, json!({"request": blocks})).await;
    }
    refused("/v1/compress", json!({"messages": request(1_001)["messages"]})).await;
    assert_eq!(read(service.post("/v1/check", &json!({"request": request(999)}))).await.0, 200);
    // A kept session may have four times as many, and one that is imported.
    refused("/v1/sessions/import", request(4_000)).await;
    assert_eq!(read(service.post("/v1/sessions/import", &request(3_999))).await.0, 201);
    assert_eq!(read(service.post("/v1/sessions", &json!({"id": "full", "request": request(999)}))).await.0, 201);
    refused("/v1/sessions/full/messages", request(1_001)).await;
    for expect in [200, 200, 200, 413] {
        let more = json!({"messages": vec![asked("x"); 1_000]});
        assert_eq!(read(service.post("/v1/sessions/full/messages", &more)).await.0, expect);
    }
    // The proxy sends it on as it came.
    for body in [request(1_001), blocks] {
        let response = service.post("/v1/chat/completions", &body).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-epitome-status")), (200, "bypassed"));
        assert_eq!(header(&response, "x-epitome-detail"), "too-many-parts");
        assert_eq!(upstream.requests().last().unwrap().text(), body.to_string());
    }
}

#[tokio::test]
async fn files_that_become_large() {
    let limits = Limits { body_bytes: 100_000, ..Limits::default() };
    let service = Running::start("", kept(limits).await).await;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(json!({"messages": [asked(&"x".repeat(900_000))]}).to_string().as_bytes()).unwrap();
    let request = service.client.post(service.url("/v1/sessions/import")).body(packed.finish().unwrap());
    let (status, answer) = read(request).await;
    assert_eq!((status, code(&answer)), (413, "too-large"), "eight times the largest body");
}

#[tokio::test]
async fn other_paths_stream_in_both_directions() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let limits = Limits { body_bytes: 10_000, ..Limits::default() };
    let service = Running::start("", Settings { limits, ..in_front_of(&format!("http://{address}")) }).await;
    let (piece, mut pieces) = tokio::sync::mpsc::channel::<Vec<u8>>(1);
    let pieces = futures_util::stream::poll_fn(move |context| {
        pieces.poll_recv(context).map(|it| it.map(Ok::<_, std::io::Error>))
    });
    let upload = service.client.post(service.url("/v1/files")).header("content-length", "2000000");
    let upload = upload.body(reqwest::Body::wrap_stream(pieces));
    let uploaded = tokio::spawn(upload.send());
    piece.send(vec![b'a'; 1_000_000]).await.unwrap();
    // The first half is at the provider before the second is sent; neither would fit into a body that is held.
    let first = tokio::task::spawn_blocking(move || {
        let (mut connection, _) = listener.accept().unwrap();
        connection.set_read_timeout(Some(NEVER)).unwrap();
        let mut received = vec![0; 1_000_000];
        connection.read_exact(&mut received).unwrap();
        (connection, received)
    });
    let (mut connection, mut received) = first.await.unwrap();
    piece.send(vec![b'b'; 1_000_000]).await.unwrap();
    drop(piece);
    let rest = tokio::task::spawn_blocking(move || {
        let mut chunk = [0; 65_536];
        while received.iter().filter(|byte| **byte == b'b').count() < 1_000_000 {
            let read = connection.read(&mut chunk).unwrap();
            assert!(read > 0, "it ends early");
            received.extend_from_slice(&chunk[..read]);
        }
        connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 3000000\r\n\r\n").unwrap();
        connection.write_all(&vec![b'c'; 1_500_000]).unwrap();
        (connection, String::from_utf8_lossy(&received[..300]).to_lowercase())
    });
    let (mut connection, head) = rest.await.unwrap();
    assert!(head.starts_with("post /v1/files http/1.1\r\n") && head.contains("content-length: 2000000"), "{head}");
    // Half of the answer is here before the other half is there.
    let mut answer = uploaded.await.unwrap().unwrap();
    let mut came = 0;
    while came < 1_500_000 {
        came += answer.chunk().await.unwrap().unwrap().len();
    }
    tokio::task::spawn_blocking(move || connection.write_all(&vec![b'c'; 1_500_000]).unwrap()).await.unwrap();
    while let Some(chunk) = answer.chunk().await.unwrap() {
        came += chunk.len();
    }
    assert_eq!(came, 3_000_000);
}

#[tokio::test]
async fn uploads_that_stop_coming() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let limits = Limits { body_timeout: Duration::from_millis(100), ..Limits::default() };
    let service = Running::start("", Settings { limits, ..in_front_of(&upstream.url()) }).await;
    let begun = "PUT /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf";
    let answer = raw(service.address, begun).await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("slow-body"), "{answer}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
}

#[tokio::test]
async fn paths_stay_under_the_providers_address() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::start("", in_front_of(&format!("{}/base", upstream.url()))).await;
    let ask = async |path: &str| {
        raw(service.address, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")).await
    };
    for path in ["/v1/../../x", "/v1/%2e%2e/%2e%2e/x", "/v1/..%2f..%2fx", "/v1/%252e%252e/x"] {
        let answer = ask(path).await;
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("bad-path"), "{path}: {answer}");
    }
    assert!(upstream.requests().is_empty());
    assert!(ask("//v1//models?a=../b").await.starts_with("HTTP/1.1 200"));
    assert_eq!(upstream.requests()[0].path, "/base/v1/models?a=../b");
}
