//! The guarantees as properties over hostile sessions and hostile plans, and the proof that the properties notice when a
//! guard is missing.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::Arc;

use epitome_engine::guard::{Guard, Guards};
use epitome_engine::{MemoryArchive, MinQuality, Mode, Request, Status};
use epitome_harness::laws::compact_and_check;
use epitome_harness::play::{Game, PlayedSession, engine, play, quietly};
use epitome_session::{Change, Message, Origin, Role, Session, UndoError};
use epitome_strategy::{Archive, ArchiveError, ArchivedContent};

#[test]
fn the_guarantees_hold_over_hostile_sessions_and_plans() {
    let seeds = std::env::var("EPITOME_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1_500);
    // The first seed that breaks each law: what one law hides, another shows.
    let mut first: BTreeMap<&str, String> = BTreeMap::new();
    let from = std::env::var("EPITOME_FROM").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(0);
    for seed in from..seeds {
        for broken in quietly(|| play(seed, &Game::default())).broken {
            first.entry(broken.law).or_insert_with(|| format!("seed {seed}: {broken}"));
        }
    }
    assert!(first.is_empty(), "{}", first.into_values().collect::<Vec<_>>().join("\n"));
}

/// Found by the campaign of `docs/reliability.md`: ten compactions each, undone now and then.
#[test]
fn sessions_that_broke_a_law_once() {
    for seed in [5_662, 7_396, 24_074] {
        let played = quietly(|| play(seed, &Game { generations: 10, undoes: true, hosts: false, ..Game::default() }));
        assert!(played.broken.is_empty(), "seed {seed}: {:?}", played.broken);
    }
}

/// What a played session came through, by name.
fn features(played: &PlayedSession) -> Vec<&'static str> {
    let mut found = Vec::new();
    let mut note = |name, holds: bool| found.extend(holds.then_some(name));
    let epochs = played.session.journal();
    for change in epochs.iter().flat_map(|epoch| epoch.changes()) {
        match change {
            Change::Remove { .. } => note("a message left", true),
            Change::Excerpt { excerpt, .. } => {
                note("a stub", excerpt.kept.ranges().is_empty());
                note("an excerpt of several parts", excerpt.kept.ranges().len() > 1);
                note("attachments left", excerpt.attachments.is_some());
            }
            Change::Trim { .. } => note("arguments cut", true),
            Change::Strip { .. } => note("thinking left", true),
        }
    }
    for report in &played.reports {
        let edits = |strategy: &str| report.edits.iter().filter(|edit| &*edit.strategy == strategy).count();
        note("a plan's edits", edits("chaos") > 0);
        note("a plan's edits with vectors", edits("chaos-with-vectors") > 0);
        let declined = |why: &str| {
            let with_vectors = report.steps.iter().filter(|step| &*step.strategy == "chaos-with-vectors");
            with_vectors.filter_map(|step| step.declined.as_deref()).any(|reason| reason.contains(why))
        };
        note("an embedder that failed", declined("the embedder failed"));
        note("an embedder that panicked", declined("the embedder panicked"));
        note("an embedder's nonsense", declined("the embedder gave"));
        let wrong = ["a vector for each unit", "a vector for the question", "vectors of numbers"];
        assert!(!wrong.into_iter().any(declined), "{:?}", report.steps);
        note("the floor's edits", edits("floor") > 0);
        note("a summary", report.summary.is_some());
        note("infeasible", report.status == Status::Infeasible);
        note("no change", report.status == Status::NoChange);
        note("rolled back", report.status == Status::RolledBack);
        let retried = report.mode != Mode::Tournament && report.quality.as_ref().is_some_and(|it| it.tried.len() > 1);
        note("a retry", retried);
        note("a tournament", report.mode == Mode::Tournament && !report.chain.is_empty());
        let by_hand = report.by_hand.clone().unwrap_or_default();
        note("messages dropped by hand", !by_hand.dropped.is_empty());
        note("messages that stay all the same", !by_hand.stayed.is_empty());
        note("a cache lost", report.cache_loss_tokens > 0);
    }
    let covered = |epoch| matches!(played.session.clone().undo(epoch), Err(UndoError::Covered { .. }));
    note("an epoch that another stands on", (0..epochs.len() as u32).any(covered));
    let shown = || played.session.view().iter();
    note("an answer", shown().any(|entry| entry.message.origin == Origin::Answer));
    let told = shown().any(|entry| entry.original.role == Role::Tool && entry.message.role == Role::User);
    note("a result whose call has left", told);
    found
}

