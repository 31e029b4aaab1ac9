//! Tables of a group as cells, for every form of output: figures with intervals, and differences.

use serde::Serialize;

use crate::cases::text::distinct;
use crate::figures::metric::{Family, Metric};
use crate::figures::paired::Difference;
use crate::figures::summary::Summary;
use crate::tables::groups::Group;

/// The fewest sessions with an informative interval: fewer have too few resamples that differ.
pub(crate) const ENOUGH: u32 = 5;

/// The meaning of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// None: it is not a difference, its interval contains zero, or it is over fewer than five sessions.
    #[default]
    Open,
    /// More, outside the interval.
    More,
    /// Less, outside the interval.
    Less,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SheetCell {
    /// Its text.
    pub text: String,
    /// Its meaning.
    pub verdict: Verdict,
}

impl Difference {
    /// Returns its text.
    pub fn verdict(&self) -> Verdict {
        let is_enough = self.sessions >= ENOUGH;
        match (self.low > 0.0, self.high < 0.0) {
            (true, _) if is_enough => Verdict::More,
            (_, true) if is_enough => Verdict::Less,
            _ => Verdict::Open,
        }
    }
}

impl From<String> for SheetCell {
    fn from(text: String) -> Self {
        Self { text, verdict: Verdict::Open }
    }
}

/// A table: the first column is a budget, the second one a method, the others are figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// The columns' headings.
    pub headings: Vec<String>,
    /// The metrics of the columns behind the first two; other figures follow these.
    pub metrics: Vec<Metric>,
    /// The rows, each as long as the headings.
    pub rows: Vec<Vec<SheetCell>>,
}

/// Returns a share with three digits, as the tables write it: `.933`, `1.000`, `–` where there is none.
pub fn figure(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{share:.3}").trim_start_matches('0').to_owned())
}

/// Returns a difference with its sign: `+.056`, `−.001`.
pub fn signed(difference: f64) -> String {
    let digits = format!("{:.3}", difference.abs());
    // A value that rounds to zero has no sign.
    let sign = if difference < 0.0 && digits != "0.000" { '−' } else { '+' };
    format!("{sign}{}", digits.trim_start_matches('0'))
}

/// Returns the metrics with any figures.
fn measured_metrics(summaries: &[Summary]) -> Vec<Metric> {
    let has = |metric: &Metric| summaries.iter().any(|summary| summary.average(*metric).cases > 0);
    Metric::ALL.into_iter().filter(has).collect()
}

/// Returns `metrics` in the tables that show them, one for each family: probes first where there are any.
fn by_family(metrics: &[Metric]) -> Vec<Vec<Metric>> {
    let of = |family: Family| metrics.iter().copied().filter(|metric| metric.family() == family).collect::<Vec<_>>();
    [Family::Probes, Family::Strings].map(of).into_iter().filter(|metrics| !metrics.is_empty()).collect()
}

impl Group {
    /// Returns the averages, a table for each family of metrics, with the intervals of the macro ones where they are wanted.
    /// The first table also has what belongs to all results: tokens kept, usable results and so on.
    pub fn figures(&self, with_intervals: bool) -> Vec<Sheet> {
        let families = by_family(&measured_metrics(&self.summaries));
        if families.is_empty() {
            return vec![self.figures_of(Vec::new(), true, with_intervals)];
        }
        let of_families = families.into_iter().enumerate();
        of_families.map(|(number, metrics)| self.figures_of(metrics, number == 0, with_intervals)).collect()
    }

