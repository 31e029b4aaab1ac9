#![allow(clippy::unwrap_used)]

use epitome_session::{Change, EditKind, Epoch, Excerpt, KeptRanges, Message, Origin, Role, Trigger};

use crate::tests::{check_log as check, load, view};
use crate::{Format, write};

pub(crate) fn record(id: &str, parent: &str, message: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:00.000Z","message":{message}}}"#
    ) + "\n"
}

#[test]
fn messages_compactions_and_branches() {
    let head = "{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n";
    let user = |text: &str| format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}"#);
    let start = [
        head.to_owned(),
        record("1", "null", &user("do it")),
        record("2", "\"1\"", r#"{"role":"assistant","api":"anthropic-messages","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"SIG"},{"type":"toolCall","id":"t","name":"read","arguments":{"path":"a"}}],"usage":{"input":1,"cacheRead":2,"cacheWrite":3,"output":4}}"#),
        record("3", "\"2\"", r#"{"role":"toolResult","toolCallId":"t","toolName":"read","content":[{"type":"text","text":"out"}],"isError":true}"#),
        record("4", "\"3\"", r#"{"role":"bashExecution","command":"ls","output":"a"}"#),
        record("5", "\"4\"", &user("more")),
    ]
    .concat();
    let log = [
        "user/Typed: do it",
        r#"assistant/Model: thinking(hm;SIG) | call(t read {"path":"a"})"#,
        "tool/Tool: result(t out!)",
        "user/Injected: Ran `ls`\n```\na\n```",
        "user/Typed: more",
    ];
    check(Format::Pi, &start, &log, &[]);
    let usage = load(&start).sessions[0].session.log()[1].usage.unwrap();
    assert_eq!((usage.input, usage.cache_write), (6, 3));
    let compaction =
        r#"{"type":"compaction","id":"6","parentId":"5","summary":"so far","firstKeptEntryId":"4","tokensBefore":9}"#;
    let input = [&start, compaction, "\n"].concat();
    check(Format::Pi, &input, &log, &["user/Summary: so far", log[3], log[4]]);
    // The first version: no ids, and the kept entry by its line.
    let old = input.replace(r#""firstKeptEntryId":"4""#, r#""firstKeptEntryIndex":4"#);
    check(Format::Pi, &old, &log, &["user/Summary: so far", log[3], log[4]]);
    // A branch from an earlier entry, with a summary of the branch that was left.
    let branch = "{\"type\":\"branch_summary\",\"id\":\"7\",\"parentId\":\"1\",\"summary\":\"tried\"}\n";
    let input = [start.clone(), branch.to_owned(), record("8", "\"7\"", &user("again"))].concat();
    let mut longer = log.to_vec();
    longer.push("user/Typed: again");
    check(Format::Pi, &input, &longer, &[log[0], "user/Summary: tried", "user/Typed: again"]);
    let input = [start, record("8", "\"1\"", &user("again"))].concat();
    check(Format::Pi, &input, &longer, &[log[0], "user/Typed: again"]);
}

#[test]
fn an_agent_file_without_a_last_line_feed_or_summary_is_continued() {
    let pi = concat!(
        r#"{"type":"session","version":3,"id":"P","cwd":"/"}"#,
        "\n",
        r#"{"type":"message","id":"1","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"a"}}"#,
        "\n",
        r#"{"type":"message","id":"2","parentId":"1","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"read","arguments":{"path":"x.rs"}}]}}"#,
        "\n",
        r#"{"type":"message","id":"3","parentId":"2","message":{"role":"toolResult","toolCallId":"t","toolName":"read","content":[{"type":"text","text":"body"}],"details":{"k":1},"isError":false}}"#,
    );
    let loaded = load(pi);
    let mut session = loaded.sessions[0].session.clone();
    let excerpt = Excerpt { kept: KeptRanges::default(), marks: vec!["[gone]".into()], attachments: None };
    let change = Change::Excerpt { entry: session.view()[2].key, block: 0, excerpt };
    session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Excerpt, vec![change], Vec::new()));
    session.push(Message::text("", Role::User, Origin::Typed, "new"));
    let text = String::from_utf8(write(&loaded, 0, &session, Format::Pi).unwrap()).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().skip(4).map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "compaction", "message", "message", "message", "message"]);
    assert_eq!(lines[1]["firstKeptEntryId"], lines[2]["id"]);
    assert_eq!(lines[1]["details"]["readFiles"], serde_json::json!(["x.rs"]));
    assert_eq!(lines[1]["timestamp"], "2026-01-01T00:00:01.002Z");
    let edited = &lines[4]["message"];
    assert_eq!((&edited["content"][0]["text"], &edited["details"]["k"]), (&"[gone]".into(), &1.into()));
    for pair in lines.windows(2) {
        assert_eq!(pair[1]["parentId"], pair[0]["id"], "a chain");
    }
    let again = load(&text);
    assert_eq!(view(again.sessions[0].session.view()), view(session.view()));
}
