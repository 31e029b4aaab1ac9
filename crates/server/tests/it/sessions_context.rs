//! What is said of a stored session's context.

use serde_json::{Value, json};

use crate::kept::Kept;
use crate::support::code;

#[tokio::test]
async fn a_context_is_told_by_part_and_nothing_is_changed() {
    let kept = Kept::small().await;
    let made = kept.session("s", 12).await;
    let context = kept.found("/v1/sessions/s/context").await;
    let tokens = |part: &Value| part["tokens"].as_u64().unwrap();
    let parts = context["contents"]["parts"].as_array().unwrap();
    let whole = tokens(&context["contents"]) + context["contents"]["tool_definition_tokens"].as_u64().unwrap();
    assert_eq!(parts.iter().map(tokens).sum::<u64>(), whole);
    assert_eq!(context["fullness"]["current_tokens"], made["context"]["usedTokens"]);
    assert_eq!(context["removed"]["items"], json!([]));
    let next = &context["next"];
    assert!(!next["departures"].as_array().unwrap().is_empty(), "{next}");
    assert!(next["tokens_after"].as_u64() < next["tokens_before"].as_u64());
    let now = kept.found("/v1/sessions/s").await;
    assert_eq!((&now["version"], &now["epochs"]), (&made["version"], &made["epochs"]), "a look changes nothing");

    kept.done("/v1/sessions/s/compact", json!({"target": 3_000, "chain": ["summary"]})).await;
    let after = kept.found("/v1/sessions/s/context").await;
    let removed = after["removed"]["items"].as_array().unwrap();
    assert_eq!((after["removed"]["compactions"].as_u64(), removed.is_empty()), (Some(1), false), "{after}");
    for item in removed {
        let handle = item["handle"].as_str().unwrap();
        assert_eq!(kept.get(&format!("/v1/sessions/s/recall/{handle}")).await.0, 200, "{item}");
    }
    let (status, unknown) = kept.get("/v1/sessions/nobody/context").await;
    assert_eq!((status, code(&unknown)), (404, "unknown-session"));
}

#[tokio::test]
async fn an_empty_session_has_an_empty_context() {
    let kept = Kept::small().await;
    kept.done("/v1/sessions", json!({"id": "s"})).await;
    let context = kept.found("/v1/sessions/s/context").await;
    assert_eq!((&context["contents"]["parts"], &context["next"]["departures"]), (&json!([]), &json!([])));
    assert_eq!((&context["next"]["status"], &context["usage"]), (&"no-change".into(), &Value::Null));
}
