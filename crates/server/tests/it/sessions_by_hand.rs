//! What a person keeps and drops of a kept session, over HTTP and over a WebSocket.

use serde_json::{Value, json};

use crate::kept::{Folder, Kept, typed};
use crate::sessions_events::Socket;
use crate::support::{SMALL, code};

/// The numbers of the log that a session's view shows.
async fn numbers(kept: &Kept, id: &str) -> Vec<u64> {
    let page = kept.found(&format!("/v1/sessions/{id}/messages?limit=500")).await;
    page["messages"].as_array().unwrap().iter().filter_map(|it| it["number"].as_u64()).collect()
}

async fn is_shown(kept: &Kept, id: &str, number: u64) -> bool {
    numbers(kept, id).await.contains(&number)
}

/// 0 the system prompt, 1 the task, 2 and 3 the first step, and so on to the last question at 14.
const STEPS: usize = 5;

#[tokio::test]
async fn what_is_dropped_leaves_alone_and_can_be_undone() {
    let kept = Kept::small().await;
    kept.session("s", STEPS).await;
    let done = kept.done("/v1/sessions/s/compact", json!({"target": 7_900, "drop": ["..#4"]})).await;
    let by_hand = &done["report"]["by_hand"];
    assert_eq!(by_hand["dropped"], json!(["#2-#5"]), "{by_hand}");
    let stayed = by_hand["stayed"].as_array().unwrap();
    assert_eq!(stayed.iter().map(|it| &it["messages"]).collect::<Vec<_>>(), [&json!("#0"), &json!("#1")]);
    assert_eq!(numbers(&kept, "s").await, [0, 1, 6, 7, 8, 9, 10, 11, 12, 13]);
    let handle = done["report"]["edits"][0]["recall"].as_str().unwrap();
    let recalled = kept.found(&format!("/v1/sessions/s/recall/{handle}")).await.to_string();
    assert!(recalled.contains("src/part_0/file_29.rs") && recalled.contains("src/part_1/file_29.rs"), "{recalled}");
    kept.done("/v1/sessions/s/undo", json!({})).await;
    assert_eq!(numbers(&kept, "s").await.len(), 14);
}

#[tokio::test]
async fn what_is_kept_stays_until_it_is_released_also_over_a_restart() {
    let folder = Folder::new();
    let kept = Kept::start(SMALL, folder.keeping()).await;
    kept.session("s", STEPS).await;
    // Nothing is to be done, and it is kept all the same.
    let done = kept.done("/v1/sessions/s/compact", json!({"target": 7_900, "keep": ["#3"]})).await;
    assert_eq!((&done["report"]["status"], &done["epoch"]), (&json!("no-change"), &json!(0)));
    drop(kept);
    let kept = Kept::start(SMALL, folder.keeping()).await;
    assert_eq!(kept.found("/v1/sessions/s/kept").await, json!({"kept": ["#2-#3"]}));
    let done = kept.done("/v1/sessions/s/compact", json!({"target": 900})).await;
    assert_eq!(done["report"]["status"], "compacted", "{done}");
    assert!(is_shown(&kept, "s", 3).await && !is_shown(&kept, "s", 5).await);
    let refused = kept.post("/v1/sessions/s/compact", json!({"drop": ["#3"]})).await;
    assert_eq!((refused.0, code(&refused.1)), (400, "bad-messages"), "{}", refused.1);
    let released = kept.done("/v1/sessions/s/release", json!({"messages": ["#0-#9"]})).await;
    assert_eq!(released["released"], json!(["#2-#3"]));
    assert_eq!(kept.found("/v1/sessions/s/kept").await, json!({"kept": []}));
    kept.done("/v1/sessions/s/compact", json!({"target": 300})).await;
    assert!(!is_shown(&kept, "s", 3).await);
}

#[tokio::test]
async fn a_preview_keeps_and_drops_as_it_shows() {
    let kept = Kept::small().await;
    kept.session("s", STEPS).await;
    let ask = json!({"target": 7_900, "keep": ["#6"], "drop": ["#2-#7"]});
    let preview = kept.done("/v1/sessions/s/preview", ask).await;
    assert_eq!(numbers(&kept, "s").await.len(), 14);
    assert_eq!(kept.found("/v1/sessions/s/kept").await, json!({"kept": []}));
    kept.done("/v1/sessions/s/apply", json!({"draft": preview["draft"]})).await;
    assert_eq!(numbers(&kept, "s").await, [0, 1, 6, 7, 8, 9, 10, 11, 12, 13]);
    assert_eq!(kept.found("/v1/sessions/s/kept").await, json!({"kept": ["#6-#7"]}));
}

