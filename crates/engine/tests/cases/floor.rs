//! The floor, and what it may not touch.

use epitome_engine::{Engine, Outcome, Status};
use epitome_session::{Block, EditKind, Message, Origin, Session};
use epitome_strategy::{Archive, ArchivedContent};
use epitome_testkit::session;

use super::support::{compact, engine, request, shown};

#[test]
fn the_floor_cuts_a_giant_text_before_anything_leaves() {
    let mut session = session(
        "
user: task
call Read c1 {}
result c1: a small result
call Bash c2 {}
result c2: line {n} of a giant … x900 lines
assistant: done
user: newest
",
    );
    let (report, _) = compact(&engine(), &mut session, &request(1_000, None));
    assert_eq!(report.status, Status::Compacted);
    assert_eq!(report.edits.len(), 1);
    assert_eq!((report.edits[0].edit, &*report.edits[0].strategy), (EditKind::Excerpt, "floor"));
    assert_eq!(session.view().len(), 7, "{}", shown(&session));
    let result = session.view()[4].message.blocks[0].as_result().unwrap().text.clone();
    assert!(result.starts_with("line 1 of a giant\nline 2 ") && result.ends_with("line 900 of a giant"), "{result}");
    assert!(report.tokens_after > 700, "it is cut to what is needed: {}", report.tokens_after);
}

#[test]
fn the_floor_lets_the_oldest_leave_first() {
    let mut session = session(
        "
user: task
assistant: one word … x30
assistant: two word … x30
assistant: three word … x30
assistant: four word … x30
user: newest
",
    );
    let before = engine().ledger(&session).total();
    let (report, archive) = compact(&engine(), &mut session, &request(before - 40, None));
    let left = &report.edits[0];
    assert_eq!((&*left.strategy, &*left.reason.code), ("floor", "oldest-first"));
    let gone: Vec<Outcome> = report.messages.iter().map(|receipt| receipt.outcome).collect();
    assert!(gone[1] == Outcome::Dropped && gone[4] == Outcome::Kept, "{gone:?}");
    let newest_gone = gone.iter().rposition(|outcome| *outcome == Outcome::Dropped).unwrap();
    assert!(gone[1..=newest_gone].iter().all(|outcome| *outcome == Outcome::Dropped), "{gone:?}");
    let Some(ArchivedContent::Messages(messages)) = archive.get(left.recall.as_ref().unwrap()).unwrap() else {
        unreachable!("messages are archived")
    };
    assert_eq!(messages.len(), newest_gone);
}

#[test]
fn the_newest_step_shrinks_when_nothing_else_is_left() {
    let mut session = session(
        "
user: task
call Read c1 {}
result c1: line {n} of a giant … x900 lines
",
    );
    let (report, _) = compact(&engine(), &mut session, &request(300, None));
    assert_eq!((report.status, session.view().len()), (Status::Compacted, 3));
    assert!(report.tokens_after <= 300);
}

/// The conversation of which each part is there to be kept by one setting.
const PINNABLE: &str = "
user: the task word … x40
call Deploy d1 {}
result d1: deployed … x40
user: remember <Pin> this … x40
call Bash b1 {}
result b1: a log … x40
user(pinned): the host pinned it … x40
assistant: some answer … x40
user: newest
call Bash b2 {}
result b2: the end
";

#[test]
fn settings_say_what_stays() {
    let check = |change: &dyn Fn(&mut Engine), expect: &[&str]| {
        let mut engine = engine();
        engine.pins.protected_tools = Vec::new();
        engine.pins.markers = Vec::new();
        engine.pins.original_task = false;
        change(&mut engine);
        let mut session = session(PINNABLE);
        // A budget of nothing names what stays; at that floor it is met.
        let (report, _) = compact(&engine, &mut session, &request(1, None));
        assert_eq!(report.status, Status::Infeasible);
        let ledger = engine.ledger(&session);
        let task = ledger.entry(session.view()[0].key).unwrap().total;
        // The task yields where it has to: for it to stay, there must be room for it whole.
        let floor = report.floor.unwrap().tokens + if engine.pins.original_task { task } else { 0 };
        let (report, _) = compact(&engine, &mut session, &request(floor, None));
        assert_eq!(report.status, Status::Compacted);
        let stays: Vec<String> = report
            .messages
            .iter()
            .filter(|receipt| matches!(receipt.outcome, Outcome::Kept | Outcome::Pinned))
            .map(|receipt| receipt.id.to_string())
            .collect();
        assert_eq!(stays, expect);
    };
    check(&|_| {}, &["m6", "m8", "m9", "m10"]);
    check(&|engine| engine.pins.original_task = true, &["m0", "m6", "m8", "m9", "m10"]);
    check(&|engine| engine.pins.protected_tools = vec!["Deploy".to_owned()], &["m1", "m2", "m6", "m8", "m9", "m10"]);
    check(&|engine| engine.pins.markers = vec!["<Pin>".to_owned()], &["m3", "m6", "m8", "m9", "m10"]);
    check(&|engine| engine.pins.last_rounds = 2, &["m6", "m7", "m8", "m9", "m10"]);
    check(&|engine| engine.pins.last_rounds = 3, &["m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"]);
}

