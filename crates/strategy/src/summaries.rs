//! Summaries of units that leave: which units leave for them, how the units are divided among them, and how long each
//! may be.

use std::cmp::Ordering;

use epitome_session::{Reason, UnitKind};

use crate::goal::Goal;
use crate::plan::{Edit, SummaryRequest, SummaryText};
use crate::services::Tokens;
use crate::view::View;

/// Tokens that a summary's own message costs beside its text: the message, and the engine's heading.
pub const SUMMARY_OVERHEAD: Tokens = 30;

/// Returns the edit that replaces `units` (ascending) by a summary of at most `max_tokens` tokens, with the goal's
/// question as focus.
pub fn summarize(goal: &Goal, units: Vec<u32>, max_tokens: Tokens, reason: Reason) -> Edit {
    let summary = SummaryText::Request(SummaryRequest::new(max_tokens, goal.focus.clone()));
    Edit::Summarize { units, summary, reason }
}

/// Splits `units` (ascending) into runs of neighbours, which units that stay separate. A part of the system prompt does
/// not separate neighbours. Linear.
pub fn neighbours(view: &View<'_>, units: &[u32]) -> Vec<Vec<u32>> {
    let is_system = |unit: u32| view.units()[unit as usize].kind == UnitKind::System;
    units.chunk_by(|left, right| (left + 1..*right).all(is_system)).map(<[u32]>::to_vec).collect()
}

/// Returns the edits that put summaries in the place of `units` (ascending, all of which may leave), one for each run
/// of neighbours: a single summary across units that stay would put later text in front of these. Together the texts
/// take `max_tokens` tokens less the headings of all but the first, divided in proportion to the size of what they
/// replace; each gets at least `least`.
///
/// Where there are several runs, those of no more than twice `least` and its heading get no summary, nor do the
/// smallest ones for whose least there is no room, nor any but the largest for a host that takes one text. These leave
/// without a text, in edits behind the summaries, so that only as many leave as the goal needs. One earlier summary alone
/// stays, because it has nothing to be folded with.
/// `reason` returns the reason for given units. Linear in the units, and a sort of the runs.
pub fn summarize_runs(
    view: &View<'_>,
    goal: &Goal,
    units: &[u32],
    max_tokens: Tokens,
    least: Tokens,
    reason: impl Fn(&[u32]) -> Reason,
) -> Vec<Edit> {
    let worth = 2 * (least + SUMMARY_OVERHEAD) + 1;
    Runs::divide(view, goal, units, worth, max_tokens, least).edits(goal, max_tokens, least, reason)
}

/// Runs of neighbours that leave.
struct Runs {
    /// Those that are summarised, with their tokens.
    summarized: Vec<(Vec<u32>, Tokens)>,
    /// Those that leave without a text where the goal needs it.
    dropped: Vec<Vec<u32>>,
}

impl Runs {
    /// Divides `units`; of several runs, those of fewer than `worth` tokens get no summary, and for a host that takes one
    /// text one run gets one.
    fn divide(view: &View<'_>, goal: &Goal, units: &[u32], worth: Tokens, max_tokens: Tokens, least: Tokens) -> Self {
        let sized = |run: Vec<u32>| {
            let tokens = run.iter().map(|unit| view.unit_tokens(*unit as usize)).sum::<Tokens>();
            (run, tokens)
        };
        let mut summarized: Vec<(Vec<u32>, Tokens)> = neighbours(view, units).into_iter().map(sized).collect();
        summarized.retain(|(run, _)| run.len() > 1 || has_more_than_summaries(view, run));
        if summarized.len() < 2 {
            return Self { summarized, dropped: Vec::new() };
        }
        let most = match goal.host.takes_one_text() {
            true => 1,
            false => (max_tokens + SUMMARY_OVERHEAD) / (least + SUMMARY_OVERHEAD).max(1),
        };
        summarized.sort_by_key(|(run, tokens)| (std::cmp::Reverse(*tokens), run.first().copied()));
        let large = summarized.partition_point(|(_, tokens)| *tokens >= worth).min((most as usize).max(1));
        let mut dropped: Vec<Vec<u32>> = summarized.split_off(large).into_iter().map(|(run, _)| run).collect();
        summarized.sort_unstable();
        dropped.sort_unstable();
        Self { summarized, dropped }
    }

