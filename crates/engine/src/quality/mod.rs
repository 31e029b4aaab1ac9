//! The quality guard: what a compaction lost, in cheap figures, and what follows where that is too much.

mod find;
mod held;
mod said;
mod tries;

use epitome_strategy::Tokens;
use serde::{Deserialize, Serialize};

pub(crate) use said::OriginalMessages;
pub(crate) use tries::{Attempt, Judge};

/// What a compaction lost: how much of what the session held still stands in the view after, outside the system prompt.
/// The session is its log, so that what earlier compactions lost is missing here too. Cheap figures, worked out without a
/// model. Those of a draft are of the summaries as they were written, not as a person edits them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// All of it, from 0 to 1: the mean of the shares of the parts, each with its weight ([`QualityPart::weight`]); a part of
    /// which the session held nothing is left out, and it is 1 where all are.
    pub share: f64,
    /// Short messages that people typed, or said through a tool, of 10 to 400 characters; kept is what stands word for
    /// word, white space aside.
    #[serde(default)]
    pub typed: KeptShare,
    /// Sentences of people that demand something or tell a fact to be kept, with the sentence that they refer to
    /// ([`epitome_strategy::speech::demands`]); kept as typed messages are.
    pub instructions: KeptShare,
    /// Sentences of what the model said last before each typed message and last of all, of 40 to 300 characters.
    #[serde(default)]
    pub conclusions: KeptShare,
    /// Lines of summaries in the view before that an agent or a model wrote, not this engine.
    #[serde(default)]
    pub summaries: KeptShare,
    /// Exact strings that somebody asked for: those in typed messages and in what calls name. Each weighs more the later
    /// it was last asked for, from 1 to 2; kept is what stands on token boundaries.
    pub strings: KeptShare,
    /// Files that calls wrote or edited, which weigh 2, and files that they only read, which weigh 1; kept is what is
    /// named.
    pub files: KeptShare,
    /// The thresholds that it misses; empty where it passes, or where there are none.
    pub below: Vec<Shortfall>,
    /// The chains that were tried, in order, where there were several.
    pub tried: Vec<Try>,
}

/// What was kept of one part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct KeptShare {
    /// How many the session held.
    pub held: u32,
    /// How many of them stand in the view after.
    pub kept: u32,
    /// How many stood in the view before and do not any more: what this compaction lost. The rest of what is missing
    /// was lost by earlier ones.
    #[serde(default)]
    pub lost_now: u32,
    /// The share of their weight that still stands, from 0 to 1 in steps of 1/10,000, rounded down; 1 where there was
    /// nothing to keep.
    pub share: f64,
    /// Some of what was lost, what this compaction lost and what is worth most first; at most five.
    pub lost: Vec<String>,
}

/// A part of which less was kept than the configuration asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortfall {
    /// Which.
    pub part: QualityPart,
    /// The share that was kept.
    pub share: f64,
    /// The least share that is asked for.
    pub least: f64,
}

/// A chain that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Try {
    /// Its strategies.
    pub chain: Vec<String>,
    /// Tokens of the view that it came to; 0 where it came to none.
    pub tokens_after: Tokens,
    /// Its [`Quality::share`]; none where there was nothing to measure.
    pub share: Option<f64>,
    /// The thresholds that it misses.
    pub below: Vec<Shortfall>,
    /// Why it came to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What the guard looks at, in the order in which it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QualityPart {
    /// Short typed messages.
    Typed,
    /// Demands.
    Instructions,
    /// What the model concluded.
    Conclusions,
    /// An agent's own summary.
    Summaries,
    /// Exact strings.
    Strings,
    /// Files.
    Files,
}

/// How many parts there are.
const PARTS: usize = 6;

impl QualityPart {
    /// Every part.
    pub const ALL: [Self; PARTS] =
        [Self::Typed, Self::Instructions, Self::Conclusions, Self::Summaries, Self::Strings, Self::Files];

    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Typed => "typed",
            Self::Instructions => "instructions",
            Self::Conclusions => "conclusions",
            Self::Summaries => "summaries",
            Self::Strings => "strings",
            Self::Files => "files",
        }
    }

    /// Its weight in [`Quality::share`]: what people said carries most of the meaning in the fewest words; what the model
    /// made of it, and strings that no other text has, come next; a file can be found again.
    pub fn weight(self) -> f64 {
        match self {
            Self::Typed => 3.0,
            Self::Instructions | Self::Conclusions | Self::Summaries | Self::Strings => 2.0,
            Self::Files => 1.0,
        }
    }
}

