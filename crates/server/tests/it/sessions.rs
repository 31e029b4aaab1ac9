//! The routes of kept sessions: what each does, and what it refuses.

use epitome_server::{Settings, StoreLocation};
use serde_json::{Value, json};

use crate::kept::{Kept, typed};
use crate::support::{Wire, code};

#[tokio::test]
async fn a_session_is_made_told_changed_and_deleted() {
    let kept = Kept::small().await;
    let (status, made) =
        kept.post("/v1/sessions", json!({"id": "one", "title": "First", "request": Wire::Chat.request(2)})).await;
    assert_eq!((status, made["id"].as_str(), made["title"].as_str()), (201, Some("one"), Some("First")), "{made}");
    assert_eq!((made["budget"]["usable"].as_u64(), made["budget"]["soft"].as_u64()), (Some(8_000), Some(6_400)));
    assert_eq!((made["messages"].as_u64(), made["running"].as_bool()), (Some(8), Some(false)));
    assert_eq!(kept.found("/v1/sessions/one").await, made);
    let (status, taken) = kept.post("/v1/sessions", json!({"id": "one"})).await;
    assert_eq!((status, code(&taken)), (409, "taken"));
    let (_, changed) =
        kept.ask("PATCH", "/v1/sessions/one", json!({"title": null, "settings": {"keep_recent": 5}})).await;
    assert_eq!((&changed["title"], &changed["settings"]), (&Value::Null, &json!({"keep_recent": 5})));
    let (_, changed) = kept.ask("PATCH", "/v1/sessions/one", json!({"title": "Again"})).await;
    assert_eq!((changed["title"].as_str(), &changed["settings"]), (Some("Again"), &json!({"keep_recent": 5})));
    let (status, _) = kept.send("DELETE", "/v1/sessions/one", kept.request("DELETE", "/v1/sessions/one")).await;
    assert_eq!(status, 204);
    let (status, gone) = kept.send("DELETE", "/v1/sessions/one", kept.request("DELETE", "/v1/sessions/one")).await;
    assert_eq!((status, code(&gone)), (404, "unknown-session"));
}

#[tokio::test]
async fn the_model_of_the_request_says_how_much_room_there_is() {
    let memory = || StoreLocation::In("sqlite::memory:".to_owned());
    let settings = Settings { store: memory(), budget_by_model: true, ..Settings::default() };
    let kept = Kept::with("[agents.reviewer]\nkeep_recent = 5\n", settings).await;
    let check = async |more: Value, window: u64, runs_on: Option<&str>| {
        let mut new =
            json!({"request": {"model": "gpt-4o", "messages": [{"role": "user", "content": "Good morning"}]}});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let made = kept.done("/v1/sessions", new.clone()).await;
        assert_eq!(made["budget"]["window"], window, "{new}");
        assert_eq!(made["settings"]["runs_on"].as_str(), runs_on, "{new}");
    };
    check(json!({}), 128_000, Some("gpt-4o")).await;
    check(json!({"settings": {"keep_recent": 5}}), 128_000, Some("gpt-4o")).await;
    check(json!({"settings": {"window": 50_000}}), 50_000, None).await;
    check(json!({"settings": {"runs_on": "claude-sonnet-4-5"}}), 200_000, Some("claude-sonnet-4-5")).await;
    check(json!({"agent": "reviewer"}), 200_000, None).await;
    let unknown = json!({"model": "nobodys-model", "messages": [{"role": "user", "content": "Good morning"}]});
    check(json!({"request": unknown}), 200_000, None).await;
    // Where the configuration says it, that holds.
    let kept = Kept::small().await;
    let request = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "Good morning"}]});
    assert_eq!(kept.done("/v1/sessions", json!({"request": request})).await["settings"], Value::Null);
}

