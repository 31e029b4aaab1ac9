//! The room is used: what left comes back while it fits, and what cannot fit leaves first.

use epitome_engine::{Engine, Report, Request, Status};
use epitome_session::{Block, Content, Media, MediaSource, Message, Origin, Role, Session, Trigger};
use epitome_strategy::{Edit, SummaryText};
use epitome_testkit::session;

use super::support::{chain, compact, engine, expect, reason, request, shown};

const TALK: &str = "
system: S
user: task
assistant: one word … x20
user: rule
call Read c1 {}
result c1: a line of the file … x90
assistant: three word … x20
user: newest
";

fn refilling() -> Engine {
    Engine { refill: true, ..engine() }
}

fn drop(units: &[u32]) -> Edit {
    Edit::Drop { units: units.to_vec(), reason: reason() }
}

fn summary(units: &[u32]) -> Edit {
    summary_of(units, "so")
}

fn summary_of(units: &[u32], text: &str) -> Edit {
    Edit::Summarize { units: units.to_vec(), summary: SummaryText::Ready(text.to_owned()), reason: reason() }
}

/// Compacts a talk by edits to its tokens less `saving`.
fn compacted(edits: Vec<Edit>, saving: u32) -> (Session, Report) {
    let mut session = session(TALK);
    let before = engine().ledger(&session).total();
    let (report, _) = compact(&refilling(), &mut session, &request(before - saving, chain(edits)));
    assert!(report.tokens_after <= before - saving, "{}", report.tokens_after);
    (session, report)
}

#[test]
fn what_left_comes_back_while_it_fits() {
    let check = |edits: Vec<Edit>, saving: u32, view: &str, back: u32| {
        let (session, report) = compacted(edits, saving);
        expect(&session, view);
        let step = report.steps.iter().find(|step| &*step.strategy == "refill");
        assert_eq!(step.map_or(0, |step| step.edits), back, "{:?}", report.steps);
        assert_eq!(report.tokens_after, engine().ledger(&session).total());
    };
    // What was typed first, then what the model said, the newest first; the step is too large.
    check(
        vec![drop(&[2, 3, 4, 5])],
        100,
        "system: S
         user: task
         assistant: one word one word one word one … ord one word one word one word
         user: rule
         user: [2 earlier messages left the context; search_history finds what they said · recall #]
         assistant: three word three word three wo … ree word three word three word
         user: newest",
        3,
    );
}

#[test]
fn what_a_summary_tells_comes_back_from_its_end() {
    let (session, report) = compacted(vec![summary(&[2, 3, 4, 5])], 20);
    let view = shown(&session);
    // Its own text stays in front of what came back, and counts what it stands for now.
    let at = |text: &str| view.find(text).unwrap_or_else(|| panic!("{text}: {view}"));
    assert!(at("[Summary of 2 earlier messages") < at("three word") && at("so") < at("three word"), "{view}");
    assert!(report.steps.iter().any(|step| &*step.strategy == "refill" && step.edits == 2), "{:?}", report.steps);
    assert!(!view.contains("user: rule"), "{view}");
}

/// A call in the lines of a transcript and as it was would read as two.
#[test]
fn what_a_transcript_tells_does_not_come_back() {
    let (session, report) = compacted(vec![summary_of(&[2, 3, 4, 5], "» one word\n▸ Read ✓\n» three word")], 20);
    let view = shown(&session);
    assert!(!view.contains("three word three word") && view.contains("▸ Read"), "{view}");
    assert!(report.steps.iter().all(|step| &*step.strategy != "refill"), "{:?}", report.steps);
}

#[test]
fn without_the_step_the_room_stays_empty() {
    let mut session = session(TALK);
    let before = engine().ledger(&session).total();
    let (report, _) = compact(&engine(), &mut session, &request(before - 200, chain(vec![drop(&[2, 3, 4, 5])])));
    assert!(report.steps.iter().all(|step| &*step.strategy != "refill"), "{:?}", report.steps);
    assert!(!shown(&session).contains("rule"), "{:?}", report.steps);
}

#[test]
fn what_cannot_shrink_and_does_not_fit_leaves_first() {
    let picture = || {
        let media = Media { mime: "image/png".into(), source: MediaSource::Base64("AAAA".into()), ..Media::default() };
        Block::new(Content::Media(media))
    };
    let check = |blocks: Vec<Block>, edits: Vec<Edit>, kept: &[&str]| {
        let mut session = session("user: task\nassistant: one\n");
        session.push(Message { blocks, ..Message::text("", Role::User, Origin::Typed, "") });
        session.push(Message::text("", Role::Assistant, Origin::Model, "seen"));
        session.push(Message::text("", Role::User, Origin::Typed, "newest"));
        let (report, _) = compact(&engine(), &mut session, &request(400, chain(edits)));
        let view = shown(&session);
        assert_eq!(report.status, Status::Compacted, "{view}");
        assert_eq!(&*report.steps[0].strategy, "oversize", "{:?}", report.steps);
        for text in kept {
            assert!(view.contains(text), "{text}: {view}");
        }
    };
    let all = ["task", "one", "seen", "newest"];
    check(vec![picture()], Vec::new(), &all);
    check(
        vec![Block::text("look at this"), picture()],
        Vec::new(),
        &[&all[..], &["look at this", "1 attachment elided"]].concat(),
    );
    // A smaller part is no reason for the larger to stay.
    check(vec![picture(), Block::text("look at this"), picture()], Vec::new(), &all);
}

#[test]
fn a_named_chain_that_declines_is_no_success() {
    let check = |edits: Vec<Edit>, trigger: Trigger, status: Status, stopped: Option<&str>| {
        let mut session = session(TALK);
        let before = session.view().to_vec();
        let asked = Request { trigger, ..request(120, chain(edits)) };
        let (report, _) = compact(&refilling(), &mut session, &asked);
        assert_eq!(report.status, status, "{:?}", report.steps);
        assert_eq!(session.view() == before, status == Status::RolledBack);
        let found = report.stopped.as_deref().filter(|_| status == Status::RolledBack);
        assert_eq!(found.is_some(), stopped.is_some(), "{found:?}");
        assert!(stopped.is_none_or(|text| found.is_some_and(|found| found.starts_with(text))), "{found:?}");
    };
    check(Vec::new(), Trigger::Manual, Status::RolledBack, Some("every strategy of the chain declined: "));
    // Nobody is there who could name another.
    check(Vec::new(), Trigger::Hard, Status::Compacted, None);
    check(vec![drop(&[5])], Trigger::Manual, Status::Compacted, None);
}
