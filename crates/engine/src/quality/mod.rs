//! The quality guard: measures cheaply what a compaction lost, and what follows where that is too much.

mod attempts;
mod baseline;
mod find;
mod key_texts;

use epitome_strategy::{Tokens, named};
use serde::{Deserialize, Serialize};

pub(crate) use attempts::{Attempt, Judge};
pub(crate) use key_texts::OriginalMessages;

/// The fewest items whose loss makes a view near-empty: with fewer the figure says little.
const NEAR_EMPTY_FROM: u32 = 5;

/// What a compaction lost: how much of what the session held the view after still holds, outside the system prompt. The
/// session is its log, so losses of earlier compactions count as missing here too. The figures are cheap and need no
/// model. Those of a draft are of the summaries as they were written, before any edit by a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Quality {
    /// The whole, from 0 to 1: the mean of the parts' shares, each with its weight ([`QualityPart::weight`]). A part of
    /// which the session held nothing is left out; the share is 1 where all are.
    pub share: f64,
    /// Messages that people typed or answered through a tool, without what a harness added; a message counts as kept
    /// where all its words stay the same, white space aside, so one that was cut does not. Equal messages count once for each
    /// copy that remains, as a message or as a user's words in a transcript, and once where the words stand
    /// elsewhere; those of fewer than 10 characters, such as "yes", do not count elsewhere. One without a letter or a digit
    /// has no words and is not counted.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub typed: KeptShare,
    /// Sentences of people that demand something or tell a fact to be kept, with the sentence that they refer to
    /// ([`epitome_strategy::speech::demands`]); kept as typed messages are.
    pub instructions: KeptShare,
    /// Concluding sentences of 40 to 300 characters in the model's last message before each typed message, and in its
    /// last message of all.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub conclusions: KeptShare,
    /// Lines of summaries in the view before that an agent or a model wrote, and not this engine.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub summaries: KeptShare,
    /// Exact strings that were asked for: those in typed messages and in what calls name. A string weighs from 1 to 2,
    /// more the later it was last asked for; it counts as kept where it occurs on token boundaries.
    pub strings: KeptShare,
    /// Files that calls wrote or edited, which weigh 2, and files that calls only read, which weigh 1; a file counts as
    /// kept where it is named.
    pub files: KeptShare,
    /// The thresholds that it misses; empty where it meets all, or where there are none.
    pub below: Vec<Shortfall>,
    /// The chains that were tried, in order; empty where there was one.
    pub tried: Vec<TriedChain>,
}

/// How much of one part was kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeptShare {
    /// How many the session held.
    pub held: u32,
    /// How many of them the view after holds.
    pub kept: u32,
    /// How many of them the view before held and the view after does not: the loss of this compaction. Earlier ones
    /// lost the rest of what is missing.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub lost_now: u32,
    /// The share of their weight that is kept, from 0 to 1 in steps of 1/10,000, rounded down; 1 where there was
    /// nothing to keep.
    pub share: f64,
    /// Up to five examples of what this compaction lost, the most valuable first.
    pub lost: Vec<String>,
    /// Up to five examples of what earlier compactions lost and is still missing, the most valuable first.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub lost_earlier: Vec<String>,
}

/// A part of which less was kept than the configuration asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Shortfall {
    /// The part.
    pub part: QualityPart,
    /// The share that is kept.
    pub share: f64,
    /// The least share that the configuration asks for.
    pub least: f64,
}

/// A chain that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TriedChain {
    /// Its strategies.
    pub chain: Vec<String>,
    /// Tokens of the view that it produced; 0 where it produced none.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens_after: Tokens,
    /// Its [`Quality::share`]; `None` where there was nothing to measure.
    #[cfg_attr(feature = "schema", schema(required))]
    pub share: Option<f64>,
    /// The thresholds that it misses.
    pub below: Vec<Shortfall>,
    /// Why it has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub problem: Option<String>,
}

/// The parts that the guard measures, in the order in which reports list them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum QualityPart {
    /// Typed messages.
    Typed,
    /// Demands of people, and the lines of instructions that the host loaded.
    Instructions,
    /// Conclusions of the model.
    Conclusions,
    /// Lines of an agent's own summary.
    Summaries,
    /// Exact strings that were asked for.
    Strings,
    /// Files that calls named.
    Files,
}

