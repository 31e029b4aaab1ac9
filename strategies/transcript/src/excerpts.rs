//! Texts that are cut in place: what stays of them, in whole lines.

use std::collections::HashSet;
use std::ops::Range;

use epitome_reading::{Line, Passage, PassageKind, Source};
use epitome_strategy::cut::beginnings;
use epitome_strategy::{BlockRef, Content, Tokens, View};

use crate::layout::{Layout, UnitTreatment};

/// A gap is worth its mark where it holds this many times the mark's tokens: a mark is read, and it hides a line.
const LEAST_GAIN: Tokens = 2;
/// Bytes of a gap that is not counted, because it holds more than that in any language.
const LONG_GAP: usize = 400;

/// The texts of messages that stay at their places.
#[derive(Debug, Default)]
pub(crate) struct CutTexts {
    /// Those that are cut, with the ranges that stay.
    pub(crate) excerpts: Vec<(BlockRef, Vec<Range<u32>>)>,
    /// Tokens of the messages, once they are cut.
    pub(crate) tokens: Tokens,
}

/// Returns the texts that are cut in place. Linear.
pub(crate) fn cut_texts(view: &View<'_>, source: &Source, layout: &Layout, kept: &[bool]) -> CutTexts {
    let mut cut = CutTexts::default();
    let mut cut_units = HashSet::new();
    let mut blocks: Vec<(BlockRef, Vec<usize>)> = Vec::new();
    for (index, passage) in source.passages.iter().enumerate() {
        let Some(at) = passage.at else { continue };
        let is_cut = match layout.treatment(passage.unit as usize) {
            UnitTreatment::Message => passage.kind != PassageKind::Call,
            UnitTreatment::Newest => is_cut_in_newest(view, passage),
            UnitTreatment::Folds | UnitTreatment::Stays | UnitTreatment::Summary => continue,
        };
        if cut_units.insert(passage.unit) {
            cut.tokens += view.unit_tokens(passage.unit as usize);
        }
        if !is_cut {
            continue;
        }
        match blocks.last_mut() {
            Some((last, passages)) if *last == at => passages.push(index),
            _ => blocks.push((at, vec![index])),
        }
    }
    for (at, passages) in blocks {
        let Some(text) = view.block(at).and_then(|block| block.excerptable()) else { continue };
        let lines: Vec<u32> = passages.iter().flat_map(|passage| source.passages[*passage].lines.clone()).collect();
        if lines.iter().all(|line| kept[*line as usize]) {
            continue;
        }
        let keep = keep(view, source, text, &lines, kept);
        let whole = view.block_tokens(at);
        let stays: Tokens = keep.iter().map(|range| view.count(&text[range.start as usize..range.end as usize])).sum();
        let marks = view.mark_tokens() + view.further_mark_tokens() * keep.len() as Tokens;
        if stays + marks < whole {
            cut.tokens = cut.tokens - whole + stays + marks;
            cut.excerpts.push((at, keep));
        }
    }
    for (at, chars) in &layout.trims {
        let own = view.block_tokens(*at);
        let bytes =
            view.block(*at).and_then(|block| block.as_call()).map_or(1, |call| call.arguments.text().len().max(1));
        let after = (u64::from(*chars) * u64::from(own) / bytes as u64) as Tokens + view.mark_tokens() + 40;
        cut.tokens = cut.tokens.saturating_sub(own.saturating_sub(after));
    }
    for unit in (0..view.units().len()).filter(|unit| layout.treatment(*unit) == UnitTreatment::Summary) {
        shorten_summary(view, unit, layout.summary_room, &mut cut);
    }
    cut
}

/// Cuts the summary of a unit to about `room` tokens: the first lines of each section stay. Linear.
fn shorten_summary(view: &View<'_>, unit: usize, room: Tokens, cut: &mut CutTexts) {
    let message = view.units()[unit].entries.start;
    for (block, content) in view.message(message).blocks.iter().enumerate() {
        let at = BlockRef { message: message as u32, block: block as u32 };
        let own = view.block_tokens(at);
        cut.tokens += own;
        let Content::Text { text } = &content.content else { continue };
        if own <= room {
            continue;
        }
        let keep = beginnings(text, room.saturating_sub(view.mark_tokens()), own, view.further_mark_tokens());
        let stays: Tokens = keep.iter().map(|range| view.count(&text[range.start as usize..range.end as usize])).sum();
        let marks = view.mark_tokens() + view.further_mark_tokens() * keep.len() as Tokens;
        if stays + marks < own {
            cut.tokens = cut.tokens - own + stays + marks;
            cut.excerpts.push((at, keep));
        }
    }
}

/// Whether a passage of the newest step may be cut in place: tool output and text of the model, except in a message
/// with a call in its text, whose results the agent answers.
pub(crate) fn is_cut_in_newest(view: &View<'_>, passage: &Passage) -> bool {
    let holds_call = |at: BlockRef| !view.message(at.message as usize).text_calls.is_empty();
    match passage.kind {
        PassageKind::Output | PassageKind::SpokenThroughTool => true,
        PassageKind::Commentary | PassageKind::Answer => passage.at.is_some_and(|at| !holds_call(at)),
        PassageKind::Typed | PassageKind::Injected | PassageKind::Call | PassageKind::Argument => false,
    }
}

/// Returns what stays of a text where `kept` of its `lines` do: whole lines with their numbers, and the gaps that a mark would
/// not make much shorter. Linear.
fn keep(view: &View<'_>, source: &Source, text: &str, lines: &[u32], kept: &[bool]) -> Vec<Range<u32>> {
    let mut keep: Vec<Range<u32>> = Vec::new();
    let mut joins = false;
    for line in lines {
        if !kept[*line as usize] {
            joins = false;
            continue;
        }
        let range = with_line_ends(text, &source.lines[*line as usize]);
        let least = LEAST_GAIN * view.further_mark_tokens();
        let is_small = |gap: &str| gap.len() < LONG_GAP && view.count(gap) < least;
        match keep.last_mut() {
            Some(last) if joins || is_small(&text[last.end as usize..range.start as usize]) => last.end = range.end,
            _ => keep.push(range),
        }
        joins = true;
    }
    keep
}

/// Returns the bytes of a piece of a text, with the number and the white space before it where it begins a line, and with the
/// line feed where it ends one.
fn with_line_ends(text: &str, line: &Line) -> Range<u32> {
    let start = match line.starts_line {
        true => text[..line.range.start].rfind('\n').map_or(0, |feed| feed + 1),
        false => line.range.start,
    };
    let behind = &text[line.range.end..];
    let end = match behind.find('\n') {
        Some(feed) if behind[..feed].trim().is_empty() => line.range.end + feed + 1,
        _ => line.range.end,
    };
    start as u32..end as u32
}