#[test]
fn the_hostile_runs_reach_what_the_laws_speak_of() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..200 {
        for feature in quietly(|| features(&play(seed, &Game::default()))) {
            *seen.entry(feature).or_default() += 1;
        }
    }
    let expected = [
        "a cache lost",
        "a message left",
        "a plan's edits",
        "a plan's edits with vectors",
        "a result whose call has left",
        "a retry",
        "a stub",
        "a summary",
        "a tournament",
        "an answer",
        "an embedder that failed",
        "an embedder that panicked",
        "an embedder's nonsense",
        "an epoch that another stands on",
        "an excerpt of several parts",
        "arguments cut",
        "attachments left",
        "infeasible",
        "messages dropped by hand",
        "messages that stay all the same",
        "no change",
        "rolled back",
        "the floor's edits",
        "thinking left",
    ];
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), expected, "{seen:?}");
}

#[test]
fn each_guard_is_missed_when_it_is_gone() {
    let check = |guard: Guard, law: &str| {
        let noticed = (0..1_500).any(|seed| {
            let game = Game { turns: 30, guards: Guards::without(guard), ..Game::default() };
            match quietly(|| std::panic::catch_unwind(|| play(seed, &game))) {
                Ok(played) => played.broken.iter().any(|broken| broken.law == law),
                Err(_) => law == "failure",
            }
        });
        assert!(noticed, "without {guard:?} nothing broke `{law}`");
    };
    check(Guard::Pairing, "pairing");
    check(Guard::Pins, "pins");
    check(Guard::ByHand, "by-hand");
    check(Guard::OpenCalls, "open-calls");
    check(Guard::Conservation, "conservation");
    check(Guard::Progress, "progress");
    check(Guard::Counting, "counting");
    check(Guard::Budget, "budget");
    check(Guard::Thinking, "thinking");
    check(Guard::Instructions, "instructions");
    check(Guard::Idempotence, "idempotence");
    check(Guard::Provider, "provider");
    check(Guard::Failure, "failure");
    check(Guard::Order, "order");
    check(Guard::Host, "host");
    check(Guard::Notices, "notices");
    check(Guard::Refill, "room");
}

/// An archive that is full.
#[derive(Debug)]
struct FullArchive;

impl Archive for FullArchive {
    fn put(&mut self, _: ArchivedContent) -> Result<Arc<str>, ArchiveError> {
        Err(ArchiveError("the disk is full".to_owned()))
    }

    fn get(&self, _: &str) -> Result<Option<ArchivedContent>, ArchiveError> {
        Ok(None)
    }
}

#[test]
fn nothing_leaves_that_cannot_be_archived() {
    let check = |guards: Guards, expect_unchanged: bool| {
        let (mut engine, chain) = engine(1, guards);
        // Tries have archives of their own.
        engine.quality = MinQuality::default();
        let mut session = Session::new();
        for turn in 0..20 {
            let text = format!("message {turn} {}", "word ".repeat(50));
            session.push(Message::text("", Role::User, Origin::Typed, text));
        }
        let before = session.view().to_vec();
        let mut ledger = engine.ledger(&session);
        let request = Request { chain: Some(chain), ..Request::to_budget(300) };
        let result = epitome_engine::block_on(engine.compact(&mut session, &mut ledger, &mut FullArchive, &request));
        assert_eq!(session.view() == before, expect_unchanged, "{result:?}");
    };
    check(Guards::default(), true);
    check(Guards::without(Guard::ArchiveFirst), false);
}

#[test]
fn ten_thousand_tiny_messages() {
    let (engine, _) = engine(1, Guards::default());
    let mut session = Session::new();
    for turn in 0..10_000 {
        let (role, origin) = if turn % 2 == 0 { (Role::User, Origin::Typed) } else { (Role::Assistant, Origin::Model) };
        session.push(Message::text("", role, origin, "ok"));
    }
    let request = Request::to_budget(1_000);
    let (report, broken) = compact_and_check(&engine, &mut session, &mut MemoryArchive::new(), &request);
    assert!(broken.is_empty(), "{broken:?}");
    assert!(report.unwrap().tokens_after <= 1_000);
}
