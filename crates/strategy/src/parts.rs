//! Parts of a session that shrink oldest first: their tool output is cut where that is enough, and they are summarised
//! where it is not. Shared by strategies that know *which* parts are expendable.

use std::ops::Range;

use epitome_session::{Reason, UnitKind};

use crate::block::BlockRef;
use crate::cut::{Focus, informative_lines};
use crate::goal::Goal;
use crate::plan::Edit;
use crate::services::Tokens;
use crate::summaries::{SUMMARY_OVERHEAD, SummaryRoom, allot, neighbours, summarize};
use crate::text;
use crate::view::View;

/// A part of a session: units that belong together and may shrink together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionPart {
    /// Its name for a person: `the way of round 3`.
    pub name: String,
    /// Units that a summary may replace, ascending; those that may not leave are left out.
    pub units: Vec<u32>,
    /// Texts that may be cut where that is enough, in order.
    pub cuts: Vec<TextCut>,
}

/// A text that may be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextCut {
    /// The block that contains it.
    pub at: BlockRef,
    /// Tokens that may stay, marks included; 0 leaves a stub.
    pub budget: Tokens,
}

impl SessionPart {
    /// Returns a part of the view in which the results of tools in the units `outputs` may be cut to `budget` tokens, where
    /// that is worth its marks; `None` where nothing may leave it. Linear in the view.
    pub fn new(view: &View<'_>, name: String, units: Vec<u32>, outputs: Range<u32>, budget: Tokens) -> Option<Self> {
        let all = view.facts().outputs();
        let cuts: Vec<TextCut> = all[all.partition_point(|output| output.unit < outputs.start)..]
            .iter()
            .take_while(|output| output.unit < outputs.end)
            .filter(|output| view.protection(output.unit as usize).may_edit())
            .map(|output| TextCut { at: output.at, budget })
            .filter(|cut| cut.saving(view) > 2 * u64::from(view.mark_tokens()))
            .collect();
        (!units.is_empty() || !cuts.is_empty()).then_some(Self { name, units, cuts })
    }
}

impl SummaryRoom {
    /// Returns how many tokens each of several summaries may take, in proportion to the size of what it replaces.
    /// `spare` are the tokens that are saved beyond the goal when each takes `least`; `None` where the goal is not
    /// reached: then another strategy saves the rest, and half of the share goes to the summaries.
    pub fn allot(&self, goal: &Goal, sizes: &[Tokens], spare: Option<Tokens>) -> Vec<Tokens> {
        let share = (self.share * f64::from(goal.target)) as Tokens;
        let least = self.least.saturating_mul(sizes.len() as Tokens);
        let room = spare.map_or(share / 2, |spare| least.saturating_add(spare).min(share));
        allot(sizes, self.least, goal.longest_summary().max(self.least), room)
    }
}

/// The codes of the reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReasonCodes {
    /// For a cut text.
    pub cut: &'static str,
    /// For a summary.
    pub summary: &'static str,
}

/// A run of consecutive units that one summary may replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitRun {
    /// The units, ascending.
    pub units: Vec<u32>,
    /// Their tokens.
    pub tokens: Tokens,
}

impl UnitRun {
    /// Whether a summary of `least` tokens is worth it: the units have more than twice as many, and are more than one
    /// earlier summary.
    pub fn is_worth_a_summary(&self, view: &View<'_>, least: Tokens) -> bool {
        let only_summaries = self.units.iter().all(|unit| view.units()[*unit as usize].kind == UnitKind::Summary);
        self.tokens > 2 * (least + SUMMARY_OVERHEAD) && !only_summaries
    }
}

/// Returns the runs of neighbours among `units` (ascending) without those that may not leave; a part of the system
/// prompt does not separate neighbours. Linear.
pub fn runs(view: &View<'_>, units: impl IntoIterator<Item = u32>) -> Vec<UnitRun> {
    let free: Vec<u32> = units.into_iter().filter(|unit| view.protection(*unit as usize).may_leave()).collect();
    let run = |units: Vec<u32>| {
        let tokens = units.iter().map(|unit| view.unit_tokens(*unit as usize)).sum();
        UnitRun { units, tokens }
    };
    neighbours(view, &free).into_iter().map(run).collect()
}

