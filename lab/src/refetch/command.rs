//! `refetch`: what agents lack after compactions, and the calls that they make again.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use epitome::Budget;
use epitome::formats::{ReadOptions, read};
use epitome_eval::replay::{Model, NEVER, Policy, Prices, RECORDED};

use super::{Refetches, replay_with_fetches};

/// What is replayed.
#[derive(Debug, Args)]
pub struct RefetchArgs {
    /// Files of recorded sessions
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The policies, as in `epitome replay`
    #[arg(long, value_delimiter = ',', default_value = "default")]
    policies: Vec<String>,
    /// The model's window in tokens
    #[arg(long, default_value_t = 50_000)]
    window: u32,
    /// Count only, and make no call again
    #[arg(long)]
    only_count: bool,
}

/// Runs the command and prints a table in Markdown. The error says what is wrong.
pub fn run(args: &RefetchArgs) -> Result<()> {
    let price = Prices::shipped()?.price("claude-sonnet-5")?.clone();
    let budget = Budget { window: args.window, ..Budget::default() };
    let model = Model { name: String::new(), price, budget };
    println!(
        "| policy | sessions | turns | compactions | re-fetches of repeats | needed of references | again | lost | crowded |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let registry = epitome::registry();
    for name in [NEVER, RECORDED].into_iter().chain(args.policies.iter().map(String::as_str)) {
        let policy = Policy::parse(name, Some(args.window), &registry)?;
        let makes_calls = !args.only_count && ![NEVER, RECORDED].contains(&name);
        let (mut all, mut sessions, mut turns, mut compactions) = (Refetches::default(), 0, 0, 0);
        for path in &args.paths {
            for session in sessions_of(path)? {
                let (row, found) = replay_with_fetches(&session, &policy, &model, makes_calls)?;
                sessions += 1;
                turns += row.turns.len();
                compactions += row.epochs.iter().filter(|epoch| epoch.status.is_compaction()).count();
                all.add(&found);
            }
        }
        let Refetches { repeats, references, extra } = all;
        println!(
            "| `{name}` | {sessions} | {turns} | {compactions} | {} of {} | {} of {} | {} | {} | {} |",
            repeats.refetches,
            repeats.repeats,
            references.needed,
            references.references,
            extra.extra_calls,
            extra.lost_calls,
            extra.crowded_calls,
        );
    }
    Ok(())
}

fn sessions_of(path: &Path) -> Result<Vec<epitome::Session>> {
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
