//! Sessions that outlive their process.

use std::fs;

use epitome::engine::block_on;
use epitome::live::{LiveError, LiveSession};
use epitome::session::Trigger;

use super::support::{SMALL, compact, live, model, runtime, talk, user};

#[test]
fn another_process_goes_on_where_one_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let mut first = live(SMALL);
    first.push(user("the task")).unwrap();
    first.keep_in(&path).unwrap();
    talk(&mut first, 1_700);
    compact(&mut first).unwrap();
    talk(&mut first, 1_700);
    compact(&mut first).unwrap();
    first.undo(1).unwrap();
    first.push(model("on it")).unwrap();
    first.save().unwrap();
    let handle = first.history()[0].recall[0].clone();
    let (digest, view, tokens) = (first.session().state_hash(), first.session().view().to_vec(), first.tokens());
    let recalled = first.recall(&handle).unwrap();

    let busy = LiveSession::open(&runtime(SMALL), &path).unwrap_err();
    assert!(matches!(busy, LiveError::Store(_)), "one process at a time: {busy}");
    drop(first);
    let mut second = LiveSession::open(&runtime(SMALL), &path).unwrap();
    assert_eq!((second.session().state_hash(), second.session().view()), (digest, &view[..]));
    assert_eq!(second.tokens(), tokens);
    assert_eq!(second.recall(&handle).unwrap(), recalled);
    second.push(user("and on")).unwrap();
    assert!(LiveSession::new(&runtime(SMALL)).keep_in(&path).is_err(), "a file that exists is not overwritten");
}

/// Whatever part of a compaction's bytes reached the disk: the session is the one before or the one after.
#[test]
fn an_interrupted_compaction_leaves_the_session_before_or_after() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let mut live = live(SMALL);
    live.keep_in(&path).unwrap();
    talk(&mut live, 1_700);
    live.save().unwrap();
    let before = (fs::read(&path).unwrap(), live.session().state_hash());
    compact(&mut live).unwrap();
    live.save().unwrap();
    let after = (fs::read(&path).unwrap(), live.session().state_hash());
    drop(live);
    assert!(after.0.starts_with(&before.0), "a compaction is appended");
    let torn = folder.path().join("torn.jsonl");
    let mut outcomes = [0, 0];
    // Every byte around the ends of lines, and one in 17 between them.
    let at_line = |length: usize| after.0[length.saturating_sub(2)..(length + 2).min(after.0.len())].contains(&b'\n');
    let lengths = (before.0.len()..=after.0.len()).filter(|length| length % 17 == 0 || at_line(*length));
    let lengths: Vec<usize> = lengths.collect();
    for length in lengths.iter().copied() {
        fs::write(&torn, &after.0[..length]).unwrap();
        let live = LiveSession::open(&runtime(SMALL), &torn).unwrap();
        let digest = live.session().state_hash();
        assert!(digest == before.1 || digest == after.1, "neither before nor after at byte {length}");
        outcomes[usize::from(digest == after.1)] += 1;
    }
    assert_eq!(outcomes, [lengths.len() - 1, 1], "only the last byte makes it the one after");
}

/// The state beside a session's messages is restored when it is opened.
#[test]
fn a_session_that_is_opened_again_goes_on_counting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let rounds = format!("{SMALL}[triggers]\nrounds = 4\n");
    let mut first = live(&rounds);
    first.keep_in(&path).unwrap();
    talk(&mut first, 1_500);
    compact(&mut first).unwrap();
    for turn in 0..3 {
        first.push(user(&format!("question {turn}"))).unwrap();
    }
    assert!(!first.check().should_compact, "three rounds since the compaction");
    drop(first);
    let mut second = LiveSession::open(&runtime(&rounds), &path).unwrap();
    assert!(!second.check().should_compact);
    second.push(user("the fourth")).unwrap();
    assert_eq!(second.check().trigger, Some(Trigger::Rounds));
}

/// A draft names what it archived: made by another process, that is nowhere.
#[test]
fn a_draft_of_another_process_is_refused_where_its_archive_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let mut first = live(SMALL);
    first.keep_in(&path).unwrap();
    talk(&mut first, 1_500);
    let draft = block_on(first.preview(&Default::default())).unwrap();
    let digest = first.session().state_hash();
    drop(first);
    let mut second = LiveSession::open(&runtime(SMALL), &path).unwrap();
    assert_eq!(second.session().state_hash(), digest);
    let error = block_on(second.apply(draft)).unwrap_err();
    assert!(matches!(error, LiveError::NotArchived { .. }), "{error}");
    assert!(second.history().is_empty());
}