named! {
    QualityPart {
        Typed = "typed",
        Instructions = "instructions",
        Conclusions = "conclusions",
        Summaries = "summaries",
        Strings = "strings",
        Files = "files",
    }
}

/// How many parts there are.
const PARTS: usize = QualityPart::ALL.len();

impl QualityPart {
    /// Returns its weight in [`Quality::share`]. What people said carries most meaning in the fewest words; the model's
    /// conclusions, and strings that no other text has, come next; a file can be found again.
    pub fn weight(self) -> f64 {
        match self {
            Self::Typed => 3.0,
            Self::Instructions | Self::Conclusions | Self::Summaries | Self::Strings => 2.0,
            Self::Files => 1.0,
        }
    }
}

/// The least that a compaction must keep, and what follows where it keeps less. The default asks for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MinQuality {
    /// The least share of the typed messages, from 0 to 1; 0 asks for nothing.
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
    /// What follows where a share is below.
    pub on_loss: OnLoss,
}

/// What follows where a compaction keeps too little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnLoss {
    /// The chains of the other kinds of task are tried in order. The first result that keeps enough is taken; where
    /// none does, the best is taken, and the report names what is below.
    #[default]
    Retry,
    /// As `Retry`, but the session stays unchanged where no chain keeps enough ([`Status::RolledBack`](crate::Status)).
    /// A session over the limit that a trigger compacted is the exception: it cannot continue as it is, so the best
    /// result is taken.
    RollBack,
    /// Nothing else is tried; the report names what is below.
    Report,
}

named! { OnLoss { Retry = "retry", RollBack = "roll-back", Report = "report" } }

impl MinQuality {
    /// Returns the least share of a part.
    pub fn part(&self, part: QualityPart) -> f64 {
        match part {
            QualityPart::Typed => self.typed,
            QualityPart::Instructions => self.instructions,
            QualityPart::Conclusions => self.conclusions,
            QualityPart::Summaries => self.summaries,
            QualityPart::Strings => self.strings,
            QualityPart::Files => self.files,
        }
    }

    /// Whether any share is asked for.
    pub fn is_on(&self) -> bool {
        QualityPart::ALL.iter().any(|part| self.part(*part) > 0.0)
    }

    /// Whether other chains are tried where one keeps too little.
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
        let held = QualityPart::ALL.into_iter().filter(|part| quality.part(*part).held > 0);
        let (sum, weights) = held.clone().fold((0.0, 0.0), |(sum, weights), part| {
            (sum + part.weight() * quality.part(part).share, weights + part.weight())
        });
        let below = held.filter(|part| quality.misses(*part, least));
        let below = below.map(|part| Shortfall { part, share: quality.part(part).share, least: least.part(part) });
        quality.below = below.collect();
        if weights > 0.0 {
            quality.share = round_share(sum / weights);
        }
        quality
    }

    /// Whether less of a part is kept than the configuration asks for and this compaction lost some of it. Losses of
    /// earlier compactions do not rule a new one out.
    fn misses(&self, part: QualityPart, least: &MinQuality) -> bool {
        let kept = self.part(part);
        kept.share < least.part(part) && kept.lost_now > 0
    }

    /// Returns what was kept of a part.
    pub fn part(&self, part: QualityPart) -> &KeptShare {
        match part {
            QualityPart::Typed => &self.typed,
            QualityPart::Instructions => &self.instructions,
            QualityPart::Conclusions => &self.conclusions,
            QualityPart::Summaries => &self.summaries,
            QualityPart::Strings => &self.strings,
            QualityPart::Files => &self.files,
        }
    }

    /// Returns the parts of which this compaction left nothing, where there were five things or more: of fewer the loss
    /// says little.
    pub fn lost_parts(&self) -> Vec<QualityPart> {
        let is_lost = |part: &QualityPart| {
            let kept = self.part(*part);
            kept.held >= NEAR_EMPTY_FROM && kept.kept == 0 && kept.lost_now > 0
        };
        QualityPart::ALL.into_iter().filter(is_lost).collect()
    }

    /// Whether every threshold is met.
    pub fn passes(&self) -> bool {
        self.below.is_empty()
    }
}

/// Returns a share in steps of 1/10,000, rounded down: the reported figure is the compared one, and only a complete
/// part has 1.
fn round_share(share: f64) -> f64 {
    // A sum that rounding puts a hair below a step counts as that step.
    ((share * 10_000.0) + 1e-6).floor() / 10_000.0
}
