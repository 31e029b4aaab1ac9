#![doc = include_str!("../README.md")]

mod block;
mod choose;
mod plan_state;
mod snippets;
mod value;

use epitome_strategy::{
    Configurable, Edit, Goal, Language, Lossiness, Meta, Needs, Plan, PlanError, Protection, Reason, Strategy,
    SummaryText, Tokens, UnitKind, View, settings,
};

use crate::block::Block;
use crate::choose::Choice;

settings! {
    /// Settings of `structured-extraction`.
    pub struct Settings {
        /// Share of what the goal leaves beside protected messages that the newest units keep verbatim.
        tail_share: f64 = 0.5, in 0.0..=1.0;
        /// Share of the target that the block may take.
        block_share: f64 = 0.6, in 0.0..=1.0;
        /// Tokens of old messages below which the strategy declines: a block of less is not worth its headings.
        least_old_tokens: u32 = 400, in 1..=1_000_000, unit "tokens";
        /// Longest line that stays whole; of a longer one the surroundings of its exact strings stay.
        longest_line: u32 = 200, in 40..=2_000, unit "bytes";
        /// Share of the block that what the user typed may take.
        typed_share: f64 = 0.3, in 0.0..=1.0;
    }
}

/// What the block costs beside its text: the message, and the engine's heading.
const BLOCK_OVERHEAD: Tokens = 40;

/// Fewer tokens make no block that says anything.
const LEAST_BLOCK: Tokens = 80;

/// The old part of a session becomes one structured block of its own exact lines: see the crate's page.
#[derive(Debug)]
pub struct StructuredExtraction {
    settings: Settings,
}

impl Configurable for StructuredExtraction {
    type Settings = Settings;
    const META: Meta = Meta {
        id: "structured-extraction",
        summary: "The old part becomes one block: demands, tasks, files, decisions, and the exact lines likeliest needed.",
        docs: include_str!("../README.md"),
        lossiness: Lossiness::Whole,
        needs: Needs { embeddings: false, model: false },
        since: "0.1.0",
    };

    fn with_settings(settings: Settings) -> Self {
        Self { settings }
    }
}

impl Strategy for StructuredExtraction {
    fn meta(&self) -> &Meta {
        &Self::META
    }

    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        if goal.is_met() {
            return Ok(Plan::decline("the goal is met"));
        }
        let free: Vec<usize> = (0..view.units().len()).filter(|unit| view.protection(*unit).may_leave()).collect();
        let free_tokens: Tokens = free.iter().map(|unit| view.unit_tokens(*unit)).sum();
        let room = goal.target.saturating_sub(goal.current.saturating_sub(free_tokens) + BLOCK_OVERHEAD);
        let (old, tail_tokens) = self.split(view, &free, room);
        let old_tokens = free_tokens - tail_tokens;
        if old_tokens < self.settings.least_old_tokens {
            return Ok(Plan::decline(format!("only {old_tokens} tokens in front of the newest part may leave")));
        }
        if old.iter().all(|unit| view.units()[*unit].kind == UnitKind::Summary) {
            return Ok(Plan::decline("one old block alone has nothing to be joined with"));
        }
        let share = (f64::from(goal.target) * self.settings.block_share) as Tokens;
        let budget = (room - tail_tokens).min(share).min(old_tokens.saturating_sub(BLOCK_OVERHEAD + 1));
        if budget < LEAST_BLOCK {
            return Ok(Plan::decline(format!("{budget} tokens are left for the block")));
        }
        let choice = Choice::make(view, goal, &old, &self.settings, budget);
        let text = Block::new(view, goal, &choice).write(goal.language, budget);
        if text.is_empty() {
            return Ok(Plan::decline("no line is worth its tokens"));
        }
        let detail = format!(
            "{} lines of {old_tokens} tokens in {} units; {} exact strings that stand nowhere else",
            choice.chosen.len(),
            old.len(),
            choice.covered
        );
        let units = old.iter().map(|unit| *unit as u32).collect();
        let reason = Reason::new("extracted", detail);
        Ok(Plan::of(vec![Edit::Summarize { units, summary: SummaryText::Ready(text), reason }], ""))
    }
}

impl StructuredExtraction {
    /// The units in front of the newest part, and the tokens of the newest part.
    fn split(&self, view: &View<'_>, free: &[usize], room: Tokens) -> (Vec<usize>, Tokens) {
        let allowance = (f64::from(room) * self.settings.tail_share) as Tokens;
        let mut tail_tokens: Tokens = 0;
        let mut start = free.len();
        while start > 0 {
            let unit = free[start - 1];
            let tokens = view.unit_tokens(unit);
            if tail_tokens + tokens > allowance || view.units()[unit].kind == UnitKind::Summary {
                break;
            }
            tail_tokens += tokens;
            start -= 1;
        }
        (free[..start].to_vec(), tail_tokens)
    }
}

/// Whether a unit stays whatever happens.
fn stays(protection: Protection) -> bool {
    !protection.may_leave()
}

/// A word of the block in the session's language.
fn worded(language: Language, english: &'static str, chinese: &'static str) -> &'static str {
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}

#[cfg(test)]
mod tests;
