//! What a person keeps and drops: messages by their numbers.

use epitome_engine::{ByHandError, EngineError, MemoryArchive, Outcome, Pins, Report, Request, Status, block_on};
use epitome_session::{Epoch, MessageRange, Session, Trigger};
use epitome_strategy::{Archive, ArchivedContent};
use epitome_testkit::session;

use super::support::{compact, engine, expect, request};

/// 0 the system prompt, 1 the task, 2 and 3 a call and its result, 4 the model, 5 the user, 6 and 7 a call and its result,
/// 8 the model, 9 the newest user message.
const TALK: &str = "
system: S
user: fix the parser
call Read c1 {\"file_path\":\"a.rs\"}
result c1: line {n} of the file … x40 lines
assistant: I see what it is.
user: go on with the lexer
call Bash c2 {}
result c2: out {n} of it … x40 lines
assistant: The lexer is done.
user: now the docs
";

fn ranges(texts: &[&str]) -> Vec<MessageRange> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn by_hand(target: u32, keep: &[&str], drop: &[&str]) -> Request {
    Request { keep: ranges(keep), drop: ranges(drop), ..request(target, None) }
}

/// What the report says: kept, dropped, stayed, gone.
fn told(report: &Report) -> String {
    let by_hand = report.by_hand.clone().unwrap_or_default();
    let list = |ranges: &[MessageRange]| ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let stayed: Vec<String> = by_hand.stayed.iter().map(|it| format!("{} {}", it.messages, it.why)).collect();
    format!(
        "kept {} | dropped {} | stayed {} | gone {}",
        list(&by_hand.kept),
        list(&by_hand.dropped),
        stayed.join(", "),
        list(&by_hand.gone)
    )
}

fn refusal(session: &mut Session, request: &Request) -> ByHandError {
    let engine = engine();
    let mut ledger = engine.ledger(session);
    let (before, mut archive) = (session.clone(), MemoryArchive::new());
    let refused = block_on(engine.compact(session, &mut ledger, &mut archive, request));
    assert_eq!((before.view(), before.journal()), (session.view(), session.journal()));
    match refused {
        Err(EngineError::ByHand(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_drop_leaves_with_its_result_also_where_the_session_fits() {
    let mut session = session(TALK);
    let (report, archive) = compact(&engine(), &mut session, &by_hand(100_000, &[], &["#3"]));
    assert_eq!((report.status, told(&report).as_str()), (Status::Compacted, "kept  | dropped #2-#3 | stayed  | gone "));
    expect(
        &session,
        "system: S
         user: fix the parser
         user: [2 earlier messages left the context; search_history finds what they said · recall #]
         assistant: I see what it is.
         user: go on with the lexer
         assistant: (call c2) {}
         tool: (result c2) out 1 of it⏎out 2  … f it⏎out 39 of it⏎out 40 of it
         assistant: The lexer is done.
         user: now the docs",
    );
    let edit = &report.edits[0];
    assert_eq!((&*edit.strategy, &*edit.reason.code), ("by-hand", "dropped-by-hand"));
    let Some(ArchivedContent::Messages(left)) = archive.get(edit.recall.as_deref().unwrap()).unwrap() else {
        panic!("messages are archived")
    };
    assert_eq!(left.as_slice(), &session.log()[2..=3]);
    session.undo(0).unwrap();
    assert_eq!(session.view().len(), 10);
}

#[test]
fn what_stays_in_a_range_is_told_and_alone_refused() {
    let why = |number, why| ByHandError::Stays { number, why };
    let check = |keep: &[&str], drop: &str, expect: ByHandError| {
        assert_eq!(refusal(&mut session(TALK), &by_hand(100_000, keep, &[drop])), expect);
    };
    check(&[], "#0", why(0, "it is the system prompt"));
    check(&[], "#9", why(9, "it is the newest user message"));
    check(&["#3"], "#2", why(2, "it is kept or pinned"));
    check(&[], "#10", ByHandError::Beyond { number: 10, messages: 10 });
    check(&[], "#4-#10", ByHandError::Beyond { number: 10, messages: 10 });
    check(&["#4-#11"], "#3", ByHandError::Beyond { number: 11, messages: 10 });
    let mut session = session(TALK);
    let (report, _) = compact(&engine(), &mut session, &by_hand(100_000, &["#5"], &["..#6"]));
    let expected = "kept #5 | dropped #2-#4 #6-#7 | stayed #0 it is the system prompt, #1 it is the task of the session, which \
                    `[pins] original_task = false` lets go, #5 it is kept or pinned | gone ";
    assert_eq!(told(&report), expected);
}

#[test]
fn the_task_leaves_where_the_pins_let_it() {
    let mut session = session(TALK);
    let mut engine = engine();
    engine.pins = Pins { original_task: false, ..Pins::default() };
    let (report, _) = compact(&engine, &mut session, &by_hand(100_000, &[], &["..#4"]));
    assert_eq!(told(&report), "kept  | dropped #1-#4 | stayed #0 it is the system prompt | gone ");
}

#[test]
fn what_is_kept_outlasts_every_later_compaction_until_it_is_released() {
    let engine = engine();
    let mut session = session(TALK);
    let kept = session.log()[3].clone();
    let shows = |session: &Session| session.view().iter().any(|entry| entry.message == kept);
    let (report, _) = compact(&engine, &mut session, &by_hand(320, &["#3"], &[]));
    assert_eq!((report.status, told(&report).as_str()), (Status::Compacted, "kept #2-#3 | dropped  | stayed  | gone "));
    assert_eq!(report.messages[3].outcome, Outcome::Pinned);
    assert!(shows(&session));
    // As a store reads it.
    let stored = serde_json::to_string(&session).unwrap();
    let mut session: Session = serde_json::from_str(&stored).unwrap();
    let (report, _) = compact(&engine, &mut session, &request(10, None));
    assert_eq!(report.status, Status::Infeasible);
    session.commit(Epoch::keeping(Vec::new(), session.view().iter().map(|entry| entry.key).collect()));
    let (report, _) = compact(&engine, &mut session, &request(60, None));
    assert_eq!(report.status, Status::Compacted);
    assert!(!shows(&session));
}

#[test]
fn what_is_kept_is_recorded_where_nothing_else_is_to_do() {
    let engine = engine();
    let mut session = session(TALK);
    let before = session.clone();
    let (report, _) = compact(&engine, &mut session, &by_hand(100_000, &["#4"], &[]));
    assert_eq!((report.status, session.cycle()), (Status::NoChange, 0));
    assert_eq!(session.journal().iter().map(|epoch| epoch.trigger).collect::<Vec<_>>(), [Trigger::Kept]);
    assert_ne!(session.state_hash(), before.state_hash());
    // Again it is no change at all.
    compact(&engine, &mut session, &by_hand(100_000, &["#4"], &[]));
    assert_eq!(session.journal().len(), 1);
    session.undo(0).unwrap();
    assert_eq!(session.view(), before.view());
}

#[test]
fn what_left_before_cannot_be_kept_and_need_not_be_dropped() {
    let engine = engine();
    let mut session = session(TALK);
    compact(&engine, &mut session, &by_hand(100_000, &[], &["#2"]));
    assert_eq!(refusal(&mut session, &by_hand(100_000, &["#3"], &[])), ByHandError::Gone { number: 3 });
    let (report, _) = compact(&engine, &mut session, &by_hand(100_000, &[], &["#3"]));
    assert_eq!((report.status, told(&report).as_str()), (Status::NoChange, "kept  | dropped  | stayed  | gone #3"));
    // The notice in their place leaves with all that it stands for, and another counts both.
    let (report, _) = compact(&engine, &mut session, &by_hand(100_000, &[], &["#2-#4"]));
    assert_eq!(told(&report), "kept  | dropped #4 | stayed  | gone #2-#3");
    expect(
        &session,
        "system: S
         user: fix the parser
         user: [3 earlier messages left the context; search_history finds what they said · recall #]
         user: go on with the lexer
         assistant: (call c2) {}
         tool: (result c2) out 1 of it⏎out 2  … f it⏎out 39 of it⏎out 40 of it
         assistant: The lexer is done.
         user: now the docs",
    );
}

#[test]
fn drops_come_before_the_chain() {
    let mut session = session(TALK);
    let (report, _) = compact(&engine(), &mut session, &by_hand(320, &[], &["#6"]));
    assert_eq!(told(&report), "kept  | dropped #6-#7 | stayed  | gone ");
    assert_eq!(report.steps.iter().map(|step| &*step.strategy).collect::<Vec<_>>(), ["by-hand", "notices"]);
    assert!(report.tokens_after <= 320);
}
