#![doc = include_str!("../README.md")]

mod extract;
mod newest;
mod settings;

use epitome_reading::{Blocks, Source, Worth, read_block};
use epitome_strategy::{Goal, Plan, PlanError, Tokens, View, strategy};

use crate::extract::{BLOCK_OVERHEAD, Extraction};
pub use crate::settings::Settings;

/// Where the blocks leave more than this share of the room, as a divisor, unused, the newest part gets it.
const SPARE_PART: Tokens = 20;

strategy! {
    /// The old part of a session becomes structured blocks of its own exact lines: see the crate's page.
    pub struct StructuredExtraction(Settings) {
        id: "structured-extraction",
        summary: "The old part becomes blocks: demands, tasks, files, decisions, and the exact lines likeliest needed.",
        lossiness: Whole,
        since: "0.1.0",
    }
}

impl StructuredExtraction {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let free: Vec<u32> =
            (0..view.units().len() as u32).filter(|unit| view.protection(*unit as usize).may_leave()).collect();
        let free_tokens: Tokens = free.iter().map(|unit| view.unit_tokens(*unit as usize)).sum();
        let fixed = goal.current.saturating_sub(free_tokens) + BLOCK_OVERHEAD;
        let of_newest = newest::newest(view).map_or(0, |unit| view.unit_tokens(unit));
        let beside = goal.target.saturating_add(of_newest).saturating_sub(fixed);
        let (cuts, saved) = newest::cuts(view, goal, (f64::from(beside) * self.settings.newest_share) as Tokens);
        let room = (goal.target + saved).saturating_sub(fixed);
        let tail = (f64::from(room) * self.settings.tail_share) as Tokens;
        let source = Source::read(view, read_block);
        let worth = Worth::new(view, &source);
        if view.is_cancelled() {
            return Ok(Plan::decline("the compaction was cancelled"));
        }
        let focus = goal.focus.as_deref().filter(|_| goal.focus_given);
        let blocks = Blocks::new(view, &source, &worth, goal.language, self.settings.typed_share, focus);
        let extraction =
            Extraction { view, goal, settings: &self.settings, free: &free, free_tokens, room, blocks: &blocks };
        let mut extract = match extraction.extract(tail) {
            Ok(extract) => extract,
            // Without a block, the newest output is still cut by the worth of its passages.
            Err(reason) => return Ok(Plan::from_edits(cuts, reason)),
        };
        // Where the old part has no more lines worth their tokens, more of the newest part stays as it was.
        if extract.spare > room / SPARE_PART
            && let Ok(longer) = extraction.extract(tail + extract.spare)
        {
            extract = longer;
        }
        let mut edits = extract.edits;
        edits.extend(cuts);
        Ok(Plan::from_edits(edits, ""))
    }
}

#[cfg(test)]
mod tests;
