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

/// What the model sees behind a session of three steps and `more`, whose entries follow entry 6.
fn seen(more: &[&str]) -> Vec<String> {
    let said = |role: &str, text: &str| format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}"#);
    let call = r#"{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"read","arguments":{}}]}"#;
    let result = r#"{"role":"toolResult","toolCallId":"t","toolName":"read","content":[{"type":"text","text":"out"}]}"#;
    let start = [
        "{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n".to_owned(),
        record("1", "null", &said("user", "a")),
        record("2", "\"1\"", call),
        record("3", "\"2\"", result),
        record("4", "\"3\"", &said("assistant", "A")),
        record("5", "\"4\"", &said("user", "b")),
        record("6", "\"5\"", &said("assistant", "B")),
    ];
    let input = start.concat() + &more.iter().map(|entry| format!("{entry}\n")).collect::<String>();
    let loaded = load(&input);
    assert_eq!(loaded.warnings, [], "{input}");
    view(loaded.sessions[0].session.view()).iter().map(|text| text.split_once(": ").unwrap().1.to_owned()).collect()
}

#[test]
fn what_pi_sends_is_the_way_from_the_newest_entry() {
    let check = |more: &[&str], expect: &[&str]| assert_eq!(seen(more), expect, "{more:#?}");
    let user = |id: &str, parent: &str, text: &str| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        record(id, &parent, &format!(r#"{{"role":"user","content":"{text}"}}"#)).trim().to_owned()
    };
    let all = ["a", "call(t read {})", "result(t out)", "A", "b", "B"];
    check(&[], &all);
    check(&[&user("7", "4", "c")], &["a", "call(t read {})", "result(t out)", "A", "c"]);
    // A mark, a name or a change of the model says where the conversation is, and nothing else does.
    for kind in ["label", "session_info", "model_change", "custom", "usage", "thinking_level_change"] {
        let entry = |id: &str, parent: &str| format!(r#"{{"type":"{kind}","id":"{id}","parentId":"{parent}"}}"#);
        check(&[&entry("7", "6")], &all);
        check(&[&entry("7", "4")], &all[..4]);
        check(&[&entry("7", "4"), &user("8", "7", "c"), &entry("9", "6")], &all);
    }
    check(&[&user("7", "", "new")], &["new"]);
    // There and back again, past a compaction, which is undone and then holds once more.
    let compaction =
        r#"{"type":"compaction","id":"7","parentId":"6","summary":"S","firstKeptEntryId":"5","tokensBefore":9}"#;
    let kept = ["S", "b", "B"];
    check(&[compaction], &kept);
    check(&[compaction, &user("8", "4", "c")], &["a", "call(t read {})", "result(t out)", "A", "c"]);
    check(&[compaction, &user("8", "4", "c"), &user("9", "7", "d")], &[&kept[..], &["d"]].concat());
    // A summary of what was left belongs to the branch that it stands on.
    let summary = r#"{"type":"branch_summary","id":"7","parentId":"1","fromId":"6","summary":"tried"}"#;
    check(&[summary, &user("8", "7", "c")], &["a", "tried", "c"]);
    check(&[summary, &user("8", "7", "c"), &user("9", "6", "d")], &[&all[..], &["d"]].concat());
    let later =
        r#"{"type":"compaction","id":"9","parentId":"8","summary":"S","firstKeptEntryId":"7","tokensBefore":9}"#;
    check(&[summary, &user("8", "7", "c"), later], &["S", "tried", "c"]);
}

#[test]
fn edits_of_the_context() {
    let check = |more: &[&str], expect: &[&str]| assert_eq!(seen(more), expect, "{more:#?}");
    let edit = |id: &str, parent: &str, target: &str, replacement: &str| {
        format!(
            r#"{{"type":"context_edit","id":"{id}","parentId":"{parent}","targetId":"{target}","replacement":{replacement}}}"#
        )
    };
    let content = |text: &str| format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
    check(&[&edit("7", "6", "6", "null")], &["a", "call(t read {})", "result(t out)", "A", "b"]);
    let short = edit("7", "6", "3", &content("cut"));
    let expect = ["a", "call(t read {})", "result(t cut)", "A", "b", "B"];
    check(&[&short], &expect);
    // The newest counts; a string is a text; on another branch it holds not.
    check(
        &[&short, &edit("8", "7", "3", r#"{"content":"less"}"#)],
        &["a", "call(t read {})", "result(t less)", "A", "b", "B"],
    );
    check(
        &[&short, &edit("8", "7", "1", &content("task"))],
        &["task", "call(t read {})", "result(t cut)", "A", "b", "B"],
    );
    let label = r#"{"type":"label","id":"8","parentId":"6"}"#;
    check(&[&short, label], &["a", "call(t read {})", "result(t out)", "A", "b", "B"]);
    // What a compaction keeps stays edited; what it took does not come back.
    let compaction = |first: &str| {
        format!(
            r#"{{"type":"compaction","id":"8","parentId":"7","summary":"S","firstKeptEntryId":"{first}","tokensBefore":9}}"#
        )
    };
    check(&[&short, &compaction("2")], &["S", "call(t read {})", "result(t cut)", "A", "b", "B"]);
    check(&[&short, &compaction("3")], &["S", "result(t cut)", "A", "b", "B"]);
    check(&[&short, &compaction("5"), &edit("9", "8", "3", &content("x"))], &["S", "b", "B"]);
    let unknown =
        load(&[record("1", "null", r#"{"role":"user","content":"a"}"#), edit("2", "1", "9", "null")].concat());
    assert_eq!(unknown.warnings.len(), 1);
}

#[test]
fn system_messages_and_their_tools() {
    let system = |id: &str, parent: &str, fields: &str| {
        record(id, parent, &format!(r#"{{"role":"system","content":"",{fields}}}"#))
    };
    let input = [
        "{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n".to_owned(),
        system(
            "1",
            "null",
            r#""sections":{"preamble":"Be good.","cwd":"<cwd>/</cwd>"},"toolsAdded":[{"name":"read"},{"name":"bash"}]"#,
        ),
        record("2", "\"1\"", r#"{"role":"user","content":"a"}"#),
        system("3", "\"2\"", r#""toolsRemoved":[{"name":"read"}]"#),
        system("4", "\"3\"", r#""sections":{"cwd":"/x","preamble":null}"#),
    ]
    .concat();
    let log = [
        "system/Instructions: Be good.\n\n<cwd>/</cwd>",
        "user/Typed: a",
        "system/Instructions: Updated system prompt section \"cwd\":\n\n/x\n\nRemoved system prompt section \"preamble\".",
    ];
    check(Format::Pi, &input, &log, &[]);
    assert_eq!(load(&input).sessions[0].session.tools.as_deref(), Some(r#"[{"name":"bash"}]"#));
    let compaction = r#"{"type":"compaction","id":"5","parentId":"4","summary":"S","firstKeptEntryId":"2","tokensBefore":9,"systemMessage":{"role":"system","content":"","sections":{"cwd":"/x"}}}"#;
    check(Format::Pi, &(input + compaction), &log, &["system/Instructions: /x", "user/Summary: S", "user/Typed: a"]);
}

/// A compaction of ours copies what stays: who goes back to a copy takes back what stands behind it, and no more.
#[test]
fn a_way_back_to_a_copy() {
    let user = |id: &str, parent: &str, text: &str| {
        record(id, &format!("\"{parent}\""), &format!(r#"{{"role":"user","content":"{text}"}}"#))
    };
    let start = [
        "{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n".to_owned(),
        user("1", "", "a").replace("\"\"", "null"),
        user("2", "1", "b"),
        user("3", "2", "c"),
    ]
    .concat();
    let loaded = load(&start);
    let mut session = loaded.sessions[0].session.clone();
    let first = session.view()[0].key;
    session.commit(Epoch::recorded(Trigger::Manual, [first], Vec::new()));
    let text = String::from_utf8(write(&loaded, 0, &session, Format::Pi).unwrap()).unwrap();
    let copies: Vec<serde_json::Value> = text.lines().skip(5).map(|line| serde_json::from_str(line).unwrap()).collect();
    let check = |parent: &str, expect: &[&str]| {
        let input = text.clone() + &user("9", parent, "d");
        assert_eq!(view(load(&input).sessions[0].session.view()), expect, "{input}");
    };
    check(copies[1]["id"].as_str().unwrap(), &["user/Typed: b", "user/Typed: c", "user/Typed: d"]);
    check(copies[0]["id"].as_str().unwrap(), &["user/Typed: b", "user/Typed: d"]);
    check("2", &["user/Typed: a", "user/Typed: b", "user/Typed: d"]);
    // A later compaction of Pi's may keep a copy.
    let kept = copies[1]["id"].as_str().unwrap();
    let later =
        format!(r#"{{"type":"compaction","id":"9","parentId":"{kept}","summary":"S","firstKeptEntryId":"{kept}"}}"#);
    assert_eq!(view(load(&(text.clone() + &later)).sessions[0].session.view()), ["user/Summary: S", "user/Typed: c"]);
}
