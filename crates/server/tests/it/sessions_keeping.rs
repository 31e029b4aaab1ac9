//! What is kept: files of agents, tenants, restarts, memory.

use epitome_server::{Settings, StoreLocation};
use serde_json::json;

use crate::kept::{Folder, Kept, typed};
use crate::support::{SMALL, Wire, code, with_tokens};

#[tokio::test]
async fn files_of_agents_are_opened() {
    let kept = Kept::small().await;
    let lines: Vec<String> =
        (0..3).map(|number| json!({"messages": Wire::Chat.request(number + 1)["messages"]}).to_string()).collect();
    let send = |query: &str, bytes: Vec<u8>| {
        let path = format!("/v1/sessions/import{query}");
        let request = kept.request("POST", &path).body(bytes);
        let kept = &kept;
        async move { kept.send("POST", &path, request).await }
    };
    let (status, imported) = send("?title=Old&agent=", lines.join("\n").into_bytes()).await;
    assert_eq!(status, 201, "{imported}");
    let titles: Vec<&str> =
        imported["sessions"].as_array().unwrap().iter().map(|it| it["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Old", "Old (2)", "Old (3)"]);
    let (_, imported) = send("", lines[0].clone().into_bytes()).await;
    assert_eq!(imported["sessions"][0]["title"], "Find out why the build of the parser fails.");
    let id = imported["sessions"][0]["id"].as_str().unwrap();
    assert_eq!(kept.ids(id, "full").await.len(), 6);
    let check = async |query: &str, bytes: &[u8], status: u16| {
        let (got, answer) = send(query, bytes.to_vec()).await;
        assert_eq!(got, status, "{query} {answer}");
        code(&answer);
    };
    check("", b"", 400).await;
    check("", b"{\"messages\": []}", 400).await;
    check("", b"no session at all", 400).await;
    check("", &[0x1f, 0x8b, 0, 1], 400).await;
    check("?format=word", b"{}", 400).await;
    check("?what=word", b"{}", 400).await;
    check("?agent=nobody", lines[0].as_bytes(), 422).await;
}

#[tokio::test]
async fn a_compressed_file_is_read_as_far_as_it_may_grow() {
    use std::io::Write as _;
    let limits = epitome_server::Limits { body_bytes: 20_000, ..Default::default() };
    let store = StoreLocation::In("sqlite::memory:".to_owned());
    let kept = Kept::with(SMALL, Settings { limits, store, ..Settings::default() }).await;
    let send = async |text: &str| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(text.as_bytes()).unwrap();
        let request = kept.request("POST", "/v1/sessions/import").body(packed.finish().unwrap());
        kept.send("POST", "/v1/sessions/import", request).await
    };
    let session = |words: usize| json!({"messages": [{"role": "user", "content": "word ".repeat(words)}]}).to_string();
    assert_eq!(send(&session(10_000)).await.0, 201);
    let (status, bomb) = send(&session(200_000)).await;
    assert_eq!((status, code(&bomb)), (413, "too-large"));
}

