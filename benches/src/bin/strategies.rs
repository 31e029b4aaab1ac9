//! `strategies FOLDER`: every strategy alone and the chains of every preset over recorded sessions, as the table of
//! `docs/strategies/README.md`.
#![allow(clippy::print_stdout)]

use std::collections::BTreeSet;
use std::path::Path;

use epitome::engine::{Chain, Engine, MemoryArchive, Request, Status, block_on};
use epitome::formats::{ReadOptions, read};
use epitome::{Config, Session};

/// Shares of a session's tokens that it is compacted to.
const SHARES: [f64; 3] = [0.4, 0.2, 0.1];
/// Shorter sessions say little about either time or shares.
const LEAST_TOKENS: u32 = 5_000;

/// What one strategy or preset did over all sessions and shares.
#[derive(Default)]
struct Figures {
    /// Results at all: neither too small nor infeasible.
    cases: u32,
    /// The share kept, summed, at each share asked for; and the cases where the floor had nothing to do.
    by_share: [(f64, u32, u32); 3],
    declined: u32,
    micros: u64,
    tokens: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("which folder? usage: strategies FOLDER")?;
    let sessions = sessions(Path::new(&folder))?;
    let registry = epitome::registry();
    let default = Config::default().build(&registry)?;
    let engine = epitome::engine_of(&default);
    println!("{} sessions of {LEAST_TOKENS} tokens or more\n", sessions.len());
    println!(
        "| alone | kept at 0.4 | met | kept at 0.2 | met | kept at 0.1 | met | declined | ms per 100k tokens |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    for registration in registry.iter() {
        let id = registration.meta.id;
        let chain = default.chain(&[id.to_owned()], &registry)?;
        print_row(id, &figures(&engine, Some(&chain), &sessions)?);
    }
    for (preset, name, _) in epitome::config::Preset::ALL {
        let engine = epitome::engine_of(&Config::with_preset(preset).build(&registry)?);
        print_row(&format!("preset {name}"), &figures(&engine, None, &sessions)?);
    }
    print_row("default", &figures(&engine, None, &sessions)?);
    Ok(())
}

fn figures(
    engine: &Engine,
    chain: Option<&Chain>,
    sessions: &[Session],
) -> Result<Figures, Box<dyn std::error::Error>> {
    let mut figures = Figures::default();
    for session in sessions {
        let ledger = engine.ledger(session);
        for (index, share) in SHARES.into_iter().enumerate() {
            let budget = (f64::from(ledger.total()) * share) as u32;
            let request = Request { chain: chain.cloned(), ..Request::to_budget(budget) };
            let draft = block_on(engine.draft(session, &ledger, &mut MemoryArchive::new(), &request))?;
            let report = draft.report;
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
            figures.micros += steps().map(|step| step.duration_us).sum::<u64>();
            figures.tokens += u64::from(report.tokens_before);
        }
    }
    Ok(figures)
}

fn print_row(name: &str, figures: &Figures) {
    let shares: String = figures
        .by_share
        .iter()
        .map(|(kept, met, cases)| {
            let cases = f64::from(*cases).max(1.0);
            format!(" {:.2} | {:.0} % |", kept / cases, 100.0 * f64::from(*met) / cases)
        })
        .collect();
    let declined = 100.0 * f64::from(figures.declined) / f64::from(figures.cases).max(1.0);
    let millis = figures.micros as f64 / 1_000.0 / (figures.tokens as f64 / 100_000.0).max(f64::MIN_POSITIVE);
    println!("| {name} |{shares} {declined:.0} % | {millis:.1} |");
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
