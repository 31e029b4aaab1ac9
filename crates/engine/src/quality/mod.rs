//! The quality guard: what a compaction lost, in cheap figures, and what follows where that is too much.

mod find;
mod held;
mod sentences;
mod tries;

use epitome_strategy::Tokens;
use serde::{Deserialize, Serialize};

pub(crate) use tries::{Attempt, Judge};

/// What a compaction lost: how much of what the view before held still stands in the view after, outside the system
/// prompt. Cheap figures, worked out without a model. Those of a draft are of the summaries as they were written, not as
/// a person edits them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// All of it, from 0 to 1: the mean of the shares of strings (weight 3), instructions (2) and files (1); a part of
    /// which the view before held nothing is left out, and it is 1 where all are.
    pub share: f64,
    /// Exact strings that somebody asked for: those in typed messages and in what calls name. Each weighs more the later
    /// it was last asked for, from 1 to 2; kept is what stands on token boundaries.
    pub strings: Kept,
    /// Sentences of typed messages with a word of instruction; kept is what stands word for word, white space aside.
    pub instructions: Kept,
    /// Files that calls wrote or edited, which weigh 2, and files that they only read, which weigh 1; kept is what is
    /// named.
    pub files: Kept,
    /// The thresholds that it misses; empty where it passes, or where there are none.
    pub below: Vec<Shortfall>,
    /// The chains that were tried, in order, where there were several.
    pub tried: Vec<Try>,
}

/// What was kept of one part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Kept {
    /// How many the view before held.
    pub held: u32,
    /// How many of them still stand.
    pub kept: u32,
    /// The share of their weight that still stands, from 0 to 1 in steps of 1/10,000, rounded down; 1 where there was
    /// nothing to keep.
    pub share: f64,
    /// Some of what was lost, the most valuable first; at most five.
    pub lost: Vec<String>,
}

/// A part of which less was kept than the configuration asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shortfall {
    /// `strings`, `instructions` or `files`.
    pub part: Part,
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

/// What the guard looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Exact strings.
    Strings,
    /// Instructions.
    Instructions,
    /// Files.
    Files,
}

impl Part {
    /// Every part with its weight in [`Quality::share`]. What later steps miss most often are exact strings; a lost
    /// instruction does more harm, but there are few, and one more threshold guards them; a file can be found again.
    const WEIGHTS: [(Self, f64); 3] = [(Self::Strings, 3.0), (Self::Instructions, 2.0), (Self::Files, 1.0)];

    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strings => "strings",
            Self::Instructions => "instructions",
            Self::Files => "files",
        }
    }
}

/// Strings, instructions and files that a view held together before it can be hollow: of fewer the loss of all says little.
pub(crate) const HOLLOW_FROM: u32 = 5;

/// The least that a compaction must keep, and what follows where it does not. The default asks for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MinQuality {
    /// The least share of the exact strings, from 0 to 1; 0 asks for nothing.
    pub strings: f64,
    /// The least share of the instructions.
    pub instructions: f64,
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
    pub fn of(&self, part: Part) -> f64 {
        match part {
            Part::Strings => self.strings,
            Part::Instructions => self.instructions,
            Part::Files => self.files,
        }
    }

    /// Whether anything is asked for at all.
    pub fn is_on(&self) -> bool {
        Part::WEIGHTS.iter().any(|(part, _)| self.of(*part) > 0.0)
    }

    /// Whether other chains are to be tried where one keeps too little.
    pub(crate) fn retries(&self) -> bool {
        self.is_on() && self.on_loss != OnLoss::Report
    }
}

impl Quality {
    fn new([strings, instructions, files]: [Kept; 3], least: &MinQuality) -> Self {
        let mut quality = Self { share: 1.0, strings, instructions, files, below: Vec::new(), tried: Vec::new() };
        let held = Part::WEIGHTS.iter().filter(|(part, _)| quality.of(*part).held > 0);
        let (sum, weights) = held.clone().fold((0.0, 0.0), |(sum, weights), (part, weight)| {
            (sum + weight * quality.of(*part).share, weights + weight)
        });
        let below = held.filter(|(part, _)| quality.of(*part).share < least.of(*part));
        let below =
            below.map(|(part, _)| Shortfall { part: *part, share: quality.of(*part).share, least: least.of(*part) });
        quality.below = below.collect();
        if weights > 0.0 {
            quality.share = rounded(sum / weights);
        }
        quality
    }

    /// What was kept of a part.
    pub fn of(&self, part: Part) -> &Kept {
        match part {
            Part::Strings => &self.strings,
            Part::Instructions => &self.instructions,
            Part::Files => &self.files,
        }
    }

    /// Whether nothing is left of what the view before held: no exact string, no instruction, no file, of
    /// five or more together.
    pub fn is_hollow(&self) -> bool {
        let (held, kept) = Part::WEIGHTS
            .iter()
            .map(|(part, _)| self.of(*part))
            .fold((0, 0), |(held, kept), part| (held + part.held, kept + part.kept));
        held >= HOLLOW_FROM && kept == 0
    }

    /// Whether it misses no threshold.
    pub fn passes(&self) -> bool {
        self.below.is_empty()
    }
}

/// A share in steps of 1/10,000, rounded down: what is shown is what is compared, and 1 is all of it.
fn rounded(share: f64) -> f64 {
    // What comes out a hair below a step by the order of the additions is on it.
    ((share * 10_000.0) + 1e-6).floor() / 10_000.0
}
