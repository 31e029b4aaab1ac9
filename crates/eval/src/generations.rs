//! Repeated compaction: what is left after several compactions to the same final budget, beside one.

use std::fmt;

use epitome::Session;
use epitome::formats::{Format, Profile, ReadOptions, read, render};
use epitome::session::{Entry, Message};
use serde::Serialize;

use crate::budget::BudgetSpec;
use crate::metric::Metric;
use crate::sheet::{Sheet, SheetCell, figure, measured_metrics};
use crate::summary::Summary;

/// What a row's method is called behind its own name where it was compacted several times.
const TIMES: char = '×';
/// What such a name ends with where a text lies between two compactions.
const PIPED: &str = " piped";

/// How a session shrinks to its final budget.
#[derive(Debug, Clone, PartialEq)]
pub enum Steps {
    /// In that many compactions, each by the same share of what is there.
    Equal(u32),
    /// Through these budgets; the last one is the final budget.
    Through(Vec<BudgetSpec>),
}

/// Several compactions one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Generations {
    /// The budgets on the way.
    pub steps: Steps,
    /// Whether each result is written as OpenAI chat and read back before the next compaction: then only the text is
    /// there, without the log behind it.
    pub piped: bool,
}

impl Generations {
    /// How many compactions these are.
    pub fn count(&self) -> usize {
        match &self.steps {
            Steps::Equal(count) => *count as usize,
            Steps::Through(budgets) => budgets.len(),
        }
    }

    /// Returns the name of `method` with several compactions: `default ×3`, `default ×3 piped`.
    pub fn name(&self, method: &str) -> String {
        format!("{method} {self}")
    }

    /// The budgets in tokens, from a prefix of `prefix` tokens to `last`; none is less than `last` or `floor`. Equal
    /// steps are rounded down.
    pub(crate) fn budgets(&self, prefix: u32, last: u32, floor: u32) -> Vec<u32> {
        let least = last.max(floor);
        match &self.steps {
            Steps::Equal(count) => {
                let share = f64::from(last) / f64::from(prefix.max(1));
                let step = |number: u32| {
                    let left = share.powf(f64::from(number) / f64::from(*count));
                    ((f64::from(prefix) * left) as u32).max(least)
                };
                (1..*count).map(step).chain([last]).collect()
            }
            Steps::Through(budgets) => {
                let on_the_way = budgets.split_last().map_or(&[][..], |(_, others)| others);
                on_the_way.iter().map(|budget| budget.tokens(prefix).max(least)).chain([last]).collect()
            }
        }
    }
}

impl fmt::Display for Generations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{TIMES}{}{}", self.count(), if self.piped { PIPED } else { "" })
    }
}

/// Returns a view written as OpenAI chat and read back. The error says what is wrong with the text.
pub(crate) fn session_from_chat(view: &[Entry], tools: Option<&str>) -> Result<Session, String> {
    let rendered = render(view, Profile::OpenaiChat, tools, None);
    let options = ReadOptions { format: Some(Format::OpenaiChat), strict: true, ..ReadOptions::default() };
    let loaded = read(rendered.json.into_bytes(), options).map_err(|error| format!("cannot be read back: {error}"))?;
    loaded.sessions.into_iter().next().map(|named| named.session).ok_or_else(|| "is read back as nothing".to_owned())
}

/// Returns a view as a session without an earlier log.
pub(crate) fn session_of(view: &[Entry], tools: Option<&str>) -> Session {
    let mut session = Session::new();
    session.tools = tools.map(Into::into);
    for entry in view {
        session.push(Message::clone(&entry.message));
    }
    session
}

/// What a figure is after several compactions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Generation {
    /// The budget.
    pub budget: String,
    /// The method without its number of compactions.
    pub method: String,
    /// The name of the figure.
    pub figure: String,
    /// The macro average after one compaction.
    pub once: f64,
    /// The macro averages after several ones, and these over `once`, where that is above 0.
    pub after: Vec<GenerationFigure>,
}

