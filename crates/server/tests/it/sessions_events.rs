//! What happens to sessions, over server-sent events and WebSockets.

use std::time::Duration;

use epitome_harness::ScriptedServer;
use epitome_server::{Settings, StoreLocation};
use reqwest::Response;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::kept::{Kept, typed, with_model};
use crate::sessions_turns::summary;
use crate::support::{SMALL, Wire, code, with_tokens};

/// How long a test waits for something that should happen at once.
const PATIENCE: Duration = Duration::from_secs(30);

/// An event as it came.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: Value,
}

/// Somebody who listens to server-sent events.
pub(crate) struct Stream {
    response: Response,
    text: String,
}

impl Stream {
    pub(crate) async fn open(kept: &Kept, id: &str, after: Option<&str>) -> Self {
        let mut request = kept.request("GET", &format!("/v1/sessions/{id}/events"));
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// The next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Heard> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let lines = event.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                    lines.collect::<Vec<_>>().join("\n")
                };
                let heard = (field("event"), field("id"), field("data"));
                self.text = rest.to_owned();
                if heard.0.is_empty() {
                    continue; // a comment that keeps the connection
                }
                let data = serde_json::from_str(&heard.2).unwrap();
                return Some(Heard { name: heard.0, id: heard.1, data });
            }
            let piece = tokio::time::timeout(PATIENCE, self.response.chunk()).await.expect("an event").unwrap()?;
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    /// What comes up to an event of that name, with it.
    pub(crate) async fn until(&mut self, name: &str) -> Vec<Heard> {
        let mut heard = Vec::new();
        while let Some(event) = self.next().await {
            let is_last = event.name == name;
            heard.push(event);
            if is_last {
                return heard;
            }
        }
        panic!("no {name} in {heard:?}");
    }
}

pub(crate) fn names(heard: &[Heard]) -> Vec<&str> {
    heard.iter().map(|event| event.name.as_str()).collect()
}

/// Somebody who listens to a WebSocket, by hand.
pub(crate) struct Socket {
    stream: TcpStream,
    head: String,
}

