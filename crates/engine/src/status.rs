//! How a compaction ended.

use epitome_strategy::named;
use serde::{Deserialize, Serialize};

/// How a compaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The session fits: it is untouched.
    NoChange,
    /// The session was compacted, to the target or at least under the limit.
    Compacted,
    /// The session was compacted and fits, but of five or more things that [`Quality`](crate::Quality) counts (strings, instructions,
    /// conclusions, lines of summaries, files, typed messages of 10 characters or more) nothing is left, or less than a
    /// fiftieth of their weight. The next turn has no base.
    NearEmpty,
    /// What must stay is larger than the limit: the session is untouched.
    Infeasible,
    /// No chain kept what the configuration asks for, and [`OnLoss::RollBack`](crate::OnLoss) applies; or a person named a
    /// chain, and every strategy of it declined, which [`Report::stopped`](crate::Report::stopped) says. The session is
    /// untouched. The report names the best chain, its steps and its losses.
    RolledBack,
}

named! {
    Status {
        NoChange = "no-change",
        Compacted = "compacted",
        NearEmpty = "near-empty",
        Infeasible = "infeasible",
        RolledBack = "rolled-back",
    }
}

impl Status {
    /// Whether a compaction was made and the session changed.
    pub fn is_compaction(self) -> bool {
        match self {
            Self::Compacted | Self::NearEmpty => true,
            Self::NoChange | Self::Infeasible | Self::RolledBack => false,
        }
    }
}
