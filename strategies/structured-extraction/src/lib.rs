#![doc = include_str!("../README.md")]

mod block;
mod choose;
mod files;
mod gather;
mod newest;
mod plan_state;
mod snippets;
mod value;

use std::collections::HashSet;

use epitome_strategy::{
    Edit, Goal, Language, Meta, Plan, PlanError, Reason, Strategy, SummaryText, Tokens, UnitKind, View, settings,
    strategy,
};

use crate::choose::Choice;
use crate::gather::Gather;
use crate::newest::Cuts;

settings! {
    /// Settings of `structured-extraction`.
    pub struct Settings {
        /// Share of what the goal leaves beside protected messages that the newest units keep verbatim.
        tail_share: f64 = 0.3, in 0.0..=1.0;
        /// Share of the same that the newest step may take before its outputs are cut to their telling passages; 1 cuts
        /// nothing.
        newest_share: f64 = 0.45, in 0.05..=1.0;
        /// Share of the target that the block may take.
        block_share: f64 = 0.9, in 0.0..=1.0;
        /// Tokens of old messages below which the strategy declines: a block of less is not worth its headings.
        least_old_tokens: u32 = 400, in 1..=1_000_000, unit "tokens";
        /// Longest line that stays whole; of a longer one the surroundings of its exact strings stay.
        longest_line: u32 = 200, in 40..=2_000, unit "bytes";
        /// Share of the block that what the user typed may take.
        typed_share: f64 = 0.3, in 0.0..=1.0;
        /// Share of the block within which decisions and open questions of the model come before other lines, newest first.
        decision_share: f64 = 0.05, in 0.0..=1.0;
    }
}

/// What the block costs beside its text: the message, and the engine's heading.
const BLOCK_OVERHEAD: Tokens = 40;

/// Fewer tokens make no block that says anything.
const LEAST_BLOCK: Tokens = 80;

/// Where the block leaves more than this part of the room (one of so many) unused, the newest part gets it.
const SPARE_PART: Tokens = 20;

strategy! {
    /// The old part of a session becomes one structured block of its own exact lines: see the crate's page.
    pub struct StructuredExtraction(Settings) {
        id: "structured-extraction",
        summary: "The old part becomes one block: demands, tasks, files, decisions, and the exact lines likeliest needed.",
        lossiness: Whole,
        since: "0.1.0",
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
        let fixed = goal.current.saturating_sub(free_tokens) + BLOCK_OVERHEAD;
        let values = value::values(view);
        let cuts = self.cut_newest(view, goal, fixed, &values);
        let room = (goal.target + cuts.saved).saturating_sub(fixed);
        let tail = (f64::from(room) * self.settings.tail_share) as Tokens;
        let mut gathered = Gather::new(view, self.settings.longest_line);
        split(view, &free, tail).0.into_iter().for_each(|unit| gathered.unit(unit));
        let part =
            Part { view, goal, free: &free, free_tokens, room, gathered: &gathered, values: &values, cuts: &cuts };
        let mut extract = match self.extract(&part, tail) {
            Ok(extract) => extract,
            // Without a block, the newest output still leaves by what its passages hold.
            Err(reason) => return Ok(Plan::of(cuts.edits, reason)),
        };
        // Where the old part has no more lines worth their tokens, more of the newest part stays as it was.
        if extract.spare > room / SPARE_PART
            && let Ok(longer) = self.extract(&part, tail + extract.spare)
        {
            extract = longer;
        }
        let Extract { units, text, detail, .. } = extract;
        let reason = Reason::new("extracted", detail);
        let mut edits = vec![Edit::Summarize { units, summary: SummaryText::Ready(text), reason }];
        edits.extend(cuts.edits);
        Ok(Plan::of(edits, ""))
    }
}

/// What a block is made of.
struct Part<'p, 'a> {
    view: &'p View<'a>,
    goal: &'p Goal,
    /// The units that may leave, and their tokens.
    free: &'p [usize],
    free_tokens: Tokens,
    /// Tokens for the newest part and the block together.
    room: Tokens,
    /// The lines of the old units, and perhaps of some behind them.
    gathered: &'p Gather<'p, 'a>,
    /// The worth of each exact string.
    values: &'p [f32],
    cuts: &'p Cuts,
}

/// A block that is written.
struct Extract {
    units: Vec<u32>,
    text: String,
    detail: String,
    /// Tokens of its budget that it does not use.
    spare: Tokens,
}

impl StructuredExtraction {
    /// The block of everything in front of a newest part of at most `tail` tokens, or why there is none.
    fn extract(&self, part: &Part<'_, '_>, tail: Tokens) -> Result<Extract, String> {
        let Part { view, goal, room, .. } = *part;
        let (old, tail_tokens) = split(view, part.free, tail);
        let old_tokens = part.free_tokens - tail_tokens;
        if old_tokens < self.settings.least_old_tokens {
            return Err(format!("only {old_tokens} tokens in front of the newest part may leave"));
        }
        let share = (f64::from(goal.target) * self.settings.block_share) as Tokens;
        let most = share.min(old_tokens.saturating_sub(BLOCK_OVERHEAD + 1));
        let budget = room.saturating_sub(tail_tokens).min(most);
        let only_blocks = old.iter().all(|unit| view.units()[*unit].kind == UnitKind::Summary);
        if only_blocks && u64::from(budget) * 5 > u64::from(old_tokens) * 4 {
            return Err("nothing but earlier blocks is old, and they have to shrink by less than a fifth".to_owned());
        }
        if budget < LEAST_BLOCK {
            return Err(format!("{budget} tokens are left for the block"));
        }
        let is_old: HashSet<usize> = old.iter().copied().collect();
        let mut values = part.values.to_vec();
        value::without_what_stays(view, &mut values, part.cuts, |unit| !is_old.contains(&unit));
        let choice = Choice::make(view, &old, part.gathered, &self.settings, budget, values);
        let text = block::write(view, &choice, goal.language, budget);
        if text.is_empty() {
            return Err("no line is worth its tokens".to_owned());
        }
        let detail = format!(
            "{} lines of {old_tokens} tokens in {} units; {} exact strings that stand nowhere else",
            choice.chosen.len(),
            old.len(),
            choice.covered
        );
        let spare = room.saturating_sub(tail_tokens + view.count(&text));
        Ok(Extract { units: old.iter().map(|unit| *unit as u32).collect(), text, detail, spare })
    }

    /// The cuts of the newest step, where it takes more than its share of what `fixed` messages leave.
    fn cut_newest(&self, view: &View<'_>, goal: &Goal, fixed: Tokens, values: &[f32]) -> Cuts {
        if self.settings.newest_share >= 1.0 {
            return Cuts::default();
        }
        let room = (goal.target + newest::tokens(view)).saturating_sub(fixed);
        newest::cuts(view, (f64::from(room) * self.settings.newest_share) as Tokens, values)
    }
}

/// The units in front of the newest part, and the tokens of the newest part, of at most `allowance`.
fn split(view: &View<'_>, free: &[usize], allowance: Tokens) -> (Vec<usize>, Tokens) {
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

/// A word of the block in the session's language.
fn worded(language: Language, english: &'static str, chinese: &'static str) -> &'static str {
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}

#[cfg(test)]
mod tests;
