#![allow(clippy::unwrap_used)]
use super::*;
use crate::block::{Arguments, Block, Content, ToolCall, ToolResult};
use crate::journal::{SyntheticMessage, Trigger};
use crate::message::Origin;

fn user(text: &str) -> Message {
    Message::text("", Role::User, Origin::Typed, text)
}

fn call(ids: &[&str]) -> Message {
    let blocks = ids
        .iter()
        .map(|id| ToolCall { id: Arc::from(*id), name: "run".into(), arguments: Arguments::Json("{}".into()) })
        .map(|call| Block::new(Content::ToolCall(call)));
    Message::new("", Role::Assistant, Origin::Model, blocks.collect())
}

fn result(id: &str, text: &str) -> Message {
    let result = ToolResult { call_id: id.into(), name: None, text: text.into(), attachments: vec![], is_error: false };
    Message::result("", result)
}

/// The view in one line: a letter for the role and the text, or the ids of calls and results.
fn shown(session: &Session) -> String {
    let line = |entry: &Entry| {
        let message = &entry.message;
        let calls: Vec<&str> = message.calls().map(|(_, call)| call.id.as_ref()).collect();
        let results: Vec<&str> =
            message.blocks.iter().filter_map(|block| Some(block.as_result()?.text.as_ref())).collect();
        format!("{}:{}{}{}", &message.role.as_str()[..1], message.plain_text(), calls.join("+"), results.join("+"))
    };
    session.view().iter().map(line).collect::<Vec<_>>().join(" ")
}

fn remove(session: &mut Session, entries: &[EntryKey], summary: &str) -> u32 {
    let first = session.view().iter().find(|entry| entries.contains(&entry.key)).unwrap().position;
    let position = Position::before(first, session.next_epoch(), 0);
    let message = Arc::new(Message::text("s", Role::User, Origin::Summary, summary));
    session.commit(Epoch::recorded(
        Trigger::Manual,
        entries.iter().copied(),
        vec![SyntheticMessage { position, message }],
    ))
}

#[test]
fn a_late_result_stands_behind_its_call() {
    let mut session = Session::new();
    for message in [user("a"), call(&["1", "2"]), result("1", "one"), user("b"), result("2", "two"), user("c")] {
        session.push(message);
    }
    assert_eq!(shown(&session), "u:a a:1+2 t:two t:one u:b u:c");
    assert_eq!(session.log().len(), 6, "the log keeps the order of arrival");
}

#[test]
fn a_result_given_twice_does_not_push_others_away() {
    let mut session = Session::new();
    for message in [call(&["1", "2"]), result("1", "one"), result("1", "again"), result("2", "two"), user("b")] {
        session.push(message);
    }
    assert_eq!(shown(&session), "a:1+2 t:two t:one t:again u:b");
}

#[test]
fn a_result_that_comes_after_all_takes_the_place_of_its_answer() {
    let mut session = Session::new();
    let called = session.push(call(&["1"]));
    session.push(user("b"));
    let answered =
        ToolResult { call_id: "1".into(), name: None, text: "none".into(), attachments: vec![], is_error: true };
    let message = Arc::new(Message { origin: Origin::Answer, ..Message::result("answer", answered) });
    let position = Position::answer(session.view()[0].position, 0, 0);
    session.commit(Epoch::recorded(Trigger::Manual, [], vec![SyntheticMessage { position, message }]));
    assert_eq!(shown(&session), "a:1 t:none u:b");
    let mut left = session.clone();
    session.push(result("1", "late"));
    assert_eq!(shown(&session), "a:1 t:late u:b");
    let again: Session = serde_json::from_str(&serde_json::to_string(&session).unwrap()).unwrap();
    assert_eq!(again.view(), session.view());

    // The call has left: its result becomes a message of the user's side, where it arrived.
    let answer = EntryKey::Synthetic { epoch: 0, index: 0 };
    remove(&mut left, &[called, answer], "S");
    left.push(result("1", "late"));
    assert_eq!(shown(&left), "u:S u:b u:late");
}

#[test]
fn messages_together_are_the_same_as_one_by_one() {
    fn check(messages: &[Message]) {
        let mut together = Session::new();
        together.extend(messages.iter().cloned());
        let mut one_by_one = Session::new();
        for message in messages {
            one_by_one.push(message.clone());
        }
        assert_eq!(shown(&together), shown(&one_by_one));
        assert_eq!((together.view(), together.state_hash()), (one_by_one.view(), one_by_one.state_hash()));
    }
    check(&[]);
    check(&[user("a"), call(&["1", "2"]), result("2", "two"), result("1", "one"), user("b")]);
    check(&[call(&["1", "2"]), user("a"), result("2", "two"), user("b"), result("1", "one"), user("c")]);
    check(&[call(&["1"]), call(&["1"]), result("1", "x"), user("a"), result("1", "y"), result("1", "none asked")]);
    let late = (0..300).rev().map(|number| result(&number.to_string(), "x"));
    let ids: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    check(&[call(&ids), user("a")].into_iter().chain(late).collect::<Vec<_>>());
}

