//! `strategies FOLDER`: every strategy alone and the chains of every preset over recorded sessions, as the table of
//! `docs/strategies/README.md`.
#![allow(clippy::print_stdout)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use epitome::engine::{Chain, Engine, MemoryArchive, Request, Status, block_on};
use epitome::formats::{ReadOptions, read};
use epitome::strategy::{EmbedError, Embedder, Embeddings, Goal, Meta, Plan, PlanError, View, async_trait};
use epitome::{Config, Session, Strategy};

/// Shares of a session's tokens that it is compacted to.
const SHARES: [f64; 3] = [0.4, 0.2, 0.1];
/// Shorter sessions say little about either time or shares.
const LEAST_TOKENS: u32 = 5_000;

/// Planning that takes more milliseconds for 100,000 tokens is timed again, so many times.
const SLOW: f64 = 40.0;
const REPEATS: u32 = 4;

/// What one strategy or preset did over all sessions and shares.
#[derive(Default)]
struct Figures {
    /// Results at all: neither too small nor infeasible.
    cases: u32,
    /// The share kept, summed, at each share asked for; and the cases where the floor had nothing to do.
    by_share: [(f64, u32, u32); 3],
    declined: u32,
    /// Microseconds of planning, of embedding, and of whole chains with edits and summaries.
    planning: u64,
    embedding: u64,
    chain: u64,
    /// Milliseconds of planning for 100,000 tokens where they were most.
    most_planning: f64,
    tokens: u64,
    /// Tokens of the sessions for which vectors were made.
    embedded_tokens: u64,
}

/// Microseconds that what it is given to takes.
#[derive(Debug, Clone, Default)]
struct Clock(Arc<AtomicU64>);

impl Clock {
    fn add(&self, since: Instant) {
        self.0.fetch_add(since.elapsed().as_micros() as u64, Ordering::Relaxed);
    }

    fn take(&self) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

/// A strategy whose planning is timed: vectors, edits and summaries are not part of it.
#[derive(Debug)]
struct Timed(Arc<dyn Strategy>, Clock);

impl Strategy for Timed {
    fn meta(&self) -> &Meta {
        self.0.meta()
    }

    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let started = Instant::now();
        let plan = self.0.plan(view, goal);
        self.1.add(started);
        plan
    }
}

/// An embedder that is timed.
#[derive(Debug)]
struct TimedEmbedder(Arc<dyn Embedder>, Clock);

#[async_trait]
impl Embedder for TimedEmbedder {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn dimensions(&self) -> usize {
        self.0.dimensions()
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let started = Instant::now();
        let vectors = self.0.embed(texts).await;
        self.1.add(started);
        vectors
    }
}

/// Of what a row is made: the engine, the chain where it is not the engine's choice, and the clocks in them.
struct Subject {
    engine: Engine,
    chain: Option<Chain>,
    planning: Clock,
    embedding: Clock,
}

