//! `refetch`: what policies cost with the calls that agents make again, window by window.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use epitome::formats::{ReadOptions, read};
use epitome::{Budget, Session};
use epitome_eval::replay::{Model, NEVER, Policy, Price, Prices, RECORDED, ReplayedSession, Total, totals};
use rayon::prelude::*;

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
}

/// A policy over all sessions.
struct Outcome {
    total: Total,
    found: Refetches,
    /// Dollars, with each call that lacks what only a search gives back as one more turn of the mean price.
    money: f64,
}

/// Runs the command and prints a table in Markdown. The error says what is wrong.
pub fn run(args: &RefetchArgs) -> Result<()> {
    let price = Prices::shipped()?.price(&args.model)?.clone();
    let files: Vec<Vec<Session>> = args.paths.par_iter().map(|path| sessions_of(path)).collect::<Result<_>>()?;
    let sessions: Vec<Session> = files.into_iter().flatten().collect();
    let owns: Vec<&str> = args.policies.iter().filter_map(|name| name.strip_prefix(OWN)).collect();
    let of_owns: String = owns.iter().map(|agent| format!(" of {agent} |")).collect();
    println!(
        "| window | policy | sessions | turns | over | compactions | kept | input | cached | re-fetches of repeats | needed of references | again | lost | crowded | cost |{of_owns}"
    );
    println!("|---:|---|{}", "---:|".repeat(13 + owns.len()));
    for window in &args.windows {
        let names = [NEVER, RECORDED].into_iter().chain(args.policies.iter().map(String::as_str));
        let outcomes = names.map(|name| Ok((name, outcome(&sessions, name, *window, &price, args)?)));
        let outcomes: Vec<(&str, Outcome)> = outcomes.collect::<Result<_>>()?;
        for (name, outcome) in &outcomes {
            let own = outcomes.iter().filter(|(name, _)| name.starts_with(OWN));
            let shares = own.map(|(_, own)| format!(" {:.0} % |", 100.0 * outcome.money / own.money));
            println!("| {window} | `{name}` |{}{}", outcome.cells(), shares.collect::<String>());
        }
    }
    Ok(())
}

/// Replays the sessions that are larger than the window under a policy.
fn outcome(sessions: &[Session], name: &str, window: u32, price: &Price, args: &RefetchArgs) -> Result<Outcome> {
    let budget =
        Budget { window, reserve_output: Budget::default().reserve_output.min(window / 4), ..Budget::default() };
    let model = Model { name: args.model.clone(), price: price.clone(), budget };
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
    fn cells(&self) -> String {
        let Self { total, found: Refetches { repeats, references, extra }, money } = self;
        let kept = total.kept_share.map_or_else(|| "–".to_owned(), |kept| format!("{:.0} %", 100.0 * kept));
        let input = total.spent.input as f64;
        let cells = [
            total.sessions.to_string(),
            total.turns.to_string(),
            total.impossible_turns.to_string(),
            total.epochs.to_string(),
            kept,
            format!("{:.0} M", input / 1e6),
            format!("{:.0} %", 100.0 * total.spent.cached as f64 / input.max(1.0)),
            format!("{} of {}", repeats.refetches, repeats.repeats),
            format!("{} of {}", references.needed, references.references),
            extra.extra_calls.to_string(),
            extra.lost_calls.to_string(),
            extra.crowded_calls.to_string(),
            format!("${money:.2}"),
        ];
        cells.iter().map(|cell| format!(" {cell} |")).collect()
    }
}

fn sessions_of(path: &Path) -> Result<Vec<Session>> {
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
