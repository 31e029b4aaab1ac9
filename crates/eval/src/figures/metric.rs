//! The figures that tables show, by subject.

use epitome::strategy::named;
use serde::Serialize;

use crate::cases::probes::ProbeKind;
use crate::figures::kept::KeptCount;
use crate::figures::row::Row;

named! {
    /// The figures that are shares of something kept.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Metric {
        /// Bound future-reference recall.
        BoundFrr = "bound",
        /// Future-reference recall.
        Frr = "FRR",
        /// Lines that later edits must match.
        Quotes = "quotes",
        /// Files still named.
        Files = "files",
        /// Standing instructions.
        Rules = "rules",
        /// Probes whose facts are shown.
        Probes = "probes",
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
        /// Tokens of the budget that were used.
        Fill = "fill",
    }
}

/// The subject of a metric: tables show one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Exact strings, files, sentences, and how full the budget is.
    Strings,
    /// Probes.
    Probes,
}

impl Metric {
    /// Returns its subject.
    pub fn family(self) -> Family {
        match self {
            Self::BoundFrr | Self::Frr | Self::Quotes | Self::Files | Self::Rules | Self::Fill => Family::Strings,
            Self::Probes | Self::Exact | Self::State | Self::Why | Self::User | Self::Content => Family::Probes,
        }
    }

    /// Returns the figure of a row.
    pub fn count(self, row: &Row) -> KeptCount {
        match self {
            Self::BoundFrr => row.scores.bound_frr,
            Self::Frr => row.scores.frr,
            Self::Quotes => row.scores.quotes,
            Self::Files => row.scores.files,
            Self::Rules => row.scores.rules,
            Self::Probes => row.scores.probes.all,
            Self::Exact => row.scores.probes.count_of(ProbeKind::Exact),
            Self::State => row.scores.probes.count_of(ProbeKind::State),
            Self::Why => row.scores.probes.count_of(ProbeKind::Why),
            Self::User => row.scores.probes.count_of(ProbeKind::User),
            Self::Content => row.scores.probes.count_of(ProbeKind::Content),
            Self::Fill => row.scores.fill,
        }
    }
}
