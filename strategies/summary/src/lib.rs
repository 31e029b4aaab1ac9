#![doc = include_str!("../README.md")]

mod keep;

use epitome_strategy::{
    Goal, Plan, PlanError, Reason, SUMMARY_OVERHEAD, Tokens, UnitKind, View, settings, strategy, summarize_runs, text,
};

use crate::keep::KeptSteps;

settings! {
    /// Settings of `summary`.
    pub struct Settings {
        /// Share of the target that the newest messages take where `fill_target` is off; up to it a shorter summary makes room
        /// for them.
        tail_share: f64 = 0.3, in 0.0..=1.0;
        /// Whether the newest messages take all the room that the summary leaves; without it they take `tail_share` and
        /// everything older is summarised.
        fill_target: bool = true;
        /// Share of the target that the summary may take.
        summary_share: f64 = 0.15, in 0.0..=1.0;
        /// Tokens that the summary may take however small its share is, where there is room.
        min_summary_tokens: u32 = 1024, in 1..=100_000, unit "tokens";
    }
    constants {
        /// Share of the target that the newest task list and the newest diff statistics may take to stay whole.
        kept_share: f64 = 0.1;
    }
}

/// A summary of fewer tokens is not informative.
const LEAST_SUMMARY: Tokens = 64;
/// The least size of a summary is lowered where it would take more than this share of what is not protected.
const MOST_OF_ROOM: f64 = 0.4;

strategy! {
    /// Everything between the original task and the newest messages becomes one summary: see the crate's page.
    pub struct Summary(Settings) {
        id: "summary",
        summary: "Everything between the original task and the newest messages becomes one summary.",
        lossiness: Whole,
        since: "0.1.0",
    }
}

impl Summary {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let most_kept = (f64::from(goal.target) * self.settings.kept_share) as Tokens;
        let kept = KeptSteps::find(view, most_kept);
        let free: Vec<u32> = (0..view.units().len() as u32)
            .filter(|unit| view.protection(*unit as usize).may_leave() && !kept.holds(*unit))
            .collect();
        let span = self.span(view, goal, &free);
        if span.units.iter().all(|unit| view.units()[*unit as usize].kind == UnitKind::Summary) {
            return Ok(Plan::decline("nothing in front of the newest messages may leave"));
        }
        if span.tokens <= LEAST_SUMMARY + SUMMARY_OVERHEAD {
            let reason = format!("what may leave is {} tokens, no longer than its summary would be", span.tokens);
            return Ok(Plan::decline(reason));
        }
        let left = goal.target.saturating_sub(goal.current.saturating_sub(span.tokens) + SUMMARY_OVERHEAD);
        let most = self.preferred(goal).min(span.tokens - SUMMARY_OVERHEAD - 1);
        let max_tokens = left.min(most).max(LEAST_SUMMARY);
        let code = if span.is_tail_short { "tail-shrunk" } else { "before-tail" };
        let detail = format!(
            "{} ({} tokens) in front of the newest {}, which take {} tokens{}",
            text::counted(span.messages, "message"),
            span.tokens,
            span.tail_messages,
            span.tail_tokens,
            kept.note()
        );
        let reason = |_: &[u32]| Reason::new(code, detail.as_str());
        let edits = summarize_runs(view, goal, &span.units, max_tokens, LEAST_SUMMARY, reason);
        Ok(Plan::from_edits(edits, "nothing in front of the newest messages may leave"))
    }

    /// Returns the tokens of the summary where there is room.
    fn preferred(&self, goal: &Goal) -> Tokens {
        let share = (f64::from(goal.target) * self.settings.summary_share) as Tokens;
        share.max(self.settings.min_summary_tokens).min(goal.longest_summary())
    }

    /// Splits the units that may leave: the newest that fit beside the summary stay, all older ones go.
    fn span(&self, view: &View<'_>, goal: &Goal, free: &[u32]) -> Span {
        let tokens = |unit: &u32| view.unit_tokens(*unit as usize);
        let free_tokens: Tokens = free.iter().map(tokens).sum();
        let fixed = goal.current.saturating_sub(free_tokens);
        let room = goal.target.saturating_sub(fixed + SUMMARY_OVERHEAD);
        let summary = self.preferred(goal).min((f64::from(room) * MOST_OF_ROOM) as Tokens).max(LEAST_SUMMARY);
        let share = (f64::from(goal.target) * self.settings.tail_share) as Tokens;
        let mut left = room.saturating_sub(summary);
        if !self.settings.fill_target {
            left = left.min(share);
        }
        // A large unit at the boundary of a tail that has not reached its share yet is worth a shorter summary.
        let mut spare = summary.saturating_sub(self.settings.min_summary_tokens.min(summary / 2).max(LEAST_SUMMARY));
        let mut cut = free.len();
        let mut taken = 0;
        while let Some(unit) = cut.checked_sub(1) {
            let next = tokens(&free[unit]);
            if self.settings.fill_target && next > left && taken < share && next <= left + spare {
                (left, spare) = (next, 0);
            }
            if next > left {
                break;
            }
            left -= next;
            taken += next;
            cut = unit;
        }
        let units = &free[..cut];
        let tail = units.last().map_or(0, |last| view.units()[*last as usize].entries.end);
        let tail_tokens = (tail..view.len()).map(|message| view.message_tokens(message)).sum();
        Span {
            messages: units.iter().map(|unit| view.units()[*unit as usize].entries.len()).sum(),
            tokens: units.iter().map(tokens).sum(),
            tail_messages: view.len() - tail,
            tail_tokens,
            // A unit is never cut in two, so a tail may miss its share by the next unit.
            is_tail_short: units.last().is_some_and(|last| tail_tokens + tokens(last) <= share),
            units: units.to_vec(),
        }
    }
}

/// The units that are summarised, and those that stay behind the summary.
struct Span {
    units: Vec<u32>,
    messages: usize,
    tokens: Tokens,
    tail_messages: usize,
    tail_tokens: Tokens,
    /// Whether the newest messages get less than `tail_share`.
    is_tail_short: bool,
}

#[cfg(test)]
mod tests;
