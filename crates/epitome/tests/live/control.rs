//! By hand: compact, preview, edit, apply, undo, recall, history.

use epitome::engine::{EditSummaryError, EngineError, Status, block_on};
use epitome::live::{Compaction, LiveError};
use epitome::session::Trigger;
use epitome::strategy::ArchivedContent;

use super::support::{SMALL, compact, live, shown, talk, user, words};

#[test]
fn a_session_is_compacted_undone_and_recalled() {
    let mut live = live(SMALL);
    talk(&mut live, 1_500);
    let before = live.session().view().to_vec();
    let report = compact(&mut live).unwrap();
    assert_eq!((report.status, report.trigger), (Status::Compacted, Trigger::Manual));
    assert!(live.tokens() <= 1_000 && live.tokens() == report.tokens_after);
    assert_eq!(live.tokens(), live.engine().ledger(live.session()).total(), "the total is that of a recount");

    let history = live.history();
    let [entry] = &history[..] else { panic!("one compaction: {history:?}") };
    assert_eq!((entry.tokens_before, entry.tokens_after), (Some(report.tokens_before), Some(report.tokens_after)));
    assert_eq!(entry.edits.get("summary"), Some(&1));
    let Some(ArchivedContent::Messages(left)) = live.recall(&entry.recall[0]).unwrap() else { panic!("messages left") };
    assert_eq!(left[0].plain_text(), before[1].message.plain_text(), "behind the task, from the oldest on");
    assert!(live.recall("no such handle").unwrap().is_none());

    live.push(user("something new")).unwrap();
    live.undo(entry.epoch).unwrap();
    assert_eq!(live.session().view()[..before.len()], before);
    assert_eq!(live.tokens(), live.engine().ledger(live.session()).total());
    assert!(live.history()[0].undone);
    assert!(matches!(live.undo(0), Err(LiveError::Undo(_))));
    assert!(matches!(live.undo(7), Err(LiveError::Undo(_))));
}

#[test]
fn what_was_previewed_and_edited_is_what_is_made() {
    let mut live = live(SMALL);
    talk(&mut live, 1_500);
    let before = live.session().view().to_vec();
    let mut draft = block_on(live.preview(&Compaction::focused("line 7"))).unwrap();
    assert_eq!(live.session().view(), before, "a preview changes nothing");
    let number = draft.summaries()[0].number;
    let counter = live.engine().counter.clone();
    let too_long = draft.edit_summary(number, &"far too long ".repeat(5_000), &*counter);
    assert!(matches!(too_long, Err(EditSummaryError::TooLong { .. })));
    draft.edit_summary(number, "The parser reads lines; line 7 is the problem.", &*counter).unwrap();
    let expected = draft.report.clone();
    let report = block_on(live.apply(draft.clone())).unwrap();
    assert_eq!(report, expected);
    assert!(live.history()[0].summaries[0].ends_with("\nThe parser reads lines; line 7 is the problem."));
    assert_eq!(live.tokens(), live.engine().ledger(live.session()).total());

    let again = block_on(live.apply(draft));
    assert!(matches!(again, Err(LiveError::Engine(EngineError::Stale))), "{again:?}");
}

#[test]
fn a_draft_of_another_state_is_refused() {
    let mut live = live(SMALL);
    talk(&mut live, 1_500);
    let draft = block_on(live.preview(&Compaction::default())).unwrap();
    live.push(user("something new")).unwrap();
    let view = shown(live.session());
    let error = block_on(live.apply(draft)).unwrap_err();
    assert!(error.to_string().contains("the session has changed since it was made"), "{error}");
    assert!(!error.is_retryable());
    assert_eq!(shown(live.session()), view);
}

#[test]
fn nothing_to_do_is_a_normal_answer() {
    let mut live = live(SMALL);
    live.push(user(&words(0))).unwrap();
    let report = compact(&mut live).unwrap();
    assert_eq!(report.status, Status::NoChange);
    let why = report.stopped.unwrap();
    assert!(why.starts_with("not made: ") && why.contains("newest-user"), "{why}");
    assert!(live.history().is_empty());
}

#[test]
fn who_asks_for_a_compaction_gets_one_below_the_target_too() {
    let mut live = live(SMALL);
    talk(&mut live, 800);
    assert!(live.tokens() < 1_000, "below the target of the budget");
    let report = compact(&mut live).unwrap();
    assert_eq!(report.status, Status::Compacted);
    assert!(report.tokens_after <= report.tokens_before / 2, "{} of {}", report.tokens_after, report.tokens_before);
    let saved = f64::from(report.tokens_before - report.tokens_after) / f64::from(report.tokens_before);
    assert!((report.saved_ratio - saved).abs() < 0.001 && report.flushed_memories == 0, "{}", report.saved_ratio);
}

#[test]
fn what_cannot_fit_says_so_and_why() {
    let mut live = live(SMALL);
    live.push(user(&"a giant <Pin> request … ".repeat(1_000))).unwrap();
    let view = shown(live.session());
    let error = compact(&mut live).unwrap_err();
    assert!(matches!(error, LiveError::Infeasible { limit: 1_900, .. }), "{error:?}");
    assert!(error.to_string().contains("newest-user"), "{error}");
    assert_eq!(shown(live.session()), view);
    // One without a pin is cut to its head and tail, and can be recalled.
    live.push(user(&"a giant request … ".repeat(1_000))).unwrap();
    assert!(compact(&mut live).is_err(), "the first one stays pinned");
    let mut live = super::support::live(SMALL);
    live.push(user(&"a giant request … ".repeat(1_000))).unwrap();
    assert_eq!(compact(&mut live).unwrap().status, Status::Compacted);
    assert!(live.recall(&live.history()[0].recall[0]).unwrap().is_some());
}

#[test]
fn work_on_a_session_can_move_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    let mut live = live(SMALL);
    is_send(&live);
    is_send(&live.maintain());
    is_send(&live.compact(&Compaction::default()));
    is_send(&live.handle_overflow(epitome::live::Overflow::default()));
}
