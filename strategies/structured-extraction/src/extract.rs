//! The blocks: one for each run of neighbouring old units, in its place, so that no later text precedes the text that
//! stays.

use epitome_reading::Blocks;
use epitome_strategy::parts::{UnitRun, runs};
use epitome_strategy::text::counted;
use epitome_strategy::{Edit, Goal, Reason, SummaryText, Tokens, UnitKind, View};

use crate::settings::Settings;

/// Tokens of a block beside its text: the message, and the engine's heading.
pub(crate) const BLOCK_OVERHEAD: Tokens = 40;

/// The fewest tokens of an informative block.
const LEAST_BLOCK: Tokens = 80;

/// The material of the blocks.
pub(crate) struct Extraction<'p, 'a> {
    pub view: &'p View<'a>,
    pub goal: &'p Goal,
    pub settings: &'p Settings,
    /// The units that may leave, ascending, and their tokens.
    pub free: &'p [u32],
    pub free_tokens: Tokens,
    /// Tokens for all blocks, or for their replacements, without the heading of one block.
    pub room: Tokens,
    pub blocks: &'p Blocks<'p, 'a>,
}

/// The blocks of a plan.
pub(crate) struct WrittenBlocks {
    /// The edits that put the blocks in the place of their units, oldest first; behind them, those for units without a
    /// block.
    pub edits: Vec<Edit>,
    /// Tokens of the budget that the blocks do not use.
    pub spare: Tokens,
}

impl Extraction<'_, '_> {
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
            runs.retain(|run| !self.is_only_blocks(run));
            if runs.is_empty() {
                return Err(
                    "nothing but earlier blocks is old, and they have to shrink by less than a fifth".to_owned()
                );
            }
            budget = self.budget(&runs);
        }
        if u64::from(budget) < u64::from(LEAST_BLOCK) * runs.len() as u64 {
            let blocks = if runs.len() == 1 { "the block".to_owned() } else { format!("{} blocks", runs.len()) };
            return Err(format!("{budget} tokens are left for {blocks}"));
        }
        self.write(&runs, budget)
    }

    /// Returns the tokens for the texts of the blocks of these runs together, when everything else stays.
    fn budget(&self, runs: &[UnitRun]) -> Tokens {
        let old = tokens(runs);
        let share = (f64::from(self.goal.target) * self.settings.block_share) as Tokens;
        let most = old.saturating_sub((BLOCK_OVERHEAD + 1) * runs.len() as Tokens);
        self.room_beside(runs).min(share).min(most)
    }

    /// Returns the tokens that are left beside everything that no block of these runs replaces, and beside the blocks'
    /// headings.
    fn room_beside(&self, runs: &[UnitRun]) -> Tokens {
        let headings = BLOCK_OVERHEAD * (runs.len() as Tokens).saturating_sub(1);
        self.room.saturating_sub(self.free_tokens - tokens(runs)).saturating_sub(headings)
    }

    /// Returns the edits that put blocks, of at most `budget` tokens together, in the place of `runs`.
    fn write(&self, runs: &[UnitRun], budget: Tokens) -> Result<WrittenBlocks, String> {
        let (mut edits, mut empty) = (Vec::new(), Vec::new());
        let mut left = budget;
        for (run, (text, lines)) in runs.iter().zip(self.blocks.write(runs, &shares(runs, budget))) {
            let units = run.units.clone();
            if text.is_empty() {
                let reason = Reason::new("without-lines", "no line is worth its tokens");
                empty.push(Edit::Drop { units, reason });
                continue;
            }
            left = left.saturating_sub(self.view.count(&text));
            let (lines, count) = (counted(lines, "line"), counted(units.len(), "unit"));
            let reason = Reason::new("extracted", format!("{lines} of {} tokens in {count}", run.tokens));
            edits.push(Edit::Summarize { units, summary: SummaryText::Ready(text), reason });
        }
        if edits.is_empty() {
            return Err("no line is worth its tokens".to_owned());
        }
        let spare = self.room_beside(runs).saturating_sub(budget - left);
        edits.append(&mut empty);
        Ok(WrittenBlocks { edits, spare })
    }

    fn is_only_blocks(&self, run: &UnitRun) -> bool {
        run.units.iter().all(|unit| self.view.units()[*unit as usize].kind == UnitKind::Summary)
    }
}

/// Returns the tokens of each block, by the tokens of its run: at least [`LEAST_BLOCK`], and less than the run has.
fn shares(runs: &[UnitRun], budget: Tokens) -> Vec<Tokens> {
    let (mut budget, mut all) = (budget, tokens(runs));
    let mut shares: Vec<Tokens> = Vec::with_capacity(runs.len());
    for (older, run) in runs.iter().enumerate().rev() {
        let share = (u64::from(budget) * u64::from(run.tokens) / u64::from(all.max(1))) as Tokens;
        let most =
            budget.saturating_sub(LEAST_BLOCK * older as Tokens).min(run.tokens.saturating_sub(BLOCK_OVERHEAD + 1));
        let share = share.max(LEAST_BLOCK).min(most);
        (budget, all) = (budget - share, all - run.tokens);
        shares.push(share);
    }
    shares.reverse();
    shares
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

fn tokens(runs: &[UnitRun]) -> Tokens {
    runs.iter().map(|run| run.tokens).sum()
}
