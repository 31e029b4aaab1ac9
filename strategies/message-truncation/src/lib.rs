#![doc = include_str!("../README.md")]

use epitome_strategy::cut::{allowed, level, whole_sentences};
use epitome_strategy::{
    BlockRef, Content, Edit, Goal, Message, Origin, Plan, PlanError, Protection, Reason, Role, Tokens, View, settings,
    strategy,
};

settings! {
    /// Settings of `message-truncation`.
    pub struct Settings {
        /// Whether texts that a person typed are cut too, where they are not protected.
        cut_typed: bool = true;
    }
    constants {
        /// Texts of fewer tokens are left alone.
        min_tokens: u32 = 150;
        /// Tokens of a text that stay however much is to be saved, its mark among them; never less than that and a few words.
        min_kept_tokens: u32 = 80;
        /// Share of what stays that is kept from the text's end.
        tail_share: f64 = 0.25;
    }
}

/// Tokens of a few words: a text that was cut still says something.
const FEW_WORDS: Tokens = 12;

strategy! {
    /// Long texts are cut at the end of a sentence: see the crate's page.
    pub struct MessageTruncation(Settings) {
        id: "message-truncation",
        summary: "Long texts are cut at the ends of sentences, old and long ones first.",
        lossiness: Partial,
        since: "0.1.0",
    }
}

impl MessageTruncation {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let least = self.least_kept_tokens(view);
        let texts = self.texts(view, least);
        let mut edits = Vec::new();
        let mut saved = 0;
        // The model is working on the newest step: its texts are cut only when all others have given what they can.
        for newest in [false, true] {
            let group: Vec<&LongText> = texts.iter().filter(|text| text.newest == newest).collect();
            let amounts: Vec<(Tokens, f64)> = group.iter().map(|text| (text.tokens, text.weight)).collect();
            let need = goal.excess().saturating_sub(saved);
            let level = level(&amounts, least, need);
            for text in group {
                let budget = allowed(level, text.weight, least);
                if saved >= goal.excess() || budget >= text.tokens {
                    continue;
                }
                let Some(edit) = self.cut(view, text, budget) else { continue };
                saved += text.tokens - budget;
                edits.push(edit);
            }
        }
        Ok(Plan::from_edits(edits, "no text is long enough to cut"))
    }

    /// Returns the fewest tokens that a text keeps: those of the settings, and never less than its mark and a few
    /// words.
    fn least_kept_tokens(&self, view: &View<'_>) -> Tokens {
        self.settings.min_kept_tokens.max(view.mark_tokens() + FEW_WORDS)
    }

    /// Returns the texts that are long enough, oldest first.
    fn texts(&self, view: &View<'_>, least_kept: Tokens) -> Vec<LongText> {
        let least = self.settings.min_tokens.max(least_kept + view.mark_tokens() + 1);
        let mut texts = Vec::new();
        for (position, message) in view.messages().enumerate() {
            let protection = view.protection(view.unit_of(position));
            if !protection.may_edit() {
                continue;
            }
            // From half of a fresh text's share for the oldest to one and a half for the newest.
            let age = 0.5 + position as f64 / view.len() as f64;
            for block in 0..message.blocks.len() {
                let at = BlockRef { message: position as u32, block: block as u32 };
                let tokens = view.block_tokens(at);
                if tokens < least {
                    continue;
                }
                if let Some((what, worth)) = self.kind(message, block) {
                    let newest = protection == Protection::NewestStep;
                    texts.push(LongText { at, tokens, weight: age * worth, what, newest });
                }
            }
        }
        texts
    }

    /// Returns the kind of a block, and its weight beside others of its length and age; `None` for a block that is not
    /// cut here.
    fn kind(&self, message: &Message, block: usize) -> Option<(&'static str, f64)> {
        match &message.blocks[block].content {
            Content::Thinking(thinking) if thinking.signature.is_none() => Some(("reasoning", 0.4)),
            Content::Text { .. } => match (message.role, message.origin) {
                // A call in plain text would not be a call any more.
                _ if message.text_calls.iter().any(|call| call.block as usize == block) => None,
                (Role::System | Role::Tool, _) | (_, Origin::ToolOutput) => None,
                (_, Origin::Summary) => Some(("summary", 1.5)),
                (_, Origin::Typed) => self.settings.cut_typed.then_some(("typed text", 2.0)),
                (Role::Assistant, _) => Some(("text", 1.0)),
                (Role::User, _) => Some(("injected text", 0.6)),
            },
            Content::Thinking(_)
            | Content::ToolCall(_)
            | Content::ToolResult(_)
            | Content::Media(_)
            | Content::Opaque(_)
            | Content::Gone => None,
        }
    }

    fn cut(&self, view: &View<'_>, long: &LongText, budget: Tokens) -> Option<Edit> {
        let text = view.block(long.at)?.excerptable()?;
        let keep = whole_sentences(view, text, long.tokens, budget, self.settings.tail_share);
        if keep.is_empty() {
            return None;
        }
        let detail = format!("{} of {} tokens cut to {budget}", long.what, long.tokens);
        let reason = Reason::new("long-text", detail);
        Some(Edit::Excerpt { message: long.at.message, block: long.at.block, keep, reason })
    }
}

/// A text that may be cut.
struct LongText {
    at: BlockRef,
    tokens: Tokens,
    /// The weight of what stays of it, compared with others.
    weight: f64,
    what: &'static str,
    newest: bool,
}

#[cfg(test)]
mod tests;
