//! What stays on request, what is not worth making, and what leaves below the thresholds.

use std::sync::Arc;

use epitome_engine::{Chain, MemoryArchive, Outcome, Pins, Request, Status, block_on};
use epitome_session::Trigger;
use epitome_strategy::{BlockRef, Edit};
use epitome_testkit::session;

use super::support::{Script, Spy, compact, engine, reason, request, shown};

/// A task, eight steps of about 100 tokens, a question.
fn talk() -> String {
    let steps: String = (0..8).map(|step| format!("assistant: step {step} word … x25\n")).collect();
    format!("user: task\n{steps}user: newest\n")
}

#[test]
fn the_newest_messages_stay_whole_as_far_as_there_is_room() {
    let check = |keep_recent: u32, target: u32, expect: Option<(u32, u32)>| {
        let mut session = session(&talk());
        let newest: Vec<String> = session.view().iter().map(|entry| entry.message.plain_text()).collect();
        let mut engine = engine();
        engine.pins = Pins { keep_recent, ..Pins::default() };
        let (report, _) = compact(&engine, &mut session, &request(target, None));
        assert_eq!(report.status, Status::Compacted);
        assert!(report.tokens_after <= target, "{}", report.tokens_after);
        assert_eq!(report.recent.map(|recent| (recent.asked, recent.kept)), expect, "{keep_recent} at {target}");
        let kept = expect.map_or(0, |(_, kept)| kept as usize);
        let view: Vec<String> = session.view().iter().map(|entry| entry.message.plain_text()).collect();
        assert!(view.ends_with(&newest[newest.len() - kept..]), "{}", shown(&session));
        let pinned = report.messages.iter().rev().take_while(|receipt| receipt.outcome == Outcome::Pinned).count();
        assert!(pinned >= kept, "{pinned}");
    };
    check(0, 400, None);
    check(3, 400, Some((3, 3)));
    // The newest question is there anyway; of the others as many as fit in half of the room.
    check(6, 400, Some((6, 3)));
    check(4, 600, Some((4, 4)));
    check(100, 120, Some((100, 1)));
}

#[test]
fn what_saves_too_little_is_not_made_and_nobody_is_asked() {
    let check = |min_saving: u32, expect: Status| {
        let mut session = session(&format!("system: rule of the house … x200\n{}", talk()));
        let spy = Arc::new(Spy::default());
        let chain = Some(Chain(vec![spy.clone()]));
        let before = engine().ledger(&session).total();
        let asked = Request { min_saving, limit: before, trigger: Trigger::Hard, ..request(before / 2, chain) };
        let (report, archive) = compact(&engine(), &mut session, &asked);
        assert_eq!(report.status, expect, "{min_saving}");
        let is_made = expect == Status::Compacted;
        assert_eq!((spy.0.lock().unwrap().is_empty(), archive.is_empty()), (!is_made, !is_made));
        assert_eq!(report.saved_ratio > 0.0, is_made);
        (before, report)
    };
    let (before, made) = check(0, Status::Compacted);
    let saved = before - made.stays;
    assert!(made.stays > before / 2, "what must stay: {} of {before}", made.stays);
    check(saved, Status::Compacted);
    let (_, report) = check(saved + 1, Status::NoChange);
    let why = report.stopped.unwrap();
    assert!(why.starts_with("not made: of ") && why.contains("system"), "{why}");
}

#[test]
fn clearing_is_an_epoch_and_no_compaction() {
    const RESULT: &str = "line {n} of a result … x40 lines";
    let fixture = format!("user: task\ncall Read c1 {{}}\nresult c1: {RESULT}\nassistant: seen\nuser: newest\n");
    let clear = |least: u32| {
        let mut session = session(&fixture);
        let (engine, mut archive) = (engine(), MemoryArchive::new());
        let mut ledger = engine.ledger(&session);
        let before = session.view().to_vec();
        let at = BlockRef { message: 2, block: 0 };
        let cut = Edit::Excerpt { message: at.message, block: at.block, keep: Vec::new(), reason: reason() };
        let script = Script("script", vec![cut]);
        let cleared = block_on(engine.clear(&mut session, &mut ledger, &mut archive, &script, least)).unwrap();
        assert_eq!(ledger.total(), engine.ledger(&session).total(), "the total is that of a recount");
        assert_eq!(session.cycle(), 0, "it is not a compaction of the session");
        assert_eq!(archive.is_empty(), cleared.is_none(), "what is given up leaves nothing");
        if let Some(cleared) = cleared {
            session.undo(cleared.epoch).unwrap();
        }
        assert_eq!(session.view(), before);
        cleared.map(|cleared| cleared.tokens_before - cleared.tokens_after)
    };
    let saved = clear(0).unwrap();
    assert_eq!((clear(saved), clear(saved + 1)), (Some(saved), None));
}
