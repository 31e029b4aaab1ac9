#![doc = include_str!("../README.md")]

use std::ops::Range;

use epitome_strategy::parts::{self, ReasonCodes, SessionPart};
use epitome_strategy::{Content, Goal, Origin, Plan, PlanError, SummaryRoom, UnitKind, View, settings, strategy};

settings! {
    /// Settings of `qa-pairs`.
    pub struct Settings {}
    constants {
        /// Newest steps that stay whole in the round that is not finished; its older steps give way after all finished
        /// rounds.
        keep_steps: u32 = 20;
        /// Tokens that a tool's output on the way may keep where cutting is enough; 0 leaves a stub.
        light_result_tokens: u32 = 150;
        /// Share of the target that summaries may take.
        summary_share: f64 = 0.15;
        /// Tokens that each summary gets at least, however small its share is. Text for which that is too much gets none.
        min_summary_tokens: u32 = 80;
    }
}

const CODES: ReasonCodes = ReasonCodes { cut: "output-on-the-way", summary: "way-to-the-answer" };

strategy! {
    /// Question and final answer of a finished round stay, the steps between shrink: see the crate's page.
    pub struct QaPairs(Settings) {
        id: "qa-pairs",
        summary: "Of finished rounds the question and the final answer stay; the way between is cut or summarised.",
        lossiness: Whole,
        since: "0.1.0",
    }
}

impl QaPairs {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let ways = self.ways(view);
        if ways.is_empty() {
            let reason = format!(
                "no finished round has a way from question to answer, and the current one has no more than {} steps",
                self.settings.keep_steps
            );
            return Ok(Plan::decline(reason));
        }
        let limits = SummaryRoom { share: self.settings.summary_share, least: self.settings.min_summary_tokens };
        let edits = parts::plan(view, goal, &ways, limits, CODES);
        Ok(Plan::from_edits(edits, "no way from question to answer is longer than what would stand for it"))
    }

    /// Returns the units between question and answer, round by round, the oldest first.
    fn ways(&self, view: &View<'_>) -> Vec<SessionPart> {
        let units = view.units();
        let current = view.rounds();
        let mut ways = Vec::new();
        let mut start = 0;
        while start < units.len() {
            let round = units[start].round;
            let end = start + units[start..].partition_point(|unit| unit.round == round);
            if round == current {
                ways.extend(self.unfinished_part(view, start..end));
            } else if round > 0 && round < current {
                ways.extend(self.finished_part(view, round, start..end));
            }
            start = end;
        }
        ways
    }

    fn finished_part(&self, view: &View<'_>, round: u32, units: Range<usize>) -> Option<SessionPart> {
        let answer = answer(view, units.clone());
        let leaving = units.clone().filter(|unit| Some(*unit) != answer && is_on_the_way(view, *unit));
        // Tool output in the answer's own step counts as between.
        let name = format!("the way of round {round}");
        let leaving = leaving.map(|unit| unit as u32).collect();
        SessionPart::new(view, name, leaving, units.start as u32..units.end as u32, self.settings.light_result_tokens)
    }

    /// Returns the older steps of the unfinished round.
    fn unfinished_part(&self, view: &View<'_>, units: Range<usize>) -> Option<SessionPart> {
        let is_step = |unit: &usize| view.units()[*unit].kind == UnitKind::Step;
        let newest = units.clone().rev().filter(is_step).nth(self.settings.keep_steps as usize - 1)?;
        let leaving = (units.start..newest).filter(|unit| is_on_the_way(view, *unit));
        let name = format!("the current round before its newest {} steps", self.settings.keep_steps);
        let leaving = leaving.map(|unit| unit as u32).collect();
        SessionPart::new(view, name, leaving, units.start as u32..newest as u32, self.settings.light_result_tokens)
    }
}

fn is_on_the_way(view: &View<'_>, unit: usize) -> bool {
    !matches!(view.units()[unit].kind, UnitKind::System | UnitKind::User)
}

/// Returns the unit that answers a round: the newest in which the model says something beside calls in plain text, or
/// the newest step where there is none.
fn answer(view: &View<'_>, units: Range<usize>) -> Option<usize> {
    let steps = || units.clone().rev().filter(|unit| view.units()[*unit].kind == UnitKind::Step);
    steps().find(|unit| says_something(view, *unit)).or_else(|| steps().next())
}

fn says_something(view: &View<'_>, unit: usize) -> bool {
    view.units()[unit].entries.clone().map(|position| view.message(position)).any(|message| {
        message.origin == Origin::Model
            && message.blocks.iter().enumerate().any(|(index, block)| {
                let holds_call = message.text_calls.iter().any(|call| call.block as usize == index);
                matches!(&block.content, Content::Text { text } if !holds_call && !text.trim().is_empty())
            })
    })
}

#[cfg(test)]
mod tests;
