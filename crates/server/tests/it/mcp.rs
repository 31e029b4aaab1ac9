//! What models look up over the protocol at `/mcp`, and what hosts search: each tenant its own.

use epitome_mcp::{CallOrigin, RemoteService, ToolBackend};
use serde_json::{Map, Value, json};

use crate::support::{Running, SMALL, Wire, code, read, with_tokens};

const TOKENS: &str = "alice open-sesame-one-two\nbob open-sesame-two-two\n";
const ALICE: &str = "open-sesame-one-two";
const BOB: &str = "open-sesame-two-two";

/// A service where Alice keeps a session that was compacted.
async fn start() -> Running {
    let service = Running::start(SMALL, epitome_server::Settings { store: memory(), ..with_tokens(TOKENS) }).await;
    let request = Wire::Chat.request(16);
    let session = json!({"id": "parser", "request": request, "format": "openai-chat"});
    let (status, body) = read(service.post("/v1/sessions", &session).bearer_auth(ALICE)).await;
    assert_eq!(status, 201, "{body}");
    let (status, body) = read(service.post("/v1/sessions/parser/compact", &json!({})).bearer_auth(ALICE)).await;
    assert_eq!(status, 200, "{body}");
    service
}

fn memory() -> epitome_server::StoreLocation {
    epitome_server::StoreLocation::In("sqlite::memory:".to_owned())
}

/// Calls a tool as a client of the protocol does.
async fn call(service: &Running, token: &str, session: Option<&str>, tool: &str, arguments: Value) -> Value {
    let body =
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
    let mut request =
        service.post("/mcp", &body).bearer_auth(token).header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request.header("x-epitome-session", session);
    }
    let (status, body) = read(request).await;
    assert_eq!((status, &body["id"]), (200, &json!(7)), "{body}");
    body["result"].clone()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_model_looks_up_its_own_past() {
    let service = start().await;
    let queries = json!({"queries": ["part_3 file_7 warnings"]});
    let found = call(&service, ALICE, Some("parser"), "search_history", queries.clone()).await;
    assert!(text(&found).contains("src/part_3/file_7.rs: checked, 49 warnings"), "{found}");
    assert!(text(&found).contains("left the context"), "{found}");
    let (_, behind) = text(&found).split_once(" · left the context · recall ").unwrap();
    let handle = behind.lines().next().unwrap();
    let recalled = call(&service, ALICE, Some("parser"), "recall", json!({"handle": handle})).await;
    assert!(text(&recalled).contains("src/part_3/file_7.rs"), "{recalled}");
    let status = call(&service, ALICE, Some("parser"), "context_status", json!({})).await;
    assert!(text(&status).contains("\nLeft it: "), "{status}");
    // The session named by the call.
    let mut named = queries.clone();
    named["session"] = "parser".into();
    let again = call(&service, ALICE, None, "search_history", named.clone()).await;
    assert_eq!(text(&again), text(&found));
    let unnamed = call(&service, ALICE, None, "search_history", queries.clone()).await;
    assert!(unnamed["isError"] == true && text(&unnamed).starts_with("Which session?"), "{unnamed}");
    // Its contexts name handles from now on, for its model can use them.
    let (_, session) = read(service.client.get(service.url("/v1/sessions/parser")).bearer_auth(ALICE)).await;
    assert_eq!(session["settings"]["handles"], true, "{session}");
    let undone = service.post("/v1/sessions/parser/undo", &json!({})).bearer_auth(ALICE);
    assert_eq!(read(undone).await.0, 200);
    let (status, body) = read(service.post("/v1/sessions/parser/compact", &json!({})).bearer_auth(ALICE)).await;
    assert_eq!(status, 200, "{body}");
    let view = read(service.client.get(service.url("/v1/sessions/parser/request")).bearer_auth(ALICE)).await.1;
    assert!(view.to_string().contains("; search_history finds what they said · recall "), "{view}");
    // What is said afterwards is found too.
    let more =
        json!({"messages": [{"role": "user", "content": "The code word is Quetzalcoatl."}], "format": "openai-chat"});
    read(service.post("/v1/sessions/parser/messages", &more).bearer_auth(ALICE)).await;
    let found = call(&service, ALICE, Some("parser"), "search_history", json!({"queries": ["code word"]})).await;
    assert!(text(&found).contains("Quetzalcoatl"), "{found}");
}

