//! What a person, or the session's model, keeps and drops of a session that is going on.

use epitome::Status;
use epitome::engine::block_on;
use epitome::live::{Compaction, LiveSession, ModelRequest, ModelRequestOutcome, RequiredContent};
use epitome::session::{MessageRange, Trigger};

use super::support::{SMALL, compact, live, model, runtime, talk, user, words};

fn ranges(texts: &[&str]) -> Vec<MessageRange> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn by_hand(keep: &[&str], drop: &[&str]) -> Compaction {
    Compaction { keep: ranges(keep), drop: ranges(drop), ..Compaction::default() }
}

fn is_whole(live: &LiveSession, turn: usize) -> bool {
    live.session().view().iter().any(|entry| entry.message.plain_text() == words(turn))
}

#[test]
fn what_is_kept_stays_in_a_file_until_it_is_released() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let mut first = live(SMALL);
    first.keep_in(&path).unwrap();
    talk(&mut first, 900);
    let report = block_on(first.compact(&by_hand(&["#3"], &[]))).unwrap();
    assert_eq!((report.status, first.kept_messages()), (Status::NoChange, vec![3]));
    drop(first);
    let mut live = LiveSession::open(&runtime(SMALL), &path).unwrap();
    assert_eq!(live.kept_messages(), [3]);
    for _ in 0..3 {
        talk(&mut live, 1_700);
        compact(&mut live).unwrap();
        assert!(is_whole(&live, 3) && !is_whole(&live, 4));
    }
    assert_eq!(live.release(&ranges(&["#0-#2"])).unwrap(), []);
    assert_eq!(live.release(&ranges(&["#1-#5"])).unwrap(), ranges(&["#3"]));
    drop(live);
    let mut live = LiveSession::open(&runtime(SMALL), &path).unwrap();
    assert_eq!(live.kept_messages(), [0_u32; 0]);
    talk(&mut live, 1_700);
    compact(&mut live).unwrap();
    assert!(!is_whole(&live, 3));
}

#[test]
fn a_drop_alone_is_all_that_is_done_where_the_target_is_met() {
    let mut live = live(SMALL);
    talk(&mut live, 900);
    let messages = live.session().view().len();
    let report = block_on(live.compact(&by_hand(&[], &["#2-#3"]))).unwrap();
    assert_eq!(report.status, Status::Compacted);
    assert_eq!(live.session().view().len(), messages - 2 + 1, "two left, and a notice came");
    let recalled = live.recall(live.history()[0].recall[0].clone().as_ref()).unwrap();
    assert!(format!("{recalled:?}").contains(&words(2)), "{recalled:?}");
    live.undo(0).unwrap();
    assert!(is_whole(&live, 2) && is_whole(&live, 3));
}

#[test]
fn a_model_s_wish_is_weighed() {
    let asked = |keep: Vec<RequiredContent>| ModelRequest {
        reason: "the tests pass".to_owned(),
        next_step: "the docs".to_owned(),
        keep,
        has_open_calls: false,
    };
    let told = |live: &mut LiveSession, keep: Vec<RequiredContent>| {
        block_on(live.compact_as_asked(&asked(keep))).unwrap().to_string()
    };
    let mut live = live(&format!("{SMALL}[live]\nasked_share = 0.5\nasked_calls = 3\n"));
    talk(&mut live, 700);
    let low = told(&mut live, Vec::new());
    assert!(low.starts_with("Not yet: the context is 3") && low.contains("from 50 % on"), "{low}");
    talk(&mut live, 1_300);
    let text = words(5);
    let done = told(
        &mut live,
        vec![RequiredContent::Text(text[..60].to_owned()), RequiredContent::Messages("#3".parse().unwrap())],
    );
    assert!(done.starts_with("Compacted: ") && done.contains("Kept whole: #3, #5."), "{done}");
    assert!(is_whole(&live, 3) && is_whole(&live, 5));
    assert_eq!(live.kept_messages(), [0_u32; 0], "for this compaction");
    assert_eq!(live.history()[0].trigger, Trigger::Marker);
    for _ in 0..2 {
        live.push(model(&"word ".repeat(300))).unwrap();
        live.push(user("go on")).unwrap();
    }
    let soon = told(&mut live, Vec::new());
    assert!(soon.starts_with("Not yet: the context was compacted 2 turns of yours ago"), "{soon}");
    live.push(model("done")).unwrap();
    let outcome = block_on(live.compact_as_asked(&asked(Vec::new()))).unwrap();
    assert!(matches!(outcome, ModelRequestOutcome::Compacted { .. }), "{outcome}");
    let beside = ModelRequest { has_open_calls: true, ..asked(Vec::new()) };
    let refused = block_on(live.compact_as_asked(&beside)).unwrap().to_string();
    assert!(refused.starts_with("Not yet: the calls beside this one"), "{refused}");
}
