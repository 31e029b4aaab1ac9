//! The answer of a comparison in one sentence.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::figures::metric::Metric;
use crate::figures::paired::{Difference, difference};
use crate::figures::row::Row;
use crate::tables::groups::main_metric;
use crate::tables::sheet::{ENOUGH, Verdict, signed};

/// What two methods differ in at the same budgets, all of them together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The answer as a sentence.
    pub sentence: String,
    /// Whether the method keeps more or less than the baseline, outside the interval.
    pub verdict: Verdict,
    /// The difference, each session once: the mean of its cases at all budgets.
    #[serde(flatten)]
    pub difference: Difference,
    /// How many more tokens the method's results hold than the baseline's, as a share of these; below 0 where they hold fewer.
    /// `None` where one of them has no result.
    pub more_tokens_share: Option<f64>,
}

/// Returns the answer for each of `pairs` of methods, in the first metric with any figures; none for a pair that has no figure
/// in common. Intervals are under `seed`.
pub fn answers(rows: &[Row], pairs: &[(String, String)], seed: u64) -> Vec<Answer> {
    let metric = main_metric(rows);
    pairs.iter().filter_map(|(method, baseline)| Answer::new(rows, method, baseline, metric, seed)).collect()
}

impl Answer {
    fn new(rows: &[Row], method: &str, baseline: &str, metric: Metric, seed: u64) -> Option<Self> {
        let rows: Vec<&Row> = rows.iter().filter(|row| [method, baseline].contains(&row.method.as_str())).collect();
        let difference = difference(&rows, method, baseline, "all", metric, seed)?;
        let more_tokens_share = more_tokens(&rows, method, baseline);
        let verdict = difference.verdict();
        let sentence = sentence(&difference, more_tokens_share);
        Some(Self { sentence, verdict, difference, more_tokens_share })
    }
}

/// Returns how many more tokens `method` leaves than `baseline`, where both have a result, as a share of the latter's.
fn more_tokens(rows: &[&Row], method: &str, baseline: &str) -> Option<f64> {
    let of = |name: &str| -> BTreeMap<_, u32> {
        let with_result = rows.iter().filter(|row| row.method == name && row.problem.is_none());
        with_result.map(|row| ((&row.case, &row.budget), row.scores.tokens)).collect()
    };
    let (ours, theirs) = (of(method), of(baseline));
    let both = ours.iter().filter_map(|(place, tokens)| Some((*tokens, *theirs.get(place)?)));
    let (ours, theirs) =
        both.fold((0.0, 0.0), |(ours, theirs), (mine, other)| (ours + f64::from(mine), theirs + f64::from(other)));
    (theirs > 0.0).then(|| ours / theirs - 1.0)
}

fn sentence(difference: &Difference, more_tokens_share: Option<f64>) -> String {
    let Difference { method, baseline, mean, low, high, sessions, metric, .. } = difference;
    let what = subject(*metric);
    let on = if *sessions == 1 { "1 session".to_owned() } else { format!("{sessions} sessions") };
    let by = |mean: f64, low: f64, high: f64| format!("{} ({} to {}) on {on}", signed(mean), signed(low), signed(high));
    let costs = |method: &str, more: f64| match (more.abs() * 100.0).round() {
        0.0 => format!("{method} leaves as many tokens"),
        percent => format!("{method} leaves {percent} % {} tokens", if more > 0.0 { "more" } else { "fewer" }),
    };
    let cost = |name: &str, more: Option<f64>| more.map_or(String::new(), |more| format!("; {}", costs(name, more)));
    match difference.verdict() {
        Verdict::More => {
            let cost = cost("it", more_tokens_share);
            format!(
                "{method} keeps more of {what} than {baseline} at the same budgets: {}{cost}.",
                by(*mean, *low, *high)
            )
        }
        // The winner is named, and what it leaves is held against the other's.
        Verdict::Less => {
            let cost = cost("it", more_tokens_share.map(|more| 1.0 / (1.0 + more) - 1.0));
            let by = by(-mean, -high, -low);
            format!("{baseline} keeps more of {what} than {method} at the same budgets: {by}{cost}.")
        }
        Verdict::Open if *sessions < ENOUGH => format!(
            "{on} of {ENOUGH} at least: too few to tell {method} from {baseline} in {what}; so far {}.",
            signed(*mean)
        ),
        Verdict::Open => {
            let cost = cost(method, more_tokens_share);
            format!(
                "No difference is shown between {method} and {baseline} in {what} at the same budgets: {}{cost}.",
                by(*mean, *low, *high)
            )
        }
    }
}

/// What a metric is a share of.
fn subject(metric: Metric) -> &'static str {
    match metric {
        Metric::Probes => "the facts",
        Metric::Exact => "the exact facts",
        Metric::State => "the facts about states",
        Metric::Why => "the reasons",
        Metric::User => "what people said",
        Metric::Content => "what was read",
        Metric::BoundFrr | Metric::Frr => "the strings that later calls needed",
        Metric::Quotes => "the lines that later edits match",
        Metric::Files => "the files that were written",
        Metric::Rules => "the standing instructions",
        Metric::Fill => "the budget",
    }
}