#[tokio::test]
async fn a_model_asks_for_a_compaction() {
    let service = start().await;
    let request = json!({"id": "s", "request": Wire::Chat.request(9), "format": "openai-chat"});
    read(service.post("/v1/sessions", &request).bearer_auth(ALICE)).await;
    let get = async |path: &str| read(service.client.get(service.url(path)).bearer_auth(ALICE)).await.1;
    let ask = async |session: &str, keep: Value| {
        let asked = json!({"reason": "the tests pass", "next_step": "now the docs", "keep": keep});
        call(&service, ALICE, Some(session), "compact_context", asked).await
    };
    // What it needs must be there.
    let refused = ask("s", json!(["a text of nobody"])).await;
    assert_eq!(
        text(&refused),
        "Not yet: `a text of nobody` is in no message of the context, so it cannot be kept. Go on; the context is kept \
         within its window anyway."
    );
    let needed = "src/part_2/file_7.rs: checked, 49 warnings";
    let done = ask("s", json!(["#3", needed])).await;
    assert!(text(&done).starts_with("Compacted: the messages took "), "{done}");
    assert!(text(&done).contains("Kept whole: #2-#3, #6-#7."), "{done}");
    let view = get("/v1/sessions/s/request").await.to_string();
    assert!(view.contains(needed) && view.contains("src/part_0/file_29.rs"), "{view}");
    let entry = get("/v1/sessions/s/history").await["epochs"][0].clone();
    assert_eq!((&entry["trigger"], &entry["epoch"]), (&json!("marker"), &json!(0)));
    // For the next context, and not for each one that follows.
    assert_eq!(get("/v1/sessions/s/kept").await, json!({"kept": []}));
    let early = ask("s", json!([])).await;
    assert!(text(&early).starts_with("Not yet: the context is "), "{early}");
    // Full again, and too soon.
    let more: Vec<Value> = (20..26).flat_map(|step| Wire::Chat.step(step)).collect();
    let more = json!({"messages": more, "format": "openai-chat"});
    read(service.post("/v1/sessions/s/messages", &more).bearer_auth(ALICE)).await;
    let soon = ask("s", json!([])).await;
    assert!(text(&soon).contains("compacted 6 turns of yours ago, and this is done once in 10."), "{soon}");
    // Another call waits for its result.
    let open = json!({"messages": [Wire::Chat.step(30)[0]], "format": "openai-chat"});
    read(service.post("/v1/sessions/s/messages", &open).bearer_auth(ALICE)).await;
    let busy = ask("s", json!([])).await;
    assert!(text(&busy).starts_with("Not yet: 1 call is not answered yet."), "{busy}");
}

#[tokio::test]
async fn no_other_tenants_text() {
    let service = start().await;
    let (reason, next_step) = ("all is done", "the docs");
    for tool in ["search_history", "recall", "context_status", "compact_context"] {
        for arguments in [
            json!({"queries": ["part_3"], "handle": "#1", "reason": reason, "next_step": next_step, "session": "parser"}),
            json!({"queries": ["part_3"], "handle": "#1", "reason": reason, "next_step": next_step}),
        ] {
            let result = call(&service, BOB, Some("parser"), tool, arguments).await;
            assert!(result["isError"] == true && text(&result).contains("there is no such session"), "{result}");
        }
    }
    let as_tenant = |path: &str, token: &str| service.client.get(service.url(path)).bearer_auth(token);
    let (status, body) = read(as_tenant("/v1/sessions/parser/search?q=part_3", BOB)).await;
    assert_eq!((status, code(&body)), (404, "unknown-session"));
    let (status, body) = read(as_tenant("/v1/search?q=part_3", BOB)).await;
    assert_eq!((status, &body["passages"], &body["sessions"]), (200, &json!([]), &json!(0)));
    // Bob's own session of the same id is his own.
    let own =
        json!({"id": "parser", "request": {"messages": [{"role": "user", "content": "A quiet part_3 of mine."}]}});
    read(service.post("/v1/sessions", &own).bearer_auth(BOB)).await;
    let (_, body) = read(as_tenant("/v1/search?q=part_3", BOB)).await;
    assert_eq!(body["passages"].as_array().unwrap().len(), 1, "{body}");
    assert!(body.to_string().contains("quiet") && !body.to_string().contains("file_7"), "{body}");
    let (_, body) = read(as_tenant("/v1/sessions/parser/search?q=part_3", ALICE)).await;
    assert!(!body.to_string().contains("quiet"), "{body}");
    let (status, _) = read(service.post("/mcp", &json!({}))).await;
    assert_eq!(status, 401, "without a token there is nothing");
}

