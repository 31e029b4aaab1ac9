#![allow(clippy::unwrap_used)]

use crate::tests::{check_log as check, load};
use crate::write::tests::compact;
use crate::{Format, write};

pub(crate) fn record(kind: &str, payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-01-01T00:00:00.000Z","type":"{kind}","payload":{payload}}}"#) + "\n"
}

#[test]
fn codex_rollouts() {
    let user = |text: &str| {
        format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
    };
    let start = [
        record("session_meta", r#"{"id":"C","base_instructions":{"text":"be good"}}"#),
        record("response_item", r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}"#),
        record("response_item", &user("<environment_context>x</environment_context>")),
        record("response_item", &user("do it")),
        record("event_msg", r#"{"type":"user_message","message":"do it"}"#),
        record("response_item", r#"{"type":"reasoning","summary":[],"encrypted_content":"E"}"#),
        record("response_item", r#"{"type":"function_call","name":"shell","arguments":"{\"c\":1}","call_id":"c1"}"#),
        record("response_item", r#"{"type":"local_shell_call","call_id":"c3","action":{"command":["ls"]}}"#),
        record("response_item", r#"{"type":"local_shell_call","call_id":"never","action":{}}"#),
        record("response_item", r#"{"type":"function_call_output","call_id":"c1","output":"out"}"#),
        record("response_item", r#"{"type":"function_call_output","call_id":"c3","output":null}"#),
        record("event_msg", r#"{"type":"token_count","info":{"last_token_usage":{"input_tokens":7,"cached_input_tokens":3,"output_tokens":2}}}"#),
    ]
    .concat();
    let log = [
        "system/Instructions: be good",
        "system/Developer: rules",
        "user/Injected: <environment_context>x</environment_context>",
        "user/Typed: do it",
        r#"assistant/Model: thinking(;E) | call(c1 shell {"c":1}) | call(c3 local_shell {"command":["ls"]}) | call(never local_shell {})"#,
        "tool/Tool: result(c1 out)",
        "tool/Tool: result(c3 )",
    ];
    check(Format::Codex, &start, &log, &[]);
    assert_eq!(load(&start).sessions[0].session.log()[4].usage.unwrap().input, 7);

    let history = format!(
        r#"{{"message":"","replacement_history":[{},{{"type":"message","role":"developer","content":[{{"type":"input_text","text":"rules"}}]}},{{"type":"compaction","encrypted_content":"X"}}]}}"#,
        user("do it")
    );
    let input = [start.clone(), record("compacted", &history), record("response_item", &user("more"))].concat();
    let mut longer = log.to_vec();
    longer.push("user/Typed: more");
    let compacted = [log[0], "user/Typed: do it", log[1], "user/Summary: opaque(compaction)", "user/Typed: more"];
    check(Format::Codex, &input, &longer, &compacted);
    // The messages of an earlier compaction are where the newer one puts them.
    let again = history.replace(
        r#"{"type":"message","role":"developer""#,
        &format!(r#"{},{{"type":"message","role":"developer""#, user("new")),
    );
    let twice = [input, record("compacted", &again)].concat();
    let compacted = [log[0], "user/Typed: do it", "user/Typed: new", log[1], "user/Summary: opaque(compaction)"];
    check(Format::Codex, &twice, &longer, &compacted);
    // Early versions: a summary, and no history.
    let input = [start, record("compacted", r#"{"message":"so far"}"#)].concat();
    check(Format::Codex, &input, &log, &[log[0], log[2], log[3], "user/Summary: so far"]);
}

#[test]
fn codex_resumes_from_what_is_appended() {
    let used = |tokens: u32| {
        format!(
            r#"{{"input_tokens":{tokens},"cached_input_tokens":7,"output_tokens":10,"total_tokens":{}}}"#,
            tokens + 10
        )
    };
    let input = [
        r#"{"timestamp":"2026-01-01T00:00:00.000Z","ordinal":0,"type":"session_meta","payload":{"id":"S","history_mode":"paginated"}}"#.to_owned(),
        r#"{"timestamp":"2026-01-01T00:00:01.000Z","ordinal":1,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}}"#.to_owned(),
        r#"{"timestamp":"2026-01-01T00:00:02.000Z","ordinal":2,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}}"#.to_owned(),
        format!(
            r#"{{"timestamp":"2026-01-01T00:00:03.000Z","ordinal":3,"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{},"last_token_usage":{},"model_context_window":200000}},"rate_limits":null}}}}"#,
            used(300_000), used(195_000)
        ),
        String::new(),
    ]
    .join("\n");
    let parsed = |text: &str| -> Vec<serde_json::Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let loaded = load(&input);
    let mut session = loaded.sessions[0].session.clone();
    compact(&mut session, "so far");
    let text = String::from_utf8(write(&loaded, 0, &session, Format::Codex).unwrap()).unwrap();
    let added = |text: &str| parsed(text).split_off(4);
    let told = |record: &serde_json::Value| (record["type"].clone(), record["ordinal"].clone());
    let is_told: Vec<_> = added(&text).iter().map(told).collect();
    assert_eq!(is_told, [("compacted".into(), 4.into()), ("event_msg".into(), 5.into())]);
    let expect: serde_json::Value = serde_json::from_str(&format!(
        r#"{{"type":"token_count","info":{{"total_token_usage":{},"last_token_usage":{{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0,"total_tokens":400}},"model_context_window":200000}},"rate_limits":null}}"#,
        used(300_000)
    ))
    .unwrap();
    assert_eq!(added(&text)[1]["payload"], expect, "what was used in all stays, the context is what it is now");
    let again = load(&text);
    assert_eq!(
        again.sessions[0].session.view(),
        session.view(),
        "what is added for the agent says nothing to a reader"
    );

    let mut undone = again.sessions[0].session.clone();
    undone.undo(undone.next_epoch() - 1).unwrap();
    let text = String::from_utf8(write(&again, 0, &undone, Format::Codex).unwrap()).unwrap();
    assert_eq!(
        parsed(&text)[7]["payload"]["info"]["last_token_usage"]["total_tokens"],
        9000,
        "the context is whole again"
    );

    // Files of earlier versions number nothing and need not count.
    let plain = input.replace("\"ordinal\":", "\"other\":").replace("token_count", "other");
    let loaded = load(&plain);
    let mut session = loaded.sessions[0].session.clone();
    compact(&mut session, "so far");
    let text = String::from_utf8(write(&loaded, 0, &session, Format::Codex).unwrap()).unwrap();
    let is_told: Vec<_> = added(&text).iter().map(told).collect();
    assert_eq!(is_told, [("compacted".into(), serde_json::Value::Null)]);
}

/// Codex describes itself and the machine to the model again unless its file says behind the compaction that it has.
#[test]
fn codex_has_not_to_tell_again_what_the_model_sees() {
    let line = |kind: &str, payload: &str| format!("{{\"ordinal\":9,\"type\":\"{kind}\",\"payload\":{payload}}}\n");
    let context = [
        line("world_state", r#"{"full":true,"state":1}"#),
        line("turn_context", r#"{"turn_id":"1"}"#),
        line("world_state", r#"{"full":true,"state":2}"#),
        line("world_state", r#"{"full":false,"state":3}"#),
        line("turn_context", r#"{"turn_id":"2"}"#),
    ]
    .concat();
    let item = |text: &str| {
        let content = format!(r#"[{{"type":"input_text","text":"{text}"}}]"#);
        line("response_item", &format!(r#"{{"type":"message","role":"user","content":{content}}}"#))
    };
    let check = |messages: &[&str], summary: &str, expect: &[&str]| {
        let said: String = messages.iter().map(|text| item(text)).collect();
        let loaded = load(&(context.clone() + &said));
        let mut session = loaded.sessions[0].session.clone();
        compact(&mut session, summary);
        let text = String::from_utf8(write(&loaded, 0, &session, Format::Codex).unwrap()).unwrap();
        let records: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let behind = records.iter().skip_while(|record| record["type"] != "compacted").skip(1);
        let behind: Vec<String> = behind.map(|record| record["payload"].to_string()).collect();
        assert_eq!(behind, expect, "{messages:?}");
    };
    let all = [r#"{"full":true,"state":2}"#, r#"{"full":false,"state":3}"#, r#"{"turn_id":"2"}"#];
    check(&["c", "d", "<environment_context>"], "so far", &all);
    check(&["<environment_context>", "c", "d", "e", "f"], "so far", &[]);
    check(&["<environment_context>", "c", "d", "e", "f"], "so far: <environment_context>", &[]);
    check(&["c", "d"], "so far", &[]);
}
