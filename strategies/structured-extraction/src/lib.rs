#![doc = include_str!("../README.md")]

mod block;
mod choose;
mod extract;
mod files;
mod gather;
mod newest;
mod plan_state;
mod section;
mod settings;
mod snippets;
mod value;

use epitome_strategy::{Goal, Meta, Plan, PlanError, Strategy, Tokens, View, strategy};

use crate::extract::{BLOCK_OVERHEAD, Source, split};
use crate::gather::SnippetCollector;
use crate::newest::Cuts;
pub use crate::settings::Settings;

/// Where the blocks leave more than this part of the room (one in so many) unused, the newest part gets it.
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

impl Strategy for StructuredExtraction {
    fn meta(&self) -> &Meta {
        &Self::META
    }

    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let free: Vec<u32> =
            (0..view.units().len() as u32).filter(|unit| view.protection(*unit as usize).may_leave()).collect();
        let free_tokens: Tokens = free.iter().map(|unit| view.unit_tokens(*unit as usize)).sum();
        let fixed = goal.current.saturating_sub(free_tokens) + BLOCK_OVERHEAD;
        let values = value::values(view);
        let cuts = self.cut_newest(view, goal, fixed, &values);
        let room = (goal.target + cuts.saved).saturating_sub(fixed);
        let tail = (f64::from(room) * self.settings.tail_share) as Tokens;
        let mut gathered = SnippetCollector::new(view);
        // This is nearly all of the work, and useless once the work is cancelled.
        split(view, &free, tail)
            .0
            .iter()
            .take_while(|_| !view.is_cancelled())
            .for_each(|unit| gathered.unit(*unit as usize));
        let source = Source {
            view,
            goal,
            settings: &self.settings,
            free: &free,
            free_tokens,
            room,
            gathered: &gathered,
            values: &values,
            cuts: &cuts,
        };
        let mut extract = match source.extract(tail) {
            Ok(extract) => extract,
            // Without a block, the newest output is still cut by the worth of its passages.
            Err(reason) => return Ok(Plan::from_edits(cuts.edits, reason)),
        };
        // Where the old part has no more lines worth their tokens, more of the newest part stays as it was.
        if extract.spare > room / SPARE_PART
            && let Ok(longer) = source.extract(tail + extract.spare)
        {
            extract = longer;
        }
        let mut edits = extract.edits;
        edits.extend(cuts.edits);
        Ok(Plan::from_edits(edits, ""))
    }
}

impl StructuredExtraction {
    /// Returns the cuts of the newest step, where it takes more than its share of the room beside `fixed` messages.
    fn cut_newest(&self, view: &View<'_>, goal: &Goal, fixed: Tokens, values: &[f32]) -> Cuts {
        let room = goal.target.saturating_add(newest::tokens(view)).saturating_sub(fixed);
        newest::cuts(view, (f64::from(room) * self.settings.newest_share) as Tokens, values)
    }
}

#[cfg(test)]
mod tests;
