//! The same figures for each kind of task, or each format.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::figures::metric::Metric;
use crate::figures::paired::{Difference, differences_of};
use crate::figures::row::Row;
use crate::figures::summary::{Summary, summaries_of};

/// The property by which cases are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// The kind of task.
    Kind,
    /// The recording's format.
    Format,
    /// The repository that a session worked in.
    Repository,
}

/// The figures of some of the cases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The common property of these cases.
    pub name: String,
    /// Questions about these cases that were asked one by one.
    pub questions: u32,
    /// Averages by budget and method.
    pub summaries: Vec<Summary>,
    /// Paired differences.
    pub differences: Vec<Difference>,
    #[serde(skip)]
    cases: u32,
}

impl Group {
    /// Returns the figures of all of `rows`, with the differences of each pair of methods in `pairs`; intervals under
    /// `seed`.
    pub fn new(name: &str, rows: &[Row], pairs: &[(String, String)], seed: u64) -> Self {
        Self::of_rows(name, &rows.iter().collect::<Vec<_>>(), pairs, seed)
    }

    fn of_rows(name: &str, rows: &[&Row], pairs: &[(String, String)], seed: u64) -> Self {
        // A probed session is one case, whatever is asked about it; the parts of other cases are cases.
        let is_question = |row: &Row| row.case.part.is_some() && row.scores.probes.all.of > 0;
        let of_cases = |wanted: &dyn Fn(&Row) -> bool| {
            rows.iter().filter(|row| wanted(row)).map(|row| &row.case).collect::<BTreeSet<_>>().len() as u32
        };
        Self {
            name: name.to_owned(),
            questions: of_cases(&|row| is_question(row)),
            cases: of_cases(&|row| !is_question(row)),
            summaries: summaries_of(rows, seed),
            differences: pairs.iter().flat_map(|(a, b)| differences_of(rows, a, b, seed)).collect(),
        }
    }

    /// Returns how many cases it has; a question about a case is not a case of its own.
    pub fn cases(&self) -> u32 {
        self.cases
    }

    /// Returns how many sessions they were made of.
    pub fn sessions(&self) -> u32 {
        self.summaries.iter().map(|summary| summary.sessions).max().unwrap_or(0)
    }
}

/// Returns the first metric with any figures; metrics of questions precede those of strings.
pub(crate) fn main_metric(rows: &[Row]) -> Metric {
    let has = |metric: &Metric| rows.iter().any(|row| metric.count(row).of > 0);
    [Metric::Probes].into_iter().chain(Metric::ALL).find(has).unwrap_or(Metric::BoundFrr)
}

/// Returns the figures of each group of `rows`, in order of the groups' names.
pub fn groups(rows: &[Row], by: Grouping, pairs: &[(String, String)], seed: u64) -> Vec<Group> {
    let unknown = "unknown".to_owned();
    let mut members: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let name = match by {
            Grouping::Kind => &row.task,
            Grouping::Format => &row.format,
            Grouping::Repository => row.repository.as_ref().unwrap_or(&unknown),
        };
        members.entry(name).or_default().push(row);
    }
    members.into_iter().map(|(name, rows)| Group::of_rows(name, &rows, pairs, seed)).collect()
}
