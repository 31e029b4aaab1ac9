#![doc = include_str!("../README.md")]

mod chunks;

use epitome_strategy::{
    Edit, Goal, Plan, PlanError, Reason, SUMMARY_OVERHEAD, Tokens, View, cut, settings, strategy, summarize_runs,
};

use crate::chunks::{Chunk, Chunks};

settings! {
    /// Settings of `incremental-summary`.
    pub struct Settings {
        /// Rounds of a chunk.
        chunk_rounds: u32 = 20, in 1..=10_000, unit "rounds";
    }
    constants {
        /// A round of more steps of the model than this counts as several rounds. 0 counts typed messages only.
        steps_per_round: u32 = 2;
        /// A chunk also ends where the next message would take it over this share of the target, so that the last chunk
        /// fits; 0 for no such bound.
        max_chunk_share: f64 = 0.5;
        /// Summaries that may stand side by side; of more, those of the lowest levels are folded into one.
        max_summaries: u32 = 6;
        /// Share of the target that summaries may take.
        summary_share: f64 = 0.08;
        /// Tokens that each summary gets at least, however small its share is. Text for which that is too much gets none.
        min_summary_tokens: u32 = 200;
    }
}

/// A summary takes at most one in this many tokens of what it replaces.
const LEAST_RATIO: Tokens = 2;

strategy! {
    /// Old chunks become one summary each, and summaries that pile up one summary of summaries: see the crate's page.
    pub struct IncrementalSummary(Settings) {
        id: "incremental-summary",
        summary: "Chunks of rounds are summarised once each; the last chunk stays whole, piles of summaries are folded.",
        lossiness: Whole,
        since: "0.1.0",
    }
}

impl IncrementalSummary {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let chunks = Chunks::new(view, &self.settings, goal.target);
        let folds: Vec<Chunk> = chunks.summaries.folds().filter(|fold| self.is_worth_it(fold)).collect();
        // A pile is folded first, as few levels as make it one no more: nothing is as expendable as the details of the oldest
        // summaries.
        let side_by_side = chunks.summaries.count;
        let most = self.settings.max_summaries as usize;
        let is_enough = |fold: &&Chunk| side_by_side - fold.count < most;
        let pile = folds.iter().find(is_enough).or(folds.last()).filter(|_| side_by_side > most).cloned();
        let chosen = self.choose(&chunks.full, goal, pile.as_ref());

        let mut groups = chosen.len().min(self.settings.max_summaries as usize);
        let mut planned = self.size_chunks(goal, pile.iter().cloned().chain(chunks::merge_chunks(&chosen, groups)));
        // Fewer summaries of more each, where their least sizes and headings alone take too much.
        while tokens_saved(&planned) < goal.excess() && groups > 1 {
            groups /= 2;
            planned = self.size_chunks(goal, pile.iter().cloned().chain(chunks::merge_chunks(&chosen, groups)));
        }
        // Full chunks are not enough: summaries are folded before their time, as few levels as will do.
        let chunks_alone: Vec<Chunk> = planned.iter().map(|it| &it.chunk).filter(|it| !it.is_fold).cloned().collect();
        for early in folds {
            if tokens_saved(&planned) >= goal.excess() {
                break;
            }
            if pile.as_ref().is_none_or(|pile| pile.count < early.count) {
                planned = self.size_chunks(goal, chunks_alone.iter().cloned().chain([early]));
            }
        }
        let short = goal.excess().saturating_sub(tokens_saved(&planned));
        let least = self.settings.min_summary_tokens;
        let edits = planned.into_iter().flat_map(|planned| planned.edits(view, goal, short, least)).collect();
        Ok(Plan::from_edits(edits, self.refusal(&chunks)))
    }

    /// Full chunks from the oldest on, until they and the fold of a pile save enough.
    fn choose(&self, full: &[Chunk], goal: &Goal, pile: Option<&Chunk>) -> Vec<Chunk> {
        let saving = |chunk: &Chunk| chunk.tokens.saturating_sub(self.most(chunk, goal) + SUMMARY_OVERHEAD);
        let mut saved = pile.map_or(0, saving);
        let mut chosen = Vec::new();
        for chunk in full.iter().filter(|chunk| self.is_worth_it(chunk)) {
            if saved >= goal.excess() {
                break;
            }
            saved += saving(chunk);
            chosen.push(chunk.clone());
        }
        chosen
    }

    /// Whether a summary of the least size saves at least as much as it costs.
    fn is_worth_it(&self, chunk: &Chunk) -> bool {
        chunk.tokens > LEAST_RATIO * (self.settings.min_summary_tokens + SUMMARY_OVERHEAD)
    }

    /// Tokens that a chunk's summary takes at most.
    fn most(&self, chunk: &Chunk, goal: &Goal) -> Tokens {
        let share = (f64::from(goal.target) * self.settings.summary_share) as Tokens;
        let most = share.max(self.settings.min_summary_tokens).min(goal.longest_summary());
        most.min(chunk.tokens / LEAST_RATIO)
    }

    /// The chunks with the tokens that each summary may take: what the goal leaves is shared, the largest give first.
    fn size_chunks(&self, goal: &Goal, chunks: impl Iterator<Item = Chunk>) -> Vec<PlannedSummary> {
        let mut planned: Vec<PlannedSummary> =
            chunks.map(|chunk| PlannedSummary { max_tokens: self.most(&chunk, goal), chunk }).collect();
        let amounts: Vec<(Tokens, f64)> = planned.iter().map(|planned| (planned.max_tokens, 1.0)).collect();
        let need = goal.excess().saturating_sub(tokens_saved(&planned));
        let level = cut::level(&amounts, self.settings.min_summary_tokens, need);
        for planned in planned.iter_mut().filter(|_| need > 0) {
            let allowed = cut::allowed(level, 1.0, self.settings.min_summary_tokens);
            planned.max_tokens = planned.max_tokens.min(allowed);
        }
        planned
    }

    fn refusal(&self, chunks: &Chunks) -> String {
        let last = &chunks.last;
        if chunks.full.is_empty() {
            return format!(
                "no full chunk: the last one (rounds: {}, tokens: {}) stays whole; a chunk has {} rounds",
                last.count, last.tokens, self.settings.chunk_rounds
            );
        }
        format!("{} full chunks, each no longer than its summary would be", chunks.full.len())
    }
}

/// One summary to be.
struct PlannedSummary {
    chunk: Chunk,
    /// Tokens of its text.
    max_tokens: Tokens,
}

/// What all of them save.
fn tokens_saved(planned: &[PlannedSummary]) -> Tokens {
    planned.iter().map(|planned| planned.chunk.tokens.saturating_sub(planned.max_tokens + SUMMARY_OVERHEAD)).sum()
}

impl PlannedSummary {
    /// One summary, or one for each run where something in the chunk stays.
    fn edits(self, view: &View<'_>, goal: &Goal, short: Tokens, least: Tokens) -> Vec<Edit> {
        let Chunk { tokens, count, is_fold, .. } = self.chunk;
        let (code, what) = if is_fold {
            ("summaries-folded", format!("{count} earlier summaries, {tokens} tokens"))
        } else {
            ("full-chunk", format!("{count} rounds, {tokens} tokens"))
        };
        let missing = match short {
            0 => String::new(),
            short => format!("; full chunks are not enough, {short} tokens are left for others to save"),
        };
        let detail = what + &missing;
        let reason = |_: &[u32]| Reason::new(code, detail.as_str());
        summarize_runs(view, goal, &self.chunk.units, self.max_tokens, least, reason)
    }
}

#[cfg(test)]
mod tests;
