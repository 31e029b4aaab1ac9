//! The blocks: one for each run of neighbouring old units, in its place, so that no later text precedes the text that
//! stays.

use std::collections::HashSet;
use std::ops::Range;

use epitome_strategy::parts::{Run, runs};
use epitome_strategy::text::counted;
use epitome_strategy::{Edit, Goal, Reason, SummaryText, Tokens, UnitKind, View};

use crate::choose::{Choice, CoveredContent};
use crate::gather::SnippetCollector;
use crate::newest::Cuts;
use crate::settings::Settings;
use crate::{block, value};

/// Tokens of a block beside its text: the message, and the engine's heading.
pub(crate) const BLOCK_OVERHEAD: Tokens = 40;

/// The fewest tokens of an informative block.
const LEAST_BLOCK: Tokens = 80;

/// The material of the blocks.
pub(crate) struct Source<'p, 'a> {
    pub view: &'p View<'a>,
    pub goal: &'p Goal,
    pub settings: &'p Settings,
    /// The units that may leave, ascending, and their tokens.
    pub free: &'p [u32],
    pub free_tokens: Tokens,
    /// Tokens for all blocks, or for their replacements, without the heading of one block.
    pub room: Tokens,
    /// The lines of the old units, and perhaps of some behind them.
    pub gathered: &'p SnippetCollector<'p, 'a>,
    /// The worth of each exact string.
    pub values: &'p [f32],
    pub cuts: &'p Cuts,
}

/// The blocks of a plan.
pub(crate) struct WrittenBlocks {
    /// The edits that put the blocks in the place of their units, oldest first; behind them, those for units without a
    /// block.
    pub edits: Vec<Edit>,
    /// Tokens of the budget that the blocks do not use.
    pub spare: Tokens,
}

impl Source<'_, '_> {
    /// Returns the blocks of everything in front of a newest part of at most `tail` tokens, or why there is none. Runs
    /// that are too short for a block stay.
    pub(crate) fn extract(&self, tail: Tokens) -> Result<WrittenBlocks, String> {
        let (old, old_tokens) = split(self.view, self.free, tail);
        let mut runs = runs(self.view, old.iter().copied());
        runs.retain(|run| run.tokens >= self.settings.least_old_tokens);
        if runs.is_empty() {
            let together = if old_tokens < self.settings.least_old_tokens { "" } else { ", in runs that are shorter" };
            return Err(format!("only {old_tokens} tokens in front of the newest part may leave{together}"));
        }
        let mut budget = self.budget(&runs);
        if u64::from(budget) * 5 > u64::from(tokens(&runs)) * 4 {
            let blocks = runs.len();
            runs.retain(|run| !self.is_only_blocks(run));
            if runs.is_empty() {
                return Err(
                    "nothing but earlier blocks is old, and they have to shrink by less than a fifth".to_owned()
                );
            }
            if runs.len() < blocks {
                budget = self.budget(&runs);
            }
        }
        if u64::from(budget) < u64::from(LEAST_BLOCK) * runs.len() as u64 {
            let blocks = if runs.len() == 1 { "the block".to_owned() } else { format!("{} blocks", runs.len()) };
            return Err(format!("{budget} tokens are left for {blocks}"));
        }
        self.write(&runs, budget)
    }

    /// Returns the tokens for the texts of the blocks of these runs together, when everything else stays.
    fn budget(&self, runs: &[Run]) -> Tokens {
        let old = tokens(runs);
        let share = (f64::from(self.goal.target) * self.settings.block_share) as Tokens;
        let most = old.saturating_sub((BLOCK_OVERHEAD + 1) * runs.len() as Tokens);
        self.room_beside(runs).min(share).min(most)
    }

    /// Returns the tokens that are left beside everything that no block of these runs replaces, and beside the blocks'
    /// headings.
    fn room_beside(&self, runs: &[Run]) -> Tokens {
        let headings = BLOCK_OVERHEAD * (runs.len() as Tokens).saturating_sub(1);
        self.room.saturating_sub(self.free_tokens - tokens(runs)).saturating_sub(headings)
    }

