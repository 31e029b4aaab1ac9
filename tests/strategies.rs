//! Every strategy alone, and the chains of every preset, over a sample of the recorded sessions at 40, 20 and 10 % of their
//! tokens: the guarantees as laws, what a provider accepts, second and third compactions, and the same answer when asked
//! twice. With `EPITOME_ALL_SESSIONS=1` over all of them; outside the sample each session meets a third of these, in turn.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use epitome_config::{Config, Preset};
use epitome_engine::{Chain, Engine, Ledger, MemoryArchive, Mode, Report, Request, Step, block_on};
use epitome_formats::{Wire, render, validate};
use epitome_harness::laws::{Counts, compact_and_check_with};
use epitome_providers::RuleSummarizer;
use epitome_session::Session;
use epitome_tests::{SHARES, Ways, check_sample, grow, loaded, tell};

/// Sessions of so many tokens are compacted again, and again, with every strategy alone.
const LARGE: u32 = 20_000;
/// The strategies that work with vectors; the default configuration has an embedder.
const WITH_VECTORS: [&str; 2] = ["vector-retrieval", "semantic-clustering"];

/// An engine with what a configuration says, vectors included.
fn engine(config: &Config) -> Engine {
    let runtime = config.build(&epitome_builtin::registry()).unwrap();
    let counter = Arc::clone(&runtime.counter);
    runtime.engine(counter, Some(Arc::new(RuleSummarizer)))
}

/// What is run: its name, the engine, and the chain where it is not the engine's own choice.
struct Subject {
    name: String,
    engine: Arc<Engine>,
    chain: Option<Chain>,
}

impl Subject {
    fn request(&self, tokens: u32, share: f64) -> Request {
        Request { chain: self.chain.clone(), ..Request::to_budget((f64::from(tokens) * share) as u32) }
    }
}

fn alone() -> Vec<Subject> {
    let registry = epitome_builtin::registry();
    let runtime = Config::default().build(&registry).unwrap();
    let engine = Arc::new(engine(&Config::default()));
    let subject = |id: &str| {
        let chain = runtime.chain(&[id.to_owned()], &registry).unwrap();
        Subject { name: id.to_owned(), engine: Arc::clone(&engine), chain: Some(chain) }
    };
    registry.iter().map(|registration| subject(registration.meta.id)).collect()
}

fn presets() -> Vec<Subject> {
    let subject = |preset: Preset| Subject {
        name: format!("preset {}", preset.as_str()),
        engine: Arc::new(engine(&Config::with_preset(preset))),
        chain: None,
    };
    Preset::ALL.into_iter().map(subject).collect()
}

/// One compaction with all laws; `None` where the engine itself gave up.
fn compact(
    subject: &Subject,
    session: &mut Session,
    ledger: &mut Ledger,
    archive: &mut MemoryArchive,
    share: f64,
    (label, counts, found): (&str, &mut Counts, &mut Vec<String>),
) -> Option<Report> {
    let request = subject.request(ledger.total(), share);
    let (report, broken) = compact_and_check_with(&subject.engine, session, ledger, archive, &request, counts);
    found.extend(broken.iter().map(|broken| format!("{label}: {broken}")));
    let report = report?;
    // The notices that a stage writes belong to the edits of others: their tokens show them.
    let is_idle = |step: &&Step| step.edits == 0 && step.tokens_before == step.tokens_after;
    let silent = report.steps.iter().filter(is_idle).filter(|step| step.declined.is_none());
    for step in silent.filter(|step| &*step.strategy != "floor") {
        found.push(format!("{label}: {} did nothing and does not say why", step.strategy));
    }
    if report.status.is_compaction() {
        let rendered = render(session.view(), Wire::Anthropic, session.tools.as_deref(), None);
        let violations = validate(&rendered.json, Wire::Anthropic);
        found.extend(violations.into_iter().take(2).map(|it| format!("{label}: {it:?}")));
    }
    Some(report)
}

