//! Meaning, not strings: whether what was said is still there, in its order, under its speaker.
//!
//! All figures are computed from the session before the compaction and the result alone. The code shares nothing with
//! the strategies' notions of speaker, label and order.

mod label;
mod line;
mod names;
mod order;
mod origin;
mod own_summary;
mod place;
mod said;

use epitome::session::Entry;
use serde::{Deserialize, Serialize};

use crate::EvalError;
use crate::figures::kept::KeptCount;
use order::Order;
use origin::Origins;
use said::StatedContent;

pub(crate) use own_summary::{OWN_SUMMARY, OWN_SUMMARY_SHARE, last_own_view};

/// What of a session's meaning a result holds. `docs/evaluation.md` defines each figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MeaningScores {
    /// Typed messages of 10 to 400 characters.
    pub typed: KeptCount,
    /// Sentences of the model's last message before each typed one.
    #[serde(rename = "final")]
    pub finals: KeptCount,
    /// Lines said only after the newest typed message that stand in front of it; `None` where the result does not show
    /// that message, or nothing was said after it.
    pub misplaced: Option<u32>,
    /// Kept lines that stand under who said them.
    pub speakers: KeptCount,
    /// Kept lines that stand under the file or command that printed them.
    pub sources: KeptCount,
    /// Lines of a summary that the agent itself recorded.
    pub summary: KeptCount,
}

impl MeaningScores {
    pub(crate) fn is_none(&self) -> bool {
        let figures = [self.typed, self.finals, self.speakers, self.sources, self.summary];
        self.misplaced.is_none() && figures.iter().all(KeptCount::is_none)
    }

    /// The same with nothing kept of what there is. Shares of what was kept are none.
    pub(crate) fn with_nothing_kept(self) -> Self {
        let none = |kept: KeptCount| KeptCount { kept: 0, ..kept };
        let (typed, finals, summary) = (none(self.typed), none(self.finals), none(self.summary));
        Self { typed, finals, summary, ..Self::default() }
    }
}

/// The meaning of a session, computed once for all results.
#[derive(Debug)]
pub(crate) struct Meaning {
    said: StatedContent,
    order: Order,
    origins: Origins,
}

impl Meaning {
    /// Linear in the view.
    pub(crate) fn new(before: &[Entry]) -> Result<Self, EvalError> {
        Ok(Self { said: StatedContent::new(before)?, order: Order::new(before)?, origins: Origins::new(before)? })
    }

    /// Measures a result, a view in order. Linear in it.
    pub(crate) fn measure(&self, result: &[Entry]) -> MeaningScores {
        let (typed, finals, summary) = self.said.count_kept(result);
        let (speakers, sources) = self.origins.places(result);
        MeaningScores { typed, finals, misplaced: self.order.misplaced(result), speakers, sources, summary }
    }

    /// Whether the view holds a summary that the agent recorded.
    pub(crate) fn has_own_summary(&self) -> bool {
        self.said.has_summary()
    }
}