    /// Returns the blocks of `runs`, of at most `budget` tokens together. The older runs get what one run leaves of its
    /// share, and content that two of them share is in the newer block.
    fn write(&self, runs: &[Run], budget: Tokens) -> Result<WrittenBlocks, String> {
        let old: HashSet<usize> = runs.iter().flat_map(|run| &run.units).map(|unit| *unit as usize).collect();
        let mut values = self.values.to_vec();
        value::without_what_stays(self.view, &mut values, self.cuts, |unit| !old.contains(&unit));
        let mut told = CoveredContent::new(values);
        let (mut blocks, mut empty) = (Vec::with_capacity(runs.len()), Vec::new());
        let mut left = Shares { budget, tokens: tokens(runs), runs: runs.len() as Tokens };
        for run in runs.iter().rev() {
            let share = left.take(run);
            let choice = Choice::make(self.view, &span(run), self.gathered, self.settings, share, &mut told);
            let text = block::write(self.view, &choice, self.goal.language, share);
            left.budget -= self.view.count(&text).min(share);
            let units = run.units.clone();
            if text.is_empty() {
                let reason = Reason::new("without-lines", "no line is worth its tokens");
                empty.push(Edit::Drop { units, reason });
                continue;
            }
            let detail = format!(
                "{} of {} tokens in {}; {} that stand nowhere else",
                counted(choice.chosen.len(), "line"),
                run.tokens,
                counted(units.len(), "unit"),
                counted(choice.covered, "exact string")
            );
            let reason = Reason::new("extracted", detail);
            blocks.push(Edit::Summarize { units, summary: SummaryText::Ready(text), reason });
        }
        if blocks.is_empty() {
            return Err("no line is worth its tokens".to_owned());
        }
        let spare = self.room_beside(runs).saturating_sub(budget - left.budget);
        Ok(WrittenBlocks { edits: blocks.into_iter().rev().chain(empty.into_iter().rev()).collect(), spare })
    }

    fn is_only_blocks(&self, run: &Run) -> bool {
        run.units.iter().all(|unit| self.view.units()[*unit as usize].kind == UnitKind::Summary)
    }
}

/// The rest to share: tokens for text, and runs with their tokens that have no block yet.
struct Shares {
    budget: Tokens,
    tokens: Tokens,
    runs: Tokens,
}

impl Shares {
    /// Returns the share of the next run, by its tokens; each run gets at least [`LEAST_BLOCK`], and less than it has.
    fn take(&mut self, run: &Run) -> Tokens {
        let share = u64::from(self.budget) * u64::from(run.tokens) / u64::from(self.tokens.max(1));
        self.runs -= 1;
        self.tokens -= run.tokens;
        let most =
            self.budget.saturating_sub(LEAST_BLOCK * self.runs).min(run.tokens.saturating_sub(BLOCK_OVERHEAD + 1));
        (share as Tokens).max(LEAST_BLOCK).min(most)
    }
}

/// Returns the units in front of the newest part, which has at most `allowance` tokens, and their tokens.
pub(crate) fn split<'f>(view: &View<'_>, free: &'f [u32], allowance: Tokens) -> (&'f [u32], Tokens) {
    let mut tail: Tokens = 0;
    let is_newest = |unit: &&u32| {
        let fits = tail.saturating_add(view.unit_tokens(**unit as usize)) <= allowance;
        let stays = fits && view.units()[**unit as usize].kind != UnitKind::Summary;
        tail += if stays { view.unit_tokens(**unit as usize) } else { 0 };
        stays
    };
    let newest = free.iter().rev().take_while(is_newest).count();
    let old = &free[..free.len() - newest];
    (old, old.iter().map(|unit| view.unit_tokens(*unit as usize)).sum())
}

fn tokens(runs: &[Run]) -> Tokens {
    runs.iter().map(|run| run.tokens).sum()
}

/// Returns the units from the first to the last of a run; only parts of the system prompt may be between them.
fn span(run: &Run) -> Range<usize> {
    let last = run.units.last().map_or(0, |unit| *unit as usize + 1);
    run.units.first().map_or(last, |unit| *unit as usize)..last
}
