//! Tables: averages of a method at a budget, and paired differences with bootstrap intervals.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::random::Random;
use crate::runner::Row;
use crate::score::Kept;

/// The figures that are shares of something kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Bound future-reference recall.
    BoundFrr,
    /// Future-reference recall.
    Frr,
    /// Lines that later edits must match.
    Quotes,
    /// Files still named.
    Files,
    /// Standing instructions.
    Rules,
    /// Turns that hold the answer to a question.
    Evidence,
    /// Answers of questions.
    Answers,
}

impl Metric {
    /// Every metric, the first one that tables show first.
    pub const ALL: [Self; 7] =
        [Self::BoundFrr, Self::Frr, Self::Quotes, Self::Files, Self::Rules, Self::Evidence, Self::Answers];

    /// Its name in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BoundFrr => "bound",
            Self::Frr => "FRR",
            Self::Quotes => "quotes",
            Self::Files => "files",
            Self::Rules => "rules",
            Self::Evidence => "evidence",
            Self::Answers => "answers",
        }
    }

    /// The figure of a row.
    pub fn of(self, row: &Row) -> Kept {
        match self {
            Self::BoundFrr => row.scores.bound_frr,
            Self::Frr => row.scores.frr,
            Self::Quotes => row.scores.quotes,
            Self::Files => row.scores.files,
            Self::Rules => row.scores.rules,
            Self::Evidence => row.scores.evidence,
            Self::Answers => row.scores.answers,
        }
    }
}

/// An average over cases, both ways.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Average {
    /// The mean of the cases' shares; cases with nothing to keep are left out.
    #[serde(rename = "macro")]
    pub macro_average: Option<f64>,
    /// All that was kept of all that there was.
    #[serde(rename = "micro")]
    pub micro_average: Option<f64>,
    /// Cases with something to keep.
    pub cases: u32,
}

/// What a method did at a budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The method.
    pub method: String,
    /// The budget.
    pub budget: String,
    /// Cases.
    pub cases: u32,
    /// The averages in the order of [`Metric::ALL`].
    pub averages: [Average; 7],
    /// The mean share of the prefix's tokens that the result has; of cases with a result.
    pub kept_share: f64,
    /// Cases whose result can be used: within the budget, valid, the system prompt intact.
    pub usable: u32,
    /// Cases over the budget.
    pub over_budget: u32,
    /// Cases that a provider would refuse.
    pub invalid: u32,
    /// Cases whose system prompt was changed.
    pub system_changed: u32,
    /// Cases without a result.
    pub failed: u32,
    /// The mean share of the prefix's tokens in front of the first changed message.
    pub unchanged_share: f64,
    /// The mean of tokens already sent from the first changed message on.
    pub cache_loss_tokens: f64,
    /// The mean time of a compaction in milliseconds.
    pub milliseconds: f64,
}

impl Summary {
    /// The average of a metric.
    pub fn average(&self, metric: Metric) -> Average {
        Metric::ALL.iter().position(|known| *known == metric).map_or_else(Average::default, |at| self.averages[at])
    }
}

/// The summaries of `rows`: budgets in the order in which they come, methods within.
pub fn summaries(rows: &[Row]) -> Vec<Summary> {
    let mut groups: Vec<(&str, &str)> = Vec::new();
    let mut members: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let key = (row.budget.as_str(), row.method.as_str());
        let group = members.entry(key).or_default();
        if group.is_empty() {
            groups.push(key);
        }
        group.push(row);
    }
    groups.iter().map(|key| summary(key.1, key.0, &members[key])).collect()
}

fn summary(method: &str, budget: &str, rows: &[&Row]) -> Summary {
    let count = |wanted: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count() as u32;
    let mean = |of: &dyn Fn(&Row) -> f64, wanted: &dyn Fn(&Row) -> bool| {
        let values: Vec<f64> = rows.iter().filter(|row| wanted(row)).map(|row| of(row)).collect();
        if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
    };
    let has_result = |row: &Row| row.problem.is_none();
    let share = |tokens: u32, row: &Row| f64::from(tokens) / f64::from(row.prefix_tokens.max(1));
    Summary {
        method: method.to_owned(),
        budget: budget.to_owned(),
        cases: rows.len() as u32,
        averages: Metric::ALL.map(|metric| average(rows.iter().map(|row| metric.of(row)))),
        kept_share: mean(&|row| share(row.scores.tokens, row), &has_result),
        usable: count(&|row| row.is_usable()),
        over_budget: count(&|row| row.scores.over_budget),
        invalid: count(&|row| row.scores.violation.is_some()),
        system_changed: count(&|row| has_result(row) && !row.scores.system_intact),
        failed: count(&|row| row.problem.is_some()),
        unchanged_share: mean(&|row| share(row.scores.unchanged_tokens, row), &has_result),
        cache_loss_tokens: mean(&|row| f64::from(row.scores.cache_loss_tokens), &has_result),
        milliseconds: mean(&|row| row.micros as f64 / 1e3, &|_| true),
    }
}

