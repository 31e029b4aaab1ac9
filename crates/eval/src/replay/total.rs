//! Totals of a policy over its sessions.

use serde::Serialize;

use super::{NEVER, ReplayedSession};
use crate::cases::text::distinct;
use epitome::config::{Price, TokenUsage};

/// The totals of a policy, over one session or many.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Total {
    /// The policy.
    pub policy: String,
    /// Sessions.
    pub sessions: u32,
    /// Calls of the model.
    pub turns: u32,
    /// Calls that no provider would have accepted: over the window.
    pub impossible_turns: u32,
    /// What these would cost, in dollars; part of [`money`](Self::money).
    pub impossible_money: f64,
    /// Compactions.
    pub epochs: u32,
    /// Compactions that were due and changed nothing.
    pub failed_epochs: u32,
    /// The mean share of tokens that a compaction kept.
    pub kept_share: Option<f64>,
    /// Tokens already sent that compactions took from the cache.
    pub cache_loss_tokens: u64,
    /// The tokens of the calls.
    #[serde(flatten)]
    pub spent: TokenUsage,
    /// The tokens of the models that wrote summaries.
    pub summary: TokenUsage,
    /// The price of the summaries, in dollars; part of [`money`](Self::money).
    pub summary_money: f64,
    /// The price of everything, in dollars.
    pub money: f64,
    /// That price as a share of the price of never compacting, where that was replayed too.
    pub against_never: Option<f64>,
    /// How long the replays took for each turn, in microseconds.
    pub micros_per_turn: f64,
    /// How long a person waited for compactions, in microseconds.
    pub waited_micros: u64,
}

/// Returns the total of each policy, in the order of the sessions' policies.
pub fn totals(rows: &[ReplayedSession], price: &Price) -> Vec<Total> {
    let of_policy = |policy: &str| Total::new(policy, rows.iter().filter(|row| row.policy == policy), price);
    let mut all: Vec<Total> = distinct(rows.iter().map(|row| row.policy.as_str())).into_iter().map(of_policy).collect();
    let never = all.iter().find(|total| total.policy == NEVER).map(|total| total.money).filter(|money| *money > 0.0);
    for total in &mut all {
        total.against_never = never.map(|never| total.money / never);
    }
    all
}

impl Total {
    fn new<'a>(policy: &str, rows: impl Iterator<Item = &'a ReplayedSession>, price: &Price) -> Self {
        let mut total = Self { policy: policy.to_owned(), ..Self::default() };
        let (mut kept, mut micros) = (0.0, 0.0);
        for row in rows {
            total.sessions += 1;
            total.turns += row.turns.len() as u32;
            micros += row.micros as f64;
            for turn in &row.turns {
                total.spent.add(&turn.spent);
                if turn.impossible {
                    total.impossible_turns += 1;
                    total.impossible_money += turn.money;
                }
            }
            for epoch in &row.epochs {
                total.summary.add(&epoch.summary);
                total.summary_money += epoch.summary_money;
                total.waited_micros += epoch.micros;
                total.cache_loss_tokens += epoch.cache_loss_tokens;
                if epoch.status.is_compaction() {
                    total.epochs += 1;
                    kept += epoch.kept_share();
                } else {
                    total.failed_epochs += 1;
                }
            }
        }
        total.kept_share = (total.epochs > 0).then(|| kept / f64::from(total.epochs));
        total.money = total.spent.money(price) + total.summary_money;
        total.micros_per_turn = micros / f64::from(total.turns.max(1));
        total
    }
}
