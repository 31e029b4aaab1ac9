//! What a runtime calls around each call of its model: upkeep, commands, overflows, settings, confirmation.

use epitome_server::{Settings, StoreLocation};
use serde_json::{Value, json};

use crate::kept::{Folder, Kept, typed};
use crate::support::{SMALL, Wire, code};

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
        assert!(maintained["context"]["usedTokens"].as_u64().unwrap() < 6_700);
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