    /// Returns macro averages, micro averages in round brackets, 95 % intervals of the macro ones, and what else every
    /// table shows: tokens kept, usable results, those over the budget, invalid, with a changed system prompt and
    /// failed, the unchanged share, tokens that leave the prompt cache, milliseconds. A metric's name is followed by its number of cases.
    fn figures_of(&self, metrics: Vec<Metric>, is_first: bool, with_intervals: bool) -> Sheet {
        let of = |metric: &Metric| {
            let cases = self.summaries.iter().map(|summary| summary.average(*metric).cases).filter(|cases| *cases > 0);
            match (cases.clone().min().unwrap_or(0), cases.max().unwrap_or(0)) {
                (least, most) if least == most => most.to_string(),
                (least, most) => format!("{least} to {most}"),
            }
        };
        let mut headings = vec!["budget".to_owned(), "method".to_owned()];
        headings.extend(metrics.iter().map(|metric| format!("{} ({})", metric.as_str(), of(metric))));
        let others = ["kept", "usable", "over / invalid / system / failed", "unchanged", "cache loss", "ms"];
        if is_first {
            headings.extend(others.map(str::to_owned));
        }
        let row = |summary: &Summary| {
            let mut cells = vec![summary.budget.clone(), summary.method.clone()];
            cells.extend(metrics.iter().map(|metric| {
                let average = summary.average(*metric);
                match average.macro_average {
                    None => figure(None),
                    mean => {
                        let [mean, micro, low, high] =
                            [mean, average.micro_average, average.low, average.high].map(figure);
                        let interval = if with_intervals { format!(" [{low}, {high}]") } else { String::new() };
                        format!("{mean} ({micro}){interval}")
                    }
                }
            }));
            if !is_first {
                return cells.into_iter().map(SheetCell::from).collect();
            }
            cells.push(figure(Some(summary.kept_share)));
            cells.push(format!("{} of {}", summary.usable, summary.cases));
            cells.push(format!(
                "{} / {} / {} / {}",
                summary.over_budget, summary.invalid, summary.system_changed, summary.failed
            ));
            cells.push(figure(Some(summary.unchanged_share)));
            cells.push(format!("{:.0}", summary.cache_loss_tokens));
            cells.push(format!("{:.0}", summary.milliseconds));
            cells.into_iter().map(SheetCell::from).collect()
        };
        let rows = self.summaries.iter().map(row).collect();
        Sheet { headings, metrics, rows }
    }

    /// Returns the paired differences: a table for each method that is compared with others, or one table where several
    /// are compared with one. A metric's name is followed by the number of its sessions; differences over five sessions
    /// or more whose interval does not contain zero are marked.
    pub fn against(&self) -> Vec<Sheet> {
        let Some(first) = self.differences.first() else { return Vec::new() };
        let is_one = self.differences.iter().all(|it| it.baseline == first.baseline);
        let heading = format!("… less {}", first.baseline);
        if is_one && self.differences.iter().any(|it| it.method != first.method) {
            return against(&self.differences, &heading, |it| &it.method);
        }
        let of_methods = self.differences.chunk_by(|left, right| left.method == right.method);
        let of_method = |differences: &[Difference]| {
            let method = differences.first().map_or("", |first| first.method.as_str());
            against(differences, &format!("{method} less …"), |it| &it.baseline)
        };
        of_methods.flat_map(of_method).collect()
    }
}

/// Returns tables of differences, one for each family of metrics.
fn against(differences: &[Difference], heading: &str, other: fn(&Difference) -> &str) -> Vec<Sheet> {
    let metrics: Vec<Metric> =
        Metric::ALL.into_iter().filter(|metric| differences.iter().any(|it| it.metric == *metric)).collect();
    by_family(&metrics).into_iter().map(|metrics| differing(differences, metrics, heading, other)).collect()
}

/// Returns a table of differences with a row for each budget and each `other`, the side that is not always the same.
fn differing(differences: &[Difference], metrics: Vec<Metric>, heading: &str, other: fn(&Difference) -> &str) -> Sheet {
    let sessions =
        |metric: &Metric| differences.iter().filter(|it| it.metric == *metric).map(|it| it.sessions).max().unwrap_or(0);
    let mut headings = vec!["budget".to_owned(), heading.to_owned()];
    headings.extend(metrics.iter().map(|metric| format!("{} ({})", metric.as_str(), sessions(metric))));
    let names = distinct(differences.iter().map(other));
    let budgets = distinct(differences.iter().map(|it| it.budget.as_str()));
    let places = budgets.into_iter().flat_map(|budget| names.iter().map(move |name| (budget, *name)));
    let cell = |budget: &str, name: &str, metric: Metric| {
        let is_it = |it: &&Difference| it.budget == budget && other(it) == name && it.metric == metric;
        let Some(it) = differences.iter().find(is_it) else { return SheetCell::from(figure(None)) };
        let text = format!("{} [{}, {}]", signed(it.mean), signed(it.low), signed(it.high));
        SheetCell { text, verdict: it.verdict() }
    };
    let row = |(budget, name): (&str, &str)| {
        let mut cells = vec![SheetCell::from(budget.to_owned()), SheetCell::from(name.to_owned())];
        cells.extend(metrics.iter().map(|metric| cell(budget, name, *metric)));
        cells
    };
    let rows = places.map(row).collect();
    Sheet { headings, metrics, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!([Some(0.9333), Some(1.0), Some(0.0), None].map(figure), [".933", "1.000", ".000", "–"]);
        assert_eq!([0.0561, -0.001, -0.0001, 1.0].map(signed), ["+.056", "−.001", "+.000", "+1.000"]);
    }
}
