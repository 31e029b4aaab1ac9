//! The routes of kept sessions: what each does, and what it refuses.

use epitome_server::{Settings, StoreLocation};
use serde_json::{Value, json};

use crate::kept::{Folder, Kept, typed};
use crate::support::{SMALL, Wire, code, with_tokens};

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

#[tokio::test]
async fn a_compaction_is_made_told_shown_recalled_and_undone() {
    let kept = Kept::small().await;
    let made = kept.session("s", 12).await;
    let before = kept.ids("s", "compacted").await;
    let compacted = kept.done("/v1/sessions/s/compact", json!({"target": 3_000, "chain": ["summary"]})).await;
    assert_eq!((compacted["report"]["status"].as_str(), compacted["epoch"].as_u64()), (Some("compacted"), Some(0)));
    assert!(compacted["context"]["usedTokens"].as_u64().unwrap() <= 3_000);
    assert!(compacted["version"].as_u64() > made["version"].as_u64());
    let after = kept.ids("s", "compacted").await;
    assert!(after.len() < before.len());
    assert_eq!(kept.ids("s", "full").await, before, "nothing is lost");
    // The messages say what became of them.
    let full = kept.found("/v1/sessions/s/messages?view=full&limit=500").await;
    let summary = kept.found("/v1/sessions/s/summary").await;
    let id = summary["message"]["id"].as_str().unwrap();
    assert!(summary["is_summary"].as_bool().unwrap() && after.contains(&id.to_owned()));
    let left: Vec<&Value> =
        full["messages"].as_array().unwrap().iter().filter(|it| !it["compacted_at"].is_null()).collect();
    assert!(!left.is_empty() && left.iter().all(|message| message["compacted_into"] == id), "{left:?}");
    let behind = kept.found(&format!("/v1/sessions/s/messages/{id}/behind?limit=500")).await;
    assert_eq!(behind["messages"], json!(left));
    // Pages.
    let page = kept.found("/v1/sessions/s/messages?from=2&limit=3").await;
    assert_eq!((page["total"].as_u64(), page["messages"].as_array().unwrap().len()), (Some(after.len() as u64), 3));
    assert_eq!(page["messages"][0]["message"]["id"], after[2]);
    // The history, side by side, and what left.
    let history = kept.found("/v1/sessions/s/history").await;
    let entry = &history["epochs"][0];
    assert_eq!((entry["epoch"].as_u64(), entry["undone"].as_bool()), (Some(0), Some(false)));
    assert_eq!((&entry["at"], &entry["undone_at"]), (&left[0]["compacted_at"], &Value::Null));
    let sides = kept.found("/v1/sessions/s/epochs/0").await;
    assert_eq!(&sides["entry"], entry);
    let of = |side: &str| {
        let ids = sides[side].as_array().unwrap().iter().map(|it| it["message"]["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<String>>()
    };
    assert_eq!((of("before"), of("after")), (before.clone(), after.clone()));
    assert_eq!(sides["edits"][0]["edit"], "summarize");
    assert_eq!(sides["edits"], compacted["report"]["edits"]);
    let handle = entry["recall"][0].as_str().unwrap();
    let recalled = kept.found(&format!("/v1/sessions/s/recall/{handle}")).await;
    assert_eq!(recalled["kind"], "messages");
    assert_eq!(recalled["messages"].as_array().unwrap().len(), left.len());
    assert_eq!(recalled["messages"][0]["message"], left[0]["message"]);
    // Something is said, and then it is taken back.
    kept.done("/v1/sessions/s/messages", typed("Go on.")).await;
    let undone = kept.done("/v1/sessions/s/undo", json!({})).await;
    assert_eq!(undone["epoch"], 0);
    assert_eq!(kept.ids("s", "compacted").await, kept.ids("s", "full").await);
    assert_eq!(kept.ids("s", "full").await.len(), before.len() + 1);
    let (status, again) = kept.post("/v1/sessions/s/undo", json!({"epoch": 0})).await;
    assert_eq!((status, code(&again)), (409, "already-undone"));
    let entry = kept.found("/v1/sessions/s/history").await["epochs"][0].clone();
    assert!(entry["undone"].as_bool().unwrap() && entry["undone_at"].as_i64() >= entry["at"].as_i64(), "{entry}");
    let full = kept.found("/v1/sessions/s/messages?view=full&limit=500").await.to_string();
    assert!(!full.contains("\"compacted_at\":1"), "they are back");
    assert_eq!(kept.found("/v1/sessions/s/epochs/0").await["before"], sides["before"]);
}

#[tokio::test]
async fn a_compaction_on_which_a_later_one_stands_stays() {
    let kept = Kept::small().await;
    kept.session("s", 12).await;
    kept.done("/v1/sessions/s/compact", json!({"target": 4_000, "chain": ["summary"]})).await;
    for step in 12..20 {
        kept.done("/v1/sessions/s/messages", json!({"messages": Wire::Chat.step(step)})).await;
    }
    kept.done("/v1/sessions/s/compact", json!({"target": 2_000, "chain": ["summary"]})).await;
    let (status, covered) = kept.post("/v1/sessions/s/undo", json!({"epoch": 0})).await;
    assert_eq!((status, code(&covered)), (409, "covered"));
    let sides = kept.found("/v1/sessions/s/epochs/1").await;
    let first = kept.found("/v1/sessions/s/epochs/0").await;
    assert_eq!(
        sides["before"][2]["message"], first["after"][2]["message"],
        "the second begins with the first's summary"
    );
    assert_eq!(kept.done("/v1/sessions/s/undo", json!({})).await["epoch"], 1);
    assert_eq!(kept.done("/v1/sessions/s/undo", json!({})).await["epoch"], 0);
    assert_eq!(kept.ids("s", "compacted").await, kept.ids("s", "full").await);
}

#[tokio::test]
async fn a_preview_is_edited_and_made_as_it_was_shown() {
    let kept = Kept::small().await;
    kept.session("s", 12).await;
    let ask = json!({"target": 3_000, "chain": ["summary"]});
    let preview = kept.done("/v1/sessions/s/preview?messages=true", ask.clone()).await;
    let before = kept.ids("s", "compacted").await;
    assert_eq!(preview["before"].as_array().unwrap().len(), before.len(), "nothing is made");
    assert!(preview["after"].as_array().unwrap().len() < before.len());
    let summary = &preview["summaries"][0];
    let edited = json!({"number": summary["number"], "text": "All of it was built, and nothing was found."});
    // It is another instance of the same session that makes it: what left is known.
    let apply = json!({"draft": preview["draft"], "summaries": [edited]});
    let (status, refused) = kept
        .post("/v1/sessions/s/apply", json!({"draft": preview["draft"], "summaries": [{"number": 99, "text": "x"}]}))
        .await;
    assert_eq!((status, code(&refused)), (400, "bad-summary"));
    let made = kept.done("/v1/sessions/s/apply", apply.clone()).await;
    assert_eq!(made["epoch"], 0);
    let text = kept.found("/v1/sessions/s/summary").await.to_string();
    assert!(text.contains("nothing was found"), "{text}");
    let handle = kept.found("/v1/sessions/s/history").await["epochs"][0]["recall"][0].clone();
    kept.found(&format!("/v1/sessions/s/recall/{}", handle.as_str().unwrap())).await;
    let (status, stale) = kept.post("/v1/sessions/s/apply", apply).await;
    assert_eq!((status, code(&stale)), (409, "stale-draft"));
    // Of another session.
    kept.session("other", 12).await;
    let preview = kept.done("/v1/sessions/s/preview", json!({"target": 1_000})).await;
    assert!(preview.get("before").is_none());
    let (status, unknown) = kept.post("/v1/sessions/other/apply", json!({"draft": preview["draft"]})).await;
    assert_eq!((status, code(&unknown)), (404, "unknown-draft"));
}

/// Files that are read, of which nothing is left in so few tokens: made all the same, and told.
#[tokio::test]
async fn a_hollow_compaction_is_made_and_told() {
    let kept = Kept::small().await;
    let read = |number: usize| {
        let arguments = json!({"file_path": format!("src/part_{number}.rs")}).to_string();
        let call = json!({"id": format!("c{number}"), "type": "function",
            "function": {"name": "Read", "arguments": arguments}});
        let result = json!({"role": "tool", "tool_call_id": format!("c{number}"), "content": "word ".repeat(100)});
        [json!({"role": "assistant", "content": null, "tool_calls": [call]}), result]
    };
    let said = |text: &str| json!({"role": "user", "content": text});
    let messages: Vec<Value> = [said("go")].into_iter().chain((0..5).flat_map(read)).chain([said("ok")]).collect();
    let request = json!({"model": "test-model", "messages": messages});
    let (budget, chain) = (40, ["sliding-window"]);
    let fitted = kept.done("/v1/compact", json!({"request": request, "budget": budget, "chain": chain})).await;
    assert_eq!(fitted["status"], "hollow");
    assert!(fitted["tokens_after"].as_u64().unwrap() <= budget, "{fitted}");

    kept.done("/v1/sessions", json!({"id": "s", "request": request})).await;
    let preview = kept.done("/v1/sessions/s/preview", json!({"target": budget, "chain": chain})).await;
    assert_eq!(preview["report"]["status"], "hollow");
    let files = &preview["report"]["quality"]["files"];
    assert_eq!([&files["held"], &files["kept"], &files["lost_now"]], [5, 0, 5]);
    let applied = kept.done("/v1/sessions/s/apply", json!({"draft": preview["draft"]})).await;
    assert_eq!((applied["report"]["status"].as_str(), applied["epoch"].as_u64()), (Some("hollow"), Some(0)));
    assert_eq!(kept.found("/v1/sessions/s/history").await["epochs"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_cannot_fit_is_no_success() {
    let kept = Kept::small().await;
    let system = json!({"role": "system", "content": "word ".repeat(12_000)});
    let request = json!({"messages": [system, {"role": "user", "content": "Go."}]});
    kept.done("/v1/sessions", json!({"id": "s", "request": request})).await;
    let (status, refused) = kept.post("/v1/sessions/s/compact", json!({})).await;
    assert_eq!((status, code(&refused)), (422, "infeasible"));
    assert!(refused["report"]["floor"]["tokens"].as_u64().unwrap() > 8_000, "{refused}");
    let (status, refused) = kept.post("/v1/sessions/s/maintain", json!({})).await;
    assert_eq!((status, code(&refused)), (422, "infeasible"));
    let preview = kept.done("/v1/sessions/s/preview", json!({})).await;
    assert_eq!(preview["report"]["status"], "infeasible");
    assert_eq!(kept.found("/v1/sessions/s/history").await["epochs"], json!([]));
}

#[tokio::test]
async fn a_session_keeps_itself_within_its_budget() {
    let kept = Kept::small().await;
    kept.session("s", 2).await;
    let mut compactions = 0;
    for step in 2..30 {
        let appended = kept.done("/v1/sessions/s/messages", json!({"messages": Wire::Chat.step(step)})).await;
        let maintained = kept.done("/v1/sessions/s/maintain", json!({})).await;
        let due = appended["check"]["should_compact"].as_bool().unwrap();
        assert_eq!(maintained["did"], if due { "compacted" } else { "nothing" }, "{maintained}");
        assert!(maintained["context"]["usedTokens"].as_u64().unwrap() < 6_400);
        compactions += u32::from(due);
    }
    assert!(compactions >= 2, "{compactions}");
    let info = kept.found("/v1/sessions/s").await;
    assert_eq!(info["epochs"], compactions);
    assert_eq!(kept.found("/v1/sessions/s/check").await["context"], info["context"]);
}

#[tokio::test]
async fn commands_are_run_and_not_stored() {
    let kept = Kept::small().await;
    kept.session("s", 12).await;
    let told = async |text: &str| kept.done("/v1/sessions/s/messages", typed(text)).await["command"].clone();
    let before = kept.ids("s", "full").await;
    let context = told("/context").await;
    assert_eq!(context["name"], "context");
    assert!(context["context"]["usedTokens"].as_u64().unwrap() > 6_400);
    let compacted = told("/compact part_3").await;
    assert_eq!((compacted["name"].as_str(), compacted["compacted"]["epoch"].as_u64()), (Some("compact"), Some(0)));
    let history = told("/history").await;
    let handle = history["history"]["epochs"][0]["recall"][0].as_str().unwrap();
    assert_eq!(told(&format!("/recall {handle}")).await["recalled"]["handle"], handle);
    assert_eq!(told("/undo 0").await["undone"]["epoch"], 0);
    assert_eq!(kept.ids("s", "full").await, before);
    let (status, unknown) = kept.post("/v1/sessions/s/messages", typed("/recall nothing")).await;
    assert_eq!((status, code(&unknown)), (404, "unknown-handle"));
    let (status, wrong) = kept.post("/v1/sessions/s/messages", typed("/undo that")).await;
    assert_eq!((status, code(&wrong)), (400, "bad-command"));
    // What is none is said.
    for text in ["/usr/bin is full", "/compactor", "what does /compact do?"] {
        assert_eq!(told(text).await, Value::Null, "{text}");
    }
    let mut as_text = typed("/compact");
    as_text["commands"] = json!(false);
    assert_eq!(kept.done("/v1/sessions/s/messages", as_text).await["appended"], 1);
    assert_eq!(kept.ids("s", "full").await.len(), before.len() + 4);
}

#[tokio::test]
async fn a_provider_that_refuses_has_the_last_word() {
    let kept = Kept::small().await;
    kept.session("s", 9).await;
    let said = "This model's maximum context length is 4000 tokens. However, your messages resulted in 6500 tokens.";
    let body = json!({"status": 400, "body": {"error": {"message": said}}});
    let first = kept.done("/v1/sessions/s/overflow", body).await;
    assert_eq!((first["retry"]["attempts_left"].as_u64(), first["epoch"].as_u64()), (Some(2), Some(0)), "{first}");
    assert!(first["context"]["usedTokens"].as_u64().unwrap() < 4_000, "{first}");
    assert!(kept.found("/v1/sessions/s").await["budget"]["window"].as_u64().unwrap() <= 4_000);
    kept.session("t", 9).await;
    let second = kept.done("/v1/sessions/t/overflow", json!({"limit": 5_000, "tokens": 6_000})).await;
    assert!(second["context"]["usedTokens"].as_u64().unwrap() < 5_000);
    let mut tries = 0;
    let refused = loop {
        let (status, answer) = kept.post("/v1/sessions/t/overflow", json!({"status": 413})).await;
        if status != 200 {
            break (status, code(&answer).to_owned());
        }
        tries += 1;
        assert!(tries < 5);
    };
    assert_eq!(refused.0, 422, "{refused:?}");
}

#[tokio::test]
async fn what_was_undone_and_what_a_provider_said_outlive_a_change_of_settings() {
    let folder = Folder::new();
    let memory = epitome_server::Memory { open_sessions: 1, ..Default::default() };
    let settings = || Settings { memory: memory.clone(), store: folder.keeping(), ..Settings::default() };
    let mut kept = Kept::with(SMALL, settings()).await;
    kept.session("s", 10).await;
    let did = async |kept: &Kept| kept.done("/v1/sessions/s/maintain", json!({})).await["did"].clone();
    assert_eq!(did(&kept).await, "compacted");
    kept.done("/v1/sessions/s/undo", json!({})).await;
    assert_eq!(did(&kept).await, "nothing");
    kept.ask("PATCH", "/v1/sessions/s", json!({"settings": {"keep_recent": 5}})).await;
    assert_eq!(did(&kept).await, "nothing", "under other settings");
    kept.session("t", 9).await;
    assert_eq!(did(&kept).await, "nothing", "read again");
    kept.running.stop();
    (&mut kept.running.task).await.unwrap();
    let kept = Kept::with(SMALL, settings()).await;
    assert_eq!(did(&kept).await, "nothing", "in another process");
    // A word more is no reason, a step is.
    kept.done("/v1/sessions/s/messages", typed("Go on.")).await;
    assert_eq!(did(&kept).await, "nothing");
    kept.done("/v1/sessions/s/messages", json!({"messages": Wire::Chat.step(20)})).await;
    assert_eq!(did(&kept).await, "compacted");
    // What a provider said of its window, and how often it refused.
    let left = async |path: &str, body: Value| kept.done(path, body).await["retry"]["attempts_left"].clone();
    assert_eq!(left("/v1/sessions/t/overflow", json!({"limit": 5_000, "tokens": 6_000})).await, 2);
    let window = kept.found("/v1/sessions/t").await["budget"]["window"].clone();
    assert!(window.as_u64().unwrap() <= 5_000, "{window}");
    kept.ask("PATCH", "/v1/sessions/t", json!({"settings": {"keep_recent": 5}})).await;
    assert_eq!(kept.found("/v1/sessions/t").await["budget"]["window"], window);
    assert_eq!(left("/v1/sessions/t/overflow", json!({"status": 413})).await, 1);
    // A window that somebody names after that is another model's.
    let (_, other) = kept.ask("PATCH", "/v1/sessions/t", json!({"settings": {"window": 20_000}})).await;
    assert_eq!(other["budget"]["window"], 20_000);
}

#[tokio::test]
async fn a_session_whose_settings_do_not_work_can_be_read_and_goes_on() {
    let folder = Folder::new();
    let mut kept = Kept::start(&format!("{SMALL}[agents.x]\nthreshold_percent = 70\n"), folder.keeping()).await;
    let new = json!({"id": "s", "agent": "x", "request": Wire::Chat.request(12)});
    assert_eq!(kept.done("/v1/sessions", new).await["problem"], Value::Null);
    kept.done("/v1/sessions/s/compact", json!({"target": 4_000, "chain": ["summary"]})).await;
    kept.running.stop();
    (&mut kept.running.task).await.unwrap();
    let kept = Kept::start(SMALL, folder.keeping()).await;
    let told = kept.found("/v1/sessions/s").await;
    assert!(told["problem"].as_str().unwrap().contains("`x`"), "{told}");
    for path in ["messages", "messages?view=full", "request", "check", "history", "epochs/0", "summary"] {
        kept.found(&format!("/v1/sessions/s/{path}")).await;
    }
    kept.done("/v1/sessions/s/messages", typed("Go on.")).await;
    kept.done("/v1/sessions/s/undo", json!({})).await;
    for path in ["compact", "preview", "maintain"] {
        let (status, refused) = kept.post(&format!("/v1/sessions/s/{path}"), json!({})).await;
        assert_eq!(status, 422, "{path}: {refused}");
        code(&refused);
    }
    let (status, _) = kept.ask("PATCH", "/v1/sessions/s", json!({"title": "Old"})).await;
    assert_eq!(status, 200);
    let (_, repaired) = kept.ask("PATCH", "/v1/sessions/s", json!({"agent": null})).await;
    assert_eq!(repaired["problem"], Value::Null, "{repaired}");
    kept.done("/v1/sessions/s/compact", json!({"target": 3_000})).await;
}

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
async fn one_asks_before_a_compaction_where_the_settings_say_so() {
    let config = |more: &str| format!("{SMALL}[live]\nrequire_confirmation = true\n{more}");
    let memory = || StoreLocation::In("sqlite::memory:".to_owned());
    let kept = Kept::start(&config(""), memory()).await;
    kept.session("small", 1).await;
    assert_eq!(kept.done("/v1/sessions/small/maintain", json!({})).await["did"], "nothing");
    kept.session("s", 12).await;
    let asked = kept.done("/v1/sessions/s/maintain", json!({})).await;
    assert_eq!(asked["did"], "confirmation-needed", "{asked}");
    assert_eq!(asked["report"]["status"], "compacted");
    assert_eq!(
        kept.done("/v1/sessions/s/maintain", json!({})).await["draft"],
        asked["draft"],
        "it is not paid for twice"
    );
    let made = kept.done("/v1/sessions/s/apply", json!({"draft": asked["draft"]})).await;
    assert_eq!(made["report"]["trigger"], asked["check"]["trigger"]);
    assert_eq!(kept.done("/v1/sessions/s/maintain", json!({})).await["did"], "nothing");
    kept.session("yes", 12).await;
    assert_eq!(kept.done("/v1/sessions/yes/maintain", json!({"confirm": true})).await["did"], "compacted");
    // 10 steps call for a compaction, 13 leave no room without one.
    kept.session("no", 10).await;
    assert_eq!(kept.done("/v1/sessions/no/maintain", json!({"confirm": false})).await["did"], "refused");
    assert_eq!(
        kept.done("/v1/sessions/no/maintain", json!({"confirm": true})).await["did"],
        "compacted",
        "a second thought"
    );
    kept.session("full", 13).await;
    let (status, refused) = kept.post("/v1/sessions/full/maintain", json!({"confirm": false})).await;
    assert_eq!((status, code(&refused)), (409, "refused"));
    let kept = Kept::start(&config("on_refusal = \"drop-oldest\""), memory()).await;
    kept.session("full", 13).await;
    let dropped = kept.done("/v1/sessions/full/maintain", json!({"confirm": false})).await;
    assert_eq!((dropped["did"].as_str(), dropped["report"]["summary"].as_str()), (Some("compacted"), None));
    let kept = Kept::start(&config("on_refusal = \"new-session\""), memory()).await;
    kept.session("full", 13).await;
    kept.ask("PATCH", "/v1/sessions/full", json!({"title": "Long"})).await;
    let begun = kept.done("/v1/sessions/full/maintain", json!({"confirm": false})).await;
    assert_eq!((begun["did"].as_str(), begun["session"]["title"].as_str()), (Some("new-session"), Some("Long")));
    let id = begun["session"]["id"].as_str().unwrap();
    assert_eq!(kept.ids(id, "full").await.len(), 3, "the system prompt, the task, the newest question");
    assert_eq!(kept.ids("full", "full").await, kept.ids("full", "compacted").await);
    // Whoever has not heard of it is told again, and there is no second one.
    for ask in [json!({}), json!({"confirm": false})] {
        let again = kept.done("/v1/sessions/full/maintain", ask).await;
        assert_eq!((again["did"].as_str(), again["session"]["id"].as_str()), (Some("new-session"), Some(id)));
    }
    assert_eq!(kept.found("/v1/sessions").await["items"].as_array().unwrap().len(), 2);
    kept.done("/v1/sessions/full/compact", json!({})).await;
    assert_eq!(kept.done("/v1/sessions/full/maintain", json!({})).await["did"], "nothing", "it is another state");
}

#[tokio::test]
async fn facts_are_kept_of_each_session_for_itself() {
    let chain = "[select]\nmode = \"fixed\"\nchain = \"plain\"\n[chains]\nplain = [\"summary\"]\n";
    let kept = Kept::start(&format!("{SMALL}{chain}[live]\nmemory_flush = true\n"), Folder::new().keeping()).await;
    for (id, port) in [("one", 8_001), ("two", 8_002)] {
        kept.session(id, 2).await;
        let messages = format!("/v1/sessions/{id}/messages");
        kept.done(&messages, typed(&format!("We decided to use the port {port} for the parser. Remember that."))).await;
        for round in 0..2 {
            for step in 0..8 {
                kept.done(&messages, json!({"messages": Wire::Chat.step(round * 8 + step + 2)})).await;
            }
            kept.done(&format!("/v1/sessions/{id}/compact"), json!({"target": 3_000})).await;
        }
        let view = kept.found(&format!("/v1/sessions/{id}/messages?limit=500")).await.to_string();
        assert_eq!((view.contains("8001"), view.contains("8002")), (port == 8_001, port == 8_002), "{id}: {view}");
    }
    let metrics = kept.running.get("/metrics").await.text().await.unwrap();
    let line = metrics.lines().find(|line| line.starts_with("epitome_session_memories_total{of=\"store\"}")).unwrap();
    assert!(line.rsplit(' ').next().unwrap().parse::<u32>().unwrap() >= 2, "{line}");
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
    for path in ["", "messages", &behind, "summary", "request", "check", "history", "epochs/0", &recall, "events"] {
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