/// Strings, instructions and files that a view held together before it can be hollow: of fewer the loss of all says little.
pub(crate) const HOLLOW_FROM: u32 = 5;

/// The least that a compaction must keep, and what follows where it does not. The default asks for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MinQuality {
    /// The least share of the short typed messages, from 0 to 1; 0 asks for nothing.
    pub typed: f64,
    /// The least share of the demands.
    pub instructions: f64,
    /// The least share of the model's conclusions.
    pub conclusions: f64,
    /// The least share of the lines of an agent's own summary.
    pub summaries: f64,
    /// The least share of the exact strings.
    pub strings: f64,
    /// The least share of the files.
    pub files: f64,
    /// What follows.
    pub on_loss: OnLoss,
}

/// What follows where a compaction keeps too little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnLoss {
    /// The chains of the other kinds of task are tried in order, and the first result that keeps enough is taken; where
    /// none does, the best of them, and the report says so.
    #[default]
    Retry,
    /// The same, but where none keeps enough the session stays as it was ([`Status::RolledBack`](crate::Status)). Not
    /// where a session over the limit was compacted by itself: one that cannot go on is worse than one that forgot, so
    /// the best result is taken.
    RollBack,
    /// Nothing: the report says so.
    Report,
}

impl MinQuality {
    /// The least share of a part.
    pub fn of(&self, part: QualityPart) -> f64 {
        match part {
            QualityPart::Typed => self.typed,
            QualityPart::Instructions => self.instructions,
            QualityPart::Conclusions => self.conclusions,
            QualityPart::Summaries => self.summaries,
            QualityPart::Strings => self.strings,
            QualityPart::Files => self.files,
        }
    }

    /// Whether anything is asked for at all.
    pub fn is_on(&self) -> bool {
        QualityPart::ALL.iter().any(|part| self.of(*part) > 0.0)
    }

    /// Whether other chains are to be tried where one keeps too little.
    pub(crate) fn retries(&self) -> bool {
        self.is_on() && self.on_loss != OnLoss::Report
    }
}

impl Quality {
    fn new(kept: [KeptShare; PARTS], least: &MinQuality) -> Self {
        let [typed, instructions, conclusions, summaries, strings, files] = kept;
        let (below, tried) = (Vec::new(), Vec::new());
        let mut quality =
            Self { share: 1.0, typed, instructions, conclusions, summaries, strings, files, below, tried };
        let held = QualityPart::ALL.into_iter().filter(|part| quality.of(*part).held > 0);
        let (sum, weights) = held.clone().fold((0.0, 0.0), |(sum, weights), part| {
            (sum + part.weight() * quality.of(part).share, weights + part.weight())
        });
        let below = held.filter(|part| quality.misses(*part, least));
        let below = below.map(|part| Shortfall { part, share: quality.of(part).share, least: least.of(part) });
        quality.below = below.collect();
        if weights > 0.0 {
            quality.share = round_share(sum / weights);
        }
        quality
    }

    /// Whether less of a part is kept than is asked for, and this compaction took some of it. What was gone before is
    /// no reason to do without a compaction.
    fn misses(&self, part: QualityPart, least: &MinQuality) -> bool {
        let kept = self.of(part);
        kept.share < least.of(part) && kept.lost_now > 0
    }

    /// What was kept of a part.
    pub fn of(&self, part: QualityPart) -> &KeptShare {
        match part {
            QualityPart::Typed => &self.typed,
            QualityPart::Instructions => &self.instructions,
            QualityPart::Conclusions => &self.conclusions,
            QualityPart::Summaries => &self.summaries,
            QualityPart::Strings => &self.strings,
            QualityPart::Files => &self.files,
        }
    }

    /// Whether nothing is left of what the view before held: no exact string, no instruction, no file, of
    /// five or more together.
    pub fn is_hollow(&self) -> bool {
        let (held, kept) = QualityPart::ALL
            .iter()
            .map(|part| self.of(*part))
            .fold((0, 0), |(held, kept), part| (held + part.held, kept + part.kept));
        held >= HOLLOW_FROM && kept == 0
    }

    /// Whether it misses no threshold.
    pub fn passes(&self) -> bool {
        self.below.is_empty()
    }
}

/// A share in steps of 1/10,000, rounded down: what is shown is what is compared, and 1 is all of it.
fn round_share(share: f64) -> f64 {
    // What comes out a hair below a step by the order of the additions is on it.
    ((share * 10_000.0) + 1e-6).floor() / 10_000.0
}