#[tokio::test]
async fn sessions_are_given_ids_and_listed_by_pages() {
    let kept = Kept::small().await;
    for number in 0..5 {
        let made = kept.done("/v1/sessions", json!({"title": format!("Build {number}")})).await;
        assert_eq!(made["id"].as_str().unwrap().len(), 32);
        assert_eq!(made["context"]["usedTokens"], 0);
    }
    kept.done("/v1/sessions", json!({"title": "Else"})).await;
    let first = kept.found("/v1/sessions?title=BUILD&limit=3").await;
    assert_eq!(first["items"].as_array().unwrap().len(), 3);
    let next = first["next"].as_str().unwrap().replace(':', "%3A");
    let second = kept.found(&format!("/v1/sessions?title=build&limit=3&after={next}")).await;
    assert_eq!((second["items"].as_array().unwrap().len(), &second["next"]), (2, &Value::Null));
    for query in ["limit=0", "limit=501", "limit=x", "after=x", "agents=x", "limit=1&limit=2", "updated_since=1.5"] {
        let (status, refused) = kept.get(&format!("/v1/sessions?{query}")).await;
        assert_eq!(status, 400, "{query}: {refused}");
        code(&refused);
    }
    let later = kept.found(&format!("/v1/sessions?updated_since={}", i64::MAX)).await;
    assert_eq!(later["items"], json!([]));
}

#[tokio::test]
async fn odd_ids_are_kept_or_refused() {
    let kept = Kept::small().await;
    for (id, path) in [("a b/ü", "a%20b%2F%C3%BC"), ("imports", "imports"), ("%", "%25"), ("...", "...")] {
        let made = kept.done("/v1/sessions", json!({"id": id})).await;
        assert_eq!(made["id"], id);
        assert_eq!(kept.found(&format!("/v1/sessions/{path}")).await["id"], id);
        kept.done(&format!("/v1/sessions/{path}/messages"), typed("hello")).await;
    }
    for id in ["", "import", ".", "..", "\u{0}", "a\nb", &"x".repeat(201)] {
        let (status, refused) = kept.post("/v1/sessions", json!({"id": id})).await;
        assert_eq!((status, code(&refused)), (400, "bad-name"), "{id:?}");
    }
    for path in ["%00", "%ff", "a%0Ab", &"x".repeat(201)] {
        let (status, refused) = kept.get(&format!("/v1/sessions/{path}")).await;
        assert_eq!(status, 400, "{path}: {refused}");
    }
}

#[tokio::test]
async fn messages_of_every_format_go_on_a_session() {
    let kept = Kept::small().await;
    for wire in Wire::ALL {
        let id = wire.name();
        kept.done("/v1/sessions", json!({"id": id, "request": wire.request(1)})).await;
        let path = format!("/v1/sessions/{id}/messages");
        let before = kept.ids(id, "full").await.len();
        let appended = kept.done(&path, json!({"messages": wire.step(1), "format": id})).await;
        assert_eq!((appended["appended"].as_u64(), &appended["command"]), (Some(2), &Value::Null), "{appended}");
        let ids = kept.ids(id, "full").await;
        assert_eq!(json!(ids[before..]), appended["ids"]);
        assert_eq!(kept.found(&format!("/v1/sessions/{id}")).await["context"], appended["context"]);
        let request = kept.found(&format!("/v1/sessions/{id}/request?format={id}")).await;
        let sent = request[wire.list()].as_array().unwrap();
        // Neighbours of one role are one message there.
        assert!(sent.len() >= 5, "{request}");
        assert!(request.to_string().contains("make part_1"), "{request}");
    }
}

#[tokio::test]
async fn tools_take_their_part_of_the_window() {
    let kept = Kept::small().await;
    kept.session("s", 1).await;
    let tools = json!([{"type": "function", "function": {"name": "bash", "description": "runs it ".repeat(200)}}]);
    let changed = kept.done("/v1/sessions/s/messages", json!({"messages": [], "tools": tools})).await;
    assert_eq!((changed["appended"].as_u64(), changed["version"].as_u64()), (Some(0), Some(7)));
    assert!(changed["context"]["maxTokens"].as_u64().unwrap() < 8_000, "{changed}");
    let request = kept.found("/v1/sessions/s/request").await;
    assert_eq!(request["tools"][0]["function"]["name"], "bash");
}