#[tokio::test]
async fn what_cannot_be_kept_or_dropped_is_an_error_that_names_it() {
    let kept = Kept::small().await;
    kept.session("s", STEPS).await;
    let check = async |ask: Value, expect: &str, says: &str| {
        let (status, body) = kept.post("/v1/sessions/s/compact", ask).await;
        assert_eq!((status, code(&body)), (400, expect), "{body}");
        assert!(body["error"]["message"].as_str().unwrap().contains(says), "{body}");
    };
    check(json!({"drop": ["#0"]}), "bad-messages", "message #0 cannot be dropped: it is the system prompt").await;
    check(json!({"drop": ["#13"]}), "bad-messages", "it is the newest user message").await;
    check(json!({"keep": ["#14"]}), "bad-messages", "there is no message #14: the last is #13").await;
    check(json!({"keep": ["three"]}), "bad-request", "`three` names no messages").await;
}

#[tokio::test]
async fn commands_over_a_socket() {
    let kept = Kept::small().await;
    kept.session("s", STEPS).await;
    let mut socket = Socket::open(&kept, "s", "").await;
    socket.until("token_update").await;
    socket.send("how are you?").await;
    socket.send(r##"{"type":"compact","sessionId":"s","instructions":"part_3","drop":["#2"]}"##).await;
    let heard = socket.until("command_done").await;
    assert!(heard.iter().any(|event| event["event"] == "compaction_done" && event["savedRatio"].as_f64() > Some(0.0)));
    let done = heard.last().unwrap();
    assert_eq!((&done["name"], &done["compacted"]["epoch"]), (&json!("compact"), &json!(0)));
    assert!(!is_shown(&kept, "s", 3).await);
    socket.send("/undo").await;
    assert_eq!(socket.until("command_done").await.last().unwrap()["undone"]["epoch"], 0);
    assert!(is_shown(&kept, "s", 3).await);
    socket.send("/compact the parser").await;
    assert_eq!(socket.until("command_done").await.last().unwrap()["compacted"]["report"]["status"], "compacted");
    let mut refused = async |text: &str, expect: &str| {
        socket.send(text).await;
        let heard = socket.until("command_error").await;
        assert_eq!(code(heard.last().unwrap()), expect, "{text}: {heard:?}");
    };
    refused(r#"{"type":"compact","sessionId":"another"}"#, "bad-command").await;
    refused(r#"{"type":"dance"}"#, "bad-command").await;
    refused(r##"{"type":"compact","drop":["#0"]}"##, "bad-messages").await;
    refused("/undo 99", "unknown-epoch").await;
}

#[tokio::test]
async fn the_usage_of_a_turn_is_told() {
    let kept = Kept::small().await;
    kept.session("s", 1).await;
    let mut socket = Socket::open(&kept, "s", "").await;
    assert_eq!(socket.until("token_update").await[0]["usage"], Value::Null);
    let said = |text: &str, usage: Value| json!({"messages": [{"role": "assistant", "content": text}], "usage": usage});
    kept.done("/v1/sessions/s/messages", said("It is the lexer.", json!({"input": 900, "output": 20}))).await;
    socket.until("token_update").await;
    kept.done(
        "/v1/sessions/s/messages",
        said("And the parser.", json!({"input": 930, "output": 9, "cache_read": 900})),
    )
    .await;
    let told = socket.until("token_update").await;
    let sum = json!({"inputTokens": 1_830, "outputTokens": 29, "totalTokens": 1_859, "calls": 2});
    assert_eq!(told.last().unwrap()["usage"], sum);
    kept.done("/v1/sessions/s/messages", typed("Thanks.")).await;
    assert_eq!(socket.until("token_update").await.last().unwrap()["usage"], Value::Null);
    let alone = json!({"messages": [{"role": "user", "content": "Hm."}], "usage": {"input": 1, "output": 1}});
    let (status, body) = kept.post("/v1/sessions/s/messages", alone).await;
    assert_eq!((status, code(&body)), (400, "bad-request"), "{body}");
}
