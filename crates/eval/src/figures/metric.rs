//! The figures that tables show, by subject.

use epitome::strategy::named;
use serde::Serialize;

use crate::cases::probes::ProbeKind;
use crate::figures::kept::KeptCount;
use crate::figures::row::Row;

/// The figures that are shares of something kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Bound future-reference recall.
    BoundFrr,
    /// Future-reference recall.
    Frr,
    /// Lines that later edits must match.
    Quotes,
    /// Files still named.
    Files,
    /// Standing instructions.
    Rules,
    /// Probes whose facts are shown.
    Probes,
    /// Of these, names and numbers to the letter.
    Exact,
    /// Of these, the state of something.
    State,
    /// Of these, reasons.
    Why,
    /// Of these, what a person said.
    User,
    /// Of these, what was read.
    Content,
    /// Typed messages.
    Typed,
    /// Sentences of final answers.
    Finals,
    /// Lines under who said them.
    Speakers,
    /// Lines under what printed them.
    Sources,
    /// Lines of a summary that the agent recorded.
    OwnSummary,
    /// Tokens of the budget that were used.
    Fill,
}

/// The subject of a metric: tables show one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Exact strings, files, sentences.
    Strings,
    /// Probes.
    Probes,
    /// What was said, with its order and its speakers.
    Meaning,
}

named! {
    Metric {
        BoundFrr = "bound",
        Frr = "FRR",
        Quotes = "quotes",
        Files = "files",
        Rules = "rules",
        Probes = "probes",
        Exact = "exact",
        State = "state",
        Why = "why",
        User = "user",
        Content = "content",
        Typed = "typed",
        Finals = "final",
        Speakers = "speakers",
        Sources = "source",
        OwnSummary = "summary",
        Fill = "fill",
    }
}

impl Metric {
    /// Returns its subject.
    pub fn family(self) -> Family {
        match self {
            Self::BoundFrr | Self::Frr | Self::Quotes | Self::Files | Self::Rules => Family::Strings,
            Self::Probes | Self::Exact | Self::State | Self::Why | Self::User | Self::Content => Family::Probes,
            Self::Typed | Self::Finals | Self::Speakers | Self::Sources | Self::OwnSummary | Self::Fill => {
                Family::Meaning
            }
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
            Self::Typed => row.scores.meaning.typed,
            Self::Finals => row.scores.meaning.finals,
            Self::Speakers => row.scores.meaning.speakers,
            Self::Sources => row.scores.meaning.sources,
            Self::OwnSummary => row.scores.meaning.summary,
            Self::Fill => row.scores.fill,
        }
    }
}