#[test]
fn a_summary_covers_what_the_summaries_in_it_covered() {
    let mut session = Session::new();
    let keys: Vec<EntryKey> = ["a", "b", "c", "d"].map(|text| session.push(user(text))).into();
    let first = remove(&mut session, &keys[..3], "S1");
    let second = remove(&mut session, &[EntryKey::Synthetic { epoch: first, index: 0 }, keys[3]], "S2");
    assert_eq!(session.covered_messages(EntryKey::Synthetic { epoch: second, index: 0 }), 4);
}

#[test]
fn a_text_of_an_earlier_compaction_counts_what_its_heading_says() {
    let check = |origin: Origin, text: &str, expect: u32| {
        let mut session = Session::new();
        let keys = [Message::text("", Role::User, origin, text), user("b")].map(|message| session.push(message));
        assert_eq!(session.covered_messages(keys[0]), expect, "{text}");
        let epoch = remove(&mut session, &keys, "S");
        assert_eq!(session.covered_messages(EntryKey::Synthetic { epoch, index: 0 }), expect.saturating_add(1));
    };
    check(Origin::Summary, "[Summary of 1,204 earlier messages · recall 0a1b]\n» done", 1_204);
    check(Origin::Notice, "[49 earlier messages left the context]", 49);
    check(Origin::Summary, "[Summary of 7,000,000,000 earlier messages]\n» done", u32::MAX);
    check(Origin::Summary, "[Summary of 0 earlier messages]\n» done", 1);
    check(Origin::Summary, "of another tool", 1);
    // Quoted by a person, it stands for nothing.
    check(Origin::Typed, "[Summary of 49 earlier messages]\n» done", 1);
}

#[test]
fn a_damaged_journal_does_not_panic() {
    let mut session = Session::new();
    session.push(user("日本語"));
    let stored = serde_json::to_value(&session).unwrap();
    let check = |kept: serde_json::Value, log_length: u32| {
        let mut stored = stored.clone();
        let change = serde_json::json!({"change": "excerpt", "entry": {"log": 0}, "block": 0,
            "excerpt": {"kept": kept, "marks": []}});
        stored["journal"] = serde_json::json!([{"id": 0, "origin": "engine", "trigger": "manual",
            "log_length": log_length, "tokens_before": null, "tokens_after": null, "synthetics": [],
            "edits": [{"kind": "excerpt", "strategy": "x", "reason": {"code": "x"}, "recall": null, "tokens_saved": 0,
                       "changes": [change]}]}]);
        let loaded: Session = serde_json::from_value(stored).unwrap();
        assert_eq!(loaded.view().len(), 1);
    };
    check(serde_json::json!([{"start": 0, "end": 1}]), 1);
    check(serde_json::json!([{"start": 0, "end": 99}]), 1);
    check(serde_json::json!([]), 99);
}

#[test]
fn a_repeated_call_id_pairs_with_the_nearest_open_call() {
    let mut session = Session::new();
    for message in [call(&["1"]), result("1", "x"), user("b"), call(&["1"]), result("1", "y")] {
        session.push(message);
    }
    assert_eq!(shown(&session), "a:1 t:x u:b a:1 t:y");
}

#[test]
fn ids_are_made_unique() {
    let mut session = Session::new();
    for _ in 0..3 {
        session.push(Message::text("x", Role::User, Origin::Typed, "hello"));
    }
    let ids: Vec<&str> = session.log().iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids, ["x", "x#2", "x#3"]);
}

#[test]
fn undo_restores_the_view_and_keeps_what_arrived_since() {
    let mut session = Session::new();
    let keys: Vec<EntryKey> = ["a", "b", "c", "d"].map(|text| session.push(user(text))).into();
    let before = session.view().to_vec();
    let first = remove(&mut session, &keys[..2], "S1");
    assert_eq!(shown(&session), "u:S1 u:c u:d");
    session.undo(first).unwrap();
    assert_eq!(session.view(), before);

    let second = remove(&mut session, &keys[1..3], "S2");
    session.push(user("e"));
    assert_eq!(shown(&session), "u:a u:S2 u:d u:e");
    session.undo(second).unwrap();
    assert_eq!(shown(&session), "u:a u:b u:c u:d u:e");
}

