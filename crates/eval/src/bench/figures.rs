//! The figures of the bench: a share each, counted.

use std::collections::BTreeMap;

use epitome::strategy::named;
use serde::Serialize;

use crate::cases::probes::ProbeKind;
use crate::figures::kept::KeptCount;
use crate::figures::row::Row;
use crate::run::measure::HANDOFF;

named! {
    /// A figure of the bench. All but the forged lines and the price are better where they are larger.
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

/// Counts by figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Figures(BTreeMap<BenchFigure, KeptCount>);

impl Figures {
    /// Returns the count of a figure; 0 of 0 where it was not measured.
    pub fn count(&self, figure: BenchFigure) -> KeptCount {
        self.0.get(&figure).copied().unwrap_or_default()
    }

    fn add(&mut self, figure: BenchFigure, more: KeptCount) {
        let count = self.0.entry(figure).or_default();
        count.kept = count.kept.saturating_add(more.kept);
        count.of = count.of.saturating_add(more.of);
    }
}

/// What was counted, and how long compactions took.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Counted {
    pub(super) figures: Figures,
    micros: u64,
    compactions: u32,
}

impl Counted {
    /// Returns the questions of a row. A hand-off is no compaction.
    pub(super) fn questions(row: &Row) -> Self {
        let mut counted = Self::default();
        let probes = &row.scores.probes;
        counted.add(BenchFigure::Facts, probes.all);
        for (figure, kind) in [
            (BenchFigure::Exact, ProbeKind::Exact),
            (BenchFigure::State, ProbeKind::State),
            (BenchFigure::Why, ProbeKind::Why),
            (BenchFigure::User, ProbeKind::User),
            (BenchFigure::Content, ProbeKind::Content),
        ] {
            counted.add(figure, probes.count_of(kind));
        }
        if row.method != HANDOFF {
            counted.add_compaction(row.micros, Some(is_sound(row)));
        }
        counted
    }

    /// Returns the strings of a row.
    pub(super) fn strings(row: &Row) -> Self {
        let mut counted = Self::default();
        let scores = &row.scores;
        counted.add(BenchFigure::Bound, scores.bound_frr);
        counted.add(BenchFigure::Strings, scores.frr);
        counted.add(BenchFigure::Quotes, scores.quotes);
        counted.add(BenchFigure::Files, scores.files);
        counted.add_compaction(row.micros, Some(is_sound(row)));
        counted
    }

    /// Adds a compaction: how long it took, and whether a provider accepts its result within the budget, where that was
    /// looked at.
    pub(super) fn add_compaction(&mut self, micros: u64, is_usable: Option<bool>) {
        self.micros += micros;
        self.compactions += 1;
        if let Some(is_usable) = is_usable {
            self.add(BenchFigure::Valid, KeptCount::count(&[is_usable]));
        }
    }

    pub(super) fn add(&mut self, figure: BenchFigure, more: KeptCount) {
        self.figures.add(figure, more);
    }

    pub(super) fn add_all(&mut self, more: &Self) {
        more.figures.0.iter().for_each(|(figure, count)| self.add(*figure, *count));
        self.micros += more.micros;
        self.compactions += more.compactions;
    }

    /// Returns the mean time of a compaction.
    pub(super) fn milliseconds(&self) -> Option<f64> {
        (self.compactions > 0).then(|| self.micros as f64 / 1e3 / f64::from(self.compactions))
    }
}

/// Whether a row has a result within its budget that a provider accepts.
fn is_sound(row: &Row) -> bool {
    row.problem.is_none() && !row.scores.over_budget && row.scores.violation.is_none()
}
