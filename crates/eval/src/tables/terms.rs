//! The names and definitions of figures, and the legends of tables.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::tables::sheet::Sheet;

/// The direction of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More of it is better.
    More,
    /// Less of it is better.
    Less,
    /// It is neither.
    #[default]
    Neither,
}

impl Better {
    /// Returns an arrow in the better direction, or a blank.
    pub fn arrow(self) -> char {
        match self {
            Self::More => '↑',
            Self::Less => '↓',
            Self::Neither => ' ',
        }
    }
}

/// What a column of a table says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegendLine {
    /// Its heading.
    pub name: String,
    /// Its direction.
    pub better: Better,
    /// What it says, in half a line.
    pub said: String,
}

/// A table with its name, and what each of its columns says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchSheet {
    /// Its group and its subject.
    pub name: String,
    /// The table.
    pub sheet: Sheet,
    /// What each column says, the first table of a subject only.
    pub legend: Vec<LegendLine>,
}

/// A figure that the page explains.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Term {
    /// Its id in the page.
    pub(super) id: String,
    /// Its name in headings of tables.
    pub(super) short: String,
    /// Its name in a text.
    pub(super) name: String,
    /// What it says, in half a line.
    pub(super) line: String,
    /// Its direction.
    #[serde(default)]
    pub(super) better: Better,
    /// Its definition.
    pub(super) definition: String,
}

/// Ids of what every column of a kind has.
pub(super) const AVERAGES: &str = "averages";
pub(super) const DIFFERENCE: &str = "difference";

#[derive(Default, Deserialize)]
struct Terms {
    terms: Vec<Term>,
}

/// All of them: a test reads the file.
static TERMS: LazyLock<Terms> = LazyLock::new(|| toml::from_str(include_str!("terms.toml")).unwrap_or_default());

/// Returns the figures in the order of their definitions.
pub(super) fn terms() -> &'static [Term] {
    &TERMS.terms
}

/// Returns the figure of an id; a test makes sure that each id in use has one.
pub(super) fn term(id: &str) -> &'static Term {
    static UNKNOWN: LazyLock<Term> = LazyLock::new(Term::default);
    terms().iter().find(|term| term.id == id).unwrap_or(&UNKNOWN)
}

impl Sheet {
    /// Returns the terms of a column: one, or one for each of several figures in it; none where its heading says all.
    pub(super) fn terms(&self, column: usize) -> Vec<&'static Term> {
        if let Some(metric) = column.checked_sub(2).and_then(|place| self.metrics.get(place)) {
            return vec![term(metric.as_str())];
        }
        let heading = self.headings.get(column).map_or("", String::as_str);
        heading.split(" / ").filter_map(|part| terms().iter().find(|term| term.short == part)).collect()
    }
}

/// Returns what each column of `sheets` says, each once, and what their numbers are, those of differences too where there are
/// any.
pub fn legend(sheets: &[Sheet], with_differences: bool) -> Vec<LegendLine> {
    let of_columns = sheets.iter().flat_map(|sheet| (0..sheet.headings.len()).flat_map(|column| sheet.terms(column)));
    let line =
        |term: &Term, name: &str| LegendLine { name: name.to_owned(), better: term.better, said: term.line.clone() };
    let mut lines: Vec<LegendLine> = Vec::new();
    for term in of_columns {
        if lines.iter().all(|known| known.name != term.short) {
            lines.push(line(term, &term.short));
        }
    }
    lines.push(line(term(AVERAGES), "numbers"));
    lines.extend(with_differences.then(|| line(term(DIFFERENCE), "difference")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::metric::Metric;

    #[test]
    fn each_figure_has_a_definition() {
        let columns = ["kept", "usable", "over", "invalid", "system", "failed", "unchanged", "cache-loss", "ms"];
        let others = columns.into_iter().chain(["budget", AVERAGES, DIFFERENCE]);
        let used: Vec<&str> = Metric::ALL.map(Metric::as_str).into_iter().chain(others).collect();
        assert_eq!(terms().len(), used.len());
        let is_whole = |term: &Term| !term.definition.is_empty() && !term.line.is_empty() && term.line.len() < 110;
        assert!(used.iter().all(|id| term(id).id == *id && is_whole(term(id))), "{used:?}");
    }
}