#[test]
fn every_strategy_and_preset_keeps_the_guarantees() {
    let loaded = loaded();
    let subjects: Vec<Subject> = alone().into_iter().chain(presets()).collect();
    let alone = subjects.iter().filter(|subject| subject.chain.is_some());
    let worked: HashMap<&str, AtomicUsize> = alone.map(|subject| (&*subject.name, AtomicUsize::new(0))).collect();
    check_sample(&loaded, |loaded, index, ways, found| {
        let recorded = &loaded.sessions()[index].session;
        let counted = subjects[0].engine.ledger(recorded);
        let mut counts = Counts::default();
        for (number, subject) in subjects.iter().enumerate() {
            for share in (0..).zip(SHARES).filter(|(at, _)| ways.has(number + at)).map(|(_, share)| share) {
                let label = format!("{} at {share}", subject.name);
                let (mut session, mut ledger, mut archive) = (recorded.clone(), counted.clone(), MemoryArchive::new());
                let told = (&*label, &mut counts, &mut *found);
                let report = compact(subject, &mut session, &mut ledger, &mut archive, share, told);
                let Some(report) = report else { return };
                let own = |step: &&epitome_engine::Step| *step.strategy == *subject.name && step.edits > 0;
                if let Some(worked) = worked.get(&*subject.name).filter(|_| report.steps.iter().any(|step| own(&step)))
                {
                    worked.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    });
    let of = |name: &&str| worked[*name].load(Ordering::Relaxed);
    let mut lines: Vec<String> = worked.keys().map(|name| format!("{name} {}", of(name))).collect();
    lines.sort();
    tell(&format!("compactions in which each strategy alone did something: {}", lines.join(", ")));
    let idle: Vec<&&str> = WITH_VECTORS.iter().filter(|name| of(name) == 0).collect();
    assert!(loaded.is_empty() || idle.is_empty(), "{idle:?} never did anything: is there an embedder?");
}

#[test]
fn every_strategy_compacts_again_and_again() {
    let loaded = loaded();
    let subjects = alone();
    check_sample(&loaded, |loaded, index, ways, found| {
        let recorded = &loaded.sessions()[index].session;
        let counted = subjects[0].engine.ledger(recorded);
        if counted.total() < LARGE {
            return;
        }
        let mut counts = Counts::default();
        for (_, subject) in subjects.iter().enumerate().filter(|(number, _)| ways.has(*number)) {
            let (mut session, mut ledger, mut archive) = (recorded.clone(), counted.clone(), MemoryArchive::new());
            for (cycle, share) in (1..).zip(SHARES) {
                let label = format!("{}, cycle {cycle} at {share}", subject.name);
                let told = (&*label, &mut counts, &mut *found);
                let report = compact(subject, &mut session, &mut ledger, &mut archive, share, told);
                if report.is_none_or(|report| !report.status.is_compaction()) {
                    break;
                }
                grow(&mut session, recorded);
                ledger.resync(&session);
            }
        }
    });
}

/// What a compaction writes, and the journal entry that makes it.
fn written(subject: &Subject, recorded: &Session, ledger: &Ledger, mode: Mode) -> (String, String) {
    let (mut session, mut ledger, mut archive) = (recorded.clone(), ledger.clone(), MemoryArchive::new());
    let request = Request { mode, ..subject.request(ledger.total(), 0.2) };
    block_on(subject.engine.compact(&mut session, &mut ledger, &mut archive, &request)).unwrap();
    let view = render(session.view(), Wire::OpenaiChat, session.tools.as_deref(), None).json;
    (view, serde_json::to_string(session.journal()).unwrap())
}

/// Strategies alone are asked twice by the laws already; what runs in parallel is asked with one thread and with four.
#[test]
fn the_same_is_written_with_one_thread_and_with_four() {
    let loaded = loaded();
    let default = Arc::new(engine(&Config::default()));
    let tournament = Subject { name: "tournament".to_owned(), engine: default, chain: None };
    let mut subjects: Vec<(Subject, Mode)> = vec![(tournament, Mode::Tournament)];
    let smart = presets().into_iter().find(|subject| subject.name == "preset smart").unwrap();
    subjects.push((smart, Mode::Tournament));
    let vectors = alone().into_iter().filter(|subject| WITH_VECTORS.contains(&&*subject.name));
    subjects.extend(vectors.map(|subject| (subject, Mode::Adaptive)));
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (one, four) = (pool(1), pool(4));
    let mut found = Vec::new();
    for (file, loaded) in &loaded {
        let Some(ways) = Ways::of(file, 0) else { continue };
        let Some(recorded) = loaded.sessions().first().map(|loaded| &loaded.session) else { continue };
        let ledger = subjects[0].0.engine.ledger(recorded);
        for (_, (subject, mode)) in subjects.iter().enumerate().filter(|(number, _)| ways.has(*number)) {
            let first = one.install(|| written(subject, recorded, &ledger, *mode));
            let again = four.install(|| written(subject, recorded, &ledger, *mode));
            if first != again {
                found.push(format!("{file}: {} writes something else with four threads", subject.name));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
