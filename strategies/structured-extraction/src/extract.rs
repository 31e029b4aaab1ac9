//! The blocks: one for each run of neighbouring old units, in its place, so that no later text precedes the text that
//! stays.

use epitome_strategy::parts::{Run, runs};
use epitome_strategy::text::counted;
use epitome_strategy::{Edit, Goal, Reason, SummaryText, Tokens, UnitKind, View};
use epitome_transcript::lines::{Bounds, Choice, Source, Worth};

use crate::block::Block;
use crate::files::Files;
use crate::section::Section;
use crate::settings::Settings;

/// Tokens of a block beside its text: the message, and the engine's heading.
pub(crate) const BLOCK_OVERHEAD: Tokens = 40;

/// The fewest tokens of an informative block.
const LEAST_BLOCK: Tokens = 80;

/// Share of the blocks within which decisions and open questions of the model come before other lines: 0 and 0.1 changed no
/// figure of `docs/research/structured-extraction.md` by more than .003.
const DECISION_SHARE: f64 = 0.05;

/// Share of the budget for which lines are chosen: counts of single lines add up to more than the count of the whole, and
/// lines that exceed the budget leave again.
const CHOSEN_SHARE: f64 = 1.12;

/// How often lines leave again before a block is given up.
const ROUNDS: usize = 12;

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
    pub source: &'p Source,
    pub worth: &'p Worth,
    /// The section of each line.
    pub sections: &'p [Section],
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

    /// Returns the blocks of `runs`, of at most `budget` tokens together. What two of them share is in the newer block.
    fn write(&self, runs: &[Run], budget: Tokens) -> Result<WrittenBlocks, String> {
        let language = self.goal.language;
        let shares = shares(runs, budget);
        let mut told = Files::default();
        let mut blocks: Vec<Block> = Vec::with_capacity(runs.len());
        for (run, share) in runs.iter().zip(&shares).rev() {
            blocks.push(Block::new(self.view, self.source, run, &told, *share));
            told.append(&blocks[blocks.len() - 1].files);
        }
        blocks.reverse();
        let mut choice = self.choice(runs, &shares, &blocks);
        let mut written: Vec<(String, usize)> = Vec::new();
        for _ in 0..ROUNDS {
            let text = |block: &Block| block.write(self.source, self.sections, &choice.kept, language);
            written = blocks.iter().map(text).collect();
            let over = |run: usize| self.view.count(&written[run].0).checked_sub(shares[run]).filter(|over| *over > 0);
            let too_long: Vec<(usize, Tokens)> = (0..runs.len()).filter_map(|run| Some((run, over(run)?))).collect();
            if too_long.is_empty() {
                break;
            }
            for (run, over) in too_long {
                choice.shrink(run, over);
                written[run].0.clear(); // where nothing is left that could leave
            }
        }
        let (mut edits, mut empty) = (Vec::new(), Vec::new());
        let mut left = budget;
        for (run, (text, lines)) in runs.iter().zip(written) {
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

    /// Chooses the lines of all blocks: demands first, as far as their share allows, then some decisions and questions of the
    /// model, then whatever is worth most. The newest list of tasks is in its block anyway.
    fn choice(&self, runs: &[Run], shares: &[Tokens], blocks: &[Block]) -> Choice<'_> {
        let source = self.source;
        let run_of = |unit: u32| {
            let run = runs.partition_point(|run| run.units.last().is_some_and(|last| *last < unit));
            runs.get(run).is_some_and(|it| it.units.binary_search(&unit).is_ok()).then_some(run as u32)
        };
        let of_passage: Vec<Option<u32>> = source.passages.iter().map(|passage| run_of(passage.unit)).collect();
        let lists_tasks = |passage: usize| {
            source.passages[passage].action.is_some_and(|action| source.actions[action as usize].lists_tasks)
        };
        let is_old = |passage: usize| of_passage[passage].is_some();
        let newest_list = source.actions.iter().rposition(|action| action.lists_tasks);
        let is_listed = |line: u32| {
            let action = source.passages[source.lines[line as usize].passage as usize].action;
            self.sections[line as usize] == Section::Tasks && action.map(|action| action as usize) == newest_list
        };
        let tasks: Vec<u32> = (0..source.lines.len() as u32).filter(|line| is_listed(*line)).collect();
        let bounds = blocks.iter().zip(shares).enumerate().map(|(run, (block, share))| {
            let of_run = |line: &&u32| of_passage[source.lines[**line as usize].passage as usize] == Some(run as u32);
            let tasks: Tokens = tasks.iter().filter(of_run).map(|line| self.worth.tokens[*line as usize]).sum();
            let fixed = block.fixed_tokens(self.view, self.goal.language) + tasks;
            ((f64::from(*share) * CHOSEN_SHARE) as Tokens).saturating_sub(fixed)
        });
        let bounds: Vec<Tokens> = bounds.collect();
        let room: Tokens = bounds.iter().sum();
        let share = |share: f64| (f64::from(room) * share) as Tokens;
        let is_open = |passage: usize| is_old(passage) && !lists_tasks(passage);
        let stays = |passage: usize| !is_old(passage);
        let mut choice =
            Choice::new(source, self.worth, is_open, stays).with_bounds(Bounds::new(of_passage.clone(), bounds));
        let section = |line: u32| self.sections[line as usize];
        choice.take_among(share(self.settings.typed_share), |line| section(line) == Section::Requests);
        let decides = |line: u32| matches!(section(line), Section::Decisions | Section::Questions);
        choice.take_among(choice.used + share(DECISION_SHARE), decides);
        choice.take_among(room, |line| section(line) != Section::Requests);
        tasks.into_iter().for_each(|line| choice.kept[line as usize] = true);
        choice
    }

    fn is_only_blocks(&self, run: &Run) -> bool {
        run.units.iter().all(|unit| self.view.units()[*unit as usize].kind == UnitKind::Summary)
    }
}

/// Returns the tokens of each block, by the tokens of its run: at least [`LEAST_BLOCK`], and less than the run has.
fn shares(runs: &[Run], budget: Tokens) -> Vec<Tokens> {
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

fn tokens(runs: &[Run]) -> Tokens {
    runs.iter().map(|run| run.tokens).sum()
}
