#![doc = include_str!("../README.md")]

mod chains;

use epitome_strategy::parts::{self, ReasonCodes, SessionPart};
use epitome_strategy::{Goal, Plan, PlanError, SummaryRoom, View, settings, strategy};

use chains::Chain;

settings! {
    /// Settings of `tool-chains`.
    pub struct Settings {
        /// Steps at a chain's start that stay.
        keep_first: u32 = 1, in 0..=1000, unit "steps";
        /// Steps at a chain's end that stay.
        keep_last: u32 = 1, in 1..=1000, unit "steps";
    }
    constants {
        /// Chains of fewer steps are left alone.
        min_steps: u32 = 3;
        /// Chains of more steps are taken as several.
        max_steps: u32 = 40;
        /// How many steps back a step may find what it has in common with the chain.
        reach: u32 = 2;
        /// Share of the target that summaries may take.
        summary_share: f64 = 0.15;
        /// Tokens that each summary gets at least, however small its share is. Text for which that is too much gets none.
        min_summary_tokens: u32 = 80;
    }
}

const CODES: ReasonCodes = ReasonCodes { cut: "output-in-chain", summary: "middle-of-chain" };

strategy! {
    /// Chains of calls keep their first and last steps, the middle shrinks: see the crate's page.
    pub struct ToolChains(Settings) {
        id: "tool-chains",
        summary: "A chain of calls that belong together keeps its first and last; outputs between become stubs, or it is \
                  summarised.",
        lossiness: Whole,
        since: "0.1.0",
    }
}

impl ToolChains {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let calls = view.facts().calls().len();
        let chains = chains::find(view, &self.settings);
        let least = self.settings.min_steps.max(self.settings.keep_first + self.settings.keep_last + 1);
        let middles: Vec<SessionPart> = chains
            .iter()
            .filter(|chain| chain.steps.len() >= least as usize)
            .filter_map(|chain| self.middle(view, chain))
            .collect();
        if middles.is_empty() {
            return Ok(Plan::decline(format!("{calls} calls: no {least} steps with calls belong together")));
        }
        let limits = SummaryRoom { share: self.settings.summary_share, least: self.settings.min_summary_tokens };
        let edits = parts::plan(view, goal, &middles, limits, CODES);
        Ok(Plan::from_edits(edits, "no chain's middle is longer than what would stand for it"))
    }

    /// Returns everything between the first and the last steps of a chain.
    fn middle(&self, view: &View<'_>, chain: &Chain<'_>) -> Option<SessionPart> {
        let steps = &chain.steps;
        let first = match self.settings.keep_first as usize {
            0 => *steps.first()?,
            kept => steps.get(kept - 1)? + 1,
        };
        let last = *steps.get(steps.len().checked_sub(self.settings.keep_last as usize)?)?;
        let name = format!("a chain of {} steps{}", steps.len(), chain.describe());
        SessionPart::new(view, name, (first..last).collect(), first..last, 0)
    }
}

#[cfg(test)]
mod tests;
