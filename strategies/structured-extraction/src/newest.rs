//! The newest step, where it alone would take most of the room: its long outputs are cut to their most informative lines.

use epitome_strategy::cut::{Focus, allowed, informative_lines, level};
use epitome_strategy::{BlockRef, Content, Edit, Goal, Origin, Protection, Reason, Tokens, View};

/// The fewest tokens that an output keeps, marks included.
const LEAST_OUTPUT: Tokens = 150;

/// Returns the newest step, where parts of it may leave.
pub(crate) fn newest(view: &View<'_>) -> Option<usize> {
    (0..view.units().len()).rev().find(|unit| view.protection(*unit) == Protection::NewestStep)
}

/// Cuts the outputs of the newest step so that it takes `allowance` tokens, as far as its outputs allow that. Returns the cuts,
/// and the tokens that they save, rather too few than too many. Linear in the step.
pub(crate) fn cuts(view: &View<'_>, goal: &Goal, allowance: Tokens) -> (Vec<Edit>, Tokens) {
    let (mut edits, mut saved) = (Vec::new(), 0);
    let Some(unit) = newest(view) else { return (edits, saved) };
    let need = view.unit_tokens(unit).saturating_sub(allowance);
    if need == 0 {
        return (edits, saved);
    }
    let outputs = outputs(view, unit);
    let amounts: Vec<(Tokens, f64)> = outputs.iter().map(|(_, _, tokens)| (*tokens, 1.0)).collect();
    let allowed = allowed(level(&amounts, LEAST_OUTPUT, need), 1.0, LEAST_OUTPUT);
    let focus = Focus::new(goal.focus.as_deref());
    for (at, text, tokens) in outputs {
        if tokens <= allowed + 2 * view.mark_tokens() {
            continue;
        }
        let lines = informative_lines(view, text, &focus, allowed);
        if lines.keep.is_empty() {
            continue;
        }
        saved += tokens - allowed;
        let note = lines.note();
        let detail =
            format!("{allowed} of {tokens} tokens stay{note}: the newest step would take too much of the room");
        let reason = Reason::new("newest-output", detail);
        edits.push(Edit::Excerpt { message: at.message, block: at.block, keep: lines.keep, reason });
    }
    (edits, saved)
}

/// Returns the tool outputs of a unit, with its tokens.
fn outputs<'v>(view: &'v View<'_>, unit: usize) -> Vec<(BlockRef, &'v str, Tokens)> {
    let mut outputs = Vec::new();
    for message in view.units()[unit].entries.clone() {
        let entry = &view.entries()[message];
        for (block, content) in entry.message.blocks.iter().map(|block| &block.content).enumerate() {
            let text: &str = match content {
                Content::ToolResult(result) => &result.text,
                Content::Text { text } if entry.message.origin == Origin::ToolOutput => text,
                _ => continue,
            };
            let at = BlockRef { message: message as u32, block: block as u32 };
            outputs.push((at, text, view.block_tokens(at)));
        }
    }
    outputs
}
