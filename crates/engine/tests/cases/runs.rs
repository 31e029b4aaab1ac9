//! Drafts, chains, the tournament, the cache.

use std::ops::Range;
use std::sync::Arc;

use epitome_engine::{Chain, Chains, EngineError, MemoryArchive, Mode, Request, Status};
use epitome_session::{EntryKey, Message, Origin, Role, Session, ToolResult};
use epitome_strategy::{Archive, Edit, TaskKind};
use epitome_testkit::session;

use super::support::{Script, Spy, WORK, chain, compact, engine, expect, reason, request, shown};

#[test]
fn what_was_sent_and_is_changed_is_lost_to_the_cache() {
    let check = |unsent: u32, expect: u32| {
        let mut session = session(WORK);
        let before = engine().ledger(&session).total();
        let edit = Edit::Excerpt { message: 3, block: 0, keep: vec![], reason: reason() };
        let request = Request { unsent_messages: unsent, ..request(before - 100, chain(vec![edit])) };
        let (report, _) = compact(&engine(), &mut session, &request);
        assert_eq!((report.first_changed_message, report.cache_loss_tokens), (Some(3), expect), "{unsent}");
    };
    let ledger = engine().ledger(&session(WORK));
    let tokens = |range: Range<usize>| -> u32 {
        session(WORK).view()[range].iter().map(|entry| ledger.entry(entry.key).unwrap().total).sum()
    };
    check(0, tokens(3..8));
    check(2, tokens(3..6));
    check(5, 0);
}