/// A figure after that many compactions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GenerationFigure {
    /// How many, as in the method's name: `×3`, `×3 piped`.
    pub generations: String,
    /// The macro average.
    pub mean: f64,
    /// It over the figure after one.
    pub ratio: Option<f64>,
}

/// What each figure is after several compactions beside one, by budget, method and metric. Lines out of place are the
/// mean of a case. Linear in the summaries and metrics for each.
pub fn generations(summaries: &[Summary]) -> Vec<Generation> {
    let mut found = Vec::new();
    for once in summaries.iter().filter(|summary| !summary.method.contains(TIMES)) {
        let several: Vec<(&str, &Summary)> = summaries
            .iter()
            .filter(|summary| summary.budget == once.budget)
            .filter_map(|summary| Some((summary.method.strip_prefix(&once.method)?.strip_prefix(' ')?, summary)))
            .filter(|(name, _)| name.starts_with(TIMES))
            .collect();
        if several.is_empty() {
            continue;
        }
        let mut add = |figure: &str, of: &dyn Fn(&Summary) -> Option<f64>| {
            let Some(first) = of(once) else { return };
            let after = several.iter().filter_map(|(name, summary)| {
                let mean = of(summary)?;
                let ratio = (first > 0.0).then(|| mean / first);
                Some(GenerationFigure { generations: (*name).to_owned(), mean, ratio })
            });
            found.push(Generation {
                budget: once.budget.clone(),
                method: once.method.clone(),
                figure: figure.to_owned(),
                once: first,
                after: after.collect(),
            });
        };
        for metric in measured_metrics(std::slice::from_ref(once)) {
            add(Metric::as_str(metric), &|summary| summary.average(metric).macro_average);
        }
        add("out of place", &|summary| summary.misplaced.share());
        add("usable", &|summary| Some(f64::from(summary.usable) / f64::from(summary.cases.max(1))));
    }
    found
}

/// The same as a table; `None` where nothing was compacted several times.
pub fn generations_sheet(summaries: &[Summary]) -> Option<Sheet> {
    let rows = generations(summaries);
    let mut names: Vec<&str> = Vec::new();
    for after in rows.iter().flat_map(|row| &row.after) {
        if !names.contains(&after.generations.as_str()) {
            names.push(&after.generations);
        }
    }
    if names.is_empty() {
        return None;
    }
    let mut headings: Vec<String> = ["budget", "method", "figure", "once"].map(str::to_owned).into();
    headings.extend(names.iter().flat_map(|name| [(*name).to_owned(), "of once".to_owned()]));
    let row = |row: &Generation| {
        let mut cells = vec![row.budget.clone(), row.method.clone(), row.figure.clone(), figure(Some(row.once))];
        for name in &names {
            let after = row.after.iter().find(|after| after.generations == *name);
            cells.push(figure(after.map(|after| after.mean)));
            cells.push(figure(after.and_then(|after| after.ratio)));
        }
        cells.into_iter().map(SheetCell::from).collect()
    };
    Some(Sheet { headings, metrics: Vec::new(), rows: rows.iter().map(row).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_on_the_way() {
        fn check(steps: Steps, last: u32, floor: u32, expect: &[u32]) {
            assert_eq!(Generations { steps, piped: false }.budgets(1_000, last, floor), expect);
        }
        check(Steps::Equal(1), 125, 0, &[125]);
        check(Steps::Equal(3), 125, 0, &[500, 250, 125]);
        check(Steps::Equal(3), 125, 300, &[500, 300, 125]);
        check(Steps::Equal(2), 2_000, 0, &[2_000, 2_000]);
        let through = [0.6, 0.35, 0.15].map(BudgetSpec::Share).to_vec();
        check(Steps::Through(through.clone()), 150, 0, &[600, 350, 150]);
        check(Steps::Through(through), 400, 0, &[600, 400, 400]);
    }

    #[test]
    fn names_tell_how_often() {
        assert_eq!(Generations { steps: Steps::Equal(3), piped: false }.name("default"), "default ×3");
        assert_eq!(Generations { steps: Steps::Equal(10), piped: true }.name("a+b"), "a+b ×10 piped");
    }
}
