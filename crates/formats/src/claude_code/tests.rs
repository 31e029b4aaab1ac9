#![allow(clippy::unwrap_used)]

use epitome_session::EpochOrigin;

use crate::Format;
use crate::tests::{check_log as check, load, view};
use crate::write::tests::written;

/// A Claude Code record from a uuid, the fields behind it, and its message.
pub(crate) fn record(kind: &str, uuid: &str, fields: &str, message: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"sessionId":"S","type":"{kind}","uuid":"{uuid}","timestamp":"2026-01-01T00:00:00.000Z"{fields},"message":{message}}}"#
    ) + "\n"
}

pub(crate) fn said(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

pub(crate) fn block(id: &str, block: &str) -> String {
    format!(
        r#"{{"id":"{id}","role":"assistant","content":[{block}],"usage":{{"input_tokens":1,"cache_read_input_tokens":5,"output_tokens":{}}}}}"#,
        block.len()
    )
}

pub(crate) fn answer(id: &str, text: &str) -> String {
    format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}]}}"#)
}

pub(crate) fn start() -> String {
    [
        r#"{"type":"file-history-snapshot","messageId":"x"}"#.to_owned() + "\n",
        record("user", "u1", "", &said("fix it")),
        record("user", "u2", r#","isMeta":true"#, &said("a hint")),
        record("assistant", "a1", "", &block("m1", r#"{"type":"text","text":"I look"}"#)),
        record("assistant", "a2", "", &block("m1", r#"{"type":"tool_use","id":"t1","name":"Read","input":{"p":1}}"#)),
        record("user", "r1", "", &answer("t1", "one")),
        r#"{"type":"progress","uuid":"p","data":{"type":"agent_progress"}}"#.to_owned() + "\n",
        record("assistant", "a3", "", &block("m1", r#"{"type":"tool_use","id":"t2","name":"Read","input":{}}"#)),
        record("user", "r2", "", &answer("t2", "two")),
        record("assistant", "side", r#","isSidechain":true"#, &block("m9", r#"{"type":"text","text":"aside"}"#))
            .replacen(r#""isSidechain":false,"#, "", 1),
        record("user", "u1", r#","copied":true"#, &said("fix it")),
    ]
    .concat()
}

const LOG: [&str; 5] = [
    "user/Typed: fix it",
    "user/Injected: a hint",
    r#"assistant/Model: I look | call(t1 Read {"p":1}) | call(t2 Read {})"#,
    "tool/Tool: result(t1 one)",
    "tool/Tool: result(t2 two)",
];

#[test]
fn messages_and_calls() {
    check(Format::ClaudeCode, &start(), &LOG, &[]);
    let loaded = load(&start());
    let usage = loaded.sessions[0].session.log()[2].usage.unwrap();
    let newest = r#"{"type":"tool_use","id":"t2","name":"Read","input":{}}"#.len() as u64;
    assert_eq!((usage.input, usage.cache_read, usage.output), (6, 5, newest), "counted once, the last report of it");
    assert_eq!((loaded.sessions[0].name.as_str(), loaded.sessions[0].session.log()[2].records.len()), ("S", 3));
}

#[test]
fn a_message_says_who_wrote_a_message() {
    let input = [
        record("user", "u1", r#","origin":{"kind":"human"}"#, &said("fix it")),
        record("user", "u2", r#","origin":{"kind":"task-notification"}"#, &said("a task has ended")),
        record("user", "u3", "", &said("<command-name>/review</command-name><command-args></command-args>")),
        record(
            "user",
            "u4",
            "",
            &said("<command-name>/review</command-name>\\n<command-args>the parser</command-args>"),
        ),
    ];
    let log = [
        "user/Typed: fix it",
        "user/Injected: a task has ended",
        "user/Injected: <command-name>/review</command-name><command-args></command-args>",
        "user/Typed: <command-name>/review</command-name>\n<command-args>the parser</command-args>",
    ];
    check(Format::ClaudeCode, &input.concat(), &log, &log);
}

#[test]
fn compactions() {
    let boundary = |data: &str| {
        format!(
            r#"{{"type":"system","subtype":"compact_boundary","uuid":"b{}","parentUuid":null,"sessionId":"S","compactMetadata":{{"trigger":"auto","preTokens":9{data}}}}}"#,
            data.len()
        ) + "\n"
    };
    let summary = record("user", "s1", r#","isCompactSummary":true"#, &said("what was"));
    let after = record("user", "u9", "", &said("next"));
    let mut log = LOG.to_vec();
    log.push("user/Typed: next");
    let input = [start(), boundary(""), summary.clone(), after.clone()].concat();
    check(Format::ClaudeCode, &input, &log, &["user/Summary: what was", "user/Typed: next"]);
    let epoch = &load(&input).sessions[0].session.journal()[0].clone();
    assert_eq!((epoch.tokens_before, epoch.log_length), (Some(9), 5));

    let kept = boundary(r#","preservedMessages":{"allUuids":["r2","a2"]}"#);
    let input = [start(), kept, summary.clone(), after.clone()].concat();
    let compacted = ["user/Summary: what was", LOG[2], LOG[4], "user/Typed: next"];
    check(Format::ClaudeCode, &input, &log, &compacted);

    let segment = boundary(r#","preservedSegment":{"headUuid":"a3","tailUuid":"r2"}"#);
    let input = [start(), segment, summary, after.clone()].concat();
    check(Format::ClaudeCode, &input, &log, &compacted);

    let input = [start(), boundary(""), after.clone()].concat();
    check(Format::ClaudeCode, &input, &log, &["user/Typed: next"]); // the summary was lost

    let cleared = r#"{"type":"system","subtype":"microcompact_boundary","uuid":"mc","parentUuid":"r2","microcompactMetadata":{"compactedToolIds":["t1"]}}"#;
    let input = [start(), cleared.to_owned() + "\n", after].concat();
    let mut compacted = log.clone();
    compacted[3] = "tool/Tool: result(t1 [Old tool result content cleared])";
    check(Format::ClaudeCode, &input, &log, &compacted);
}

#[test]
fn compactions_by_a_function_hook() {
    let at = |second: u32, line: String| line.replacen("00:00:00.000Z", &format!("00:00:{second:02}.000Z"), 1);
    let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"sessionId":"S","timestamp":"2026-01-01T00:00:30.000Z","compactMetadata":{"trigger":"auto","preTokens":9,"postTokens":4}}"#;
    let hook = r#","rowSource":"hook""#;
    let attached = |second: u32, uuid: &str, words: &str| {
        let line = format!(
            r#"{{"type":"attachment","uuid":"{uuid}","sessionId":"S","timestamp":"2026-01-01T00:00:00.000Z","attachment":{{"type":"queued_command","prompt":"{words}"}}}}"#
        );
        at(second, line + "\n")
    };
    // The task is kept with what was attached to it, the newest step by its records, its results as texts of the hook's.
    let given = |summary: &str| {
        [
            start(),
            attached(20, "q1", "be brief"),
            boundary.to_owned() + "\n",
            record("user", "c1", "", &said("fix it")),
            attached(20, "q2", "be brief"),
            at(30, record("user", "c2", hook, &said(summary))),
            record("assistant", "c3", "", &block("m1", r#"{"type":"text","text":"I look"}"#)),
            record(
                "assistant",
                "c4",
                "",
                &block("m1", r#"{"type":"tool_use","id":"t1","name":"Read","input":{"p":1}}"#),
            ),
            record("assistant", "c5", "", &block("m1", r#"{"type":"tool_use","id":"t2","name":"Read","input":{}}"#)),
            at(30, record("user", "c6", hook, &answer("t1", "o…"))),
            at(30, record("user", "c7", hook, &answer("t2", "two"))),
            at(40, record("user", "u9", "", &said("next"))),
        ]
        .concat()
    };
    let mut log = LOG.to_vec();
    log.extend(["user/Typed: be brief", "user/Typed: next"]);
    let check_of = |summary: &str, shown: &str| {
        let view = [LOG[0], shown, LOG[2], "tool/Tool: result(t1 o…)", LOG[4], "user/Typed: next"];
        check(Format::ClaudeCode, &given(summary), &log, &view);
        load(&given(summary)).sessions[0].session.journal()[0].clone()
    };
    let heading = "[Summary of 3 earlier messages · recall 6b1f0c5d9a3e]";
    let ours = check_of(&format!("{heading}\\nwords"), &format!("user/Summary: {heading}\nwords"));
    let edits: Vec<_> = ours.edits.iter().map(|edit| (&*edit.strategy, edit.recall.as_deref())).collect();
    assert_eq!((ours.origin, edits), (EpochOrigin::Engine, vec![("plug-in", Some("6b1f0c5d9a3e"))]));
    assert_eq!((ours.tokens_before, ours.tokens_after), (Some(9), Some(4)));
    // Another hook's, which writes what it wants. A person typed neither.
    assert_eq!(check_of("Look on.", "user/Injected: Look on.").origin, EpochOrigin::Recorded);
}

#[test]
fn claude_code_resumes_from_what_is_appended() {
    let record = |kind: &str, uuid: &str, message: &str| {
        format!(
            r#"{{"parentUuid":null,"isSidechain":false,"cwd":"/p","sessionId":"S","version":"2.1","type":"{kind}","uuid":"{uuid}","timestamp":"2026-01-01T00:00:00.000Z","message":{message}}}"#
        ) + "\n"
    };
    let input = [
        record("user", "u1", r#"{"role":"user","content":"a"}"#),
        record("assistant", "a1", r#"{"id":"m1","role":"assistant","model":"c","content":[{"type":"text","text":"x"}]}"#),
        record("assistant", "a2", r#"{"id":"m1","role":"assistant","model":"c","content":[{"type":"tool_use","id":"t","name":"f","input":{ "k": 1 }}],"usage":{"input_tokens":180000,"output_tokens":9}}"#),
        record("user", "u2", r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"out"},{"type":"text","text":"and"}]}"#),
        "{\"type\":\"last-prompt\",\"sessionId\":\"S\"}\n".to_owned(),
    ]
    .concat();
    let text = written(&input, &[0]);
    assert!(text.starts_with(&input));
    let lines: Vec<serde_json::Value> =
        text[input.len()..].lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["subtype"], &lines[0]["logicalParentUuid"]), (&"compact_boundary".into(), &"u2".into()));
    assert!(lines[0]["parentUuid"].is_null());
    assert_eq!((&lines[1]["isCompactSummary"], &lines[1]["message"]["content"]), (&true.into(), &"so far".into()));
    let copies: Vec<(&str, &str)> = lines[2..]
        .iter()
        .map(|line| (line["type"].as_str().unwrap(), line["epitome"]["copyOf"].as_str().unwrap()))
        .collect();
    assert_eq!(copies, [("assistant", "a1"), ("assistant", "a1"), ("user", "u2")]);
    for (index, pair) in lines.windows(2).enumerate() {
        assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"], "a chain at {index}");
        assert_eq!(
            (&pair[1]["sessionId"], &pair[1]["cwd"], &pair[1]["version"]),
            (&"S".into(), &"/p".into(), &"2.1".into())
        );
    }
    assert!(text[input.len()..].contains(r#""input":{ "k": 1 }"#), "untouched content is the same bytes");
    let id = &lines[2]["message"]["id"];
    assert!(
        id.as_str().is_some_and(|id| id.starts_with("msg_")),
        "records of one id are one message to the agent: {id}"
    );
    assert_eq!(&lines[3]["message"]["id"], id, "the copies of one message are one message");
    let used: Vec<_> = lines[3]["message"]["usage"].as_object().unwrap().values().map(|it| it.as_u64()).collect();
    assert_eq!(used, [Some(0); 4], "the agent takes the newest usage for the size of its context");
    assert_eq!(
        lines[4]["message"]["content"].as_array().unwrap().len(),
        2,
        "the record of two messages is copied once"
    );
    let again = load(&text);
    assert_eq!(view(again.sessions[0].session.view())[0], "user/Summary: so far");
}
