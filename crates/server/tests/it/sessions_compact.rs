//! Compactions of stored sessions: made, previewed, shown, undone.

use serde_json::{Value, json};

use crate::kept::{Kept, typed};
use crate::support::{Wire, code};

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
async fn settings_are_those_of_one_compaction() {
    let kept = Kept::small().await;
    kept.session("s", 18).await;
    let recent = |answer: &Value| answer["report"]["recent"].is_object();
    let ask = json!({"settings": {"keep_recent_messages": 4}});
    let previewed = kept.done("/v1/sessions/s/preview", ask.clone()).await;
    assert!(recent(&previewed), "{previewed}");
    assert!(!recent(&kept.done("/v1/sessions/s/preview", json!({})).await), "the session's own settings stay");
    assert!(recent(&kept.done("/v1/sessions/s/compact", ask).await));
    assert!(!recent(&kept.done("/v1/sessions/s/preview", json!({"target": 1_000})).await));
    let (status, answer) = kept.post("/v1/sessions/s/compact", json!({"settings": {"live.memory_file": "x"}})).await;
    assert_eq!((status, code(&answer)), (422, "bad-settings"), "{answer}");
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
    let (budget, chain) = (40, ["tool-results"]);
    let fitted = kept.done("/v1/compact", json!({"request": request, "budget": budget, "chain": chain})).await;
    assert_eq!(fitted["status"], "near-empty");
    assert!(fitted["tokens_after"].as_u64().unwrap() <= budget, "{fitted}");

    kept.done("/v1/sessions", json!({"id": "s", "request": request})).await;
    let preview = kept.done("/v1/sessions/s/preview", json!({"target": budget, "chain": chain})).await;
    assert_eq!(preview["report"]["status"], "near-empty");
    let files = &preview["report"]["quality"]["files"];
    assert_eq!([&files["held"], &files["kept"], &files["lost_now"]], [5, 0, 5]);
    let applied = kept.done("/v1/sessions/s/apply", json!({"draft": preview["draft"]})).await;
    assert_eq!((applied["report"]["status"].as_str(), applied["epoch"].as_u64()), (Some("near-empty"), Some(0)));
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
