//! Summaries of what leaves: into how many the leaving units go, and how long each may be.

use epitome_session::{Reason, UnitKind};

use crate::goal::Goal;
use crate::plan::{Edit, SummaryRequest, SummaryText};
use crate::services::Tokens;
use crate::view::View;

/// Tokens that a summary's own message costs beside its text: the message, and the engine's heading.
const OVERHEAD: Tokens = 30;

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
        goal.excess() + OVERHEAD + self.most(goal)
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
        let least = self.min_tokens + OVERHEAD;
        if leaving <= least || !has_more_than_summaries(view, units) {
            return Vec::new();
        }
        // What the goal leaves for the summaries, their headings included.
        let room = leaving.saturating_sub(goal.excess()).min(self.most(goal) + OVERHEAD).max(least);
        let runs = match self.run_tokens {
            None => vec![units.to_vec()],
            Some(tokens) => runs(view, units, tokens.max(leaving.div_ceil(room / least))),
        };
        let text = room.saturating_sub(runs.len() as Tokens * OVERHEAD);
        runs.into_iter()
            .map(|run| {
                let tokens = tokens_of(&run);
                let share = (u64::from(text) * u64::from(tokens) / u64::from(leaving)) as Tokens;
                let max_tokens = share.max(self.min_tokens).min(tokens.saturating_sub(OVERHEAD + 1).max(1));
                let reason = reason(&run);
                let summary = SummaryText::Request(SummaryRequest { max_tokens, focus: goal.focus.clone() });
                Edit::Summarize { units: run, summary, reason }
            })
            .collect()
    }

    /// Tokens of all summaries together where there is room.
    fn most(&self, goal: &Goal) -> Tokens {
        let share = (f64::from(goal.target) * self.share) as Tokens;
        share.min(self.max_tokens).max(self.min_tokens)
    }
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