impl Socket {
    pub(crate) async fn open(kept: &Kept, id: &str, more: &str) -> Self {
        let mut stream = TcpStream::connect(kept.running.address).await.unwrap();
        let request = format!(
            "GET /v1/sessions/{id}/socket HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n",
            kept.running.address
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        Self { stream, head: String::from_utf8(head).unwrap() }
    }

    /// The next message; `None` where the service says that it ends.
    async fn next(&mut self) -> Option<Value> {
        tokio::time::timeout(PATIENCE, self.frame()).await.expect("a message")
    }

    async fn frame(&mut self) -> Option<Value> {
        loop {
            let kind = self.stream.read_u8().await.unwrap() & 0x0f;
            let length = match self.stream.read_u8().await.unwrap() {
                126 => usize::from(self.stream.read_u16().await.unwrap()),
                127 => self.stream.read_u64().await.unwrap() as usize,
                short => usize::from(short),
            };
            let mut bytes = vec![0; length];
            self.stream.read_exact(&mut bytes).await.unwrap();
            match kind {
                1 => return Some(serde_json::from_slice(&bytes).unwrap()),
                8 => return None,
                _ => {}
            }
        }
    }

    /// Sends a text of fewer than 126 bytes.
    pub(crate) async fn send(&mut self, text: &str) {
        assert!(text.len() < 126, "a short frame");
        // Masked with zeros: a client has to mask, and may with any key.
        let mut frame = vec![0x81, 0x80 | text.len() as u8, 0, 0, 0, 0];
        frame.extend(text.as_bytes());
        self.stream.write_all(&frame).await.unwrap();
    }

    pub(crate) async fn until(&mut self, name: &str) -> Vec<Value> {
        let mut heard = Vec::new();
        while let Some(event) = self.next().await {
            let is_last = event["event"] == name;
            heard.push(event);
            if is_last {
                break;
            }
        }
        heard
    }
}

#[tokio::test]
async fn a_compaction_is_told_in_order_over_both() {
    let model = ScriptedServer::start(vec![summary()]);
    let kept = Kept::start(&with_model(&model.url()), StoreLocation::In("sqlite::memory:".to_owned())).await;
    kept.session("s", 12).await;
    let mut stream = Stream::open(&kept, "s", None).await;
    let mut socket = Socket::open(&kept, "s", "").await;
    assert!(socket.head.starts_with("HTTP/1.1 101"), "{}", socket.head);
    let first = stream.next().await.unwrap();
    let tokens = kept.found("/v1/sessions/s").await["context"].clone();
    assert_eq!((first.name.as_str(), &first.data["context"]), ("token_update", &tokens));
    assert_eq!(
        (&first.data["session"], socket.next().await.unwrap()["event"].as_str()),
        (&json!("s"), Some("token_update"))
    );
    let compacted = kept.done("/v1/sessions/s/compact", json!({"target": 3_000})).await;
    let heard = stream.until("token_update").await;
    assert_eq!(
        names(&heard),
        [
            "compaction_start",
            "summary_start",
            "summary_done",
            "compaction_step",
            "compaction_step",
            "compaction_done",
            "token_update"
        ]
    );
    assert_eq!((&heard[0].data["reason"], &heard[0].data["messageCount"]), (&json!("manual"), &json!(28)));
    let done = &heard[5].data;
    assert_eq!(done["success"], true);
    assert_eq!(
        (&done["tokensBefore"], &done["tokensAfter"]),
        (&tokens["usedTokens"], &compacted["context"]["usedTokens"])
    );
    let counts = [&done["compactedCount"], &done["keepRecentCount"]].map(|count| count.as_u64().unwrap());
    assert_eq!(counts[0] + counts[1], 28, "{done}");
    // What was found in it stays with the compaction.
    let (kept_so, reported) =
        (kept.found("/v1/sessions/s/epochs/0").await["summarizer"].clone(), &compacted["report"]["summarizer"]);
    assert!(reported["checks"][0]["files"].is_number(), "{reported}");
    assert_eq!((&kept_so["kind"], &kept_so["checks"]), (&json!("llm"), &reported["checks"]));
    let summary = kept.found("/v1/sessions/s/summary").await;
    assert_eq!(done["summaryMessageId"], summary["message"]["id"]);
    assert!(
        summary.to_string().contains("made its parts")
            && done["summaryContent"].as_str().unwrap().contains("made its parts")
    );
    assert_eq!(heard[6].data["context"], compacted["context"]);
    let numbers: Vec<u64> = heard.iter().map(|event| event.data["sequence"].as_u64().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{numbers:?}");
    let over_socket = socket.until("token_update").await;
    assert_eq!(over_socket, heard.iter().map(|event| event.data.clone()).collect::<Vec<_>>());
    // An undo, a message, a failure.
    kept.done("/v1/sessions/s/undo", json!({})).await;
    assert_eq!(names(&stream.until("token_update").await), ["undone", "token_update"]);
    kept.done("/v1/sessions/s/messages", typed("Go on.")).await;
    assert_eq!(names(&stream.until("token_update").await), ["token_update"]);
    kept.post("/v1/sessions/s/compact", json!({"target": 3_000, "chain": ["no-such"]})).await;
    let preview = kept.done("/v1/sessions/s/preview", json!({"target": 3_000})).await;
    kept.done("/v1/sessions/s/apply", json!({"draft": preview["draft"]})).await;
    assert_eq!(names(&stream.until("token_update").await), ["compaction_start", "compaction_done", "token_update"]);
}

#[tokio::test]
async fn a_compaction_that_fails_is_told() {
    let kept = Kept::small().await;
    let system = json!({"role": "system", "content": "word ".repeat(12_000)});
    let request = json!({"messages": [system, {"role": "user", "content": "Go."}]});
    kept.done("/v1/sessions", json!({"id": "s", "request": request})).await;
    let mut stream = Stream::open(&kept, "s", None).await;
    stream.next().await.unwrap();
    assert_eq!(kept.post("/v1/sessions/s/compact", json!({})).await.0, 422);
    let heard = stream.until("compaction_error").await;
    let error = &heard.last().unwrap().data;
    assert_eq!((heard[0].name.as_str(), &error["retryable"]), ("compaction_start", &json!(false)));
    assert!(error["message"].as_str().unwrap().contains("cannot fit"), "{error}");
}

#[tokio::test]
async fn whoever_comes_back_hears_what_was_missed() {
    let kept = Kept::small().await;
    kept.session("s", 2).await;
    let mut stream = Stream::open(&kept, "s", None).await;
    stream.next().await.unwrap();
    kept.done("/v1/sessions/s/messages", typed("one")).await;
    let last = stream.next().await.unwrap().id;
    drop(stream);
    for step in 2..12 {
        kept.done("/v1/sessions/s/messages", json!({"messages": Wire::Chat.step(step)})).await;
    }
    kept.done("/v1/sessions/s/compact", json!({"target": 3_000})).await;
    let mut stream = Stream::open(&kept, "s", Some(&last)).await;
    let heard = stream.until("compaction_done").await;
    let updates = heard.iter().filter(|event| event.name == "token_update").count();
    assert_eq!(updates, 10, "{heard:?}");
    assert!(names(&heard).contains(&"compaction_start"), "{heard:?}");
    let (missed, now) = (stream.next().await.unwrap(), stream.next().await.unwrap());
    assert_eq!((missed.name.as_str(), now.name.as_str()), ("token_update", "token_update"), "behind it how it stands");
    assert_eq!(now.data["context"], kept.found("/v1/sessions/s").await["context"]);
    // What another process told means nothing here.
    let mut other = Stream::open(&kept, "s", Some("1-2-3")).await;
    assert_eq!(names(&other.until("token_update").await), ["missed", "token_update"]);
}

#[tokio::test]
async fn sockets_take_their_token_as_a_sub_protocol() {
    let settings = Settings {
        store: StoreLocation::In("sqlite::memory:".to_owned()),
        ..with_tokens("alice open-sesame-one-two\nbob open-sesame-two-two\n")
    };
    let kept = Kept::with(SMALL, settings).await.with_token("open-sesame-one-two");
    kept.session("s", 1).await;
    let offered = |token: &str| {
        use base64::Engine as _;
        let token = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(token);
        format!("Sec-WebSocket-Protocol: epitome, epitome.token.{token}\r\n")
    };
    let mut socket = Socket::open(&kept, "s", &offered("open-sesame-one-two")).await;
    assert!(socket.head.starts_with("HTTP/1.1 101"), "{}", socket.head);
    assert!(socket.head.to_ascii_lowercase().contains("sec-websocket-protocol: epitome\r\n"), "{}", socket.head);
    assert_eq!(socket.next().await.unwrap()["event"], "token_update");
    for (more, status) in
        [(String::new(), "401"), (offered("open-sesame-nobody"), "401"), (offered("open-sesame-two-two"), "404")]
    {
        let refused = Socket::open(&kept, "s", &more).await;
        assert!(refused.head.starts_with(&format!("HTTP/1.1 {status}")), "{}", refused.head);
    }
}

#[tokio::test]
async fn streams_end_with_the_service() {
    let mut kept = Kept::small().await;
    kept.session("s", 1).await;
    let mut stream = Stream::open(&kept, "s", None).await;
    let mut socket = Socket::open(&kept, "s", "").await;
    stream.next().await.unwrap();
    socket.next().await.unwrap();
    kept.running.stop();
    assert!(stream.next().await.is_none());
    assert!(socket.next().await.is_none());
    (&mut kept.running.task).await.unwrap();
}

#[tokio::test]
async fn what_is_no_socket_is_refused() {
    let kept = Kept::small().await;
    kept.session("s", 1).await;
    let (status, refused) = kept.get("/v1/sessions/s/socket").await;
    assert_eq!((status, code(&refused)), (400, "no-websocket"));
    let (status, unknown) = kept.get("/v1/sessions/t/events").await;
    assert_eq!((status, code(&unknown)), (404, "unknown-session"));
}

/// Where a compaction wrote lines of transcript and a hand-off, the hand-off is the summary everywhere.
#[tokio::test]
async fn the_summary_is_the_same_message_everywhere() {
    let model = ScriptedServer::start(vec![summary()]);
    let config = with_model(&model.url()).replace(r#"["summary"]"#, r#"["handoff", "transcript"]"#);
    let kept = Kept::start(&config, StoreLocation::In("sqlite::memory:".to_owned())).await;
    kept.session("s", 60).await;
    let mut stream = Stream::open(&kept, "s", None).await;
    let compacted = kept.done("/v1/sessions/s/compact", json!({"target": 4_000})).await;
    let done = stream.until("compaction_done").await.pop().unwrap().data;
    let texts = kept.found("/v1/sessions/s/history").await["epochs"][0]["summaries"].clone();
    let texts: Vec<&str> = texts.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert!(texts.len() > 1 && texts.iter().skip(1).any(|text| text.contains("» ")), "{texts:?}");
    assert!(texts[0].contains("## Goal\n- The user wants the build"), "the drawer shows the first: {texts:?}");
    let latest = kept.found("/v1/sessions/s/summary").await;
    assert_eq!(latest["message"]["blocks"][0]["content"]["text"], texts[0]);
    let id = latest["message"]["id"].as_str().unwrap();
    assert_eq!(done["summaryMessageId"], id);
    assert!(texts[0].ends_with(done["summaryContent"].as_str().unwrap()));
    assert_eq!(compacted["report"]["summary"], done["summaryContent"]);
    let behind = kept.found(&format!("/v1/sessions/s/messages/{id}/behind")).await;
    assert!(behind["total"].as_u64().is_some_and(|total| total > 0), "{behind}");
}
