#![doc = include_str!("../README.md")]

mod earlier;

use std::ops::Range;

use epitome_strategy::{
    Edit, Goal, Plan, PlanError, Reason, SUMMARY_OVERHEAD, SummaryRequest, SummaryText, Tokens, UnitKind, View,
    neighbours, settings, strategy, text,
};

use crate::earlier::earlier_handoffs;

settings! {
    /// Settings of `handoff`.
    pub struct Settings {}
    constants {
        /// Share of what the goal leaves beside protected messages that the newest units keep as they are, behind the
        /// hand-off.
        tail_share: f64 = 0.15;
        /// Share of what the goal leaves beside protected messages that the hand-off may take.
        summary_share: f64 = 0.5;
        /// Tokens that the hand-off may take however small its share is, where there is room.
        min_summary_tokens: u32 = 1024;
    }
}

/// A hand-off of fewer tokens has no room for its sections.
const LEAST: Tokens = 200;
/// Its least size is lowered where it would take more than this share of the room.
const MOST_OF_ROOM: f64 = 0.6;
/// The replaced units have at least this many times its tokens: it has to be smaller with everything that rules add to
/// it.
const LEAST_RATIO: f64 = 1.25;

strategy! {
    /// A hand-off in front of the newest messages covers the whole session: see the crate's page.
    pub struct Handoff(Settings) {
        id: "handoff",
        summary: "A hand-off in front of the newest messages covers the whole session, and replaces little of it.",
        lossiness: Whole,
        since: "0.2.0",
    }
}

impl Handoff {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let room = room(view, goal);
        let tail = tail_start(view, (f64::from(room) * self.settings.tail_share) as Tokens);
        let most = self.most(room, goal.longest_summary());
        let earlier = earlier_handoffs(view);
        let newest = earlier.last().copied();
        let free: Vec<u32> = (0..tail).filter(|unit| view.protection(*unit as usize).may_leave()).collect();
        let arrived = |unit: &&u32| newest.is_none_or(|newest| **unit > newest);
        let arrived: Tokens = free.iter().filter(arrived).map(|unit| view.unit_tokens(*unit as usize)).sum();
        // The messages since the newest one are fewer than another would replace: it is as good as up to date.
        if newest.is_some() && f64::from(arrived) < f64::from(most) * LEAST_RATIO {
            return Ok(decline_outdated(&earlier));
        }
        let Some(replaced) = replaced_units(view, &free, (f64::from(most) * LEAST_RATIO) as Tokens + SUMMARY_OVERHEAD)
        else {
            return Ok(Plan::decline("nothing in front of the newest messages may leave"));
        };
        let tokens: Tokens = replaced.iter().map(|unit| view.unit_tokens(*unit as usize)).sum();
        let fits = (f64::from(tokens.saturating_sub(SUMMARY_OVERHEAD)) / LEAST_RATIO) as Tokens;
        let max_tokens = most.min(fits);
        if max_tokens < LEAST {
            let reason = format!("what may leave is {tokens} tokens, too little for a hand-off to be shorter");
            return Ok(Plan::decline(reason));
        }
        let about = units_covered(view, newest, &replaced);
        let covered: usize = about.iter().map(|unit| view.units()[*unit as usize].entries.len()).sum();
        let messages: usize = replaced.iter().map(|unit| view.units()[*unit as usize].entries.len()).sum();
        let since = if newest.is_some() { ", the earlier hand-off brought up to date" } else { "" };
        let detail = format!(
            "covers {} and replaces {} ({tokens} tokens) in front of the newest{since}",
            text::counted(covered, "message"),
            messages,
        );
        let request = SummaryRequest { max_tokens, focus: goal.focus.clone(), about };
        let summary = SummaryText::Request(request);
        Ok(Plan::from_edits(
            vec![Edit::Summarize { units: replaced, summary, reason: Reason::new("handoff", detail) }],
            "",
        ))
    }

    /// Returns the tokens of the hand-off in a room of this many.
    fn most(&self, room: Tokens, longest: Tokens) -> Tokens {
        let Settings { summary_share, min_summary_tokens, .. } = self.settings;
        let least = min_summary_tokens.min((f64::from(room) * MOST_OF_ROOM) as Tokens);
        ((f64::from(room) * summary_share) as Tokens).max(least).min(longest).max(LEAST)
    }
}

/// Hand-offs in front of the newest one leave: it covers their content.
fn decline_outdated(earlier: &[u32]) -> Plan {
    let older = &earlier[..earlier.len().saturating_sub(1)];
    let reason = || Reason::new("updated", "a newer hand-off tells what it told");
    let edits = older.iter().map(|unit| Edit::Drop { units: vec![*unit], reason: reason() }).collect();
    Plan::from_edits(edits, "the newest hand-off is up to date")
}

/// Returns the room that the goal leaves beside protected messages. Linear in the units.
fn room(view: &View<'_>, goal: &Goal) -> Tokens {
    let protected = (0..view.units().len()).filter(|unit| !view.protection(*unit).may_leave());
    goal.target.saturating_sub(protected.map(|unit| view.unit_tokens(unit)).sum())
}

/// Returns the unit at which the newest ones that stay as they are start: those that may leave take at most `share`
/// tokens.
fn tail_start(view: &View<'_>, mut share: Tokens) -> u32 {
    let mut start = view.units().len();
    for unit in (0..view.units().len()).rev() {
        if view.protection(unit).may_leave() {
            let Some(left) = share.checked_sub(view.unit_tokens(unit)) else { break };
            share = left;
        }
        start = unit;
    }
    start as u32
}

/// Returns the units that the hand-off replaces: of the last run of neighbours in `free` that has `least` tokens, the
/// last units that make these up; where no run has so many, all of the largest. `None` where only summaries may leave.
fn replaced_units(view: &View<'_>, free: &[u32], least: Tokens) -> Option<Vec<u32>> {
    let tokens = |units: &[u32]| -> Tokens { units.iter().map(|unit| view.unit_tokens(*unit as usize)).sum() };
    let is_summary = |unit: &u32| view.units()[*unit as usize].kind == UnitKind::Summary;
    let runs: Vec<Vec<u32>> = neighbours(view, free).into_iter().filter(|run| !run.iter().all(is_summary)).collect();
    let run =
        runs.iter().rev().find(|run| tokens(run) >= least).or_else(|| runs.iter().max_by_key(|run| tokens(run)))?;
    let mut start: Range<usize> = run.len()..run.len();
    let mut taken = 0;
    while taken < least && start.start > 0 {
        start.start -= 1;
        taken += view.unit_tokens(run[start.start] as usize);
    }
    Some(run[start].to_vec())
}

/// Returns the units that the hand-off covers: all from the newest earlier one on, which covers everything before it,
/// up to those that it replaces; from the beginning where there is none.
fn units_covered(view: &View<'_>, newest: Option<u32>, replaced: &[u32]) -> Vec<u32> {
    let last = replaced.last().copied().unwrap_or_default();
    let first = newest.unwrap_or_default().min(replaced.first().copied().unwrap_or_default());
    (first..=last).filter(|unit| view.units()[*unit as usize].kind != UnitKind::System).collect()
}

#[cfg(test)]
mod tests;
