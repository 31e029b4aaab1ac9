#![doc = include_str!("../README.md")]

mod texts;

use epitome_strategy::cut::{Focus, allowed, argument_saving, informative_lines, level};
use epitome_strategy::{
    Edit, Goal, Plan, PlanError, Protection, Reason, Tokens, ToolOutput, View, settings, strategy, tail_start,
};

settings! {
    /// Settings of `tool-results`.
    pub struct Settings {
        /// Newest tool rounds (model steps with tool output) whose results are not cleared.
        keep_tool_rounds: u32 = 4, in 0..=1000, is common;
        /// Share of the target that the newest messages may take before results among them are cleared; they are cut instead.
        tail_share: f64 = 0.3, in 0.0..=1.0;
        /// Results of fewer characters are left alone.
        min_chars: u32 = 200, in 0..=1_000_000, unit "characters";
        /// Strings in the arguments of old calls are cut to this length; 0 leaves them alone.
        max_argument_chars: u32 = 200, in 0..=1_000_000, unit "characters";
        /// The model's texts in old tool rounds are cut to this length, at a sentence's end; 0 leaves them alone.
        max_text_chars: u32 = 0, in 0..=1_000_000, unit "characters";
        /// Whether newer results, and those that were not sent yet, are cut where clearing the old ones is not enough.
        cut_newer: bool = true;
    }
    constants {
        /// Tokens that a result which is cut, not cleared, keeps at least.
        min_kept_tokens: u32 = 120;
    }
}

/// A result that the model has not been sent yet is cut first when it takes more than this share of the target. Chosen by hand,
/// not measured: four such results would be the whole context.
const ARRIVAL_SHARE: f64 = 0.25;

strategy! {
    /// Old tool results become stubs, large newer ones are cut: see the crate's page.
    pub struct ToolResults(Settings) {
        id: "tool-results",
        summary: "Results of old tool rounds become stubs; when that is not enough, newer ones are cut to what is left.",
        lossiness: Partial,
        since: "0.1.0",
    }
}

impl ToolResults {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let mut planner = Planner::new(&self.settings, view, goal);
        if self.settings.cut_newer {
            planner.cut_arrivals();
        }
        planner.clear_old_rounds();
        if self.settings.cut_newer {
            planner.cut_newer_results();
        }
        Ok(Plan::from_edits(planner.edits, "no tool result, argument or text is long enough to cut"))
    }
}

/// A plan under construction: edits in order of preference, and their savings.
struct Planner<'p, 'v> {
    settings: &'p Settings,
    view: &'p View<'v>,
    goal: &'p Goal,
    focus: Focus,
    edits: Vec<Edit>,
    /// Tokens that the edits so far save, rather too few than too many.
    saved: Tokens,
    mark: Tokens,
    /// Outputs that an edit has been planned for, by position in the facts.
    done: Vec<bool>,
    /// The first unit of the tail that results are not cleared in.
    tail_start: usize,
}

impl<'p, 'v> Planner<'p, 'v> {
    fn new(settings: &'p Settings, view: &'p View<'v>, goal: &'p Goal) -> Self {
        Self {
            settings,
            view,
            goal,
            focus: Focus::new(goal.focus.as_deref()),
            edits: Vec::new(),
            saved: 0,
            mark: view.mark_tokens(),
            done: vec![false; view.facts().outputs().len()],
            tail_start: tail_start(view, (settings.tail_share * f64::from(goal.target)) as Tokens) as usize,
        }
    }

    fn need(&self) -> Tokens {
        self.goal.excess().saturating_sub(self.saved)
    }

    /// Results that were never sent cost no prompt cache: a giant one among them goes first.
    fn cut_arrivals(&mut self) {
        let Some(first) = self.goal.first_unsent_unit else { return };
        let most = (ARRIVAL_SHARE * f64::from(self.goal.target)) as Tokens;
        let outputs = self.view.facts().outputs();
        for (index, output) in outputs.iter().enumerate().filter(|(_, output)| output.unit >= first) {
            if self.need() > 0 && output.tokens > most && self.may_cut(index, output) {
                let budget = most.max(output.tokens.saturating_sub(self.need()));
                self.cut(index, output, budget, "large-new-result");
            }
        }
    }

    /// Oldest first, round by round: its results, its arguments, and where the settings say so its texts.
    fn clear_old_rounds(&mut self) {
        let facts = self.view.facts();
        for (index, output) in facts.outputs().iter().enumerate() {
            if self.need() == 0 {
                return;
            }
            if output.newer_tool_units < self.settings.keep_tool_rounds || output.unit as usize >= self.tail_start {
                return; // from here on everything is new
            }
            if self.may_cut(index, output) {
                self.clear(index, output);
            }
            let is_last_of_unit = facts.outputs().get(index + 1).is_none_or(|next| next.unit != output.unit);
            if is_last_of_unit && self.may_edit(output.unit) {
                self.trim_arguments(output.unit);
                self.cut_texts(output.unit);
            }
        }
    }

