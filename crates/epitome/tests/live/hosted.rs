//! Hosts that keep sessions elsewhere: copies to look at, listeners for a while, views of the past.

use std::sync::{Arc, Mutex};

use epitome::engine::block_on;
use epitome::live::{LiveSession, epoch_views};
use epitome::session::{Entry, Session};

use super::support::{SMALL, compact, live, runtime, shown, talk, user};

fn texts(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| format!("{} {}", entry.message.id, entry.message.plain_text())).collect()
}

#[test]
fn the_views_on_both_sides_of_each_compaction() {
    let mut live = live(SMALL);
    let mut views = Vec::new();
    for _ in 0..4 {
        talk(&mut live, 1_700);
        let before = texts(live.session().view());
        compact(&mut live).unwrap();
        views.push((before, texts(live.session().view())));
    }
    let check = |session: &Session| {
        for (epoch, (before, after)) in (0..).zip(&views) {
            let sides = epoch_views(session, epoch).unwrap();
            assert_eq!((&texts(&sides.before), &texts(&sides.after)), (before, after), "{epoch}");
        }
        assert!(epoch_views(session, 4).is_none());
    };
    check(live.session());
    // Also of those that were undone, and when more was said.
    live.undo(3).unwrap();
    live.undo(2).unwrap();
    live.push(user("Go on.")).unwrap();
    let of = |epoch: u32| epoch_views(live.session(), epoch).map(|sides| (texts(&sides.before), texts(&sides.after)));
    assert_eq!(of(2).as_ref(), Some(&views[2]));
    let (before, _) = of(3).unwrap();
    assert!(before.len() > views[3].0.len(), "without the compaction before it, which is undone");
}

#[test]
fn a_copy_is_a_session_of_its_own() {
    let mut live = live(SMALL);
    talk(&mut live, 1_700);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    live.listen(Some(Arc::new(move |event| told.lock().unwrap().push(event.name()))));
    let mut copy = live.copy();
    assert_eq!(
        (copy.session().state_hash(), copy.tokens(), copy.check()),
        (live.session().state_hash(), live.tokens(), live.check())
    );
    compact(&mut copy).unwrap();
    assert!(copy.tokens() < live.tokens() && heard.lock().unwrap().is_empty(), "nobody watches the copy");
    let draft = block_on(copy.preview(&Default::default())).unwrap();
    assert!(block_on(live.apply_previewed(draft)).is_err(), "it is of another state");
    let draft = block_on(live.preview(&Default::default())).unwrap();
    block_on(live.apply_previewed(draft)).unwrap();
    assert_eq!(shown(live.session()), shown(copy.session()));
    let heard_so_far = heard.lock().unwrap().clone();
    assert_eq!(
        heard_so_far,
        ["compaction_start", "compaction_error", "compaction_start", "compaction_done", "token_update"]
    );
    live.listen(None);
    live.push(user("Go on.")).unwrap();
    assert_eq!(heard.lock().unwrap().len(), heard_so_far.len());
}

#[test]
fn a_session_of_a_store_goes_on() {
    let mut live = live(SMALL);
    talk(&mut live, 1_700);
    compact(&mut live).unwrap();
    let (session, archive) = live.parts();
    let (session, archive) = (session.clone(), archive.clone());
    let resumed = LiveSession::resume(&runtime(SMALL), session, archive);
    assert_eq!((resumed.tokens(), resumed.check()), (live.tokens(), live.check()));
    let handle = resumed.history()[0].recall[0].clone();
    assert_eq!(resumed.recall(&handle).unwrap(), live.recall(&handle).unwrap());
}

#[test]
fn nobody_is_asked_where_somebody_has_agreed() {
    let mut live = live(&format!("{SMALL}[live]\nrequire_confirmation = true\n"));
    talk(&mut live, 1_700);
    let before = live.tokens();
    block_on(live.maintain_agreed()).unwrap();
    assert!(live.tokens() < before);
}
