//! The server with a real client of the protocol: over a pipe and over HTTP, on a file that grows.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use epitome_mcp::{Handler, LocalSession, SessionLocation, SharedFolder, serve_http};
use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};

type Client = RunningService<RoleClient, ()>;

fn local(path: &Path) -> Arc<LocalSession> {
    let registry = epitome::registry();
    let config =
        epitome::Config::parse("[budget]\nwindow = 9_000\nreserve_output = 1_000\n", "test.toml", &registry).unwrap();
    let place = SessionLocation::File { path: path.to_owned(), format: None, session: None };
    Arc::new(LocalSession::new(place, config.build(&registry).unwrap()))
}

#[tokio::test]
async fn the_window_is_that_of_the_sessions_model() {
    let folder = tempfile::tempdir().unwrap();
    let check = async |name: &str, set: &str, model: &str, expect: &str| {
        let registry = epitome::registry();
        let config = epitome::Config::parse(set, "test.toml", &registry).unwrap();
        let path = folder.path().join(name);
        let answer =
            line(1, "assistant", "Understood.").replace("\"role\"", &format!("\"model\":\"{model}\",\"role\""));
        fs::write(&path, line(0, "user", "Go.") + &answer).unwrap();
        let place = SessionLocation::File { path, format: None, session: None };
        let session = LocalSession::new(place, config.build(&registry).unwrap());
        let session = if set.is_empty() { session } else { session.keep_window() };
        let client = client_of(Arc::new(session)).await;
        let (_, text) = call(&client, "context_status", json!({})).await;
        assert!(text.contains(expect), "{name} {set}: {text}");
    };
    check("a.jsonl", "", "claude-sonnet-5", "of 984,000 tokens").await;
    check("b.jsonl", "", "nobodys", "of 184,000 tokens").await;
    check("c.jsonl", "[budget]\nwindow = 60_000\n", "claude-sonnet-5", "of 45,000 tokens").await;
}