#[tokio::test]
async fn tenants_know_nothing_of_each_other() {
    let settings = Settings {
        store: StoreLocation::In("sqlite::memory:".to_owned()),
        ..with_tokens("alice open-sesame-one-two\nbob open-sesame-two-two\n")
    };
    let alice = Kept::with(SMALL, settings).await.with_token("open-sesame-one-two");
    alice.session("s", 12).await;
    let preview = alice.done("/v1/sessions/s/preview", json!({"target": 3_000})).await;
    alice.done("/v1/sessions/s/compact", json!({"target": 4_000, "chain": ["summary"]})).await;
    let handle = alice.found("/v1/sessions/s/history").await["epochs"][0]["recall"][0].clone();
    let summary = alice.found("/v1/sessions/s/summary").await["message"]["id"].clone();
    let bob = alice.with_token("open-sesame-two-two");
    assert_eq!(bob.found("/v1/sessions").await["items"], json!([]));
    let (handle, summary) = (handle.as_str().unwrap(), summary.as_str().unwrap());
    let behind = format!("messages/{summary}/behind");
    let recall = format!("recall/{handle}");
    for path in
        ["", "messages", &behind, "summary", "request", "check", "context", "history", "epochs/0", &recall, "events"]
    {
        let path = format!("/v1/sessions/s/{path}");
        let (status, answer) = bob.get(path.trim_end_matches('/')).await;
        assert_eq!((status, code(&answer)), (404, "unknown-session"), "{path}");
    }
    let posts = [
        ("messages", typed("hello")),
        ("maintain", json!({})),
        ("preview", json!({})),
        ("apply", json!({"draft": preview["draft"]})),
        ("compact", json!({})),
        ("undo", json!({})),
        ("overflow", json!({"limit": 1_000})),
    ];
    for (path, body) in posts {
        let (status, answer) = bob.post(&format!("/v1/sessions/s/{path}"), body).await;
        assert_eq!((status, code(&answer)), (404, "unknown-session"), "{path}");
    }
    let (status, answer) = bob.ask("PATCH", "/v1/sessions/s", json!({"title": "mine"})).await;
    assert_eq!((status, code(&answer)), (404, "unknown-session"));
    let (status, _) = bob.send("DELETE", "/v1/sessions/s", bob.request("DELETE", "/v1/sessions/s")).await;
    assert_eq!(status, 404);
    bob.session("s", 1).await;
    let own = bob.found("/v1/sessions/s").await;
    let alice = bob.with_token("open-sesame-one-two");
    assert_ne!(alice.found("/v1/sessions/s").await["messages"], own["messages"]);
    let nobody = alice.with_token("open-sesame-nobody-knows");
    assert_eq!(nobody.get("/v1/sessions").await.0, 401);
}

#[tokio::test]
async fn a_service_without_a_store_says_so() {
    let kept = Kept::start(SMALL, StoreLocation::Nowhere).await;
    for path in ["/v1/sessions", "/v1/sessions/s", "/v1/sessions/s/history", "/v1/sessions/s/events"] {
        let (status, answer) = kept.get(path).await;
        assert_eq!((status, code(&answer)), (404, "no-store"), "{path}");
    }
    let (status, answer) = kept.post("/v1/sessions", json!({})).await;
    assert_eq!((status, code(&answer)), (404, "no-store"));
    assert_eq!(kept.found("/readyz").await["sessions"], "none");
    let (status, _) = kept.post("/v1/compact", json!({"request": Wire::Chat.request(1), "budget": 5_000})).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn sessions_outlive_the_service() {
    let folder = Folder::new();
    let mut kept = Kept::start(SMALL, folder.keeping()).await;
    kept.session("s", 12).await;
    kept.done("/v1/sessions/s/compact", json!({"target": 3_000, "chain": ["summary"]})).await;
    kept.done("/v1/sessions/s/messages", typed("Go on.")).await;
    let (info, view) = (kept.found("/v1/sessions/s").await, kept.ids("s", "compacted").await);
    let handle = kept.found("/v1/sessions/s/history").await["epochs"][0]["recall"][0].clone();
    kept.running.stop();
    (&mut kept.running.task).await.unwrap();
    let kept = Kept::start(SMALL, folder.keeping()).await;
    assert_eq!(kept.found("/v1/sessions/s").await, info);
    assert_eq!(kept.ids("s", "compacted").await, view);
    kept.found(&format!("/v1/sessions/s/recall/{}", handle.as_str().unwrap())).await;
    kept.done("/v1/sessions/s/undo", json!({})).await;
    assert_eq!(kept.ids("s", "compacted").await, kept.ids("s", "full").await);
}

#[tokio::test]
async fn more_sessions_than_memory_has_room_for() {
    let memory = epitome_server::Memory { open_sessions: 2, ..Default::default() };
    let store = StoreLocation::In("sqlite::memory:".to_owned());
    let kept = Kept::with(SMALL, Settings { memory, store, ..Settings::default() }).await;
    for round in 0..3 {
        for session in 0..6 {
            let id = format!("s{session}");
            if round == 0 {
                kept.session(&id, 1).await;
            }
            let appended = kept.done(&format!("/v1/sessions/{id}/messages"), typed("Go on.")).await;
            assert_eq!(appended["version"], 6 + round + 1);
        }
    }
    let metrics = kept.running.get("/metrics").await.text().await.unwrap();
    assert!(metrics.contains("epitome_open_sessions 2\n"), "{metrics}");
    assert!(metrics.contains("epitome_busy_sessions 0\n"), "{metrics}");
}