impl Subject {
    fn new(mut engine: Engine, chain: Option<Chain>) -> Self {
        let (planning, embedding) = (Clock::default(), Clock::default());
        let timed = |strategy: Arc<dyn Strategy>| Arc::new(Timed(strategy, planning.clone())) as Arc<dyn Strategy>;
        let chain = chain.map(|chain| Chain(chain.0.into_iter().map(timed).collect()));
        let embedder = engine.embedder.take();
        engine.embedder = embedder.map(|embedder| Arc::new(TimedEmbedder(embedder, embedding.clone())) as _);
        Self { engine, chain, planning, embedding }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder? usage: strategies FOLDER")?;
    let sessions = sessions(Path::new(&folder))?;
    let registry = epitome::registry();
    let default = Config::default().build(&registry)?;
    println!(
        "{} sessions of {LEAST_TOKENS} tokens or more; times are milliseconds for 100,000 tokens\n",
        sessions.len()
    );
    println!(
        "| alone | kept at 0.4 | met | kept at 0.2 | met | kept at 0.1 | met | declined | planning | at most | embedding |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    for registration in registry.iter() {
        let id = registration.meta.id;
        let chain = default.chain(&[id.to_owned()], &registry)?;
        let figures = figures(&Subject::new(epitome::engine_of(&default), Some(chain)), &sessions)?;
        let (planning, most) = (figures.millis(figures.planning), figures.most_planning);
        let embedding = match registration.meta.needs.embeddings {
            true => format!("{:.0}", millis(figures.embedding, figures.embedded_tokens)),
            false => String::new(),
        };
        println!(
            "| {} {planning:.1} | {most:.0} | {embedding} |",
            figures.row(&format!("[{id}](../../strategies/{id}/README.md)"))
        );
    }
    println!(
        "\n| chains | kept at 0.4 | met | kept at 0.2 | met | kept at 0.1 | met | declined | whole chain |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    let presets = epitome::config::Preset::ALL.into_iter().map(|preset| (preset.as_str(), Config::with_preset(preset)));
    for (name, config) in [("default", Config::default())].into_iter().chain(presets) {
        let figures = figures(&Subject::new(epitome::engine_of(&config.build(&registry)?), None), &sessions)?;
        println!("| {} {:.0} |", figures.row(name), figures.millis(figures.chain));
    }
    Ok(())
}

fn figures(subject: &Subject, sessions: &[Session]) -> Result<Figures, Box<dyn std::error::Error>> {
    let Subject { engine, chain, planning, embedding } = subject;
    let mut figures = Figures::default();
    for session in sessions {
        let ledger = engine.ledger(session);
        for (index, share) in SHARES.into_iter().enumerate() {
            let budget = (f64::from(ledger.total()) * share) as u32;
            let request = Request { chain: chain.clone(), ..Request::to_budget(budget) };
            let draft = || block_on(engine.draft(session, &ledger, &mut MemoryArchive::new(), &request));
            let report = draft()?.report;
            let (mut planned, embedded) = (planning.take(), embedding.take());
            // A machine with other work gives outliers: what seems slow is timed again, and the shortest time counts.
            for _ in 0..REPEATS {
                if millis(planned, u64::from(report.tokens_before)) > SLOW {
                    draft()?;
                    planned = planned.min(planning.take());
                }
            }
            embedding.take();
            if report.status == Status::Infeasible {
                continue;
            }
            figures.cases += 1;
            let is_stage = |id: &str| matches!(id, "repair" | "thinking" | "floor");
            let steps = || report.steps.iter().filter(|step| !is_stage(&step.strategy));
            let after_chain = steps().next_back().map_or(report.tokens_before, |step| step.tokens_after);
            let met = report.steps.iter().all(|step| &*step.strategy != "floor");
            let of_share = &mut figures.by_share[index];
            of_share.0 += f64::from(after_chain) / f64::from(report.tokens_before.max(1));
            of_share.1 += u32::from(met);
            of_share.2 += 1;
            figures.declined += u32::from(steps().all(|step| step.edits == 0));
            figures.chain += steps().map(|step| step.duration_us).sum::<u64>();
            figures.planning += planned;
            // Vectors are kept: what the first share embeds costs nothing later.
            if index == 0 {
                figures.embedding += embedded;
                figures.embedded_tokens += u64::from(report.tokens_before);
            }
            figures.most_planning = figures.most_planning.max(millis(planned, u64::from(report.tokens_before)));
            figures.tokens += u64::from(report.tokens_before);
        }
    }
    Ok(figures)
}

/// Milliseconds for 100,000 tokens.
fn millis(micros: u64, tokens: u64) -> f64 {
    micros as f64 / 1_000.0 / (tokens as f64 / 100_000.0).max(f64::MIN_POSITIVE)
}

impl Figures {
    fn millis(&self, micros: u64) -> f64 {
        millis(micros, self.tokens)
    }

    /// The cells that all tables have.
    fn row(&self, name: &str) -> String {
        let share = |(kept, met, cases): &(f64, u32, u32)| {
            let cases = f64::from(*cases).max(1.0);
            format!(" {:.2} | {:.0} % |", kept / cases, 100.0 * f64::from(*met) / cases)
        };
        let shares: String = self.by_share.iter().map(share).collect();
        let declined = 100.0 * f64::from(self.declined) / f64::from(self.cases).max(1.0);
        format!("{name} |{shares} {declined:.0} % |")
    }
}

/// Every session of the folder that is long enough, in the order of the files.
fn sessions(folder: &Path) -> Result<Vec<Session>, Box<dyn std::error::Error>> {
    let engine = epitome::engine_of(&Config::default().build(&epitome::registry())?);
    let mut files = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path);
            }
        }
    }
    let mut sessions = Vec::new();
    for file in files {
        // Side files that hold no session are among them.
        let Ok(loaded) = read(std::fs::read(file)?, ReadOptions::default()) else { continue };
        let of_file = loaded.sessions.into_iter().map(|loaded| loaded.session);
        sessions.extend(of_file.filter(|session| engine.ledger(session).total() >= LEAST_TOKENS));
    }
    Ok(sessions)
}
