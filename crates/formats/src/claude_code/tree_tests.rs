#![allow(clippy::unwrap_used)]
//! A session as a tree, as Claude Code resumes it: the way from the newest message to the first.

use epitome_session::Trigger;

use crate::tests::load;
use crate::write::tests::written;
use crate::{Follower, Format, LoadedFile};

/// A file from lines such as `u2 < u1: text` (a message behind another one; `-` begins), `a1 < u1 call(t1)`,
/// `r1 < a1 result(t1)`, `b1 < u2 boundary`, `s1 < b1 summary: text`. What begins with `a` is the model's; `a1.2` is another
/// record of the answer `a1`.
fn file(lines: &[&str]) -> String {
    let mut file = String::new();
    for (number, line) in lines.iter().enumerate() {
        let (uuid, rest) = line.split_once(" < ").unwrap();
        let (parent, what) = rest.split_at(rest.find([':', ' ']).unwrap());
        let parent = if parent == "-" { "null".to_owned() } else { format!("\"{parent}\"") };
        let is_model = uuid.starts_with('a');
        let role = if is_model { "assistant" } else { "user" };
        let text = what.split_once(": ").map_or("", |(_, text)| text);
        let inside = |name: &str| what.split_once(name)?.1.strip_suffix(')');
        let content = match (inside("call("), inside("result(")) {
            (Some(id), _) => format!(r#"[{{"type":"tool_use","id":"{id}","name":"Read","input":{{}}}}]"#),
            (_, Some(id)) => format!(r#"[{{"type":"tool_result","tool_use_id":"{id}","content":"{uuid}"}}]"#),
            _ if is_model => format!(r#"[{{"type":"text","text":"{text}"}}]"#),
            _ => format!("\"{text}\""),
        };
        let time = format!("2026-01-01T00:00:{number:02}.000Z");
        let common = format!(r#""isSidechain":false,"sessionId":"S","uuid":"{uuid}","timestamp":"{time}""#);
        let is_summary = if what.contains("summary") { r#","isCompactSummary":true"# } else { "" };
        let id = if is_model { format!(r#""id":"m-{}","#, &uuid[..2]) } else { String::new() };
        file += &match what.contains("boundary") {
            true => format!(
                r#"{{{common},"type":"system","subtype":"compact_boundary","parentUuid":null,"logicalParentUuid":{parent}}}"#
            ),
            false => format!(
                r#"{{{common},"type":"{role}","parentUuid":{parent}{is_summary},"message":{{{id}"role":"{role}","content":{content}}}}}"#
            ),
        };
        file.push('\n');
    }
    file
}

/// The texts of the view; a call and a result by their ids.
fn shown(loaded: &LoadedFile) -> Vec<String> {
    let message = |entry: &epitome_session::Entry| {
        let message = &entry.message;
        let calls = message.calls().map(|(_, call)| format!("call({})", call.id));
        let results = message.blocks.iter().filter_map(|block| Some(format!("result({})", block.as_result()?.call_id)));
        let parts: Vec<String> = calls.chain(results).collect();
        if parts.is_empty() { message.plain_text() } else { parts.join(" ") }
    };
    loaded.sessions[0].session.view().iter().map(message).collect()
}

fn check(lines: &[&str], expect: &[&str]) {
    let file = file(lines);
    let loaded = load(&file);
    assert_eq!(shown(&loaded), expect, "{lines:#?}");
    // The log has everything, whatever was taken back.
    let messages = lines.iter().filter(|line| !line.contains("boundary") && !line.contains("summary"));
    let answers = messages.filter(|line| !line.split(" < ").next().unwrap().contains('.')).count();
    assert_eq!(loaded.sessions[0].session.log().len(), answers, "{lines:#?}");
    // Who follows the file has the same.
    let mut follower = Follower::new(Format::ClaudeCode).unwrap();
    for line in file.split_inclusive('\n') {
        follower.read_on(line.as_bytes());
    }
    let followed = follower.session();
    assert_eq!(followed.view(), loaded.sessions[0].session.view(), "{lines:#?}");
    // What is written in place has nothing of it behind the boundary, and is read back as it was.
    let written = written(&file, &[0]);
    let again = shown(&load(&written));
    assert_eq!(again[1..], shown(&loaded)[1..], "{lines:#?}");
    let session = &loaded.sessions[0].session;
    for number in session.taken_back() {
        let text = session.log()[number as usize].plain_text();
        let stays = text.is_empty() || again.contains(&text);
        assert!(stays || !written[file.len()..].contains(&text), "{text} is behind the boundary");
    }
}

#[test]
fn what_was_taken_back_is_not_in_the_view() {
    check(&["u1 < -: one", "a1 < u1: two", "u2 < a1: three"], &["one", "two", "three"]);
    // A prompt is edited, and edited again.
    check(&["u1 < -: one", "a1 < u1: two", "u2 < a1: no", "a2 < u2: no", "u3 < a1: yes"], &["one", "two", "yes"]);
    check(&["u1 < -: one", "a1 < u1: two", "u2 < a1: no", "u3 < a1: not", "u4 < a1: yes"], &["one", "two", "yes"]);
    // The first one too.
    check(&["u1 < -: no", "a1 < u1: no", "u2 < -: yes", "a2 < u2: well"], &["yes", "well"]);
    // A way back to what had been left.
    check(
        &["u1 < -: one", "a1 < u1: two", "u2 < a1: three", "u3 < a1: no", "u4 < u2: four"],
        &["one", "two", "three", "four"],
    );
    // An answer to resume at.
    check(&["u1 < -: one", "a1 < u1: two", "u2 < a1: no", "a2 < u2: no", "a3 < u1: other"], &["one", "other"]);
    // A parent in another file says nothing.
    check(&["u1 < -: one", "a1 < u1: two", "u2 < elsewhere: three"], &["one", "two", "three"]);
}

#[test]
fn parts_of_one_answer_are_no_branches() {
    let parallel =
        ["u1 < -: go", "a1 < u1 call(t1)", "a1.2 < a1 call(t2)", "r1 < a1 result(t1)", "r2 < a1.2 result(t2)"];
    let steps = ["go", "call(t1) call(t2)", "result(t1)", "result(t2)"];
    check(&parallel, &steps);
    let onwards = |uuid: &str| {
        [&parallel[..], &[&*format!("a2 < {uuid}: done")]]
            .concat()
            .iter()
            .map(|it| (*it).to_owned())
            .collect::<Vec<_>>()
    };
    for behind in ["r1", "r2", "a1.2"] {
        let lines = onwards(behind);
        check(&lines.iter().map(|line| &**line).collect::<Vec<_>>(), &[&steps[..], &["done"]].concat());
    }
}

#[test]
fn a_way_back_behind_a_compaction_undoes_it() {
    let compacted = ["u1 < -: one", "a1 < u1: two", "b1 < a1 boundary", "s1 < b1 summary: short"];
    check(&[&compacted[..], &["u2 < s1: three"]].concat(), &["short", "three"]);
    check(&[&compacted[..], &["u2 < s1: no", "u3 < a1: three"]].concat(), &["one", "two", "three"]);
    check(&[&compacted[..], &["u2 < s1: no", "u3 < s1: three"]].concat(), &["short", "three"]);
    // And forward again.
    check(&[&compacted[..], &["u2 < a1: no", "u3 < s1: three"]].concat(), &["short", "three"]);
    let loaded = load(&file(&[&compacted[..], &["u2 < a1: three"]].concat()));
    let journal = loaded.sessions[0].session.journal();
    assert_eq!(
        journal.iter().map(|epoch| (epoch.trigger, epoch.undone)).collect::<Vec<_>>(),
        [(Trigger::Recorded, true)]
    );
}

/// Behind our compaction the messages that stay are written once more, and the conversation continues from the copies.
#[test]
fn a_way_back_among_the_copies() {
    let lines = ["u1 < -: one", "a1 < u1: two", "u2 < a1: three", "a2 < u2: four"];
    let written = written(&file(&lines), &[0]);
    let copies: Vec<serde_json::Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let copy_of = |text: &str| {
        let is_copy = |record: &&serde_json::Value| record["message"]["content"].to_string().contains(text);
        copies.iter().rfind(is_copy).unwrap()["uuid"].as_str().unwrap().to_owned()
    };
    let going_on = |parent: &str| {
        let next = file(&[&*format!("u9 < {parent}: next")]).replace("00:00:00", "00:01:00");
        shown(&load(&format!("{written}{next}")))[1..].to_vec()
    };
    assert_eq!(going_on(&copy_of("four")), ["two", "three", "four", "next"]);
    assert_eq!(going_on(&copy_of("two")), ["two", "next"]);
    // An agent that runs meanwhile continues what is newest for it, and does not go back.
    assert_eq!(going_on("a2"), ["two", "three", "four", "next"]);
    // A person who does goes behind the compaction.
    assert_eq!(going_on("u1"), ["next"]);
    assert_eq!(going_on("u2"), ["two", "three", "next"]);
}