    fn edits(self, goal: &Goal, max_tokens: Tokens, least: Tokens, reason: impl Fn(&[u32]) -> Reason) -> Vec<Edit> {
        let headings = (self.summarized.len() as Tokens).saturating_sub(1) * SUMMARY_OVERHEAD;
        let text = u64::from(max_tokens.saturating_sub(headings));
        let all = self.summarized.iter().map(|(_, tokens)| u64::from(*tokens)).sum::<u64>().max(1);
        let summaries = self.summarized.into_iter().map(|(run, tokens)| {
            let share = (text * u64::from(tokens) / all) as Tokens;
            let most = tokens.saturating_sub(SUMMARY_OVERHEAD + 1).max(1);
            let reason = reason(&run);
            summarize(goal, run, share.max(least).min(most), reason)
        });
        let drops = self.dropped.into_iter().map(|units| {
            let mut reason = reason(&units);
            reason.detail.push_str("; too little for a summary of its own");
            Edit::Drop { units, reason }
        });
        summaries.chain(drops).collect()
    }
}

/// The bounds for the length of a plan's summaries, beside [`Goal::longest_summary`]: of all of a plan together where they come
/// of [`tokens`](SummaryRoom::tokens), of each with [`allot`](SummaryRoom::allot).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SummaryRoom {
    /// The share of the target that they may take together.
    pub share: f64,
    /// The fewest tokens of each. Units are worth a summary where they have more than twice this and its heading.
    pub least: Tokens,
}

impl SummaryRoom {
    /// Returns the tokens of a summary where there is room: the share of the target, within the bounds.
    pub fn tokens(&self, goal: &Goal) -> Tokens {
        ((f64::from(goal.target) * self.share) as Tokens).min(goal.longest_summary()).max(self.least)
    }
}

/// Returns how many tokens each of several summaries may take: `least`, and a share of what `room` leaves beyond that
/// in proportion to the size of what it replaces; never more than `most` nor than half of that size, where these are
/// above `least`.
pub(crate) fn allot(sizes: &[Tokens], least: Tokens, most: Tokens, room: Tokens) -> Vec<Tokens> {
    let total = sizes.iter().map(|size| u64::from(*size)).sum::<u64>().max(1);
    let spare = u64::from(room).saturating_sub(u64::from(least) * sizes.len() as u64);
    let part = |size: &Tokens| least + (spare * u64::from(*size) / total) as Tokens;
    sizes.iter().map(|size| part(size).min(most).min(size / 2).max(least)).collect()
}

/// The length and the number of the summaries of a plan, for strategies that choose units from all over the session and
/// have them summarised in their places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summaries {
    /// The bounds of their length; together they are no longer than [`Goal::longest_summary`].
    pub room: SummaryRoom,
    /// A run of neighbouring units of fewer tokens gets no summary where there are several runs: see [`summarize_runs`].
    pub run_tokens: Tokens,
}

impl Summaries {
    /// Returns the tokens that must leave to meet the goal when a summary takes their place.
    pub fn needed(&self, goal: &Goal) -> Tokens {
        goal.excess() + SUMMARY_OVERHEAD + self.room.tokens(goal)
    }

    /// Returns the first units of `order`, the most expendable ones, as many as the goal needs when their summary takes
    /// their place; sorted by position. Linear in the units taken, and a sort.
    pub fn take(&self, view: &View<'_>, goal: &Goal, order: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let needed = self.needed(goal);
        let (mut taken, mut tokens): (Vec<u32>, Tokens) = (Vec::new(), 0);
        for unit in order {
            if tokens >= needed {
                break;
            }
            tokens += view.unit_tokens(unit as usize);
            taken.push(unit);
        }
        // A large unit taken late makes smaller ones taken before it unnecessary: the least expendable of these stay
        // after all.
        let mut spare = tokens.saturating_sub(needed);
        taken.reverse();
        taken.retain(|unit| match spare.checked_sub(view.unit_tokens(*unit as usize)) {
            Some(left) => {
                spare = left;
                false
            }
            None => true,
        });
        taken.sort_unstable();
        taken
    }

