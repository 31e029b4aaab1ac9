//! The guarantees as properties over hostile sessions and hostile plans, and the proof that the properties notice when a
//! guard is missing.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::Arc;

use epitome_engine::guard::{Guard, Guards};
use epitome_engine::{
    Chain, Engine, MemoryArchive, MinQuality, Mode, OnLoss, Pins, Report, Request, SignalDetector, Status, SummaryRole,
};
use epitome_session::{Change, Message, Origin, Role, Session, Trigger, UndoError};
use epitome_strategy::{
    Archive, ArchiveError, Archived, BoxFuture, EmbedError, Embedder, Embeddings, Goal, Meta, Needs, Plan, PlanError,
    Strategy, SummarizeError, Summarizer, Summary, SummaryTask, View,
};
use epitome_testkit::hostile::{self, Chaos, Dice};
use epitome_testkit::laws::{Broken, compact_and_check};
use epitome_testkit::{FakeCounter, FakeEmbedder};

/// Fails now and then, and writes too much now and then.
#[derive(Debug)]
struct FickleSummarizer;

impl Summarizer for FickleSummarizer {
    fn kind(&self) -> &str {
        "fickle"
    }

    fn summarize<'a>(&'a self, task: &'a SummaryTask<'a>) -> BoxFuture<'a, Result<Summary, SummarizeError>> {
        let failed = || SummarizeError::new("not today", true);
        let summary = |text: String| Summary { text, input_tokens: 1, output_tokens: 1, fell_back: None };
        let written = match task.request.max_tokens % 4 {
            0 => Err(failed()),
            1 => Ok(summary(String::new())),
            2 => Ok(summary("far too long ".repeat(2_000))),
            _ => Ok(summary("what was said".to_owned())),
        };
        Box::pin(std::future::ready(written))
    }
}

/// Fails, panics and answers nonsense now and then.
#[derive(Debug)]
struct FickleEmbedder;

impl Embedder for FickleEmbedder {
    fn name(&self) -> &str {
        "fickle"
    }

    fn dimensions(&self) -> usize {
        FakeEmbedder.dimensions()
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> BoxFuture<'a, Result<Embeddings, EmbedError>> {
        let answer = match texts.iter().map(|text| text.len()).sum::<usize>() % 6 {
            0 => Err(EmbedError { message: "not today".to_owned(), retryable: true }),
            1 => panic!("no idea"),
            2 => Ok(Embeddings::default()),
            3 => Ok(Embeddings::new(1, vec![f32::NAN; texts.len()])),
            _ => return FakeEmbedder.embed(texts),
        };
        Box::pin(std::future::ready(answer))
    }
}

/// Plans like [`Chaos`], but only with vectors.
#[derive(Debug)]
struct WithVectors(Chaos);

impl Strategy for WithVectors {
    fn meta(&self) -> &Meta {
        const META: Meta = Meta {
            id: "chaos-with-vectors",
            summary: "",
            docs: "",
            lossiness: epitome_strategy::Lossiness::Whole,
            needs: Needs { embeddings: true, model: false },
            since: "0.1.0",
        };
        &META
    }

    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let vectors = view.vectors().map_err(|reason| PlanError(reason.to_owned()))?;
        assert_eq!(vectors.units.len(), view.units().len(), "a vector for each unit");
        assert_eq!(vectors.focus.is_some(), goal.focus.is_some(), "a vector for the question");
        assert!(vectors.units.values().iter().all(|value| value.is_finite()), "vectors of numbers");
        self.0.plan(view, goal)
    }
}

fn engine(seed: u64, guards: Guards) -> (Engine, Chain) {
    let mut engine = Engine::new(Arc::new(FakeCounter), Arc::new(SignalDetector));
    engine.summarizer = Some(Arc::new(FickleSummarizer));
    engine.embedder = Some(Arc::new(FickleEmbedder));
    engine.guards = guards;
    engine.handles = seed.is_multiple_of(2);
    engine.summary_role = if seed.is_multiple_of(4) { SummaryRole::System } else { SummaryRole::User };
    engine.pins = pins(&mut Dice::new(seed ^ 0x9135));
    engine.quality = min_quality(&mut Dice::new(seed ^ 0x51ed));
    let chaos = |offset| Arc::new(Chaos { seed: seed.wrapping_add(offset), panics: seed.is_multiple_of(3) });
    // Chains that differ, for the tournament; the others are empty: the floor alone.
    engine.chains.code = Chain(vec![chaos(1 << 34)]);
    engine.chains.mixed = Chain(vec![chaos(1 << 35), chaos(1 << 36)]);
    let with_vectors = WithVectors(Chaos { seed: seed.wrapping_add(1 << 37), panics: false });
    (engine, Chain(vec![chaos(0), Arc::new(with_vectors), chaos(1 << 32), chaos(1 << 33)]))
}