#[tokio::test]
async fn what_a_fork_goes_on_from_is_read_along_or_told() {
    let folder = tempfile::tempdir().unwrap();
    let record = |number: u32, kind: &str, payload: &str| {
        format!("{{\"ordinal\":{number},\"type\":\"{kind}\",\"payload\":{payload}}}\n")
    };
    let said = |number: u32, text: &str| {
        let content = format!(r#"[{{"type":"input_text","text":"{text}"}}]"#);
        record(number, "response_item", &format!(r#"{{"type":"message","role":"user","content":{content}}}"#))
    };
    let source = record(0, "session_meta", r#"{"id":"0199-a"}"#) + &said(1, "Never touch partner HLV-2209.");
    let base = format!(r#"{{"thread_id":"0199-a","end_ordinal_exclusive":2,"end_byte_offset":{}}}"#, source.len());
    let head = record(2, "session_meta", &format!(r#"{{"id":"0199-f","history_base":{base}}}"#));
    let fork = folder.path().join("rollout-2026-11-27T02-00-00-0199-f.jsonl");
    fs::write(&fork, head + &said(3, "Go on.")).unwrap();
    let asked = async || {
        let client = client(&fork).await;
        call(&client, "search_history", json!({"queries": ["which partner?"]})).await.1
    };
    let text = asked().await;
    assert!(text.contains("This is not the whole history") && text.contains("`0199-a` is not there"), "{text}");
    fs::write(folder.path().join("rollout-2026-11-27T01-00-00-0199-a.jsonl"), source).unwrap();
    let text = asked().await;
    assert!(text.contains("HLV-2209") && !text.contains("not the whole history"), "{text}");
}

/// A client on the other end of a pipe.
async fn client(path: &Path) -> Client {
    client_of(local(path)).await
}

async fn client_of(session: Arc<LocalSession>) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let handler = Handler::new(session);
    tokio::spawn(async move { handler.serve(ours).await.unwrap().waiting().await.unwrap() });
    ().serve(theirs).await.unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> (CallToolResult, String) {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap();
    let text = result.content.iter().filter_map(|block| block.as_text()).map(|text| text.text.clone()).collect();
    (result, text)
}

/// A line of Claude Code's own recordings.
fn line(number: u32, role: &str, text: &str) -> String {
    let parent = number.checked_sub(1).map_or(Value::Null, |parent| format!("u{parent}").into());
    let content = if role == "user" { json!(text) } else { json!([{"type": "text", "text": text}]) };
    let record = json!({"type": role, "uuid": format!("u{number}"), "parentUuid": parent, "sessionId": "s", "isSidechain": false,
        "timestamp": "2026-03-01T10:00:00.000Z", "message": {"role": role, "content": content}});
    format!("{record}\n")
}

#[tokio::test]
async fn three_tools_and_what_they_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, line(0, "user", "Never touch partner HLV-2209.") + &line(1, "assistant", "Understood.")).unwrap();
    let client = client(&path).await;
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["search_history", "recall", "context_status"]);
    assert!(tools.iter().all(|tool| tool.description.as_ref().is_some_and(|it| it.len() < 500)), "short");
    let (found, text) = call(&client, "search_history", json!({"queries": ["which partner?", "HLV-2209"]})).await;
    assert!(text.contains("Never touch partner HLV-2209.") && text.contains("still in the context"), "{text}");
    assert!(text.starts_with("1 passage for "), "{text}");
    assert_eq!(found.structured_content, None, "agents would give it to their models in place of the text");
    let is_at_hand =
        |tool: &rmcp::model::Tool| tool.meta.as_ref().is_some_and(|meta| meta.0["anthropic/alwaysLoad"] == true);
    assert_eq!(tools.iter().map(is_at_hand).collect::<Vec<_>>(), [true; 3], "Claude Code looks at this");
    let (_, text) = call(&client, "recall", json!({"handle": "#1"})).await;
    assert_eq!(text, "#1 assistant:\nUnderstood.");
    let (_, text) = call(&client, "context_status", json!({})).await;
    assert!(text.starts_with("The context holds ") && text.contains("of 8,000 tokens"), "{text}");
    assert!(text.ends_with("Nothing has left it."), "{text}");
    // What is wrong is a result that the model reads.
    for (tool, arguments, part) in [
        ("search_history", json!({}), "`queries` is missing"),
        ("recall", json!({"handle": "ffffffff"}), "Nothing is kept under `ffffffff`"),
        ("recall", json!({"handle": "#9"}), "#0 to #1"),
        ("forget", json!({}), "there is no tool `forget`"),
    ] {
        let (result, text) = call(&client, tool, arguments).await;
        assert!(result.is_error == Some(true) && text.contains(part), "{text}");
    }
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn the_status_goes_by_the_larger_count() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = || {
        let registry = epitome::registry();
        let config = epitome::Config::parse("[budget]\nwindow = 8_000\nreserve_output = 0\n", "c.toml", &registry);
        config.unwrap().build(&registry).unwrap()
    };
    let check = async |model: &str, input: u64, expect: &str| {
        let path = folder.path().join("s.jsonl");
        let usage = json!({"input_tokens": input, "output_tokens": 5});
        let fields = format!("\"model\":\"{model}\",\"usage\":{usage},\"role\"");
        let answer = line(1, "assistant", "Understood.").replace("\"role\"", &fields);
        fs::write(&path, line(0, "user", "Go.") + &answer).unwrap();
        let place = SessionLocation::File { path, format: None, session: None };
        let client = client_of(Arc::new(LocalSession::new(place, runtime()).keep_window())).await;
        let (_, text) = call(&client, "context_status", json!({})).await;
        assert!(text.starts_with(expect), "{text}");
    };
    let counted = "of 8,000 tokens (0.2 %); a compaction is suggested at 4,000.\n";
    check("claude-sonnet-5", 1, &format!("The context holds about 18 {counted}")).await;
    check("gpt-4o", 1, &format!("The context holds 13 {counted}")).await;
    let reported = "The context holds 6,005 of 8,000 tokens (75.1 %) by the provider's count; \
                    a compaction is suggested at 4,000. 13 are counted in its messages:\n";
    check("gpt-4o", 6_000, reported).await;
}

#[tokio::test]
async fn a_file_that_grows_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let client = client(&path).await;
    let ask = |words: &'static str| call(&client, "search_history", json!({"queries": [words]}));
    let (result, text) = ask("zebra").await;
    assert!(result.is_error == Some(true) && text.contains("is not there"), "not yet: {text}");
    let mut content = line(0, "user", "Count the zebra crossings.");
    fs::write(&path, &content).unwrap();
    assert!(ask("zebra").await.1.contains("Count the zebra crossings."));
    for number in 1..4 {
        content += &line(number, "assistant", &format!("There are {number}00 of the giraffe{number} kind."));
        // The line is written in two goes, as by an agent that is at it.
        let (half, _) = content.split_at(content.len() - 20);
        fs::write(&path, half).unwrap();
        ask("zebra").await;
        fs::write(&path, &content).unwrap();
        let found = call(&client, "search_history", json!({"queries": [format!("giraffe{number}")]})).await.1;
        assert!(found.contains(&format!("There are {number}00")), "{found}");
    }
    // Another session in its place is another session.
    fs::write(&path, line(0, "user", "A walrus, and nothing else.")).unwrap();
    assert!(ask("zebra").await.1.contains("Nothing in the history matches `zebra`"));
    assert!(ask("walrus").await.1.contains("A walrus"));
    fs::remove_file(&path).unwrap();
    let (_, text) = ask("walrus").await;
    assert!(text.contains("A walrus") && text.contains("as it was read last"), "{text}");
}

#[tokio::test]
async fn over_http_too_and_for_this_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, line(0, "user", "Never touch partner HLV-2209.")).unwrap();
    let (told, address) = tokio::sync::oneshot::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let local_address = SocketAddr::from(([127, 0, 0, 1], 0));
    let (answers, ready) = (local(&path), move |address| told.send(address).unwrap());
    let server = tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        serve_http(answers, local_address, ready, stopped).await
    });
    let address = address.await.unwrap();
    // Building a client panics without a provider of cryptography; one that is there already is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
    let client: Client = ().serve(transport).await.unwrap();
    let (_, text) = call(&client, "search_history", json!({"queries": ["partner"]})).await;
    assert!(text.contains("HLV-2209"), "{text}");
    client.cancel().await.unwrap();
    // A page in a browser, under a name of its own.
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    for (name, value) in [("host", "evil.example"), ("origin", "https://evil.example")] {
        let request = http.post(format!("http://{address}/mcp")).header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream").header(name, value);
        let status = request.body(call.clone()).send().await.unwrap().status();
        assert_eq!(status.as_u16(), 403, "{name}");
    }
    stop.send(()).unwrap();
    server.await.unwrap().unwrap();
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let refused = serve_http(local(&path), everywhere, |_| (), std::future::pending()).await.unwrap_err();
    assert!(refused.to_string().contains("other machines"), "{refused}");
}