#[tokio::test]
async fn hosts_search_by_words() {
    let service = start().await;
    let get = |path: &str| service.client.get(service.url(path)).bearer_auth(ALICE);
    let (status, body) = read(get("/v1/sessions/parser/search?q=part_3+file_7&q=warnings&limit=2")).await;
    assert_eq!((status, body["passages"].as_array().unwrap().len()), (200, 2), "{body}");
    let first = &body["passages"][0];
    for key in ["text", "message", "number", "role", "tool", "file", "handle", "in_context", "score"] {
        assert!(first.get(key).is_some(), "{key} in {first}");
    }
    assert_eq!(body["more"], true);
    let (_, next) = read(get("/v1/sessions/parser/search?q=part_3+file_7&q=warnings&limit=2&page=1")).await;
    assert!(next["passages"].as_array().unwrap().iter().all(|it| it["text"] != first["text"]), "{next}");
    let (_, typed) = read(get("/v1/sessions/parser/search?q=build+parser&from=user")).await;
    assert!(typed["passages"].as_array().unwrap().iter().all(|it| it["role"] == "user"), "{typed}");
    let (_, nothing) = read(get("/v1/sessions/parser/search?q=xylophone")).await;
    assert_eq!(nothing, json!({"passages": [], "more": false}));
    for (query, part) in [
        ("", "`q` is missing"),
        ("?q=+", "`q` is missing"),
        ("?q=x&page=-1", "`page`"),
        ("?q=x&limit=101", "`limit`"),
        ("?q=x&from=nobody", "`from`"),
        ("?q=x&newest=perhaps", "`newest`"),
        ("?q=x&who=me", "`who`"),
    ] {
        let (status, body) = read(get(&format!("/v1/sessions/parser/search{query}"))).await;
        assert_eq!((status, code(&body)), (400, "bad-query"), "{query}");
        assert!(body["error"]["message"].as_str().unwrap().contains(part), "{query}: {body}");
    }
    // A deleted session is not found any more, also where another takes its name.
    let small = |text: &str| json!({"id": "small", "request": {"messages": [{"role": "user", "content": text}]}});
    for (text, other) in [("An armadillo.", "pangolin"), ("A pangolin.", "armadillo")] {
        read(service.post("/v1/sessions", &small(text)).bearer_auth(ALICE)).await;
        let (_, body) = read(get("/v1/search?q=armadillo+pangolin")).await;
        let found = body["passages"].as_array().unwrap();
        assert_eq!((found[0]["session"].as_str(), found[0]["text"].as_str()), (Some("small"), Some(text)), "{body}");
        assert!(!body.to_string().contains(&format!("{other}.")), "{body}");
        let deleted = service.client.delete(service.url("/v1/sessions/small")).bearer_auth(ALICE).send().await.unwrap();
        assert_eq!(deleted.status(), 204);
    }
}

#[tokio::test]
async fn another_process_asks_for_its_model() {
    let service = start().await;
    let url = format!("http://{}", service.address);
    let ask = |remote: RemoteService, tool: &'static str, arguments: Value| async move {
        let arguments: Map<String, Value> = arguments.as_object().unwrap().clone();
        remote.answer(tool, arguments, &CallOrigin::default()).await
    };
    let remote = |token: Option<&str>, session: Option<&str>| {
        RemoteService::new(&url, token.map(str::to_owned), session.map(str::to_owned)).unwrap()
    };
    let queries = json!({"queries": ["part_3 file_7"]});
    let found = ask(remote(Some(ALICE), Some("parser")), "search_history", queries.clone()).await;
    assert!(found.text.contains("src/part_3/file_7.rs") && !found.is_refusal, "{found:?}");
    assert!(found.text.contains(" · recall "), "{found:?}");
    for (token, session, part) in [
        (Some(BOB), Some("parser"), "there is no such session"),
        (Some(ALICE), None, "Which session?"),
        (None, Some("parser"), "401"),
    ] {
        let refused = ask(remote(token, session), "search_history", queries.clone()).await;
        assert!(refused.is_refusal && refused.text.contains(part), "{refused:?}");
    }
    // A host that keeps its sessions under their own ids says which one asks by the call's `_meta`.
    let arguments = queries.as_object().unwrap();
    let origin = |id: &str| CallOrigin { session: Some(id.to_owned()), call: None };
    let asked =
        async |id: &str| remote(Some(ALICE), None).answer("search_history", arguments.clone(), &origin(id)).await;
    let found = asked("parser").await;
    assert!(found.text.contains("src/part_3/file_7.rs") && !found.is_refusal, "{found:?}");
    let unknown = asked("another").await;
    assert!(unknown.is_refusal && unknown.text.contains("Which session?"), "{unknown:?}");
    let nobody = RemoteService::new("http://127.0.0.1:9/", None, Some("parser".to_owned())).unwrap();
    let silent = ask(nobody, "context_status", json!({})).await;
    assert!(silent.is_refusal && silent.text.contains("does not answer"), "{silent:?}");
}