/// The defaults, or other settings of what stays.
fn pins(dice: &mut Dice) -> Pins {
    let tools: &[&str] = dice.pick(&[&["Skill"], &["Skill"], &[], &["Read", "apply_patch"]]);
    Pins {
        original_task: !dice.once_in(4),
        last_rounds: dice.pick(&[0, 0, 1, 2]),
        protected_tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        markers: if dice.once_in(4) { vec!["重要".to_owned()] } else { Pins::default().markers },
        keep_recent: dice.pick(&[0, 0, 2, 6, 40]),
    }
}

/// Nothing asked for, or thresholds and what follows.
fn min_quality(dice: &mut Dice) -> MinQuality {
    let least = |dice: &mut Dice| dice.pick(&[0.0, 0.0, 0.3, 0.8, 1.0]);
    let (strings, instructions, files) = (least(dice), least(dice), least(dice));
    let on_loss = dice.pick(&[OnLoss::Retry, OnLoss::RollBack, OnLoss::Report]);
    if dice.once_in(2) {
        MinQuality::default()
    } else {
        MinQuality { strings, instructions, files, on_loss, ..MinQuality::default() }
    }
}

/// Panics of strategies are part of the game: they are caught, and not printed.
fn quietly<T>(test: impl FnOnce() -> T) -> T {
    static QUIET: std::sync::Once = std::sync::Once::new();
    QUIET.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let message = info.payload().downcast_ref::<&str>().copied().unwrap_or_default();
            if !matches!(message, "a strategy gone wrong" | "no idea") {
                usual(info);
            }
        }));
    });
    test()
}

/// What three compactions of one session came to.
struct Played {
    session: Session,
    reports: Vec<Report>,
    broken: Vec<Broken>,
}

/// Three compactions of one hostile session, with messages arriving between them.
fn run(seed: u64, turns: usize, guards: Guards) -> Played {
    let (engine, chain) = engine(seed, guards);
    let mut session = hostile::session(seed, turns);
    let mut dice = Dice::new(!seed);
    let mut archive = MemoryArchive::new();
    let (mut broken, mut reports) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let tokens = engine.ledger(&session).total() as usize;
        let budget = (tokens * (dice.below(110) + 1) / 100) as u32;
        let request = Request {
            chain: (!dice.once_in(5)).then(|| chain.clone()),
            limit: budget + dice.below(50) as u32,
            mode: if dice.once_in(8) { Mode::Tournament } else { Mode::Adaptive },
            unsent_messages: dice.pick(&[0, 0, 1, 5]),
            trigger: dice.pick(&[Trigger::Manual, Trigger::Hard]),
            ..Request::to_budget(budget)
        };
        let (report, found) = compact_and_check(&engine, &mut session, &mut archive, &request);
        broken.extend(found);
        reports.extend(report);
        for message in hostile::session(dice.bits(), 6).log() {
            session.push(Message { pinned: false, ..(**message).clone() });
        }
        let late = hostile::missing_results(&session);
        for message in late.into_iter().filter(|_| dice.once_in(4)) {
            session.push(message);
        }
    }
    Played { session, reports, broken }
}

#[test]
fn the_guarantees_hold_over_hostile_sessions_and_plans() {
    let seeds = std::env::var("EPITOME_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(1_500);
    // The first seed that breaks each law: what one law hides, another shows.
    let mut first: BTreeMap<&str, String> = BTreeMap::new();
    let from = std::env::var("EPITOME_FROM").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(0);
    for seed in from..seeds {
        for broken in quietly(|| run(seed, 40, Guards::default())).broken {
            first.entry(broken.law).or_insert_with(|| format!("seed {seed}: {broken}"));
        }
    }
    assert!(first.is_empty(), "{}", first.into_values().collect::<Vec<_>>().join("\n"));
}

/// What a played session came through, by name.
fn features(played: &Played) -> Vec<&'static str> {
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
        for feature in quietly(|| features(&run(seed, 40, Guards::default()))) {
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
            let run = quietly(|| std::panic::catch_unwind(|| run(seed, 30, Guards::without(guard))));
            match run {
                Ok(played) => played.broken.iter().any(|broken| broken.law == law),
                Err(_) => law == "failure",
            }
        });
        assert!(noticed, "without {guard:?} nothing broke `{law}`");
    };
    check(Guard::Pairing, "pairing");
    check(Guard::Pins, "pins");
    check(Guard::OpenCalls, "open-calls");
    check(Guard::Conservation, "conservation");
    check(Guard::Progress, "progress");
    check(Guard::Counting, "counting");
    check(Guard::Budget, "budget");
    check(Guard::Thinking, "thinking");
    check(Guard::Idempotence, "idempotence");
    check(Guard::Provider, "provider");
    check(Guard::Failure, "failure");
    check(Guard::Order, "order");
}

/// An archive that is full.
#[derive(Debug)]
struct FullArchive;

impl Archive for FullArchive {
    fn put(&mut self, _: Archived) -> Result<Arc<str>, ArchiveError> {
        Err(ArchiveError("the disk is full".to_owned()))
    }

    fn get(&self, _: &str) -> Result<Option<Archived>, ArchiveError> {
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
