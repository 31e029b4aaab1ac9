//! Passages: the best windows, each line once, grown to what a passage may hold.

use std::ops::Range;

use crate::index::Index;
use crate::page::{Page, Part, Passage};
use crate::pieces::Body;
use crate::query::Query;
use crate::score::Ranking;

/// Fewer characters than this are not worth a passage.
const LEAST: usize = 100;

/// The passages of the page that a query asks for.
pub(crate) fn select(index: &Index, query: &Query, ranking: &Ranking) -> Page {
    let mut taken = vec![false; ranking.eligible.len()];
    let mut candidates = ranking.windows.iter().filter(|(window, _)| !window.is_empty());
    let mut page = Page::default();
    if query.limit == 0 || query.characters == 0 {
        return page;
    }
    for _ in 0..=query.page {
        page.passages.clear();
        let mut left = query.characters;
        while page.passages.len() < query.limit && left >= LEAST.min(query.characters) {
            let room = left / (query.limit - page.passages.len());
            let Some((grown, core, score)) = next(index, ranking, &mut candidates, &mut taken, room) else { break };
            let passage = passage(index, ranking, grown, core, score, room);
            left = left.saturating_sub(passage.text.chars().count());
            page.passages.push(passage);
        }
    }
    page.more = candidates.any(|(window, _)| is_new(&taken, window));
    page
}

/// Whether less than half of a window was shown already.
fn is_new(taken: &[bool], window: &Range<usize>) -> bool {
    window.clone().filter(|at| taken[*at]).count() * 2 < window.len()
}

/// The next window worth a passage, grown to the room that there is, with the window itself and its score.
fn next<'a>(
    index: &Index,
    ranking: &Ranking,
    candidates: &mut impl Iterator<Item = &'a (Range<usize>, f32)>,
    taken: &mut [bool],
    room: usize,
) -> Option<(Range<usize>, Range<usize>, f32)> {
    let (window, score) = candidates.find(|(window, _)| is_new(taken, window))?;
    let mut core = window.clone();
    while taken[core.start] {
        core.start += 1;
    }
    while taken[core.end - 1] {
        core.end -= 1;
    }
    if let Some(other) = core.clone().find(|at| taken[*at]) {
        core.end = other; // shown lines stand in the middle: what is in front of them
    }
    let grown = grow(index, ranking, core.clone(), taken, room);
    taken[grown.clone()].fill(true);
    Some((grown, core, *score))
}

/// Grows a window line by line on both sides: through the messages that it stands in first, then into their neighbours.
fn grow(index: &Index, ranking: &Ranking, core: Range<usize>, taken: &[bool], room: usize) -> Range<usize> {
    let piece = |at: usize| index.units[ranking.eligible[at] as usize].piece;
    let mut grown = core;
    let (first, last) = (piece(grown.start), piece(grown.end - 1));
    for within in [true, false] {
        let (mut behind, mut before) = (true, true);
        while behind || before {
            behind = behind
                && grown.end < taken.len()
                && !taken[grown.end]
                && (!within || piece(grown.end) == last)
                && size(index, ranking, grown.start..grown.end + 1) <= room;
            grown.end += usize::from(behind);
            before = before
                && grown.start > 0
                && !taken[grown.start - 1]
                && (!within || piece(grown.start - 1) == first)
                && size(index, ranking, grown.start - 1..grown.end) <= room;
            grown.start -= usize::from(before);
        }
    }
    grown
}

/// The characters of a passage of these units: their own and those of the lines that name messages.
fn size(index: &Index, ranking: &Ranking, range: Range<usize>) -> usize {
    let units = &ranking.eligible[range];
    let text: usize = units.iter().map(|unit| index.characters(*unit as usize..*unit as usize + 1)).sum();
    let pieces = units.chunk_by(|left, right| index.units[*left as usize].piece == index.units[*right as usize].piece);
    let headings: usize = pieces
        .map(|units| index.pieces[index.units[units[0] as usize].piece as usize].heading().chars().count() + 2)
        .sum();
    text + headings
}

fn passage(
    index: &Index,
    ranking: &Ranking,
    grown: Range<usize>,
    core: Range<usize>,
    score: f32,
    room: usize,
) -> Passage {
    let units = &ranking.eligible[grown];
    let piece_of = |unit: u32| index.units[unit as usize].piece;
    let pieces: Vec<&[u32]> = units.chunk_by(|left, right| piece_of(*left) == piece_of(*right)).collect();
    let (mut text, mut parts) = (String::new(), Vec::new());
    for units in &pieces {
        let piece = &index.pieces[piece_of(units[0]) as usize];
        if pieces.len() > 1 {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&piece.heading());
            text.push('\n');
        }
        let body = index.body(piece);
        for unit in units.iter().map(|unit| &index.units[*unit as usize]) {
            text.push_str(&body[unit.start as usize..unit.end as usize]);
            if unit.ends_line {
                text.push('\n');
            }
        }
        let bytes = index.units[units[0] as usize].start..index.units[units[units.len() - 1] as usize].end;
        let bytes = match &piece.body {
            Body::Recorded(range) => Some(range.start + bytes.start..range.start + bytes.end),
            Body::Told(_) => None,
        };
        parts.push(Part { message: piece.message, block: piece.block, bytes });
    }
    text.truncate(text.trim_end().len());
    if let Some((end, _)) = text.char_indices().nth(room) {
        text.truncate(end); // one line alone may be more than there is room
    }
    let middle = ranking.eligible[core.start + (core.end - core.start) / 2];
    let piece = &index.pieces[piece_of(middle) as usize];
    let message = index.message(piece);
    Passage {
        text,
        message: message.id.clone(),
        number: piece.message,
        role: message.role,
        tool: piece.call.as_ref().map(|call| std::sync::Arc::clone(&call.tool)),
        file: piece.call.as_ref().and_then(|call| call.file.clone()),
        handle: None,
        in_context: None,
        score,
        parts,
    }
}