#[test]
fn undo_refuses_what_a_later_epoch_covers() {
    let mut session = Session::new();
    let keys: Vec<EntryKey> = ["a", "b", "c", "d"].map(|text| session.push(user(text))).into();
    let first = remove(&mut session, &keys[..1], "S1");
    let apart = remove(&mut session, &keys[3..], "S2");
    let over = remove(&mut session, &[EntryKey::Synthetic { epoch: first, index: 0 }, keys[1]], "S3");
    assert_eq!((session.covered_by(first), session.covered_by(over), session.covered_by(99)), (Some(over), None, None));
    assert_eq!(session.undo(first), Err(UndoError::Covered { epoch: first, later: over }));
    session.undo(apart).unwrap();
    assert_eq!(shown(&session), "u:S3 u:c u:d");
    assert_eq!(session.undo(apart), Err(UndoError::AlreadyUndone(apart)));
    assert_eq!(session.undo(9), Err(UndoError::Unknown { epoch: 9, count: 3 }));
    session.undo(over).unwrap();
    session.undo(first).unwrap();
    assert_eq!(shown(&session), "u:a u:b u:c u:d");
}

#[test]
fn a_stored_session_comes_back() {
    let mut session = Session::new();
    let keys: Vec<EntryKey> = ["a", "b", "c"].map(|text| session.push(user(text))).into();
    remove(&mut session, &keys[..2], "S1");
    session.push(call(&["1"]));
    session.push(user("d"));
    session.push(result("1", "late"));
    let stored = serde_json::to_string(&session).unwrap();
    let loaded: Session = serde_json::from_str(&stored).unwrap();
    assert_eq!(loaded.view(), session.view());
    assert_eq!(shown(&loaded), "u:S1 u:c a:1 t:late u:d");
}

/// Invariant: what was taken back is not in the view, stays in the log, and comes back with its branch.
#[test]
fn going_to_another_place() {
    let mut session = Session::new();
    for text in ["a", "b", "c", "d"] {
        session.push(user(text));
    }
    let summary = remove(&mut session, &[EntryKey::Log(1), EntryKey::Log(2)], "sum");
    assert_eq!(shown(&session), "u:a u:sum u:d");
    // Behind `a`: the compaction was made on the way that is left.
    session.switch_branch(|_| false, |index| index < 1);
    session.push(user("e"));
    assert_eq!(shown(&session), "u:a u:e");
    let standing = |session: &Session| session.standing_log().iter().map(|it| it.plain_text()).collect::<String>();
    assert_eq!((standing(&session), session.log().len()), ("ae".to_owned(), 5));
    assert_eq!(session.without_journal().view().len(), 2);
    assert_eq!(session.cycle(), 0, "nothing was compacted");
    // To the end of the first way.
    session.switch_branch(|epoch| epoch.id == summary, |index| index < 4);
    assert_eq!(shown(&session), "u:a u:sum u:d");
    assert_eq!(standing(&session), "abcd");
}

/// One function says which text is the summary of a compaction.
#[test]
fn the_summary_of_a_compaction() {
    // The texts of a compaction with its origins, the numbers of those that were requested, and the number of the summary;
    // then the same where those that are named have left since.
    let check = |texts: &[(Origin, &str)], requested: Option<&[u32]>, left: &[u32], expect: Option<&str>| {
        let mut session = Session::new();
        for _ in 0..9 {
            session.push(user("a"));
        }
        let synthetics = (0..).zip(texts).map(|(number, (origin, text))| {
            let position = Position::before(session.view()[number as usize].position, 0, number);
            SyntheticMessage { position, message: Arc::new(Message::text("s", Role::User, *origin, *text)) }
        });
        let mut epoch = Epoch::recorded(Trigger::Manual, [EntryKey::Log(8)], synthetics.collect());
        epoch.summarizer = requested.map(|written| {
            let record = crate::SummarizerRecord {
                kind: "llm".into(),
                fell_back: false,
                problem: None,
                checks: Vec::new(),
                models: crate::SummaryUsage::default(),
                written: written.to_vec(),
            };
            Arc::new(record)
        });
        session.commit(epoch);
        let keys = left.iter().map(|index| EntryKey::Synthetic { epoch: 0, index: *index });
        session.commit(Epoch::recorded(Trigger::Manual, keys, Vec::new()));
        let found = session.summary_of(0).map(|entry| entry.message.plain_text());
        assert_eq!(found.as_deref(), expect, "{texts:?} {requested:?} {left:?}");
        assert!(session.summary_of(1).is_none() && session.summary_of(7).is_none());
    };
    let (summary, notice) = (Origin::Summary, Origin::Notice);
    let texts =
        [(summary, "» a long stretch"), (summary, "## Goal"), (summary, "» short"), (notice, "a very long notice")];
    check(&texts, Some(&[1]), &[], Some("## Goal"));
    check(&texts, Some(&[1, 2]), &[], Some("» short"));
    check(&texts, Some(&[]), &[], Some("» a long stretch"));
    check(&texts, None, &[], Some("» a long stretch"));
    check(&texts, Some(&[1]), &[1], Some("» a long stretch"));
    check(&texts, None, &[0], Some("» short"));
    check(&texts, None, &[0, 1, 2], None);
    check(&texts[3..], None, &[], None);
}