#[test]
fn the_tournament_takes_the_chain_that_keeps_most() {
    let fixture = "
user: task
call Read c1 {\"file_path\":\"src/main.rs\"}
result c1: src/main.rs:{n} value_{n} … x60
call Read c2 {}
result c2: plain words only … x100
user: newest
";
    // One chain takes out the file that was asked for, the other plain words.
    let drop = |unit| vec![Edit::Drop { units: vec![unit], reason: reason() }];
    let check = |code: Vec<Edit>, other: Vec<Edit>, expect: &str| {
        let mut engine = engine();
        let (one, other) =
            (Chain(vec![Arc::new(Script("script", code))]), Chain(vec![Arc::new(Script("other", other))]));
        let (conversation, analysis, unknown) = (one.clone(), one.clone(), one.clone());
        engine.chains = Chains { code: one, mixed: other, conversation, analysis, unknown, ..Chains::default() };
        let mut session = session(fixture);
        let request = Request { mode: Mode::Tournament, ..Request::to_budget(700) };
        let (report, archive) = compact(&engine, &mut session, &request);
        assert_eq!(report.chain, [expect], "{}", shown(&session));
        assert!(shown(&session).contains("value_60"), "{}", shown(&session));
        assert!(archive.get(report.edits[0].recall.as_ref().unwrap()).unwrap().is_some());
    };
    check(drop(1), drop(2), "other");
    check(drop(2), drop(1), "script");
}

#[test]
fn a_draft_is_for_the_session_that_it_was_made_from() {
    let engine = engine();
    let compacted = |session: &mut Session, target: u32| compact(&engine, session, &request(target, None)).0;
    let check = |change: &dyn Fn(&mut Session), expect_stale: bool| {
        let mut session = session(WORK);
        compacted(&mut session, 240);
        let mut ledger = engine.ledger(&session);
        let mut archive = MemoryArchive::new();
        let request = request(150, None);
        let draft = engine.draft(&session, &ledger, &mut archive, &request);
        let draft = epitome_engine::block_on(draft).unwrap();
        assert_eq!(draft.report.status, Status::Compacted);
        let drafted = draft.epoch().cloned();
        change(&mut session);
        let before = session.clone();
        let result = engine.commit(&mut session, &mut ledger, draft);
        assert_eq!(matches!(result, Err(EngineError::Stale)), expect_stale, "{result:?}");
        let added = &session.journal()[before.journal().len()..];
        assert_eq!(added.iter().collect::<Vec<_>>(), Vec::from_iter(drafted.as_ref().filter(|_| !expect_stale)));
        assert_eq!(session.view() == before.view(), expect_stale);
    };
    check(&|_| {}, false);
    let more = Message::text("", Role::User, Origin::Typed, "more");
    check(&|session| assert!(session.push(more.clone()) > EntryKey::Log(0)), true);
    check(&|session| session.undo(0).unwrap(), true);
    check(&|session| drop(compacted(session, 160)), true);
}

#[test]
fn a_strategy_is_told_the_goal() {
    let mut session = session(WORK);
    let spy = Arc::new(Spy::default());
    let current = engine().ledger(&session).total();
    let (target, limit) = (current - 50, current - 40);
    let request = Request {
        chain: Some(Chain(vec![spy.clone()])),
        limit,
        window: Some(5_000),
        task: Some(TaskKind::Analysis),
        unsent_messages: 2,
        ..Request::to_budget(target)
    };
    let (report, _) = compact(&engine(), &mut session, &request);
    let goals = spy.0.lock().unwrap();
    let [goal] = goals.as_slice() else { unreachable!("asked once: {goals:?}") };
    assert_eq!((goal.current, goal.target, goal.limit, goal.window), (current, target, limit, 5_000));
    assert_eq!((goal.task, goal.cycle, goal.focus.as_deref()), (TaskKind::Analysis, 1, Some("go on")));
    assert_eq!(goal.first_unsent_unit, Some(5), "the last step is new");
    assert_eq!(report.steps[0].declined.as_deref(), Some("only looks"));
}

#[test]
fn a_result_whose_call_has_left_is_told_and_can_be_cut() {
    let mut session = session(
        "
user: task
call Bash c1 word … x40
user: something else
assistant: an answer
user: newest
",
    );
    let tokens = |session: &Session| engine().ledger(session).total();
    let before = tokens(&session);
    let drop = Edit::Drop { units: vec![1], reason: reason() };
    compact(&engine(), &mut session, &request(before - 1, chain(vec![drop])));
    let result = ToolResult {
        call_id: "c1".into(),
        name: None,
        text: "a line of the log\n".repeat(41).into(),
        attachments: Vec::new(),
        is_error: false,
    };
    let key = session.push(Message::result("late", result));
    let place = session.view().iter().position(|entry| entry.key == key).unwrap();
    let told = &session.view()[place].message;
    assert_eq!((told.role, told.origin), (Role::User, Origin::ToolOutput));
    session.push(Message::text("", Role::User, Origin::Typed, "go on"));
    let before = tokens(&session);
    let cut = Edit::Excerpt { message: place as u32, block: 0, keep: vec![0..18], reason: reason() };
    compact(&engine(), &mut session, &request(before - 50, chain(vec![cut])));
    expect(
        &session,
        "user: task
         user: [1 earlier message left the context; search_history finds what they said · recall #]
         user: something else
         assistant: an answer
         user: newest
         user: a line of the log⏎[… 40 lines, 180 tokens elided · recall #]
         user: go on",
    );
}

#[test]
fn a_result_stands_with_its_call_whatever_is_told_between() {
    let mut session = session(
        "
user: task
call Bash c1 word … x40
user: something else
call Read c2 {}
",
    );
    let drop = Edit::Drop { units: vec![1], reason: reason() };
    let before = engine().ledger(&session).total();
    compact(&engine(), &mut session, &request(before - 1, chain(vec![drop])));
    let result = |id: &str| ToolResult {
        call_id: id.into(),
        name: None,
        text: "came".into(),
        attachments: Vec::new(),
        is_error: false,
    };
    session.push(Message::result("", result("c1")));
    session.push(Message::result("", result("c2")));
    expect(
        &session,
        "user: task
         user: [1 earlier message left the context; search_history finds what they said · recall #]
         user: something else
         assistant: (call c2) {}
         tool: (result c2) came
         user: came",
    );
}
