//! Meaning, not strings: whether what was said is still there, in its order, under its speaker.
//!
//! All figures are computed from the session before the compaction and the result alone. The code shares nothing with
//! the strategies' notions of speaker, label and order.

pub mod command;
mod label;
mod line;
mod names;
mod order;
mod origin;
mod place;
mod said;

use epitome::session::Entry;
use epitome_eval::{EvalError, KeptCount};

use order::Order;
use origin::Origins;
use said::StatedContent;

/// What of a session's meaning a result holds. `lab/README.md` defines each figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeaningScores {
    /// Typed messages of 10 to 400 characters.
    pub typed: KeptCount,
    /// Sentences of the model's last message before each typed one.
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
    /// The same with nothing kept of what there is. Shares of what was kept are none.
    fn with_nothing_kept(self) -> Self {
        let none = |kept: KeptCount| KeptCount { kept: 0, ..kept };
        let (typed, finals, summary) = (none(self.typed), none(self.finals), none(self.summary));
        Self { typed, finals, summary, ..Self::default() }
    }
}

/// The meaning of a session, computed once for all results.
#[derive(Debug)]
pub struct Meaning {
    said: StatedContent,
    order: Order,
    origins: Origins,
}

impl Meaning {
    /// Reads the view before a compaction. Linear in it. The error says that it holds too many lines for a search.
    pub fn new(before: &[Entry]) -> Result<Self, EvalError> {
        Ok(Self { said: StatedContent::new(before)?, order: Order::new(before)?, origins: Origins::new(before)? })
    }

    /// Measures a result, a view in order. Linear in it.
    pub fn measure(&self, result: &[Entry]) -> MeaningScores {
        let (typed, finals, summary) = self.said.count_kept(result);
        let (speakers, sources) = self.origins.places(result);
        MeaningScores { typed, finals, misplaced: self.order.misplaced(result), speakers, sources, summary }
    }

    /// Whether the view holds a summary that the agent recorded.
    fn has_own_summary(&self) -> bool {
        self.said.has_summary()
    }
}
