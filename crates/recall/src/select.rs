//! Passages: the best windows, with each line once, grown to the size of a passage.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use epitome_strategy::levels;
use snowball_stemmers_rs::{Algorithm, Stemmer};

use crate::index::Index;
use crate::page::{Page, Passage, PassagePart};
use crate::pieces::{Body, Piece, is_heading};
use crate::query::Query;
use crate::score::{Ranking, Window, rarity};
use crate::terms::read_terms;

/// Fewer characters are not worth a passage of their own.
const LEAST: usize = 100;

/// The most characters of a passage before neighbours become one: the parts of an answer are seldom further apart.
const MOST: usize = 2_000;

/// A window that shares this many of its terms with one that was shown is not new: the same file read twice.
const SAME: f32 = 0.95;

/// The length below which a window is a repetition only where it has exactly the terms of one that was shown: the words
/// of "go on, then" are in many a passage, and it is a message of its own all the same.
const SHORT: usize = 333;

/// Returns the passages of the page that a query asks for.
pub(crate) fn select(index: &Index, query: &Query, ranking: &Ranking) -> Page {
    let mut page = Page::default();
    let mut shown = Selection::new(index, ranking);
    let mut windows = ranking.windows.iter();
    let mut found = Vec::new();
    // Earlier pages are computed for what they show.
    for _ in 0..=query.page {
        found = shown.page(&mut windows, query);
        if found.is_empty() {
            break;
        }
    }
    page.passages = found.into_iter().map(|found| shown.passage(found)).collect();
    page.more = windows.any(|window| shown.is_new(window));
    page
}

/// Returns the passages of a query's first page, each with the start of the window by which it was found.
pub(crate) fn candidates(index: &Index, query: &Query, ranking: &Ranking) -> Vec<(Passage, usize)> {
    let mut shown = Selection::new(index, ranking);
    let found = shown.page(&mut ranking.windows.iter(), query);
    found
        .into_iter()
        .map(|found| {
            let window = found.window;
            (shown.passage(found), window)
        })
        .collect()
}

/// A future passage: places in [`Ranking::eligible`].
#[derive(Debug)]
struct Stretch {
    range: Range<usize>,
    /// Its matching part.
    core: Range<usize>,
    /// The start of the window by which it was found.
    window: usize,
    score: f32,
    /// The most characters that it may have.
    room: usize,
}

/// What has been shown so far.
struct Selection<'a> {
    index: &'a Index,
    ranking: &'a Ranking,
    stemmer: Stemmer,
    /// Which places are in a passage.
    places: Vec<bool>,
    /// The terms of each passage.
    terms: Vec<HashSet<u32>>,
}

