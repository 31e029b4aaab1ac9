//! The figures of the bench: a share each, counted.

use std::collections::BTreeMap;

use epitome::session::SummaryUsage;
use epitome::strategy::named;
use serde::Serialize;

use crate::figures::account::CompactionSum;
use crate::figures::kept::KeptCount;
use crate::figures::metric::{Family, Metric};
use crate::figures::row::Row;
use crate::run::measure::HANDOFF;
use crate::run::method::MethodOutcome;
use crate::tables::terms::Better;

named! {
    /// A figure of the bench.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum BenchFigure {
        /// Questions whose facts are shown.
        Facts = "facts",
        /// Of these, names and numbers to the letter.
        Exact = "exact",
        /// Of these, the state of something.
        State = "state",
        /// Of these, reasons.
        Why = "why",
        /// Of these, what a person said.
        User = "user",
        /// Of these, what was read.
        Content = "content",
        /// The facts after five compactions while the session goes on.
        Again = "again",
        /// Standing demands that are shown.
        Rules = "rules",
        /// Of these, in the first message that a person typed.
        Early = "early",
        /// Of these, in the middle one.
        Middle = "middle",
        /// Of these, in the last but one.
        Late = "late",
        /// Of the demands, the sentence alone.
        Bare = "bare",
        /// Of the demands, behind `Important:`.
        Important = "important",
        /// Of the demands, behind `For the rest of this session:`.
        Session = "session",
        /// Demands that are shown where results of tools speak against them.
        Attacked = "attacked",
        /// Lines of a tool's that stand as the user's or the system's, of those that are shown.
        Forged = "forged",
        /// Work in the background whose id is shown.
        Running = "running",
        /// Exact strings that later calls used, with words around them.
        Bound = "bound",
        /// Exact strings that later calls used.
        Strings = "strings",
        /// Lines that later edits had to match.
        Quotes = "quotes",
        /// Files that were written.
        Files = "files",
        /// Results that are within the budget and that a provider accepts.
        Valid = "valid",
        /// Results within the budget as the session's model counts.
        Within = "within",
        /// Tokens of a request behind a compaction that the request before it began with.
        Cache = "cache",
        /// Millionths of a dollar for all requests, of those without a compaction.
        Price = "price",
    }
}

impl BenchFigure {
    /// Returns its direction.
    pub(super) fn better(self) -> Better {
        if matches!(self, Self::Forged | Self::Price) { Better::Less } else { Better::More }
    }
}

/// The figures that the rows of `epitome eval` have too.
const OF_ROWS: [(BenchFigure, Metric); 10] = [
    (BenchFigure::Facts, Metric::Probes),
    (BenchFigure::Exact, Metric::Exact),
    (BenchFigure::State, Metric::State),
    (BenchFigure::Why, Metric::Why),
    (BenchFigure::User, Metric::User),
    (BenchFigure::Content, Metric::Content),
    (BenchFigure::Bound, Metric::BoundFrr),
    (BenchFigure::Strings, Metric::Frr),
    (BenchFigure::Quotes, Metric::Quotes),
    (BenchFigure::Files, Metric::Files),
];

/// Counts by figure, and how long compactions took.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Figures {
    counts: BTreeMap<BenchFigure, KeptCount>,
    #[serde(skip)]
    compactions: CompactionSum,
    /// Whether a model without a known price wrote summaries: the price of requests alone would mislead.
    #[serde(skip)]
    is_unpriced: bool,
}

impl Figures {
    /// Returns the count of a figure; 0 of 0 where it was not measured.
    pub fn count(&self, figure: BenchFigure) -> KeptCount {
        self.counts.get(&figure).copied().unwrap_or_default()
    }

    /// Returns the figures of a row that are of `family`. A hand-off is no compaction.
    pub(super) fn of_row(row: &Row, family: Family) -> Self {
        let mut figures = Self::default();
        for (figure, metric) in OF_ROWS.into_iter().filter(|(_, metric)| metric.family() == family) {
            figures.add(figure, metric.count(row));
        }
        if row.method != HANDOFF {
            figures.add_compaction(row.micros, row.problem.as_deref(), &row.summaries, Some(is_sound(row)));
        }
        figures
    }

    /// Adds a compaction, and whether a provider accepts its result within the budget, where that was looked at.
    pub(super) fn add_outcome(&mut self, outcome: &MethodOutcome, is_usable: Option<bool>) {
        self.add_compaction(outcome.micros, outcome.problem.as_deref(), &outcome.summaries, is_usable);
    }

    fn add_compaction(
        &mut self,
        micros: u64,
        problem: Option<&str>,
        summaries: &SummaryUsage,
        is_usable: Option<bool>,
    ) {
        self.compactions.add(micros, problem, summaries);
        if let Some(is_usable) = is_usable {
            self.add(BenchFigure::Valid, KeptCount::count(&[is_usable]));
        }
    }

    pub(super) fn add(&mut self, figure: BenchFigure, more: KeptCount) {
        let count = self.counts.entry(figure).or_default();
        count.kept = count.kept.saturating_add(more.kept);
        count.of = count.of.saturating_add(more.of);
    }

    pub(super) fn add_all(&mut self, more: &Self) {
        more.counts.iter().for_each(|(figure, count)| self.add(*figure, *count));
        self.compactions.add_all(&more.compactions);
        self.is_unpriced |= more.is_unpriced;
    }

    /// Notes that a summary has no known price: these figures have none either.
    pub(super) fn note_unpriced(&mut self) {
        self.is_unpriced = true;
    }

    /// Returns the same without a price that leaves something out.
    pub(super) fn with_whole_price(mut self) -> Self {
        if self.is_unpriced {
            self.counts.remove(&BenchFigure::Price);
        }
        self
    }

    /// Returns the compactions behind the figures.
    pub(super) fn compactions(&self) -> &CompactionSum {
        &self.compactions
    }

    /// Returns the mean time of a compaction.
    pub(super) fn milliseconds(&self) -> Option<f64> {
        let CompactionSum { compactions, micros, .. } = self.compactions;
        (compactions > 0).then(|| micros as f64 / 1e3 / f64::from(compactions))
    }
}

/// Whether a row has a result within its budget that a provider accepts.
fn is_sound(row: &Row) -> bool {
    row.problem.is_none() && !row.scores.over_budget && row.scores.violation.is_none()
}
