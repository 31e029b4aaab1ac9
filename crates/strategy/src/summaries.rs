//! Summaries of what leaves: which units leave for them, into how many they go, and how long each may be.

use std::cmp::Ordering;

use epitome_session::{Reason, UnitKind};

use crate::goal::Goal;
use crate::plan::{Edit, SummaryRequest, SummaryText};
use crate::services::Tokens;
use crate::view::View;

/// Tokens that a summary's own message costs beside its text: the message, and the engine's heading.
pub const SUMMARY_OVERHEAD: Tokens = 30;

/// The edit that replaces `units` (ascending) by a summary of at most `max_tokens` tokens, the goal's question in focus.
pub fn summarize(goal: &Goal, units: Vec<u32>, max_tokens: Tokens, reason: Reason) -> Edit {
    let summary = SummaryText::Request(SummaryRequest { max_tokens, focus: goal.focus.clone() });
    Edit::Summarize { units, summary, reason }
}

/// Tokens that all summaries of a plan together get where there is room: a share of the target, within bounds.
pub fn summary_room(goal: &Goal, share: f64, least: Tokens, most: Tokens) -> Tokens {
    ((f64::from(goal.target) * share) as Tokens).min(most).max(least)
}

/// How many tokens each of several summaries may take: `least`, and of what `room` leaves beyond that its part by the
/// size of what it replaces; never more than `most` nor than half of that size, where these are above `least`.
pub(crate) fn allot(sizes: &[Tokens], least: Tokens, most: Tokens, room: Tokens) -> Vec<Tokens> {
    let total = sizes.iter().map(|size| u64::from(*size)).sum::<u64>().max(1);
    let spare = u64::from(room).saturating_sub(u64::from(least) * sizes.len() as u64);
    let part = |size: &Tokens| least + (spare * u64::from(*size) / total) as Tokens;
    sizes.iter().map(|size| part(size).min(most).min(size / 2).max(least)).collect()
}

/// How long the summaries of a plan may be, and how many there may be: for strategies that choose units all over the
/// session and have them summarised where they stood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summaries {
    /// Share of the target that they may take together.
    pub share: f64,
    /// Tokens that each gets at least.
    pub min_tokens: Tokens,
    /// Tokens that they may take together at most.
    pub max_tokens: Tokens,
    /// One summary for each run of neighbouring units of at least so many tokens; a shorter run goes into the summary
    /// of the next. `None` for one summary in all.
    pub run_tokens: Option<Tokens>,
}

impl Summaries {
    /// Tokens that must leave so that the goal is met when their summary stands in their place.
    pub fn needed(&self, goal: &Goal) -> Tokens {
        goal.excess() + SUMMARY_OVERHEAD + self.most(goal)
    }

    /// Of `order`, the most expendable unit first, as many as the goal needs when their summary stands in their place;
    /// sorted by position. Linear in the units taken, and a sort.
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
        // A large unit taken late makes room for smaller ones taken before it: the least expendable stay after all.
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

    /// The edits that put summaries in the place of `units` (sorted positions of units that may leave), in their order;
    /// none where summaries would be no shorter than the units, or where all of them are earlier summaries. `reason`
    /// says why the given units leave. Linear in the units.
    pub fn edits(&self, view: &View<'_>, goal: &Goal, units: &[u32], reason: impl Fn(&[u32]) -> Reason) -> Vec<Edit> {
        let tokens_of = |units: &[u32]| units.iter().map(|unit| view.unit_tokens(*unit as usize)).sum::<Tokens>();
        let leaving = tokens_of(units);
        let least = self.min_tokens + SUMMARY_OVERHEAD;
        if leaving <= least || !has_more_than_summaries(view, units) {
            return Vec::new();
        }
        // What the goal leaves for the summaries, their headings included.
        let room = leaving.saturating_sub(goal.excess()).min(self.most(goal) + SUMMARY_OVERHEAD).max(least);
        let runs = match self.run_tokens {
            None => vec![units.to_vec()],
            Some(tokens) => runs(view, units, tokens.max(leaving.div_ceil(room / least))),
        };
        let text = room.saturating_sub(runs.len() as Tokens * SUMMARY_OVERHEAD);
        runs.into_iter()
            .map(|run| {
                let tokens = tokens_of(&run);
                let share = (u64::from(text) * u64::from(tokens) / u64::from(leaving)) as Tokens;
                let max_tokens = share.max(self.min_tokens).min(tokens.saturating_sub(SUMMARY_OVERHEAD + 1).max(1));
                let reason = reason(&run);
                summarize(goal, run, max_tokens, reason)
            })
            .collect()
    }

