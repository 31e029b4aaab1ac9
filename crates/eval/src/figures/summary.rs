//! Averages of a method at a budget, with bootstrap intervals.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use crate::figures::kept::KeptCount;
use crate::figures::metric::Metric;
use crate::figures::paired::bootstrap_sums;
use crate::figures::row::Row;

/// An average over cases, both ways.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Average {
    /// The mean of the cases' shares; cases with nothing to keep are left out.
    #[serde(rename = "macro_share")]
    pub macro_average: Option<f64>,
    /// The lower end of its 95 % interval, from resamples of the sessions.
    #[serde(rename = "low_share")]
    pub low: Option<f64>,
    /// Its upper end.
    #[serde(rename = "high_share")]
    pub high: Option<f64>,
    /// All that was kept of all that there was.
    #[serde(rename = "micro_share")]
    pub micro_average: Option<f64>,
    /// Cases with something to keep.
    pub cases: u32,
}

/// The averages of a method at a budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The method.
    pub method: String,
    /// The budget.
    pub budget: String,
    /// How many cases.
    pub cases: u32,
    /// How many sessions they were made of; the intervals are over these.
    pub sessions: u32,
    /// The averages in the order of [`Metric::ALL`]; in JSON by their names.
    #[serde(rename = "figures", serialize_with = "by_metric")]
    pub averages: [Average; Metric::ALL.len()],
    /// The mean share of the prefix's tokens in the result, over cases with a result.
    pub kept_share: f64,
    /// How many cases have a usable result: within the budget, valid, the system prompt intact.
    #[serde(rename = "usable_cases")]
    pub usable: u32,
    /// How many cases are over the budget.
    #[serde(rename = "over_budget_cases")]
    pub over_budget: u32,
    /// How many cases a provider would refuse.
    #[serde(rename = "invalid_cases")]
    pub invalid: u32,
    /// How many cases have a changed system prompt.
    #[serde(rename = "system_changed_cases")]
    pub system_changed: u32,
    /// How many cases have no result.
    #[serde(rename = "failed_cases")]
    pub failed: u32,
    /// The mean share of the prefix's tokens in front of the first changed message.
    pub unchanged_share: f64,
    /// The mean of tokens already sent from the first changed message on.
    pub cache_loss_tokens: f64,
    /// The mean time of a compaction in milliseconds.
    #[serde(rename = "compaction_milliseconds")]
    pub milliseconds: f64,
}

impl Summary {
    /// Returns the average of a metric.
    pub fn average(&self, metric: Metric) -> Average {
        Metric::ALL.iter().position(|known| *known == metric).map_or_else(Average::default, |at| self.averages[at])
    }
}

fn by_metric<S: Serializer>(averages: &[Average; Metric::ALL.len()], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(Metric::ALL.iter().zip(averages))
}

/// Returns the summaries of `rows`: budgets in the order of the rows, methods within; intervals under `seed`.
pub fn summaries(rows: &[Row], seed: u64) -> Vec<Summary> {
    summaries_of(&rows.iter().collect::<Vec<_>>(), seed)
}

pub(crate) fn summaries_of(rows: &[&Row], seed: u64) -> Vec<Summary> {
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
    groups.iter().map(|key| summary(key.1, key.0, &members[key], seed)).collect()
}

fn summary(method: &str, budget: &str, rows: &[&Row], seed: u64) -> Summary {
    let count = |wanted: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count() as u32;
    let mean = |of: &dyn Fn(&Row) -> f64, wanted: &dyn Fn(&Row) -> bool| {
        let values: Vec<f64> = rows.iter().filter(|row| wanted(row)).map(|row| of(row)).collect();
        if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
    };
    let sessions: BTreeSet<_> = rows.iter().map(|row| (&row.case.file, &row.case.session)).collect();
    let has_result = |row: &Row| row.problem.is_none();
    let share = |tokens: u32, row: &Row| f64::from(tokens) / f64::from(row.prefix_tokens.max(1));
    Summary {
        method: method.to_owned(),
        budget: budget.to_owned(),
        cases: rows.len() as u32,
        sessions: sessions.len() as u32,
        averages: Metric::ALL.map(|metric| average(rows, metric, seed)),
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

fn average(rows: &[&Row], metric: Metric, seed: u64) -> Average {
    let kept: Vec<KeptCount> = rows.iter().map(|row| metric.count(row)).filter(|kept| kept.of > 0).collect();
    let mut sessions: BTreeMap<(&str, &str), (f64, u32)> = BTreeMap::new();
    for row in rows {
        if let Some(share) = metric.count(row).share() {
            let (sum, count) = sessions.entry((&row.case.file, &row.case.session)).or_default();
            *sum += share;
            *count += 1;
        }
    }
    let sessions: Vec<(f64, u32)> = sessions.into_values().collect();
    let Some((mean, low, high)) = bootstrap_sums(&sessions, seed) else { return Average::default() };
    let total = |of: fn(&KeptCount) -> u32| kept.iter().map(|kept| f64::from(of(kept))).sum::<f64>();
    Average {
        macro_average: Some(mean),
        low: Some(low),
        high: Some(high),
        micro_average: Some(total(|kept| kept.kept) / total(|kept| kept.of)),
        cases: kept.len() as u32,
    }
}