#[tokio::test]
async fn what_cannot_be_taken_is_said() {
    let kept = Kept::small().await;
    kept.session("s", 1).await;
    let check = async |path: &str, body: Value, status: u16, expect: &str| {
        let (got, answer) = kept.post(path, body.clone()).await;
        assert_eq!((got, code(&answer)), (status, expect), "{path} {body} {answer}");
    };
    let messages = "/v1/sessions/s/messages";
    check(messages, json!({}), 400, "bad-request").await;
    check(messages, json!({"messages": {}}), 400, "bad-request").await;
    check(messages, json!({"messages": [1]}), 400, "unreadable-request").await;
    check(messages, json!({"messages": [{"role": "user", "content": "x"}, {"what": 1}]}), 400, "unreadable-request")
        .await;
    check(messages, json!({"messages": [], "tools": 5}), 400, "bad-request").await;
    check(messages, json!({"messages": [], "tools": [[]]}), 400, "bad-request").await;
    check(messages, json!([[], null, null, true]), 400, "bad-request").await;
    check(messages, json!({"messages": [], "more": 5}), 400, "bad-request").await;
    check(messages, json!({"messages": [{"role": "user", "content": "x"}], "format": "pi"}), 400, "unknown-format")
        .await;
    check("/v1/sessions", json!({"request": {"messages": []}}), 400, "unreadable-request").await;
    check("/v1/sessions", json!({"request": 5}), 400, "unreadable-request").await;
    check("/v1/sessions", json!({"title": "a\nb"}), 400, "bad-title").await;
    check("/v1/sessions", json!({"settings": 5}), 400, "bad-request").await;
    check("/v1/sessions", json!({"settings": {"keep_recent": 1001}}), 422, "bad-settings").await;
    check("/v1/sessions", json!({"agent": "nobody"}), 422, "unknown-agent").await;
    check("/v1/sessions/s/compact", json!({"target": 0}), 400, "bad-budget").await;
    check("/v1/sessions/s/compact", json!({"target": -1}), 400, "bad-request").await;
    check("/v1/sessions/s/compact", json!({"task": "poetry"}), 400, "unknown-task").await;
    check("/v1/sessions/s/compact", json!({"chain": ["no-such"]}), 400, "unknown-chain").await;
    check("/v1/sessions/s/compact", json!({"chain": []}), 400, "unknown-chain").await;
    check("/v1/sessions/s/compact", json!({"focus": "x".repeat(4_001)}), 400, "bad-request").await;
    check("/v1/sessions/s/preview", json!({"buget": 1}), 400, "bad-request").await;
    check("/v1/sessions/s/apply", json!({"draft": "nothing"}), 404, "unknown-draft").await;
    check("/v1/sessions/s/undo", json!({}), 404, "unknown-epoch").await;
    check("/v1/sessions/s/undo", json!({"epoch": 3}), 404, "unknown-epoch").await;
    check("/v1/sessions/s/overflow", json!({"status": 500, "body": "out of order"}), 400, "no-overflow").await;
    check("/v1/sessions/s/overflow", json!({"limit": 0}), 400, "bad-request").await;
    check("/v1/sessions/s/maintain", json!({"confirm": 1}), 400, "bad-request").await;
    for path in ["epochs/0", "recall/nothing", "summary", "messages/m0/behind"] {
        let (status, answer) = kept.get(&format!("/v1/sessions/s/{path}")).await;
        assert_eq!(status, 404, "{path}: {answer}");
    }
    for path in ["epochs/x", "messages?view=all", "messages?limit=0", "messages?from=-1", "request?format=pi"] {
        let (status, answer) = kept.get(&format!("/v1/sessions/s/{path}")).await;
        assert_eq!(status, 400, "{path}: {answer}");
    }
    for (method, path) in [("PUT", "/v1/sessions/s"), ("GET", "/v1/sessions/s/compact"), ("DELETE", "/v1/sessions")] {
        let (status, answer) = kept.ask(method, path, json!({})).await;
        assert_eq!((status, code(&answer)), (405, "wrong-method"), "{method} {path}");
    }
    let plain = kept.request("POST", messages).body("{}");
    assert_eq!(kept.send("POST", messages, plain).await.0, 415);
}
