#![doc = include_str!("../README.md")]

mod diff;
mod rank;

use epitome_strategy::cut::Focus;
use epitome_strategy::text::counted;
use epitome_strategy::{
    BlockRef, Content, Edit, Goal, Origin, Plan, PlanError, Reason, Role, Tokens, View, WordLists, settings, strategy,
};

use crate::diff::Diff;

/// How lines and files of diffs are told apart.
static LISTS: WordLists = WordLists::new(include_str!("lists.txt"));

settings! {
    /// Settings of `diff-truncation`.
    pub struct Settings {
        /// Share of the model's window that one text with a diff may take; of the budget where no window is given.
        max_share: f64 = 0.1, in 0.0..=1.0;
    }
    constants {
        /// Diffs of fewer tokens are left alone.
        min_tokens: u32 = 400;
    }
}

strategy! {
    /// Long diffs keep their headers and the changes that matter: see the crate's page.
    pub struct DiffTruncation(Settings) {
        id: "diff-truncation",
        summary: "Long diffs are cut by lines: headers stay, changes that matter go before context.",
        lossiness: Partial,
        since: "0.1.0",
    }
}

impl DiffTruncation {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let most = ((self.settings.max_share * f64::from(goal.window)) as Tokens).max(self.settings.min_tokens);
        let focus = Focus::new(goal.focus.as_deref());
        let mut edits = Vec::new();
        let mut saved = 0;
        for at in long_texts(view, most) {
            let need = goal.excess().saturating_sub(saved);
            if need == 0 {
                break;
            }
            let tokens = view.block_tokens(at);
            let budget = most.max(tokens.saturating_sub(need));
            if let Some(edit) = self.cut(view, at, tokens, budget, &focus) {
                saved += tokens - budget;
                edits.push(edit);
            }
        }
        Ok(Plan::from_edits(edits, format!("no diff takes more than {most} tokens")))
    }

    fn cut(&self, view: &View<'_>, at: BlockRef, tokens: Tokens, budget: Tokens, focus: &Focus) -> Option<Edit> {
        let text = view.block(at)?.excerptable()?;
        let diff = Diff::parse(text)?;
        let keep = rank::kept_lines(view, text, &diff, focus, budget);
        let is_whole = keep.first().is_some_and(|range| range.start == 0 && range.end as usize == text.len());
        if is_whole || budget >= tokens {
            return None;
        }
        let (all, left) = (diff.totals(|_| true), diff.totals(|line| rank::is_kept(&keep, line)));
        let detail = format!(
            "{}, +{} −{} lines; kept +{} −{}; {tokens} tokens cut to {budget}",
            counted(all.files, "file"),
            all.added,
            all.removed,
            left.added,
            left.removed
        );
        let reason = Reason::new("long-diff", detail);
        Some(Edit::Excerpt { message: at.message, block: at.block, keep, reason })
    }
}

/// Returns blocks of more than `least` tokens that may have a diff, oldest first: tool output, and the texts of users
/// and the model.
fn long_texts(view: &View<'_>, least: Tokens) -> Vec<BlockRef> {
    let mut found = Vec::new();
    for (position, message) in view.messages().enumerate() {
        if message.role == Role::System
            || message.origin == Origin::Summary
            || !view.protection(view.unit_of(position)).may_edit()
        {
            continue;
        }
        for (block, content) in message.blocks.iter().map(|block| &block.content).enumerate() {
            let at = BlockRef { message: position as u32, block: block as u32 };
            let holds_call = message.text_calls.iter().any(|call| call.block as usize == block);
            let is_text = matches!(content, Content::Text { .. } | Content::ToolResult(_));
            if is_text && !holds_call && view.block_tokens(at) > least {
                found.push(at);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
