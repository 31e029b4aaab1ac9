//! The newest step, where it alone would take most of the room: its long outputs are cut to their most valuable
//! passages.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use epitome_strategy::{BlockRef, Content, Edit, Origin, Protection, Reason, Tokens, View, cut};

/// Lines that stay or leave together: passages read better than single lines, keep more of the text that later edits
/// quote, and each gap costs a mark.
const PASSAGE_LINES: usize = 6;
/// The fewest tokens that an output keeps, marks included.
const LEAST_OUTPUT: Tokens = 150;
/// The overhead of a passage in bytes: short passages are not better for being short.
const PASSAGE_BYTES: f32 = 40.0;

/// The parts of the newest step's outputs that stay.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    /// For each output that is cut, the ranges that stay.
    kept: HashMap<BlockRef, Vec<Range<u32>>>,
    /// The cuts as edits.
    pub edits: Vec<Edit>,
    /// Tokens that they save, rather too few than too many.
    pub saved: Tokens,
}

impl Cuts {
    /// Whether the text at this byte of a block that is not summarised is in the result.
    pub(crate) fn stays(&self, at: BlockRef, start: u32) -> bool {
        self.kept.get(&at).is_none_or(|ranges| ranges.iter().any(|range| range.contains(&start)))
    }
}

/// Returns the tokens of the newest step, where parts of it may leave.
pub(crate) fn tokens(view: &View<'_>) -> Tokens {
    newest(view).map_or(0, |unit| view.unit_tokens(unit))
}

fn newest(view: &View<'_>) -> Option<usize> {
    (0..view.units().len()).rev().find(|unit| view.protection(*unit) == Protection::NewestStep)
}

/// Cuts the outputs of the newest step so that it takes `allowance` tokens, as far as its outputs allow that. Linear in
/// the step, but for sorting its passages.
pub(crate) fn cuts(view: &View<'_>, allowance: Tokens, values: &[f32]) -> Cuts {
    let mut cuts = Cuts::default();
    let Some(unit) = newest(view) else { return cuts };
    let need = view.unit_tokens(unit).saturating_sub(allowance);
    if need == 0 {
        return cuts;
    }
    let outputs = outputs(view, unit);
    let amounts: Vec<(Tokens, f64)> = outputs.iter().map(|(_, _, tokens)| (*tokens, 1.0)).collect();
    let allowed = cut::allowed(cut::level(&amounts, LEAST_OUTPUT, need), 1.0, LEAST_OUTPUT);
    for (at, text, tokens) in outputs {
        if tokens <= allowed + 2 * view.mark_tokens() {
            continue;
        }
        let keep = passages(view, text, values, allowed);
        if keep.is_empty() {
            continue;
        }
        cuts.saved += tokens - allowed;
        let detail = format!("{allowed} of {tokens} tokens stay: the newest step would take too much of the room");
        let reason = Reason::new("newest-output", detail);
        cuts.edits.push(Edit::Excerpt { message: at.message, block: at.block, keep: keep.clone(), reason });
        cuts.kept.insert(at, keep);
    }
    cuts
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

/// Returns what stays of an output: its first and last passage, then those with the most strings that are likely
/// needed.
fn passages(view: &View<'_>, text: &str, values: &[f32], budget: Tokens) -> Vec<Range<u32>> {
    let lines = cut::pieces(text);
    let whole = |chunk: &[Range<usize>]| Some(chunk.first()?.start..chunk.last()?.end);
    let pieces: Vec<Range<usize>> = lines.chunks(PASSAGE_LINES).filter_map(whole).collect();
    let mut seen: HashSet<u32> = HashSet::new();
    let mut ranked: Vec<(f32, usize)> = Vec::with_capacity(pieces.len());
    for (index, piece) in pieces.iter().enumerate() {
        let atoms = view.facts().atoms().in_text(&text[piece.clone()]);
        let worth: f32 = atoms.iter().filter(|atom| seen.insert(**atom)).map(|atom| values[*atom as usize]).sum();
        ranked.push((worth / (piece.len() as f32 + PASSAGE_BYTES), index));
    }
    ranked.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    let ends = (!pieces.is_empty()).then(|| [0, pieces.len() - 1]).into_iter().flatten();
    cut::fit(view, text, &pieces, ends.chain(ranked.into_iter().map(|(_, index)| index)), budget)
}
