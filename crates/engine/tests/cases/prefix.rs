//! A compaction that was worked out while messages arrived.

use epitome_engine::{EngineError, Ledger, MemoryArchive, block_on};
use epitome_session::{Message, Session, Trigger};
use epitome_strategy::Edit;
use epitome_testkit::session;

use super::support::{chain, engine, expect, reason, request};

const PREFIX: &str = "
user: task
call Read c1 {}
result c1: line {n} … x60 lines
thinking signed: what was thought then
call Read c2 {}
result c2: ok
";

/// What arrives meanwhile, in a session that begins as the first.
const ARRIVED: &str = "
thinking signed: what was thought meanwhile
call Read c3 {}
result c3: ok
thinking signed: the newest thought
call Read c4 {}
result c4: ok
";

fn arrived(session: &mut Session, ledger: &mut Ledger) {
    let whole = epitome_testkit::session(&format!("{PREFIX}{ARRIVED}"));
    for message in &whole.log()[session.log().len()..] {
        let key = session.push(Message::clone(message));
        ledger.push(session, key);
    }
}

#[test]
fn what_arrived_stays_but_for_reasoning_that_would_be_refused() {
    let engine = engine();
    let mut session = session(PREFIX);
    let mut ledger = engine.ledger(&session);
    let mut archive = MemoryArchive::new();
    let edit = Edit::Excerpt { message: 2, block: 0, keep: vec![], reason: reason() };
    let request = request(ledger.total() - 80, chain(vec![edit]));
    let draft = block_on(engine.draft(&session, &ledger, &mut archive, &request)).unwrap();
    assert_eq!(draft.log_length(), Some(5));
    arrived(&mut session, &mut ledger);
    assert!(draft.is_of_prefix(&session));
    assert!(matches!(engine.commit(&mut session, &mut ledger, draft.clone()), Err(EngineError::Stale)));

    let before = (session.view().to_vec(), ledger.total());
    let outgrown = engine.commit_on_prefix(&mut session, &mut ledger, draft.clone(), 20);
    assert!(matches!(outgrown, Err(EngineError::Outgrown { limit: 20, .. })), "{outgrown:?}");
    assert_eq!((session.view(), ledger.total()), (&before.0[..], before.1), "nothing was done");

    let report = engine.commit_on_prefix(&mut session, &mut ledger, draft.clone(), 10_000).unwrap();
    assert_eq!((report.tokens_before, report.tokens_after), (before.1, ledger.total()));
    assert_eq!((report.messages.len(), report.messages_before), (before.0.len(), before.0.len() as u32));
    assert!(engine.strip_arrived(&mut session, &mut ledger, &mut archive).unwrap());
    assert!(!engine.strip_arrived(&mut session, &mut ledger, &mut archive).unwrap(), "once is enough");
    expect(
        &session,
        "user: task
         assistant: (call c1) {}
         tool: (result c1) [… 60 lines, 118 tokens elided · recall #]
         assistant: (call c2) {}
         tool: (result c2) ok
         assistant: (call c3) {}
         tool: (result c3) ok
         assistant: (thinks) the newest thought
         assistant: (call c4) {}
         tool: (result c4) ok",
    );
    assert_eq!(ledger.total(), engine.ledger(&session).total(), "the running total is a recount");
    let triggers: Vec<Trigger> = session.journal().iter().map(|epoch| epoch.trigger).collect();
    assert_eq!((triggers, session.cycle()), (vec![Trigger::Manual, Trigger::Arrival], 1), "one compaction");
    // Its epoch follows the first, and each can be undone.
    session.undo(1).unwrap();
    session.undo(0).unwrap();
    assert_eq!(session.view(), before.0);
    assert!(!draft.is_of_prefix(&session), "the journal is another one");
}
