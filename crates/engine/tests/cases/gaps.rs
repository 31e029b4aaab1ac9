//! Places where messages left without a text: the model reads of each, where there is room.

use epitome_engine::{Outcome, Request};
use epitome_session::{EditKind, Heading, Origin, Session};
use epitome_strategy::{Archive, ArchivedContent, Edit, SummaryText};
use epitome_testkit::session;

use super::support::{chain, compact, engine, reason, request, shown};

/// Units: task, steps 1 to 7 with a typed message as unit 4, the newest message.
const TALK: &str = "
user: task
assistant: one word … x60
assistant: two word … x60
assistant: three word … x60
user: stay with it
assistant: four word … x60
assistant: five word … x60
assistant: six word … x60
user: newest
";

fn drop(units: &[u32]) -> Edit {
    Edit::Drop { units: units.to_vec(), reason: reason() }
}

/// The first word of each message, and the number of messages that a notice names.
fn outline(session: &Session) -> String {
    let words = |text: String| {
        let notice = text.split_once(" earlier message").filter(|_| text.contains("left the context"));
        notice.map_or_else(
            || text.split_whitespace().next().unwrap_or_default().to_owned(),
            |(number, _)| format!("{number}]"),
        )
    };
    session.view().iter().map(|entry| words(entry.message.plain_text())).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_stretch_that_left_is_named_where_it_was() {
    let check = |edits: Vec<Edit>, room: u32, expect: &str| {
        let mut session = session(TALK);
        let before = engine().ledger(&session).total();
        let dropped: u32 = edits
            .iter()
            .map(|edit| match edit {
                Edit::Drop { units, .. } => units.len() as u32,
                _ => 0,
            })
            .sum();
        let each = engine().ledger(&session).entry(session.view()[1].key).unwrap().total;
        // The chain's edits end just at the budget, but for the room.
        let budget = before - each * dropped + room;
        let (report, archive) = compact(&engine(), &mut session, &request(budget, chain(edits)));
        assert_eq!(outline(&session), expect, "{}", shown(&session));
        assert!(report.tokens_after <= budget);
        for edit in report.edits.iter().filter(|edit| edit.edit == EditKind::Drop) {
            let Some(ArchivedContent::Messages(messages)) = archive.get(edit.recall.as_ref().unwrap()).unwrap() else {
                unreachable!("messages are archived")
            };
            assert_eq!(messages.len(), edit.messages.len(), "each run has a handle of its own");
        }
    };
    // One edit of two stretches, and edits of one stretch.
    check(vec![drop(&[1, 2, 5])], 59, "task [2] three stay [1] five six newest");
    check(vec![drop(&[1]), drop(&[2])], 59, "task [2] three stay four five six newest");
    // Where there is room for one notice, the largest stretch has it.
    check(vec![drop(&[2, 5, 6])], 25, "task one three stay [2] six newest");
    check(vec![drop(&[1, 2, 5])], 5, "task three stay five six newest");
}

#[test]
fn a_later_compaction_counts_what_a_notice_names() {
    let mut session = session(TALK);
    let total = |session: &Session| engine().ledger(session).total();
    let budget = total(&session) - 90;
    compact(&engine(), &mut session, &request(budget, chain(vec![drop(&[1, 2])])));
    assert_eq!(outline(&session), "task [2] three stay four five six newest");
    let budget = total(&session) - 60;
    compact(&engine(), &mut session, &request(budget, chain(vec![drop(&[1, 2])])));
    assert_eq!(outline(&session), "task [3] stay four five six newest");
}

#[test]
fn a_summary_that_leaves_again_is_told_as_one_that_did() {
    let mut session = session(TALK);
    let text = "what was said and done in these steps word ".repeat(4);
    let summary = Edit::Summarize { units: vec![1, 2, 3], summary: SummaryText::Ready(text), reason: reason() };
    let (report, _) = compact(&engine(), &mut session, &Request { ..request(60, chain(vec![summary])) });
    let edit = report.edits.iter().find(|edit| edit.edit == EditKind::Summarize).unwrap();
    assert!(edit.reason.detail.starts_with("because; its text left again: "), "{:?}", edit.reason);
    let outcomes: Vec<Outcome> = report.messages.iter().map(|receipt| receipt.outcome).collect();
    assert_eq!(outcomes[1..4], [Outcome::Dropped; 3], "{}", shown(&session));
}

#[test]
fn the_floors_notice_counts_what_left_around_it() {
    let check = |edits: Vec<Edit>, budget: u32, expect: &str| {
        let mut session = session(TALK);
        let (report, _) = compact(&engine(), &mut session, &request(budget, chain(edits)));
        assert_eq!(outline(&session), expect, "{}", shown(&session));
        assert!(report.tokens_after <= budget, "{report:?}");
        let saved: u32 = report.edits.iter().map(|edit| edit.tokens_saved).sum();
        assert_eq!(report.tokens_before - saved, report.tokens_after);
        // The journal counts the same messages as the text.
        let notice = session.view().iter().find(|entry| entry.message.origin == Origin::Notice).unwrap();
        let text = notice.message.plain_text();
        let told = Heading::read(&text).unwrap().messages;
        assert_eq!(u64::from(session.covered_messages(notice.key)), told);
    };
    let budget = 100;
    check(vec![drop(&[2]), drop(&[6])], budget, "task [7] newest");
    check(vec![drop(&[1]), drop(&[3])], budget, "task [7] newest");
    check(vec![drop(&[1, 2])], budget, "task [7] newest");
    check(vec![drop(&[6, 7])], budget, "task [7] newest");
}