    /// Tokens of all summaries together where there is room.
    fn most(&self, goal: &Goal) -> Tokens {
        summary_room(goal, self.share, self.min_tokens, self.max_tokens)
    }
}

/// How units leave of which some are worth little: see [`Summaries::choose`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeastFirst {
    /// Newest units of little worth that stay, or leave last. Earlier summaries do not count.
    pub keep_newest: u32,
    /// Whether exactly the units of little worth leave; without it as many as the goal needs, others too.
    pub strict: bool,
    /// Share of the target that the newest units take that leave last; not for `strict`.
    pub tail_share: f64,
}

impl Summaries {
    /// The units that leave, sorted by position: of those that may, the least in `order` first, of equals the oldest; the
    /// newest ones as `how` says. A sort, and linear in the view.
    pub fn choose(
        &self,
        view: &View<'_>,
        goal: &Goal,
        how: LeastFirst,
        is_low: impl Fn(u32) -> bool,
        order: impl Fn(u32, u32) -> Ordering,
    ) -> Vec<u32> {
        let free: Vec<u32> =
            (0..view.units().len() as u32).filter(|unit| view.protection(*unit as usize).may_leave()).collect();
        // An earlier summary is not one of the newest of what was said.
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

/// The unit at which the newest `messages` messages start; a unit that begins in front of them belongs to them whole.
/// Logarithmic.
pub fn window_start(view: &View<'_>, messages: usize) -> usize {
    let first = view.len().saturating_sub(messages);
    view.units().partition_point(|unit| unit.entries.end <= first)
}

/// The unit at which the newest units start that take no more than so many tokens together, whether they may leave or
/// not. Linear in these units.
pub fn tail_start(view: &View<'_>, mut tokens: Tokens) -> u32 {
    let mut start = view.units().len();
    while let Some(unit) = start.checked_sub(1)
        && let Some(left) = tokens.checked_sub(view.unit_tokens(unit))
    {
        (start, tokens) = (unit, left);
    }
    start as u32
}

/// Whether there is anything but earlier summaries: one of those alone has nothing to be folded with.
fn has_more_than_summaries(view: &View<'_>, units: &[u32]) -> bool {
    units.iter().any(|unit| view.units()[*unit as usize].kind != UnitKind::Summary)
}

/// Splits units where others stand between them, into parts of at least so many tokens.
fn runs(view: &View<'_>, units: &[u32], least: Tokens) -> Vec<Vec<u32>> {
    let mut runs: Vec<Vec<u32>> = Vec::new();
    let (mut run, mut tokens): (Vec<u32>, Tokens) = (Vec::new(), 0);
    for unit in units {
        let is_gap = run.last().is_some_and(|last| last + 1 != *unit);
        if is_gap && tokens >= least && has_more_than_summaries(view, &run) {
            runs.push(std::mem::take(&mut run));
            tokens = 0;
        }
        tokens += view.unit_tokens(*unit as usize);
        run.push(*unit);
    }
    match runs.last_mut() {
        Some(last) if tokens < least || !has_more_than_summaries(view, &run) => last.extend(run),
        _ => runs.push(run),
    }
    runs
}

#[cfg(test)]
#[path = "summaries_tests.rs"]
mod tests;
