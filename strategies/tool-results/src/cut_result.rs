//! Which lines of a result stay.

use std::ops::Range;

use epitome_strategy::cut::{Focus, fit, from_both_ends, is_error_line, pieces};
use epitome_strategy::text::sentence_end;
use epitome_strategy::{BlockRef, Content, Origin, Role, Tokens, View};

/// Share of the budget that error lines and lines in focus may take; the rest is for the text's two ends.
const PICKED_SHARE: f64 = 0.6;

/// What is kept of a result.
pub(crate) struct Cut {
    pub(crate) keep: Vec<Range<u32>>,
    /// Whether that is all of it.
    pub(crate) is_whole: bool,
    errors: usize,
    matches: usize,
}

impl Cut {
    /// What was picked, for a person.
    pub(crate) fn note(&self) -> String {
        match (self.errors, self.matches) {
            (0, 0) => ", its two ends kept".to_owned(),
            (errors, 0) => format!(", {errors} error lines and its two ends kept"),
            (0, matches) => format!(", {matches} lines in focus and its two ends kept"),
            (errors, matches) => format!(", {errors} error lines, {matches} lines in focus and its two ends kept"),
        }
    }
}

/// The part of `text` that `budget` tokens hold, marks included: error lines and lines that match the focus first, then
/// head and tail in turn. Linear in the text.
pub(crate) fn cut(view: &View<'_>, text: &str, is_error: bool, focus: &Focus, budget: Tokens) -> Cut {
    let pieces = pieces(text);
    let line = |index: usize| &text[pieces[index].clone()];
    let focus = focus.telling((0..pieces.len()).map(line));
    let scores: Vec<(usize, bool)> =
        (0..pieces.len()).map(|index| (focus.hits(line(index)), is_error_line(line(index)))).collect();
    let matches = scores.iter().filter(|(hits, _)| *hits > 0).count();
    let errors = scores.iter().filter(|(_, is_error)| *is_error).count();
    // Where most lines speak of errors (a listing of `error.rs`, say) it says nothing about one of them.
    let errors = if errors * 2 > pieces.len() && !is_error { 0 } else { errors };
    let worth = |index: usize| 2 * scores[index].0.min(4) + 3 * usize::from(errors > 0 && scores[index].1);
    let mut picked: Vec<usize> = (0..pieces.len()).filter(|index| worth(*index) > 0).collect();
    picked.sort_by_key(|index| std::cmp::Reverse(worth(*index))); // stable: earlier lines first
    let bytes = (f64::from(budget) * PICKED_SHARE * bytes_per_token(view, text)) as usize;
    let mut used = 0;
    picked.retain(|index| {
        used += pieces[*index].len();
        used <= bytes
    });
    // What stands below an error says where it is.
    let below = picked.iter().filter(|index| scores[**index].1).map(|index| (index + 1).min(pieces.len() - 1));
    // The first line says what the text is and the last how it ended: they go in front of everything.
    let ranked = from_both_ends(pieces.len())
        .take(2)
        .chain(picked.iter().copied())
        .chain(below)
        .chain(from_both_ends(pieces.len()));
    let keep = fit(view, text, &pieces, ranked, budget);
    let is_whole = keep.first().is_some_and(|range| range.start == 0 && range.end as usize == text.len());
    Cut { keep, is_whole, errors, matches }
}

fn bytes_per_token(view: &View<'_>, text: &str) -> f64 {
    let sample = &text[..epitome_strategy::text::floor_boundary(text, 2000.min(text.len()))];
    sample.len() as f64 / f64::from(view.count(sample).max(1))
}

/// The text of a block; empty where it has none.
pub(crate) fn text_of<'v>(view: &View<'v>, at: BlockRef) -> &'v str {
    view.block(at).and_then(|block| block.excerptable()).map_or("", AsRef::as_ref)
}

/// The model's text blocks of a unit that are longer than `max_chars` and half, with what stays of each.
pub(crate) fn long_texts(view: &View<'_>, unit: usize, max_chars: u32) -> Vec<(BlockRef, Range<u32>)> {
    let mut found = Vec::new();
    for message in view.units()[unit].entries.clone() {
        let said = view.message(message);
        if said.role != Role::Assistant || said.origin != Origin::Model {
            continue;
        }
        for (index, block) in said.blocks.iter().enumerate() {
            let Content::Text { text } = &block.content else { continue };
            let is_call = said.text_calls.iter().any(|call| call.block as usize == index);
            let Some((limit, _)) = text.char_indices().nth(max_chars as usize) else { continue };
            if is_call || text.len() < limit + limit / 2 {
                continue;
            }
            let at = BlockRef { message: message as u32, block: index as u32 };
            found.push((at, 0..sentence_end(text, limit) as u32));
        }
    }
    found
}