/// Returns edits that save what `goal` asks for, or as much as `parts` (oldest first, each unit in one of them at most)
/// can save; no edit where that is nothing.
///
/// As few of the oldest parts as possible are summarised so that cutting the texts of all others reaches the goal; of
/// the last of these only the oldest units are, where that is enough. The tokens saved beyond the goal make the summaries
/// longer. Linear in the parts' units and the texts that are cut.
pub fn plan(view: &View<'_>, goal: &Goal, parts: &[SessionPart], room: SummaryRoom, codes: ReasonCodes) -> Vec<Edit> {
    let excess = u64::from(goal.excess());
    let mut gives: Vec<PartYield> = parts.iter().map(|part| PartYield::new(view, part, room.least)).collect();
    let mut gain: u64 = gives.iter().map(|part| part.by_cuts).sum();
    let mut last = None;
    for (index, part) in gives.iter_mut().enumerate() {
        if gain >= excess {
            break;
        }
        let by_summary = part.by_summary(room.least);
        if by_summary > part.by_cuts {
            gain += by_summary - part.by_cuts;
            part.is_summarised = true;
            last = Some(index);
        }
    }
    if let Some(part) = last.map(|last| &mut gives[last]) {
        gain -= part.shrink(view, gain.saturating_sub(excess), goal.longest_summary(), room.least);
    }

    let chosen: Vec<(&SessionPart, &UnitRun)> = (parts.iter().zip(&gives))
        .filter(|(_, gives)| gives.is_summarised)
        .flat_map(|(part, gives)| gives.runs.iter().map(move |run| (part, run)))
        .collect();
    let sizes: Vec<Tokens> = chosen.iter().map(|(_, run)| run.tokens).collect();
    let spare = gain.checked_sub(excess).map(|spare| spare.min(u64::from(u32::MAX)) as Tokens);
    let budgets = room.allot(goal, &sizes, spare);

    let mut edits: Vec<Edit> = Vec::new();
    let mut saved = 0;
    for ((part, run), max_tokens) in chosen.into_iter().zip(budgets) {
        saved += u64::from(run.tokens.saturating_sub(max_tokens + SUMMARY_OVERHEAD));
        let messages: usize = run.units.iter().map(|unit| view.units()[*unit as usize].entries.len()).sum();
        let detail = format!("{}: {}, {} tokens", part.name, text::counted(messages, "message"), run.tokens);
        edits.push(summarize(goal, run.units.clone(), max_tokens, Reason::new(codes.summary, detail)));
    }
    let focus = Focus::new(goal.focus.as_deref());
    for (part, gives) in parts.iter().zip(&gives) {
        for cut in part.cuts.iter().filter(|cut| !gives.leaves(view, cut.at)) {
            if saved >= excess {
                return edits;
            }
            if let Some(edit) = cut.edit(view, &focus, part, codes.cut) {
                saved += cut.saving(view);
                edits.push(edit);
            }
        }
    }
    edits
}

/// What a part can save.
struct PartYield {
    runs: Vec<UnitRun>,
    /// Tokens that its cuts save, in order, each with the unit of its text.
    cuts: Vec<(u32, u64)>,
    by_cuts: u64,
    is_summarised: bool,
}

impl PartYield {
    fn new(view: &View<'_>, part: &SessionPart, least: Tokens) -> Self {
        let mut runs = runs(view, part.units.iter().copied());
        runs.retain(|run| run.is_worth_a_summary(view, least));
        let cuts: Vec<(u32, u64)> =
            part.cuts.iter().map(|cut| (view.unit_of(cut.at.message as usize) as u32, cut.saving(view))).collect();
        Self { by_cuts: cuts.iter().map(|(_, saving)| saving).sum(), runs, cuts, is_summarised: false }
    }

    fn takes(&self, unit: u32) -> bool {
        self.runs.iter().any(|run| run.units.binary_search(&unit).is_ok())
    }

    fn leaves(&self, view: &View<'_>, at: BlockRef) -> bool {
        self.is_summarised && self.takes(view.unit_of(at.message as usize) as u32)
    }

    /// Tokens that are saved when its runs are summarised as shortly as possible and its other texts are cut.
    fn by_summary(&self, least: Tokens) -> u64 {
        let summaries: u64 =
            self.runs.iter().map(|run| u64::from(run.tokens.saturating_sub(least + SUMMARY_OVERHEAD))).sum();
        let others = self.cuts.iter().filter(|(unit, _)| !self.takes(*unit)).map(|(_, saving)| saving);
        summaries + others.sum::<u64>()
    }

    /// Keeps the newest units of the last run (cut, where they have texts to cut) while `spare` tokens more than needed
    /// are saved, with room for a summary of usual length. Returns the tokens that are no longer saved.
    fn shrink(&mut self, view: &View<'_>, spare: u64, most: Tokens, least: Tokens) -> u64 {
        let Some(run) = self.runs.last_mut() else { return 0 };
        let mut given_back = 0;
        while let Some(unit) = run.units.pop() {
            let tokens = view.unit_tokens(unit as usize);
            run.tokens -= tokens;
            let first = self.cuts.partition_point(|(of, _)| *of < unit);
            let of_unit = self.cuts[first..].iter().take_while(|(of, _)| *of == unit);
            let loss = u64::from(tokens).saturating_sub(of_unit.map(|(_, saving)| saving).sum());
            // A tenth of what it replaces is a usual length.
            let wanted = (run.tokens / 10).min(most).saturating_sub(least);
            if given_back + loss + u64::from(wanted) > spare || !run.is_worth_a_summary(view, least) {
                run.tokens += tokens;
                run.units.push(unit);
                break;
            }
            given_back += loss;
        }
        given_back
    }
}

impl TextCut {
    /// Returns the tokens that the cut saves, rather too few than too many; 0 where the text is no longer than what may
    /// stay.
    pub fn saving(&self, view: &View<'_>) -> u64 {
        u64::from(view.block_tokens(self.at).saturating_sub(self.budget.max(view.mark_tokens())))
    }

    fn edit(&self, view: &View<'_>, focus: &Focus, part: &SessionPart, code: &str) -> Option<Edit> {
        let text = view.block(self.at)?.excerptable()?;
        let lines = informative_lines(view, text, focus, self.budget);
        if lines.is_whole || self.saving(view) == 0 {
            return None;
        }
        let kept = if lines.keep.is_empty() { "a stub".to_owned() } else { format!("{} tokens", self.budget) };
        let detail = format!("{}: {} tokens cut to {kept}", part.name, view.block_tokens(self.at));
        let reason = Reason::new(code, detail);
        Some(Edit::Excerpt { message: self.at.message, block: self.at.block, keep: lines.keep, reason })
    }
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