impl<'a> Selection<'a> {
    fn new(index: &'a Index, ranking: &'a Ranking) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        Self { index, ranking, stemmer, places: vec![false; ranking.eligible.len()], terms: Vec::new() }
    }

    /// Returns the passages of the next page; neighbours become one.
    fn page<'w>(&mut self, windows: &mut impl Iterator<Item = &'w Window>, query: &Query) -> Vec<Stretch> {
        let mut page: Vec<Stretch> = Vec::new();
        let mut left = query.characters;
        while page.len() < query.limit && left >= LEAST.min(query.characters) {
            let room = (left / (query.limit - page.len())).clamp(LEAST, MOST).min(left);
            let Some(window) = windows.find(|window| self.is_new(window)) else { break };
            let (core, score) = (self.shrink(self.unshown_part(window), room), window.score);
            let (range, size) = self.grow(core.clone(), room);
            self.places[range.clone()].fill(true);
            self.terms.push(self.terms_of(range.clone()));
            let room = size.min(room);
            left -= room;
            let touches = |before: &Range<usize>, behind: &Range<usize>| {
                before.end == behind.start && self.is_joined(behind.start)
            };
            let neighbour =
                page.iter_mut().find(|other| touches(&other.range, &range) || touches(&range, &other.range));
            match neighbour {
                Some(other) => {
                    other.range = other.range.start.min(range.start)..other.range.end.max(range.end);
                    other.room += room;
                }
                None => page.push(Stretch { range, core, window: window.range.start, score, room }),
            }
        }
        page
    }

    /// Whether a window is worth a passage: less than half of it was shown, and something in it is new.
    fn is_new(&self, window: &Window) -> bool {
        let range = &window.range;
        let shown = self.places[range.clone()].iter().filter(|shown| **shown).count();
        if shown * 2 >= range.len() {
            return false;
        }
        let terms = self.terms_of(range.clone());
        let size: usize = range.clone().map(|at| self.index.characters(self.ranking.eligible[at] as usize)).sum();
        let is_same = |other: &HashSet<u32>| {
            let held = terms.iter().filter(|term| other.contains(term)).count();
            if size < SHORT { terms == *other } else { held as f32 >= SAME * terms.len() as f32 }
        };
        !self.terms.iter().any(is_same)
    }

    /// Returns the first stretch of a window that was not shown.
    fn unshown_part(&self, window: &Window) -> Range<usize> {
        let range = window.range.clone();
        let start = range.clone().find(|at| !self.places[*at]).unwrap_or(range.start);
        let end = (start..range.end).find(|at| self.places[*at]).unwrap_or(range.end);
        start..end
    }

    /// Returns the best part of a stretch that exceeds the room: the one with most of the query's terms.
    fn shrink(&self, core: Range<usize>, room: usize) -> Range<usize> {
        let cost = |at: usize, start: usize| self.cost(at, (at > start).then(|| at - 1));
        if core.clone().map(|at| cost(at, core.start)).sum::<usize>() <= room {
            return core;
        }
        let (mut best, mut most) = (core.start..core.start + 1, 0.0);
        for start in core.clone() {
            let (mut size, mut end) = (cost(start, start), start + 1);
            while end < core.end && size + cost(end, start) <= room {
                size += cost(end, start);
                end += 1;
            }
            let worth = self.worth(start..end);
            if worth > most {
                (best, most) = (start..end, worth);
            }
        }
        best
    }

    /// Returns the score of a stretch: its terms of the query, each weighted by its rarity.
    fn worth(&self, range: Range<usize>) -> f32 {
        let held = self.terms_of(range);
        let asked = self.ranking.terms.iter().filter(|term| held.contains(term));
        asked.map(|term| rarity(self.index.postings(*term).len(), self.index.units.len())).sum()
    }

    /// Returns the piece of a stretch with the best score, the first of several.
    fn best_piece(&self, core: Range<usize>) -> &'a Piece {
        let (mut best, mut most) = (self.piece_at(core.start), f32::MIN);
        let mut start = core.start;
        while start < core.end {
            let piece = self.piece_at(start);
            let end = (start..core.end).find(|at| self.piece_at(*at) != piece).unwrap_or(core.end);
            let worth = self.worth(start..end);
            if worth > most {
                (best, most) = (piece, worth);
            }
            start = end;
        }
        self.piece(best)
    }

    fn terms_of(&self, range: Range<usize>) -> HashSet<u32> {
        let mut found = HashSet::new();
        for unit in range.map(|at| &self.index.units[self.ranking.eligible[at] as usize]) {
            let body = self.index.body(&self.index.pieces[unit.piece as usize]);
            read_terms(&body[unit.start as usize..unit.end as usize], |_, term| {
                found.extend(self.index.number(term, &self.stemmer));
            });
        }
        found
    }

    fn piece_at(&self, at: usize) -> u32 {
        self.index.units[self.ranking.eligible[at] as usize].piece
    }

    fn piece(&self, number: u32) -> &'a Piece {
        &self.index.pieces[number as usize]
    }

    /// Returns the characters that the line at `at` adds to a passage that reaches up to `neighbour`.
    fn cost(&self, at: usize, neighbour: Option<usize>) -> usize {
        let own = self.index.characters(self.ranking.eligible[at] as usize);
        let piece = self.piece_at(at);
        if neighbour.is_some_and(|neighbour| self.piece_at(neighbour) == piece) {
            return own;
        }
        own + self.piece(piece).heading().chars().count() + 2
    }

    /// Whether the line at `at` directly follows the one in front of it in the log too.
    fn is_joined(&self, at: usize) -> bool {
        let unit = |at: usize| self.ranking.eligible.get(at).copied();
        at.checked_sub(1).and_then(unit).zip(unit(at)).is_some_and(|(before, unit)| before + 1 == unit)
    }

    /// Grows a stretch line by line on both sides, first through its own messages, then into their neighbours in the
    /// log; returns it with its characters.
    fn grow(&self, core: Range<usize>, room: usize) -> (Range<usize>, usize) {
        let costs = core.clone().map(|at| self.cost(at, at.checked_sub(1).filter(|before| *before >= core.start)));
        let mut size: usize = costs.sum();
        let (first, last) = (self.piece_at(core.start), self.piece_at(core.end - 1));
        let mut grown = core;
        for within in [true, false] {
            let (mut behind, mut before) = (true, true);
            while behind || before {
                behind = behind && self.is_joined(grown.end) && {
                    let cost = self.cost(grown.end, Some(grown.end - 1));
                    let fits = size + cost <= room && (!within || self.piece_at(grown.end) == last);
                    let takes = fits && !self.places[grown.end];
                    size += if takes { cost } else { 0 };
                    takes
                };
                grown.end += usize::from(behind);
                before = before && self.is_joined(grown.start) && {
                    let cost = self.cost(grown.start - 1, Some(grown.start));
                    let fits = size + cost <= room && (!within || self.piece_at(grown.start - 1) == first);
                    let takes = fits && !self.places[grown.start - 1];
                    size += if takes { cost } else { 0 };
                    takes
                };
                grown.start -= usize::from(before);
            }
        }
        (grown, size)
    }

    fn passage(&self, found: Stretch) -> Passage {
        let units = &self.ranking.eligible[found.range];
        let unit = |number: &u32| &self.index.units[*number as usize];
        let pieces: Vec<&[u32]> = units.chunk_by(|left, right| unit(left).piece == unit(right).piece).collect();
        let (mut text, mut parts) = (String::new(), Vec::new());
        for units in &pieces {
            let [first, .., last] = [&units[..1], &units[units.len() - 1..]].map(|units| unit(&units[0]));
            let piece = self.piece(first.piece);
            if pieces.len() > 1 {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                text.extend([&piece.heading(), "\n"]);
            }
            let body = self.index.body(piece);
            let mut words = String::new();
            for unit in units.iter().map(unit) {
                words.push_str(&body[unit.start as usize..unit.end as usize]);
                words.push_str(if unit.ends_line { "\n" } else { "" });
            }
            text.push_str(&levels::escaped_lines(&words, is_heading));
            let bytes = match &piece.body {
                Body::Recorded(range) => Some(range.start + first.start..range.start + last.end),
                Body::Arguments(_) => None,
            };
            parts.push(PassagePart { message: piece.message, block: piece.block, bytes });
        }
        text.truncate(text.trim_end().len());
        if let Some((end, _)) = text.char_indices().nth(found.room) {
            text.truncate(end); // a single line may be more than there was room for
        }
        let piece = self.best_piece(found.core);
        let message = self.index.message(piece);
        Passage {
            text,
            message: message.id.clone(),
            number: piece.message,
            role: message.role,
            tool: piece.call.as_ref().map(|call| Arc::clone(&call.tool)),
            file: piece.call.as_ref().and_then(|call| call.file.clone()),
            handle: None,
            in_context: None,
            taken_back: Vec::new(),
            left: None,
            score: found.score,
            parts,
        }
    }
}
