#![doc = include_str!("../README.md")]

mod score;

use epitome_strategy::{
    Goal, Plan, PlanError, Reason, RemovalOrder, Role, Summaries, SummaryRoom, Tokens, View, settings, strategy, text,
};

use crate::score::{ScoredUnit, Scorer};

settings! {
    /// Settings of `importance`.
    pub struct Settings {
        /// The strategy runs when there are more than this many messages beside the system prompt.
        run_above: u32 = 10, in 0..=1_000_000, unit "messages";
        /// Units of this score and more are important.
        keep_score: f64 = 3.0, in 0.0..=1000.0;
        /// Newest unimportant units that stay, or leave last.
        keep_newest: u32 = 5, in 0..=1000, unit "units";
        /// Whether exactly the unimportant units leave; without it only as many as the goal needs, and important ones
        /// too, from the lowest score on, when it needs more.
        strict: bool = false;
        /// Score of a message that a person typed.
        user_score: f64 = 5.0, in 0.0..=1000.0;
        /// Score of a message of the model.
        assistant_score: f64 = 2.0, in 0.0..=1000.0;
        /// Score of every other message: tool output, what the runtime injected, earlier summaries, system messages.
        other_score: f64 = 1.0, in 0.0..=1000.0;
        /// Added for each word of a standing instruction, a wish, a decision, something to remember.
        keyword_score: f64 = 0.5, in 0.0..=1000.0;
        /// Added for tool calls.
        tool_call_score: f64 = 2.0, in 0.0..=1000.0;
        /// Added for an error or a fix.
        error_score: f64 = 2.0, in 0.0..=1000.0;
        /// Added where a task was completed.
        completion_score: f64 = 1.5, in 0.0..=1000.0;
        /// Added where the text is called important, and for `<Pin>`.
        important_score: f64 = 3.0, in 0.0..=1000.0;
    }
    constants {
        /// Share of the target that the newest units take that leave last; not for `strict`.
        tail_share: f64 = 0.2;
        /// Words of one kind that count in one message.
        max_keywords: u32 = 3;
        /// Runs of neighbours of fewer tokens get no summary of their own, where there are several runs: they stay, or leave
        /// without one where the goal needs it.
        min_run_tokens: u32 = 500;
        /// Share of the target that summaries may take.
        summary_share: f64 = 0.15;
        /// Tokens that each summary gets at least, however small its share is. Text for which that is too much gets none.
        min_summary_tokens: u32 = 200;
    }
}

/// The most units in one reason whose scores are explained.
const MOST_EVIDENCE: usize = 5;

strategy! {
    /// Messages are scored; those with low scores are summarised: see the crate's page.
    pub struct Importance(Settings) {
        id: "importance",
        summary: "Messages are scored by who speaks and what they hold; those of low score are summarised.",
        lossiness: Whole,
        since: "0.1.0",
    }
}

impl Importance {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let messages = view.messages().filter(|message| message.role != Role::System).count();
        if messages <= self.settings.run_above as usize {
            return Ok(Plan::decline(format!(
                "{}: runs above {}",
                text::counted(messages, "message"),
                self.settings.run_above
            )));
        }
        let scored = Scorer::new(&self.settings, view).score_all();
        let leaving = self.choose(view, goal, &scored);
        if leaving.is_empty() {
            return Ok(Plan::decline(format!("no unit that may leave scores below {}", self.settings.keep_score)));
        }
        let edits = self.summaries().edits(view, goal, &leaving, |units| self.reason(view, units, &scored));
        Ok(Plan::from_edits(edits, "what may leave is no longer than its summary would be"))
    }

    fn summaries(&self) -> Summaries {
        Summaries {
            room: SummaryRoom { share: self.settings.summary_share, least: self.settings.min_summary_tokens },
            run_tokens: self.settings.min_run_tokens,
        }
    }

    fn is_important(&self, unit: &ScoredUnit) -> bool {
        unit.score >= self.settings.keep_score
    }

    /// Returns the units that leave, sorted by position.
    fn choose(&self, view: &View<'_>, goal: &Goal, scored: &[ScoredUnit]) -> Vec<u32> {
        let is_low = |unit: u32| !self.is_important(&scored[unit as usize]);
        let order = |left: u32, right: u32| scored[left as usize].score.total_cmp(&scored[right as usize].score);
        let Settings { keep_newest, strict, tail_share, .. } = self.settings;
        self.summaries().choose(view, goal, RemovalOrder { keep_newest, strict, tail_share }, is_low, order)
    }

    fn reason(&self, view: &View<'_>, units: &[u32], scored: &[ScoredUnit]) -> Reason {
        let of = |unit: &u32| &scored[*unit as usize];
        let tokens: Tokens = units.iter().map(|unit| view.unit_tokens(*unit as usize)).sum();
        let lowest = units.iter().map(|unit| of(unit).score).fold(f64::INFINITY, f64::min);
        let mut highest: Vec<u32> = units.to_vec();
        highest.sort_by(|left, right| of(right).score.total_cmp(&of(left).score));
        let top = highest.first().map_or(0.0, |unit| of(unit).score);
        let code = if units.iter().any(|unit| self.is_important(of(unit))) { "lowest-score" } else { "low-score" };
        let detail = format!("{} units ({tokens} tokens) of score {lowest:.1} to {top:.1}", units.len());
        let reason = Reason::new(code, detail).with_score(top as f32);
        highest.iter().take(MOST_EVIDENCE).fold(reason, |reason, unit| {
            let message = view.message(of(unit).message);
            reason.with_evidence(format!("{}: {:.1} = {}", message.id, of(unit).score, of(unit).parts))
        })
    }
}

#[cfg(test)]
mod tests;
