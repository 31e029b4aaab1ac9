//! What is left after several compactions to the same final budget, beside one.

use serde::Serialize;

use crate::figures::metric::Metric;
use crate::figures::summary::Summary;
use crate::run::generations::TIMES;
use crate::tables::sheet::{Sheet, SheetCell, figure, measured_metrics};

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