#[tokio::test]
async fn a_folder_answers_for_the_session_that_asks() {
    let folder = tempfile::tempdir().unwrap();
    let said =
        |id: &str, words: &str| fs::write(folder.path().join(format!("{id}.jsonl")), line(0, "user", words)).unwrap();
    said("11111111-aaaa", "The first partner is HLV-2209.");
    said("22222222-bbbb", "The second partner is KRO-3310.");
    let place = SessionLocation::Folder {
        folder: SharedFolder::new(folder.path(), Some(folder.path().to_owned())),
        format: None,
        session: None,
    };
    let session = LocalSession::new(place, epitome::Config::default().build(&epitome::registry()).unwrap());
    let client = client_of(Arc::new(session)).await;
    let ask = async |meta: Value| {
        let arguments = json!({"queries": ["which partner?"]}).as_object().unwrap().clone();
        let mut call = CallToolRequestParams::new("search_history").with_arguments(arguments);
        call.meta = Some(serde_json::from_value(meta).unwrap());
        let result = client.call_tool(call).await.unwrap();
        result.content.iter().filter_map(|block| block.as_text()).map(|text| text.text.clone()).collect::<String>()
    };
    // One server of Codex has several threads, which ask in turn.
    for (id, expect) in [("11111111-aaaa", "HLV-2209"), ("22222222-bbbb", "KRO-3310"), ("11111111-aaaa", "HLV-2209")] {
        let text = ask(json!({"threadId": id})).await;
        assert!(text.contains(expect) && text.contains("1 passage"), "{id}: {text}");
    }
    let text = ask(json!({"threadId": "33333333-cccc"})).await;
    assert!(text.contains("a file of session `33333333-cccc`") && !text.contains("partner"), "{text}");
    let text = ask(json!({})).await;
    assert!(text.contains("2 sessions of this folder may be meant") && !text.contains("partner"), "{text}");
}

#[tokio::test]
async fn a_client_that_is_refused_is_told_why() {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let place = SessionLocation::File { path: "none.jsonl".into(), format: None, session: None };
    let session = LocalSession::new(place, epitome::Config::default().build(&epitome::registry()).unwrap());
    let handler = Handler::new(Arc::new(session.refuse(Some("nothing answers at http://127.0.0.1:1".to_owned()))));
    tokio::spawn(async move { drop(handler.serve(ours).await) });
    let refused = ().serve(theirs).await.map(drop).unwrap_err().to_string();
    assert!(refused.contains("nothing answers at http://127.0.0.1:1"), "{refused}");
}