    /// Returns the edits that put summaries in the place of `units` (sorted positions of units that may leave), as
    /// [`summarize_runs`] does; no edit where summaries would be no shorter than the units, or where all units are
    /// earlier summaries. `reason` returns the reason for given units. Linear in the units, and a sort of the runs.
    pub fn edits(&self, view: &View<'_>, goal: &Goal, units: &[u32], reason: impl Fn(&[u32]) -> Reason) -> Vec<Edit> {
        let tokens_of = |units: &[u32]| units.iter().map(|unit| view.unit_tokens(*unit as usize)).sum::<Tokens>();
        let leaving = tokens_of(units);
        let least = self.room.least + SUMMARY_OVERHEAD;
        if leaving <= least || !has_more_than_summaries(view, units) {
            return Vec::new();
        }
        // The room that the goal leaves for the summaries, their headings included.
        let room = leaving.saturating_sub(goal.excess()).min(self.room.tokens(goal) + SUMMARY_OVERHEAD).max(least);
        let text = room - SUMMARY_OVERHEAD;
        Runs::divide(view, goal, units, self.run_tokens, text, self.room.least).edits(
            goal,
            text,
            self.room.least,
            reason,
        )
    }
}

/// How units are chosen of which some are worth little: see [`Summaries::choose`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RemovalOrder {
    /// Newest units of little worth that stay, or leave last. Earlier summaries do not count.
    pub keep_newest: u32,
    /// Whether only the units of little worth leave, and all of them; otherwise as many as the goal needs, others too.
    pub strict: bool,
    /// The share of the target for the newest units, which leave last; without effect with `strict`.
    pub tail_share: f64,
}

impl Summaries {
    /// Returns the units that leave, sorted by position: of those that may, the least in `order` first, of equals the
    /// oldest; the newest ones are treated as `how` says. A sort, and linear in the view.
    pub fn choose(
        &self,
        view: &View<'_>,
        goal: &Goal,
        how: RemovalOrder,
        is_low: impl Fn(u32) -> bool,
        order: impl Fn(u32, u32) -> Ordering,
    ) -> Vec<u32> {
        let free: Vec<u32> =
            (0..view.units().len() as u32).filter(|unit| view.protection(*unit as usize).may_leave()).collect();
        // An earlier summary does not count as a newest unit.
        let counts = |unit: &&u32| is_low(**unit) && view.units()[**unit as usize].kind != UnitKind::Summary;
        let newest: Vec<u32> = free.iter().rev().filter(counts).take(how.keep_newest as usize).copied().collect();
        let first_new = newest.last().copied().unwrap_or(u32::MAX); // all low units from here on are among them
        let is_newest =
            |unit: u32| unit >= first_new && is_low(unit) && view.units()[unit as usize].kind != UnitKind::Summary;
        if how.strict {
            return free.into_iter().filter(|unit| is_low(*unit) && !is_newest(*unit)).collect();
        }
        let tail = tail_start(view, (f64::from(goal.target) * how.tail_share) as Tokens);
        let (last, mut first): (Vec<u32>, Vec<u32>) =
            free.into_iter().partition(|unit| *unit >= tail || is_newest(*unit));
        first.sort_by(|left, right| order(*left, *right)); // stable: of equals the oldest goes first
        self.take(view, goal, first.into_iter().chain(last))
    }
}

/// Returns the unit at which the newest `messages` messages start; a unit that begins in front of them counts as whole.
/// Logarithmic.
pub fn window_start(view: &View<'_>, messages: usize) -> usize {
    let first = view.len().saturating_sub(messages);
    view.units().partition_point(|unit| unit.entries.end <= first)
}

/// Returns the unit at which the newest units start that together take no more than this many tokens, whether they may
/// leave or not. Linear in these units.
pub fn tail_start(view: &View<'_>, mut tokens: Tokens) -> u32 {
    let mut start = view.units().len();
    while let Some(unit) = start.checked_sub(1)
        && let Some(left) = tokens.checked_sub(view.unit_tokens(unit))
    {
        (start, tokens) = (unit, left);
    }
    start as u32
}

/// Whether there is more than earlier summaries: one of those alone has nothing to be folded with.
fn has_more_than_summaries(view: &View<'_>, units: &[u32]) -> bool {
    units.iter().any(|unit| view.units()[*unit as usize].kind != UnitKind::Summary)
}

#[cfg(test)]
#[path = "summaries_tests.rs"]
mod tests;