fn average(kept: impl Iterator<Item = Kept>) -> Average {
    let kept: Vec<Kept> = kept.filter(|kept| kept.of > 0).collect();
    if kept.is_empty() {
        return Average::default();
    }
    let shares: f64 = kept.iter().filter_map(|kept| kept.share()).sum();
    let total = |of: fn(&Kept) -> u32| kept.iter().map(|kept| f64::from(of(kept))).sum::<f64>();
    Average {
        macro_average: Some(shares / kept.len() as f64),
        micro_average: Some(total(|kept| kept.kept) / total(|kept| kept.of)),
        cases: kept.len() as u32,
    }
}

/// A paired difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The method.
    pub method: String,
    /// The method that it is compared with.
    pub baseline: String,
    /// The budget.
    pub budget: String,
    /// The metric.
    pub metric: Metric,
    /// The mean difference over sessions; above 0 where the method keeps more.
    pub mean: f64,
    /// The lower end of the 95 % interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Sessions that both have a figure for.
    pub sessions: u32,
    /// Sessions in which the method keeps more.
    pub wins: u32,
    /// Sessions in which it keeps less.
    pub losses: u32,
}

/// Resamples of a bootstrap.
pub const RESAMPLES: usize = 2_000;

/// The paired differences of `method` against `baseline` at each budget, by metric: means over sessions, with 95 %
/// intervals from 2,000 resamples of the sessions under `seed`. Several cuts of a session are averaged first.
pub fn differences(rows: &[Row], method: &str, baseline: &str, seed: u64) -> Vec<Difference> {
    let mut budgets: Vec<&str> = Vec::new();
    for row in rows {
        if !budgets.contains(&row.budget.as_str()) {
            budgets.push(&row.budget);
        }
    }
    let mut found = Vec::new();
    for budget in budgets {
        for metric in Metric::ALL {
            let ours = by_session(rows, method, budget, metric);
            let theirs = by_session(rows, baseline, budget, metric);
            let pairs: Vec<f64> =
                ours.iter().filter_map(|(session, share)| Some(share - theirs.get(session)?)).collect();
            if let Some(interval) = bootstrap(&pairs, seed) {
                found.push(Difference {
                    method: method.to_owned(),
                    baseline: baseline.to_owned(),
                    budget: budget.to_owned(),
                    metric,
                    mean: interval.0,
                    low: interval.1,
                    high: interval.2,
                    sessions: pairs.len() as u32,
                    wins: pairs.iter().filter(|difference| **difference > 0.0).count() as u32,
                    losses: pairs.iter().filter(|difference| **difference < 0.0).count() as u32,
                });
            }
        }
    }
    found
}

/// The mean share of each session.
fn by_session<'a>(rows: &'a [Row], method: &str, budget: &str, metric: Metric) -> BTreeMap<(&'a str, &'a str), f64> {
    let mut shares: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.method == method && row.budget == budget) {
        if let Some(share) = metric.of(row).share() {
            shares.entry((&row.case.file, &row.case.session)).or_default().push(share);
        }
    }
    shares.into_iter().map(|(session, shares)| (session, shares.iter().sum::<f64>() / shares.len() as f64)).collect()
}

/// The mean of `values` and the 2.5th and 97.5th percentile of the means of resamples; `None` without values. The same
/// seed gives the same interval.
pub(crate) fn bootstrap(values: &[f64], seed: u64) -> Option<(f64, f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let count = values.len();
    let mut random = Random::new(seed);
    let mut means: Vec<f64> =
        (0..RESAMPLES).map(|_| (0..count).map(|_| values[random.below(count)]).sum::<f64>() / count as f64).collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((RESAMPLES - 1) as f64 * share).round() as usize];
    Some((values.iter().sum::<f64>() / count as f64, at(0.025), at(0.975)))
}
