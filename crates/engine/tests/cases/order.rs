//! A summary replaces neighbours: no later text precedes the text that stays.

use epitome_engine::Report;
use epitome_session::{Origin, Session};
use epitome_strategy::{Edit, SummaryText};
use epitome_testkit::session;

use super::support::{chain, compact, engine, reason, request};

const TALK: &str = "
system: S
user: task
assistant: one word … x40
user: two word … x40
system: rule
assistant: three word … x40
user(pinned): four
assistant: five word … x40
user: newest
";

fn summary(units: &[u32]) -> Edit {
    Edit::Summarize { units: units.to_vec(), summary: SummaryText::Ready("what was said".to_owned()), reason: reason() }
}

fn drop(units: &[u32]) -> Edit {
    Edit::Drop { units: units.to_vec(), reason: reason() }
}

/// The first word of each message, summaries and notices by what they are.
fn outline(session: &Session) -> String {
    let word = |entry: &epitome_session::Entry| match entry.message.origin {
        Origin::Summary => "SUMMARY".to_owned(),
        Origin::Notice => "NOTICE".to_owned(),
        _ => entry.message.plain_text().split_whitespace().next().unwrap_or_default().to_owned(),
    };
    session.view().iter().map(word).collect::<Vec<_>>().join(" ")
}

fn compacted(edits: Vec<Edit>, saving: u32) -> (Report, String) {
    let mut session = session(TALK);
    let before = engine().ledger(&session).total();
    // Without edits the floor alone works.
    let chain = if edits.is_empty() { None } else { chain(edits) };
    let (report, _) = compact(&engine(), &mut session, &request(before - saving, chain));
    (report, outline(&session))
}

#[test]
fn neighbours_become_one_message() {
    let check = |edits: Vec<Edit>, saving: u32, expect: &str| {
        let (report, view) = compacted(edits, saving);
        assert_eq!((view.as_str(), report.steps[0].refused), (expect, 0), "{:?}", report.steps);
    };
    check(vec![summary(&[2, 3])], 60, "S task SUMMARY rule three four five newest");
    // A part of the system prompt is not part of the conversation.
    check(vec![summary(&[3, 5])], 60, "S task one SUMMARY rule four five newest");
    // What left before does not stay.
    check(vec![drop(&[3]), summary(&[2, 5])], 120, "S task SUMMARY rule four five newest");
}

#[test]
fn what_stays_is_not_reached_over() {
    let check = |edits: Vec<Edit>, later: &str| {
        let (report, _) = compacted(edits, 130);
        let expect = format!("an edit would put what came later in front of `{later}`");
        assert_eq!(report.steps[0].declined.as_deref().or(Some("")), Some(expect.as_str()), "{:?}", report.steps);
    };
    check(vec![summary(&[2, 5])], "m3");
    check(vec![summary(&[5, 7])], "m6");
    // What leaves only afterwards stays until then.
    check(vec![summary(&[2, 5]), drop(&[1])], "m3");
}

#[test]
fn two_summaries_do_not_cross() {
    let (report, view) = compacted(vec![summary(&[3]), summary(&[2, 5])], 130);
    // The second is refused each time that the plan is asked for.
    assert_eq!(report.steps[0].edits, 1, "{:?}", report.steps);
    assert!(report.steps[0].refused > 0 && view.ends_with("newest"), "{view}");
}

#[test]
fn each_run_that_left_has_a_notice_where_there_is_room() {
    let (report, view) = compacted(Vec::new(), 330);
    assert_eq!(view, "S task NOTICE rule four NOTICE newest");
    let kinds: Vec<&str> =
        report.edits.iter().map(|edit| if edit.messages.len() == 3 { "three" } else { "one" }).collect();
    assert_eq!(kinds, ["three", "one"], "{:?}", report.edits);
}