#[test]
fn a_task_that_leaves_no_room_is_cut() {
    let check = |text: &str, budget: u32, expect: Option<&[&str]>| {
        let mut session = session(text);
        let task = session.view()[0].message.plain_text();
        let (report, archive) = compact(&engine(), &mut session, &request(budget, None));
        let Some(expect) = expect else {
            assert_eq!(report.status, Status::Infeasible, "{}", shown(&session));
            return;
        };
        assert_eq!(report.status, Status::Compacted);
        assert!(report.tokens_after <= budget, "{}", report.tokens_after);
        let cut = session.view()[0].message.plain_text();
        for part in expect {
            assert!(cut.contains(part), "{cut}");
        }
        let edit = report.edits.iter().find(|edit| &*edit.reason.code == "message-over-budget").unwrap();
        assert_eq!(report.messages[0].outcome, Outcome::Excerpted);
        let original = archive.get(edit.recall.as_ref().unwrap()).unwrap();
        assert_eq!(original, Some(ArchivedContent::Text(task.as_str().into())));
    };
    const LONG_TASK: &str = "
user: line {n} of the task … x400 lines
assistant: some answer … x40
user: newest
call Bash b2 {}
result b2: the end
";
    // Head and tail stay, as much as the budget has room for; nothing but stubs where it has none.
    check(LONG_TASK, 600, Some(&["line 1 of the task", "line 400 of the task", "elided · recall"]));
    check(LONG_TASK, 100, Some(&["elided · recall"]));
    check(LONG_TASK, 20, None);
    // What was pinned on purpose does not yield.
    check(&LONG_TASK.replacen("user:", "user(pinned):", 1), 600, None);
    // The newest message is cut where it is the giant, as what the task's place is.
    let giant = "\nuser: line {n} of the task … x400 lines\ncall Bash b {}\nresult b: end\n";
    check(giant, 600, Some(&["line 1 of the task", "line 400 of the task", "elided · recall"]));
    check(&giant.replacen("user:", "user(pinned):", 1), 600, None);
}

#[test]
fn the_file_beside_an_instruction_yields_first() {
    const ASK: &str = "rename it in src/app.py, and never touch config.yaml";
    let file = (1..=400).map(|line| format!("line {line} of the file\n")).collect::<String>();
    let check = |texts: [&str; 2], before: &str, after: &str| {
        for budget in [800, 500, 200] {
            let mut session = Session::new();
            for part in [before, "user: the message with a file", after].iter().filter(|part| !part.is_empty()) {
                for message in epitome_testkit::session(part).log() {
                    let mut message = Message::clone(message);
                    if message.plain_text() == "the message with a file" {
                        message.blocks = texts.map(Block::text).to_vec();
                    }
                    session.push(message);
                }
            }
            let (report, _) = compact(&engine(), &mut session, &request(budget, None));
            assert_eq!(report.status, Status::Compacted);
            assert!(report.tokens_after <= budget, "{}", report.tokens_after);
            let left: String = session.view().iter().map(|entry| entry.message.plain_text()).collect();
            assert!(left.contains(ASK) && left.contains("tokens elided"), "{budget}: {left}");
        }
    };
    let after = "assistant: some answer … x40\nuser: newest\ncall Bash b {}\nresult b: end\n";
    let before = "user: begin\nassistant: some answer … x40\n";
    for texts in [[ASK, &file], [&file, ASK]] {
        check(texts, "", after);
        check(texts, before, "");
    }
}

#[test]
fn the_floor_names_its_parts() {
    let mut engine = engine();
    engine.pins.protected_tools = vec!["Deploy".to_owned()];
    let mut session = session(PINNABLE);
    let tokens = |positions: &[usize]| -> u32 {
        let ledger = engine.ledger(&session);
        positions.iter().map(|position| ledger.entry(session.view()[*position].key).unwrap().total).sum()
    };
    let (before, leaves) = (engine.ledger(&session).total(), tokens(&[4, 5, 7]));
    let stays = [
        ("protected-tool", tokens(&[1, 2]), 2),
        ("pinned", tokens(&[3, 6]), 2),
        ("newest-step", tokens(&[9, 10]), 2),
        ("newest-user", tokens(&[8]), 1),
    ];
    let whole_task = tokens(&[0]);
    let (report, _) = compact(&engine, &mut session, &request(1, None));
    let floor = report.floor.unwrap();
    for (part, tokens, messages) in stays {
        let found = floor.parts.iter().find(|known| known.part == part).map(|known| (known.tokens, known.messages));
        assert_eq!(found, Some((tokens, messages)), "{part} of {:?}", floor.parts);
    }
    let task = floor.parts.iter().find(|part| part.part == "original-task").unwrap();
    assert!(task.messages == 1 && task.tokens < whole_task, "the task yields: {task:?}");
    assert_eq!(task.tokens_before, whole_task, "its size as it is can be acted on");
    assert_eq!(floor.parts.iter().map(|part| part.tokens).sum::<u32>(), floor.tokens);
    // What may leave is no part of the floor, but for the notice that tells of it.
    let as_is: u32 = floor.parts.iter().map(|part| part.tokens_before).sum();
    let told = floor.parts.iter().any(|part| part.part == "notice");
    assert_eq!(as_is + if told { 0 } else { leaves }, before, "{:?}", floor.parts);
    assert!(floor.parts.is_sorted_by_key(|part| std::cmp::Reverse(part.tokens)), "{:?}", floor.parts);
}

