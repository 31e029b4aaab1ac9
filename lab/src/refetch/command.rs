//! `refetch`: what policies cost with the calls that agents make again, window by window.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use epitome::formats::{ReadOptions, read};
use epitome::{Budget, Session};
use epitome_eval::replay::{Model, NEVER, Policy, Prices, RECORDED, ReplayedSession, Total, totals};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{Refetches, replay_with_fetches};

/// What the name of the compaction that an agent comes with begins with.
const OWN: &str = "own:";

/// What is replayed.
#[derive(Debug, Args)]
pub struct RefetchArgs {
    /// Files of recorded sessions
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The policies, as in `epitome replay`
    #[arg(long, value_delimiter = ',', default_value = "default")]
    policies: Vec<String>,
    /// The model's windows in tokens; a session that is smaller than one is not replayed in it
    #[arg(long = "window", value_delimiter = ',', default_value = "50000")]
    windows: Vec<u32>,
    /// The model whose prices are used
    #[arg(long, default_value = "claude-sonnet-5")]
    model: String,
    /// Count only, and make no call again
    #[arg(long)]
    only_count: bool,
    /// Print a line of JSON for each row
    #[arg(long)]
    json: bool,
}

/// A policy over all sessions.
struct Outcome {
    total: Total,
    found: Refetches,
    /// Dollars, with each call that lacks what only a search gives back as one more turn of the mean price.
    money: f64,
}

/// Runs the command and prints a table in Markdown, or a line of JSON for each row. The error says what is wrong.
pub fn run(args: &RefetchArgs) -> Result<()> {
    let prices = Prices::shipped()?;
    let files: Vec<Vec<Session>> = args.paths.par_iter().map(|path| sessions_of(path)).collect::<Result<_>>()?;
    let sessions: Vec<Session> = files.into_iter().flatten().collect();
    let mut has_head = args.json;
    for window in &args.windows {
        let names = [NEVER, RECORDED].into_iter().chain(args.policies.iter().map(String::as_str));
        let outcomes = names.map(|name| Ok((name, outcome(&sessions, name, *window, &prices, args)?)));
        let outcomes: Vec<(&str, Outcome)> = outcomes.collect::<Result<_>>()?;
        for (name, outcome) in &outcomes {
            let mut row = outcome.row(name, *window);
            for (own, of) in outcomes.iter().filter_map(|(name, of)| Some((name.strip_prefix(OWN)?, of))) {
                row.push((format!("of {own}"), rounded(outcome.money / of.money, 1_000.0)));
            }
            let cells = |cells: Vec<String>| cells.iter().map(|cell| format!(" {cell} |")).collect::<String>();
            if !std::mem::replace(&mut has_head, true) {
                println!("|{}", cells(row.iter().map(|(name, _)| name.clone()).collect()));
                println!("|{}", cells(vec!["---:".to_owned(); row.len()]));
            }
            match args.json {
                true => println!("{}", Value::Object(row.into_iter().collect())),
                false => println!("|{}", cells(row.iter().map(|(_, figure)| figure.to_string()).collect())),
            }
        }
    }
    Ok(())
}

/// A figure with a digit for each ten of `digits`.
fn rounded(figure: f64, digits: f64) -> Value {
    json!((figure * digits).round() / digits)
}

/// Replays the sessions that are larger than the window under a policy.
fn outcome(sessions: &[Session], name: &str, window: u32, prices: &Prices, args: &RefetchArgs) -> Result<Outcome> {
    let budget =
        Budget { window, reserve_output: Budget::default().reserve_output.min(window / 4), ..Budget::default() };
    let price = prices.price(&args.model)?;
    let model = Model { name: args.model.clone(), price: price.clone(), prices: prices.clone(), budget };
    let policy = Policy::parse(name, Some(window), &epitome::registry())?;
    let is_ours = ![NEVER, RECORDED].contains(&name) && !name.starts_with(OWN);
    let makes_calls = is_ours && !args.only_count;
    let replayed = sessions.par_iter().map(|session| replay_with_fetches(session, &policy, &model, makes_calls));
    let replayed: Vec<(ReplayedSession, Refetches)> = replayed.collect::<Result<_, _>>()?;
    let large = replayed.into_iter().filter(|(row, _)| row.session_tokens + row.tool_tokens > u64::from(window));
    let (rows, found): (Vec<ReplayedSession>, Vec<Refetches>) = large.unzip();
    let mut all = Refetches::default();
    found.iter().for_each(|found| all.add(found));
    let total = totals(&rows, price).pop().unwrap_or_default();
    let searches = f64::from(all.extra.lost_calls) * total.money / f64::from(total.turns.max(1));
    Ok(Outcome { money: total.money + searches, total, found: all })
}

impl Outcome {
    /// The figures of a row by their names, in their order.
    fn row(&self, name: &str, window: u32) -> Vec<(String, Value)> {
        let Self { total, found: Refetches { repeats, references, extra }, money } = self;
        let input = total.spent.input as f64;
        let figures = [
            ("window", json!(window)),
            ("policy", json!(name)),
            ("sessions", json!(total.sessions)),
            ("turns", json!(total.turns)),
            ("over", json!(total.impossible_turns)),
            ("compactions", json!(total.epochs)),
            ("kept", total.kept_share.map_or(Value::Null, |kept| rounded(kept, 1_000.0))),
            ("input", json!(total.spent.input)),
            ("cached", rounded(total.spent.cached as f64 / input.max(1.0), 1_000.0)),
            ("re-fetches", json!(repeats.refetches)),
            ("of repeats", json!(repeats.repeats)),
            ("needed", json!(references.needed)),
            ("of references", json!(references.references)),
            ("again", json!(extra.extra_calls)),
            ("lost", json!(extra.lost_calls)),
            ("crowded", json!(extra.crowded_calls)),
            ("price", rounded(*money, 100.0)),
        ];
        figures.map(|(name, figure)| (name.to_owned(), figure)).into()
    }
}

/// Returns the sessions of a file.
pub fn sessions_of(path: &Path) -> Result<Vec<Session>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let loaded = read(bytes, ReadOptions::default()).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(loaded.sessions.into_iter().map(|loaded| loaded.session).collect())
}

impl Refetches {
    fn add(&mut self, other: &Self) {
        self.repeats.repeats += other.repeats.repeats;
        self.repeats.refetches += other.repeats.refetches;
        self.references.references += other.references.references;
        self.references.needed += other.references.needed;
        self.extra.add(&other.extra);
    }
}