    /// Shares the rest that clearing has not saved among the newer results: the tail's first, then those of the newest
    /// rounds, the newest step's last. In each group the longest shrink first.
    fn cut_newer_results(&mut self) {
        let facts = self.view.facts();
        for group in 0..3 {
            let need = self.need();
            if need == 0 {
                return;
            }
            let members: Vec<usize> = facts
                .outputs()
                .iter()
                .enumerate()
                .filter(|(index, output)| self.group(output) == group && self.may_cut(*index, output))
                .filter(|(_, output)| output.tokens > self.settings.min_kept_tokens + 2 * self.mark)
                .map(|(index, _)| index)
                .collect();
            // An old result that was cut before keeps less than a fresh one of the same size: weights fall with age.
            let weight = |index: usize| 1.0 / (1.0 + f64::from(facts.outputs()[index].newer_tool_units) / 8.0);
            let amounts: Vec<(Tokens, f64)> =
                members.iter().map(|index| (facts.outputs()[*index].tokens, weight(*index))).collect();
            let level = level(&amounts, self.settings.min_kept_tokens, need);
            for (index, (tokens, weight)) in members.into_iter().zip(amounts) {
                let budget = allowed(level, weight, self.settings.min_kept_tokens);
                if self.need() > 0 && budget < tokens {
                    self.cut(index, &facts.outputs()[index], budget, "large-tool-result");
                }
            }
        }
    }

    fn group(&self, output: &ToolOutput<'_>) -> usize {
        if self.view.protection(output.unit as usize) == Protection::NewestStep {
            2
        } else {
            usize::from(output.newer_tool_units < self.settings.keep_tool_rounds)
        }
    }

    fn may_edit(&self, unit: u32) -> bool {
        self.view.protection(unit as usize).may_edit()
    }

    fn may_cut(&self, index: usize, output: &ToolOutput<'_>) -> bool {
        !self.done[index]
            && self.may_edit(output.unit)
            && output.tokens > self.mark
            && has_chars(output.text, self.settings.min_chars)
    }

    fn clear(&mut self, index: usize, output: &ToolOutput<'_>) {
        let detail = format!(
            "{} of {} tool rounds ago: {} tokens",
            name_of_tool(output.tool),
            output.newer_tool_units,
            output.tokens
        );
        self.excerpt(index, output, Vec::new(), output.tokens - self.mark, Reason::new("old-tool-result", detail));
    }

    fn cut(&mut self, index: usize, output: &ToolOutput<'_>, budget: Tokens, code: &str) {
        let cut = informative_lines(self.view, output.text, &self.focus, budget);
        let saving = output.tokens.saturating_sub(budget);
        if saving == 0 || cut.is_whole {
            return;
        }
        let detail = format!("{}: {} tokens cut to {budget}{}", name_of_tool(output.tool), output.tokens, cut.note());
        self.excerpt(index, output, cut.keep, saving, Reason::new(code, detail));
    }

    fn excerpt(
        &mut self,
        index: usize,
        output: &ToolOutput<'_>,
        keep: Vec<std::ops::Range<u32>>,
        saving: Tokens,
        reason: Reason,
    ) {
        self.done[index] = true;
        self.saved += saving;
        self.edits.push(Edit::Excerpt { message: output.at.message, block: output.at.block, keep, reason });
    }

    fn trim_arguments(&mut self, unit: u32) {
        let max_chars = self.settings.max_argument_chars;
        if max_chars == 0 {
            return;
        }
        let calls = self.view.facts().calls();
        let first = calls.partition_point(|call| call.unit < unit);
        for call in calls[first..].iter().take_while(|call| call.unit == unit) {
            if self.need() == 0 {
                continue;
            }
            let saving = argument_saving(self.view, call.at, max_chars);
            if saving > 0 {
                let detail = format!("strings of {} longer than {max_chars} characters", name_of_tool(call.name));
                self.saved += saving;
                let reason = Reason::new("long-arguments", detail);
                self.edits.push(Edit::Trim { message: call.at.message, block: call.at.block, max_chars, reason });
            }
        }
    }

    fn cut_texts(&mut self, unit: u32) {
        let max_chars = self.settings.max_text_chars;
        if max_chars == 0 {
            return;
        }
        for (at, keep) in texts::long_texts(self.view, unit as usize, max_chars) {
            let kept = texts::text_of(self.view, at).get(..keep.end as usize).map_or(0, |kept| self.view.count(kept));
            let saving = self.view.block_tokens(at).saturating_sub(kept + self.mark);
            if self.need() > 0 && saving > 0 {
                self.saved += saving;
                let reason = Reason::new("long-text", format!("cut at a sentence's end below {max_chars} characters"));
                self.edits.push(Edit::Excerpt { message: at.message, block: at.block, keep: vec![keep], reason });
            }
        }
    }
}

fn has_chars(text: &str, count: u32) -> bool {
    text.chars().nth((count as usize).saturating_sub(1)).is_some()
}

fn name_of_tool(tool: &str) -> &str {
    if tool.is_empty() { "a tool" } else { tool }
}

#[cfg(test)]
mod tests;
