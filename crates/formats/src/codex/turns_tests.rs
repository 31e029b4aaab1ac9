#![allow(clippy::unwrap_used)]

use crate::codex::tests::record;
use crate::tests::{load, view};
use crate::write::tests::compact;
use crate::{Format, write};

pub(super) fn event(kind: &str) -> String {
    record("event_msg", &format!(r#"{{"type":"{kind}","turn_id":"t"}}"#))
}

pub(super) fn said(role: &str, text: &str) -> String {
    let part = if role == "assistant" { "output_text" } else { "input_text" };
    let content = format!(r#"[{{"type":"{part}","text":"{text}"}}]"#);
    record("response_item", &format!(r#"{{"type":"message","role":"{role}","content":{content}}}"#))
}

/// A turn as Codex records it: `typed` is the person's message, behind what Codex tells the model of the machine.
pub(super) fn turn(typed: &str, answer: &str) -> String {
    let told = said("developer", &format!("context of {typed}"));
    [event("task_started"), told, said("user", typed), said("assistant", answer), event("task_complete")].concat()
}

pub(super) fn roll_back(turns: u32) -> String {
    record("event_msg", &format!(r#"{{"type":"thread_rolled_back","num_turns":{turns}}}"#))
}

pub(super) fn compacted(text: &str) -> String {
    let history = r#"[{"type":"compaction","encrypted_content":"X"}]"#;
    record("compacted", &format!(r#"{{"message":"{text}","replacement_history":{history}}}"#))
}

fn head() -> String {
    record("session_meta", r#"{"id":"C","base_instructions":{"text":"be good"}}"#)
        + &said("user", "<environment_context>x</environment_context>")
}

/// What the model sees: the texts of the view, without the head's and the context's.
fn seen(input: &str) -> Vec<String> {
    let loaded = load(input);
    assert_eq!(loaded.warnings, []);
    let said = view(loaded.sessions[0].session.view()).into_iter();
    said.filter(|text| !text.starts_with("system/Instructions") && !text.contains("environment_context"))
        .map(|text| text.split_once(": ").unwrap().1.to_owned())
        .collect()
}

#[test]
fn rollbacks() {
    let check = |records: &[String], expect: &[&str]| {
        assert_eq!(seen(&(head() + &records.concat())), expect, "{records:#?}");
    };
    let (one, two, three) = (turn("a", "A"), turn("b", "B"), turn("c", "C"));
    let [of_one, of_three] = [["context of a", "a", "A"], ["context of c", "c", "C"]];
    check(&[one.clone(), two.clone(), roll_back(1), three.clone()], &[of_one, of_three].concat());
    check(&[one.clone(), two.clone(), roll_back(0)], &["context of a", "a", "A", "context of b", "b", "B"]);
    // Several in a row, and together.
    check(&[one.clone(), two.clone(), three.clone(), roll_back(1), roll_back(1)], &of_one);
    check(&[one.clone(), two.clone(), three.clone(), roll_back(2)], &of_one);
    // A turn that was taken back counts no more.
    check(&[one.clone(), two.clone(), roll_back(1), three.clone(), roll_back(1)], &of_one);
    // What stands in front of the first turn stays, however many are taken back.
    check(&[one.clone(), two.clone(), roll_back(9), three.clone()], &[&["context of a"], &of_three[..]].concat());
    // A message typed while the agent works is a turn, and what Codex told in front of it goes with it.
    let steered = [said("developer", "d"), said("user", "more"), said("assistant", "M")].concat();
    check(&[one.clone(), steered, roll_back(1)], &of_one);
    // Early versions note no begin of turns.
    let early = [said("developer", "d"), said("user", "b"), said("assistant", "B")].concat();
    check(&[said("user", "a"), said("assistant", "A"), early, roll_back(1)], &["a", "A"]);
    // A skill or a notice behind the message is no turn.
    let notice = said("user", "<turn_aborted>by the user</turn_aborted>");
    check(&[one.clone(), two.clone(), notice, roll_back(1)], &of_one);
    // Another agent's words are one.
    let task = record(
        "response_item",
        r#"{"type":"agent_message","author":"/root","recipient":"/root/w","content":[{"type":"input_text","text":"t"}]}"#,
    );
    check(&[one.clone(), task, said("assistant", "T"), roll_back(1)], &of_one);
}

#[test]
fn rollbacks_and_compactions() {
    let check = |records: &[String], expect: &[&str]| {
        assert_eq!(seen(&(head() + &records.concat())), expect, "{records:#?}");
    };
    let (one, two, three) = (turn("a", "A"), turn("b", "B"), turn("c", "C"));
    let [of_one, of_two, of_three] =
        [["context of a", "a", "A"], ["context of b", "b", "B"], ["context of c", "c", "C"]];
    let compaction = "opaque(compaction)";
    // In the turn, in front of its message, on its own between two turns.
    let within = [event("task_started"), said("user", "b"), compacted(""), said("assistant", "B")].concat();
    check(&[one.clone(), within.clone()], &[compaction, "B"]);
    check(&[one.clone(), within, roll_back(1), three.clone()], &[of_one, of_three].concat());
    let in_front = [event("task_started"), compacted(""), said("user", "b"), said("assistant", "B")].concat();
    check(&[one.clone(), in_front, roll_back(1)], &of_one);
    let own = [event("task_started"), compacted(""), event("task_complete")].concat();
    let input = [one.clone(), two.clone(), own.clone(), three.clone()];
    check(&[&input[..], &[roll_back(1)]].concat(), &[compaction]);
    check(&[&input[..], &[roll_back(2)]].concat(), &of_one);
    // One that a rollback came after stays.
    check(&[one.clone(), two.clone(), roll_back(1), own, three.clone()], &[&[compaction], &of_three[..]].concat());
    check(&[one, two, roll_back(0)], &[of_one, of_two].concat());
}

/// What was taken back is not written behind our record, our own compaction goes with its turn, and both read again the same.
#[test]
fn compactions_of_ours() {
    let input = [head(), turn("a", "A"), turn("b", "B"), roll_back(1), turn("c", "C")].concat();
    let loaded = load(&input);
    let mut session = loaded.sessions[0].session.clone();
    compact(&mut session, "so far");
    let text = String::from_utf8(write(&loaded, 0, &session, Format::Codex).unwrap()).unwrap();
    let added = text.strip_prefix(&input).unwrap();
    assert!(
        added.contains(r#""so far""#) && !added.contains(r#""text":"B""#) && !added.contains("context of b"),
        "{added}"
    );
    let again = load(&text);
    assert_eq!(again.sessions[0].session.view(), session.view());
    assert_eq!(again.sessions[0].session.journal(), session.journal());

    // Codex resumes without what stands directly behind a rollback, unless it is a turn of its own.
    let kinds = |rollout: &str| -> Vec<String> {
        let loaded = load(rollout);
        let mut session = loaded.sessions[0].session.clone();
        compact(&mut session, "so far");
        let text = String::from_utf8(write(&loaded, 0, &session, Format::Codex).unwrap()).unwrap();
        assert_eq!(load(&text).sessions[0].session.view(), session.view());
        let records = text.strip_prefix(rollout).unwrap().lines();
        let records = records.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        records.map(|it| it["payload"]["type"].as_str().or(it["type"].as_str()).unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&input), ["compacted"]);
    assert_eq!(kinds(&(input.clone() + &roll_back(1))), ["task_started", "compacted", "task_complete"]);

    let before = seen(&input);
    assert_eq!(seen(&(text.clone() + &roll_back(1))), before[..3], "the turn is gone, and the compaction behind it");
    let later = text + &turn("d", "D");
    assert_eq!(seen(&(later.clone() + &roll_back(1))), seen(&later)[..seen(&later).len() - 3]);
}

#[test]
fn words_of_other_agents() {
    let check = |payload: &str, expect: &str| {
        let input = head() + &record("inter_agent_communication", payload);
        let loaded = load(&input);
        let session = &loaded.sessions[0].session;
        assert_eq!(view(session.view()).last().unwrap(), expect);
        // The record is no item: what is written is what the model was shown.
        let mut compacted = session.clone();
        compact(&mut compacted, "so far");
        let text = String::from_utf8(write(&loaded, 0, &compacted, Format::Codex).unwrap()).unwrap();
        assert!(!text.strip_prefix(&input).unwrap().contains("trigger_turn"));
    };
    let plain =
        r#"{"author":"/root","recipient":"/root/w","other_recipients":[],"content":"look","trigger_turn":true}"#;
    check(plain, "user/ToolOutput: look");
    let sealed = plain.replace(r#""content":"look""#, r#""content":"","encrypted_content":"E""#);
    check(&sealed, "user/ToolOutput: Message Type: NEW_TASK\nTask name: /root/w\nSender: /root\nPayload:\n");
    // What Codex keeps for itself is no message.
    let kept = record("response_item", r#"{"type":"ghost_snapshot","ghost_commit":{"id":"0"}}"#);
    assert_eq!(seen(&[head(), turn("a", "A"), kept].concat()), ["context of a", "a", "A"]);
}

#[test]
fn history_in_another_file() {
    let fork = record(
        "session_meta",
        r#"{"id":"F","history_base":{"thread_id":"0199-aa","end_ordinal_exclusive":9,"end_byte_offset":999}}"#,
    );
    let error = crate::read(fork.clone().into_bytes(), crate::ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("`0199-aa`") && error.contains("read that file"), "{error}");

    let loaded = load(&(fork.clone() + &turn("a", "A")));
    let told: Vec<&str> = loaded.warnings.iter().map(|warning| &*warning.message).collect();
    assert!(told.len() == 1 && told[0].contains("`0199-aa`"), "{told:?}");
    let mut session = loaded.sessions[0].session.clone();
    compact(&mut session, "so far");
    let error = write(&loaded, 0, &session, Format::Codex).unwrap_err().to_string();
    assert!(error.contains("`0199-aa`"), "the agent would lose what stands there: {error}");

    // A compaction stands in front of it all.
    let loaded = load(&[fork, turn("a", "A"), compacted(""), turn("b", "B")].concat());
    assert_eq!(loaded.warnings, []);
    let mut session = loaded.sessions[0].session.clone();
    compact(&mut session, "so far");
    assert!(write(&loaded, 0, &session, Format::Codex).is_ok());
}
