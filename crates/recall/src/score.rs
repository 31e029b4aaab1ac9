//! Scores: windows of the log, ranked by BM25.

use std::ops::Range;

use snowball_stemmers_rs::{Algorithm, Stemmer};

use crate::index::Index;
use crate::query::Query;
use crate::terms::{Term, is_empty, terms};

/// Characters of a window.
const WINDOW: u32 = 1_000;

/// Characters from the start of one window to the next.
const STEP: u32 = 250;

/// How soon a term's further occurrences stop to count.
const SATURATION: f32 = 1.2;

/// How much a window with many terms has to have more of those asked for.
const LENGTH: f32 = 0.75;

/// What the newest window gains over the oldest, as a share.
const NEWER: f32 = 0.2;

/// The windows that match, the best first.
#[derive(Debug)]
pub(crate) struct Ranking {
    /// Ranges of [`eligible`](Self::eligible) units, each with its score as a share of the best.
    pub(crate) windows: Vec<(Range<usize>, f32)>,
    /// The units that were searched, ascending.
    pub(crate) eligible: Vec<u32>,
}

/// Ranks the windows of an index for a query.
pub(crate) fn rank(index: &Index, query: &Query) -> Ranking {
    let is_eligible: Vec<bool> = index.pieces.iter().map(|piece| piece.is_from(&query.from)).collect();
    let eligible: Vec<u32> =
        (0..index.units.len() as u32).filter(|unit| is_eligible[index.units[*unit as usize].piece as usize]).collect();
    let windows = windows(index, &eligible);
    let mut place = vec![u32::MAX; index.units.len()];
    eligible.iter().enumerate().for_each(|(at, unit)| place[*unit as usize] = at as u32);

    let mut total = vec![0.0; windows.len()];
    let stemmer = Stemmer::create(Algorithm::English);
    let lengths: Vec<f32> = windows
        .iter()
        .map(|window| {
            eligible[window.clone()]
                .iter()
                .map(|unit| index.term_count(*unit as usize..*unit as usize + 1))
                .sum::<usize>() as f32
        })
        .collect();
    for words in &query.words {
        let mut scores = vec![0.0; windows.len()];
        add_scores(index, &windows, &lengths, &place, &asked(index, words, &stemmer), &mut scores);
        for (at, score) in scores.iter_mut().enumerate() {
            *score *= 1.0 + NEWER * windows[at].start as f32 / eligible.len().max(1) as f32;
        }
        let best = scores.iter().copied().fold(0.0, f32::max);
        if best > 0.0 {
            total.iter_mut().zip(scores).for_each(|(total, score)| *total += score / best);
        }
    }
    if query.words.iter().all(|words| words.trim().is_empty()) && (query.newest || !query.from.is_empty()) {
        total.fill(1.0);
    }
    let best = total.iter().copied().fold(0.0, f32::max);
    let mut found: Vec<(Range<usize>, f32)> = windows
        .into_iter()
        .zip(total)
        .filter(|(_, score)| *score > 0.0)
        .map(|(window, score)| (window, score / best))
        .collect();
    if query.newest {
        found.sort_by(|left, right| (right.1 >= 0.5).cmp(&(left.1 >= 0.5)).then(right.0.start.cmp(&left.0.start)));
    } else {
        found.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.start.cmp(&right.0.start)));
    }
    Ranking { windows: found, eligible }
}

/// The terms that a query asks for, as numbers, each once.
fn asked(index: &Index, words: &str, stemmer: &Stemmer) -> Vec<u32> {
    let (mut asked, mut empty) = (Vec::new(), Vec::new());
    terms(words, |_, term| {
        let Some(number) = index.number(term, stemmer) else { return };
        match term {
            Term::Word(word) if is_empty(word) => empty.push(number),
            _ => asked.push(number),
        }
    });
    let mut asked = if asked.is_empty() { empty } else { asked };
    asked.sort_unstable();
    asked.dedup();
    asked
}

/// Stretches of the eligible units of about a window's characters, one beginning every step. Linear.
fn windows(index: &Index, eligible: &[u32]) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    let (mut end, mut size, mut next, mut passed) = (0, 0, 0, 0);
    let length = |at: usize| index.characters(eligible[at] as usize..eligible[at] as usize + 1) as u32;
    for start in 0..eligible.len() {
        while end < eligible.len() && (end <= start || size + length(end) <= WINDOW) {
            size += length(end);
            end += 1;
        }
        if passed >= next {
            next = passed + STEP;
            let holds_more = windows.last().is_none_or(|last| last.end < end);
            if holds_more {
                windows.push(start..end);
            }
        }
        passed += length(start);
        size -= length(start);
    }
    windows
}

/// Adds the score of each term to the windows that it stands in.
fn add_scores(
    index: &Index,
    windows: &[Range<usize>],
    lengths: &[f32],
    place: &[u32],
    asked: &[u32],
    scores: &mut [f32],
) {
    let average = lengths.iter().sum::<f32>() / lengths.len().max(1) as f32;
    let mut counts = vec![0_u32; windows.len()];
    let mut touched = Vec::new();
    for term in asked {
        let mut first = 0;
        for unit in index.postings(*term) {
            let at = place[*unit as usize] as usize;
            if at == u32::MAX as usize {
                continue;
            }
            while first < windows.len() && windows[first].end <= at {
                first += 1;
            }
            for window in (first..windows.len()).take_while(|window| windows[*window].start <= at) {
                if counts[window] == 0 {
                    touched.push(window);
                }
                counts[window] += 1;
            }
        }
        let (all, found) = (windows.len() as f32, touched.len() as f32);
        let rarity = (1.0 + (all - found + 0.5) / (found + 0.5)).ln();
        for window in touched.drain(..) {
            let count = counts[window] as f32;
            let norm = SATURATION * (1.0 - LENGTH + LENGTH * lengths[window] / average);
            scores[window] += rarity * count * (SATURATION + 1.0) / (count + norm);
            counts[window] = 0;
        }
    }
}
