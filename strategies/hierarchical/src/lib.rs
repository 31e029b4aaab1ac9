#![doc = include_str!("../README.md")]

mod parts;

use epitome_strategy::cut::{Focus, argument_saving, informative_lines, whole_sentences};
use epitome_strategy::{Edit, Goal, Plan, PlanError, Reason, Tokens, View, settings, strategy};

use crate::parts::{Group, Kind, Part};

settings! {
    /// Settings of `hierarchical`.
    pub struct Settings {}
    constants {
        /// Newest steps that are cut only when all older ones have given what they can.
        keep_newest_steps: u32 = 4;
        /// Texts and results of fewer tokens are left alone.
        min_tokens: u32 = 60;
        /// Tokens that a result keeps in the first tier; the third clears it.
        result_tokens: u32 = 300;
        /// Tokens that the model's text on the way keeps in the second tier; the third clears it.
        text_tokens: u32 = 80;
        /// Strings in arguments are cut to this length in the second tier, and to a quarter of it in the third; 0 leaves
        /// them alone.
        max_argument_chars: u32 = 200;
    }
}

/// Tokens that a key result keeps in the third tier; the fourth leaves a third of it. Chosen by hand, not measured: the default
/// of `result_tokens`, so that a key result falls two tiers later to what a plain result falls to in the first.
const KEY_RESULT_TOKENS: Tokens = 300;
/// Tokens that a round's conclusion keeps in the fourth tier. Chosen by hand, not measured: room for about two paragraphs.
const CONCLUSION_TOKENS: Tokens = 200;

strategy! {
    /// Parts are cut by their kind, tier by tier: see the crate's page.
    pub struct Hierarchical(Settings) {
        id: "hierarchical",
        summary: "Details of results and texts on the way are cut first, key results and conclusions last, questions never.",
        lossiness: Partial,
        since: "0.1.0",
    }
}

impl Hierarchical {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let mut parts = parts::collect(view, &self.settings);
        let mut need = goal.excess();
        let mut touched = Vec::new();
        for (group, tiers) in [(Group::Old, 1..=4), (Group::Recent, 1..=4), (Group::Newest, 1..=1)] {
            for tier in tiers {
                for (index, part) in parts.iter_mut().enumerate().filter(|(_, part)| part.group == group) {
                    if need == 0 {
                        break;
                    }
                    let saving = self.lower(view, part, tier, need);
                    need = need.saturating_sub(saving);
                    if saving > 0 && !part.is_touched {
                        part.is_touched = true;
                        touched.push(index);
                    }
                }
            }
        }
        let focus = Focus::new(goal.focus.as_deref());
        let edits = touched.into_iter().filter_map(|index| edit(view, &parts[index], &focus)).collect();
        Ok(Plan::from_edits(edits, "no result, text or argument that may be cut is long enough"))
    }

    /// Cuts a part to what a tier leaves of it, or only as far as is needed; returns the tokens saved.
    fn lower(&self, view: &View<'_>, part: &mut Part, tier: u32, need: Tokens) -> Tokens {
        let Some(allowed) = self.allowed(part.kind, tier) else { return 0 };
        if part.kind == Kind::Arguments {
            let left = part.tokens.saturating_sub(argument_saving(view, part.at, allowed));
            let saving = part.left.saturating_sub(left);
            if saving > 0 {
                (part.left, part.max_chars, part.tier) = (left, allowed, tier);
            }
            return saving;
        }
        // A stub is a mark. A part that would keep hardly more than its mark keeps nothing.
        let mark = view.mark_tokens();
        let allowed = if allowed < 2 * mark { mark } else { allowed };
        let left = allowed.max(part.left.saturating_sub(need));
        // An edit that saves a handful of tokens is not worth what it breaks.
        if part.tokens < self.settings.min_tokens || left + part.tokens / 10 >= part.left {
            return 0;
        }
        let saving = part.left - left;
        (part.left, part.tier) = (left, tier);
        saving
    }

    /// Returns what a tier leaves of a part: tokens, characters a string for arguments; `None` where the tier does not
    /// cut it.
    fn allowed(&self, kind: Kind, tier: u32) -> Option<Tokens> {
        let settings = &self.settings;
        match (kind, tier) {
            (Kind::Reasoning, 1) => Some(0),
            (Kind::Result, 1) => Some(settings.result_tokens),
            (Kind::Text | Kind::Injected, 2) => Some(settings.text_tokens),
            (Kind::Arguments, 2) => Some(settings.max_argument_chars),
            (Kind::Arguments, 3) => Some(settings.max_argument_chars / 4),
            (Kind::Result | Kind::Text | Kind::Injected, 3) => Some(0),
            (Kind::KeyResult, 3) => Some(KEY_RESULT_TOKENS),
            (Kind::KeyResult, 4) => Some(KEY_RESULT_TOKENS / 3),
            (Kind::Conclusion, 4) => Some(CONCLUSION_TOKENS),
            _ => None,
        }
    }
}

/// Returns the edit that cuts a part to where the tiers left it.
fn edit(view: &View<'_>, part: &Part, focus: &Focus) -> Option<Edit> {
    let (message, block) = (part.at.message, part.at.block);
    let reason = |code: &str| {
        let detail = format!("tier {}: {} of {} tokens cut to {}", part.tier, part.what, part.tokens, part.left);
        Reason::new(code, detail)
    };
    let code = match part.kind {
        Kind::Arguments => {
            let reason = reason("call-details");
            return Some(Edit::Trim { message, block, max_chars: part.max_chars, reason });
        }
        Kind::Reasoning => "reasoning",
        Kind::Result => "result-details",
        Kind::KeyResult => "key-result",
        Kind::Text => "text-on-the-way",
        Kind::Injected => "injected-text",
        Kind::Conclusion => "conclusion-middle",
    };
    let text = view.block(part.at)?.excerptable()?;
    let keep = match part.kind {
        _ if part.left <= view.mark_tokens() => Vec::new(),
        Kind::Result | Kind::KeyResult => informative_lines(view, text, focus, part.left).keep,
        Kind::Reasoning | Kind::Text | Kind::Injected | Kind::Conclusion | Kind::Arguments => {
            // A conclusion says most at its end.
            let tail_share = if part.kind == Kind::Conclusion { 0.6 } else { 0.4 };
            whole_sentences(view, text, part.tokens, part.left, tail_share)
        }
    };
    let is_whole = keep.len() == 1 && keep[0] == (0..text.len() as u32);
    (!is_whole).then(|| Edit::Excerpt { message, block, keep, reason: reason(code) })
}

#[cfg(test)]
mod tests;
