//! Paired differences between two methods, with bootstrap intervals.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::cases::text::distinct;
use crate::figures::metric::Metric;
use crate::figures::random::Random;
use crate::figures::row::Row;

/// A paired difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The method.
    pub method: String,
    /// The method that it is compared with.
    pub baseline: String,
    /// The budget; `all` where it is over all of them.
    pub budget: String,
    /// The metric.
    pub metric: Metric,
    /// The mean difference over sessions; above 0 where the method keeps more.
    #[serde(rename = "mean_share")]
    pub mean: f64,
    /// The lower end of the 95 % interval.
    #[serde(rename = "low_share")]
    pub low: f64,
    /// Its upper end.
    #[serde(rename = "high_share")]
    pub high: f64,
    /// Sessions that both have a figure for.
    pub sessions: u32,
    /// Sessions in which the method keeps more.
    #[serde(rename = "sessions_with_more")]
    pub wins: u32,
    /// Sessions in which it keeps less.
    #[serde(rename = "sessions_with_less")]
    pub losses: u32,
}

/// Resamples of a bootstrap.
pub const RESAMPLES: usize = 2_000;

/// The paired differences of `method` against `baseline` at each budget, by metric: means over sessions, with 95 %
/// intervals from 2,000 resamples of the sessions under `seed`. Several cuts of a session are averaged first.
pub fn differences(rows: &[Row], method: &str, baseline: &str, seed: u64) -> Vec<Difference> {
    differences_of(&rows.iter().collect::<Vec<_>>(), method, baseline, seed)
}

pub(crate) fn differences_of(rows: &[&Row], method: &str, baseline: &str, seed: u64) -> Vec<Difference> {
    let at = |budget: &str| {
        let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.budget == budget).collect();
        let of = |metric: Metric| difference(&rows, method, baseline, budget, metric, seed);
        Metric::ALL.into_iter().filter_map(of).collect::<Vec<_>>()
    };
    distinct(rows.iter().map(|row| row.budget.as_str())).into_iter().flat_map(at).collect()
}

/// Returns the paired difference over `rows`, whatever their budgets; `budget` is its name. `None` where no session has a
/// figure under both methods.
pub(crate) fn difference(
    rows: &[&Row],
    method: &str,
    baseline: &str,
    budget: &str,
    metric: Metric,
    seed: u64,
) -> Option<Difference> {
    let (ours, theirs) = (by_session(rows, method, metric), by_session(rows, baseline, metric));
    let pairs: Vec<f64> = ours.iter().filter_map(|(session, share)| Some(share - theirs.get(session)?)).collect();
    let (mean, low, high) = bootstrap(&pairs, seed)?;
    Some(Difference {
        method: method.to_owned(),
        baseline: baseline.to_owned(),
        budget: budget.to_owned(),
        metric,
        mean,
        low,
        high,
        sessions: pairs.len() as u32,
        wins: pairs.iter().filter(|difference| **difference > 0.0).count() as u32,
        losses: pairs.iter().filter(|difference| **difference < 0.0).count() as u32,
    })
}

/// The mean share of each session.
fn by_session<'a>(rows: &[&'a Row], method: &str, metric: Metric) -> BTreeMap<(&'a str, &'a str), f64> {
    let mut shares: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.method == method) {
        if let Some(share) = metric.count(row).share() {
            shares.entry((&row.case.file, &row.case.session)).or_default().push(share);
        }
    }
    shares.into_iter().map(|(session, shares)| (session, shares.iter().sum::<f64>() / shares.len() as f64)).collect()
}

/// The mean of `values` and the ends of its 95 % interval; `None` without values. The same seed gives the same interval.
pub(crate) fn bootstrap(values: &[f64], seed: u64) -> Option<(f64, f64, f64)> {
    let values: Vec<(f64, u32)> = values.iter().map(|value| (*value, 1)).collect();
    bootstrap_sums(&values, seed)
}

/// The same for sessions of several values each, given as sums and counts: whole sessions are drawn, and the mean is over
/// their values.
pub(crate) fn bootstrap_sums(sessions: &[(f64, u32)], seed: u64) -> Option<(f64, f64, f64)> {
    if sessions.is_empty() {
        return None;
    }
    let mean = |drawn: &mut dyn Iterator<Item = (f64, u32)>| {
        let (sum, count) = drawn.fold((0.0, 0), |(sum, count), (more, values)| (sum + more, count + values));
        sum / f64::from(count)
    };
    let count = sessions.len();
    let mut random = Random::new(seed);
    let mut means: Vec<f64> =
        (0..RESAMPLES).map(|_| mean(&mut (0..count).map(|_| sessions[random.below(count)]))).collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((RESAMPLES - 1) as f64 * share).round() as usize];
    Some((mean(&mut sessions.iter().copied()), at(0.025), at(0.975)))
}