#[test]
fn a_summary_is_shortened_and_becomes_no_mark() {
    let fixture = "
user: task
user(summary):
  ## Goal
  Keep the public API.
  ## Log
  line {n} of what was done … x200 lines
  ## Pending
  Run the tests again.
assistant: some answer … x40
user: newest
call Bash b {}
result b: ok
";
    let check = |budget: u32| {
        let mut session = session(fixture);
        let (report, _) = compact(&engine(), &mut session, &request(budget, None));
        assert_eq!(report.status, Status::Compacted);
        assert!(
            report.tokens_after <= budget && report.tokens_after * 4 > budget * 3,
            "{} of {budget}",
            report.tokens_after
        );
        let summary = session.view().iter().find(|entry| entry.message.origin == Origin::Summary).unwrap();
        let text = summary.message.plain_text();
        for part in ["## Goal\nKeep the public API.\n", "## Log\nline 1 of what", "## Pending\nRun the tests again."] {
            assert!(text.contains(part), "{part} at {budget}:\n{text}");
        }
        let codes: Vec<&str> = report.edits.iter().map(|edit| &*edit.reason.code).collect();
        assert!(codes.contains(&"summary-over-budget"), "{codes:?}");
    };
    [800, 600, 400].into_iter().for_each(check);
}

#[test]
fn a_summary_leaves_when_nothing_else_can_give() {
    let mut session = session("\nuser: task\nuser(summary): goals and pending work … x80\nuser: newest\n");
    let (report, _) = compact(&engine(), &mut session, &request(60, None));
    assert_eq!(report.status, Status::Compacted, "{:?}", report.floor);
    assert!(session.view().iter().all(|entry| entry.message.origin != Origin::Summary), "{}", shown(&session));
}

#[test]
fn giant_arguments_shrink_before_anything_leaves() {
    let fixture = format!(
        "
user: task
assistant: one word … x40
assistant: two word … x40
user: newest
call Write c1 {{\"path\":\"a.rs\",\"text\":{:?}}}
result c1: rejected
",
        "0123456789".repeat(800)
    );
    for budget in [500, 900, 1_500] {
        let mut session = session(&fixture);
        let (report, _) = compact(&engine(), &mut session, &request(budget, None));
        assert_eq!((report.status, session.view().len()), (Status::Compacted, 6), "{}", shown(&session));
        let edits: Vec<EditKind> = report.edits.iter().map(|edit| edit.edit).collect();
        assert_eq!(edits, [EditKind::Trim], "{:?}", report.edits);
        assert!(
            report.tokens_after <= budget && report.tokens_after * 10 > budget * 9,
            "{} of {budget}",
            report.tokens_after
        );
    }
}

#[test]
fn thinking_that_leaves_is_room() {
    let mut fixture = String::from("user: task\n");
    for step in 1..=12 {
        fixture.push_str(&format!(
            "thinking signed: thought {step} … x60\ncall Read c{step} {{}}\nresult c{step}: word … x120\n"
        ));
    }
    fixture.push_str("user: newest\n");
    let before = engine().ledger(&session(&fixture)).total();
    // All of it leaves at once, so the budgets are below what it takes alone.
    for budget in [before / 2, before / 3] {
        let mut session = session(&fixture);
        let (report, _) = compact(&engine(), &mut session, &request(budget, None));
        let unused = budget - report.tokens_after;
        assert!(unused < 260, "{unused} of {budget} unused: less than a step and its notice would be");
    }
}

#[test]
fn a_target_below_what_must_stay_is_approached_and_the_report_says_why() {
    let fixture = "
system: rule {n} … x200 lines
user: task
assistant: one word … x80
call Read c1 {}
result c1: two word … x400
user: newest
";
    let mut session = session(fixture);
    let before = engine().ledger(&session).total();
    let mut request = request(100, None);
    request.limit = 100_000;
    let (report, _) = compact(&engine(), &mut session, &request);
    assert_eq!(report.status, Status::Compacted);
    let system = engine().ledger(&session).entry(session.view()[0].key).unwrap().total;
    assert!(report.tokens_after < system + 100 && report.tokens_after < before, "{}", report.tokens_after);
    let stopped = report.stopped.unwrap();
    let expect = format!("what must stay holds {} (system {system}, ", system + 11);
    assert!(stopped.starts_with("stopped at ") && stopped.contains(&expect), "{stopped}, not {expect}");
    // At the target there is nothing to tell.
    let mut session = epitome_testkit::session(fixture);
    let (report, _) = compact(&engine(), &mut session, &super::support::request(before - 50, None));
    assert_eq!((report.status, report.stopped), (Status::Compacted, None));
}
