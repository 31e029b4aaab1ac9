//! Scores: windows of the log, ranked by BM25.

use std::ops::Range;

use snowball_stemmers_rs::{Algorithm, Stemmer};

use crate::index::Index;
use crate::pieces::Speaker;
use crate::query::Query;
use crate::terms::{asked_term, asks_for_newest, is_value, query_terms, read_terms};

/// Characters of a window. Source: 1,000 to 1,200 find most on the recorded questions; `docs/recall.md` has the figures.
const WINDOW: u32 = 1_000;

/// Characters from the start of one window to the next.
const STEP: u32 = 333;

/// BM25's k1: how soon more of the same term stops counting. Source: the usual value; from 0.6 to 2 little changes.
const SATURATION: f32 = 1.2;

/// BM25's b: how much longer windows lose. Source: the usual value; from 0.3 to 1 little changes.
const LENGTH: f32 = 0.75;

/// The gain of the newest window over the oldest, as a share: of two equal matches the newer one is more likely to be
/// valid.
const NEWER: f32 = 0.2;

/// The worth of a value behind the word that a question asks for, as that word's strength: as much as the word once. Code
/// repeats a name, and one line in many says its value. Source: with it as many of the recorded questions are answered as
/// without.
const ANSWERS: f32 = 1.0;

/// The most bytes from such a word to its value: `port (8417)`, `"port": (int, 8417)`.
const BEHIND: usize = 24;

/// The share of the best score from which on a window matches well enough for the order by age.
const WELL: f32 = 0.5;

/// The windows that match, the best first.
#[derive(Debug)]
pub(crate) struct Ranking {
    /// Ranges of [`eligible`](Self::eligible), each with its score as a share of the best.
    pub(crate) windows: Vec<Window>,
    /// The numbers of the searched units, ascending.
    pub(crate) eligible: Vec<u32>,
    /// The numbers of the terms of all queries, each once.
    pub(crate) terms: Vec<u32>,
}

/// A stretch of the log of about a window's characters.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    /// Places in [`Ranking::eligible`].
    pub(crate) range: Range<usize>,
    pub(crate) score: f32,
}

/// Ranks the windows of an index for a query. Linear in the units and in the occurrences of the query's terms.
pub(crate) fn rank(index: &Index, query: &Query) -> Ranking {
    let scope = Scope::new(index, query);
    let mut total = vec![0.0; scope.windows.len()];
    let asks_nothing = query.words.iter().all(|words| words.trim().is_empty());
    if asks_nothing && (query.newest || !query.from.is_empty()) {
        total.fill(1.0);
    }
    let stemmer = Stemmer::create(Algorithm::English);
    for words in &query.words {
        let scores = scope.score_windows(words, &stemmer);
        let best = scores.iter().copied().fold(0.0, f32::max);
        if best > 0.0 {
            total.iter_mut().zip(scores).for_each(|(total, score)| *total += score / best);
        }
    }
    let mut terms: Vec<u32> = query.words.iter().flat_map(|words| scope.term_numbers(words, &stemmer)).collect();
    terms.sort_unstable();
    terms.dedup();
    let best = total.iter().copied().fold(0.0, f32::max);
    let scored = scope.windows.into_iter().zip(total).filter(|(_, score)| *score > 0.0);
    let mut windows: Vec<Window> = scored.map(|(range, score)| Window { range, score: score / best }).collect();
    let newest = |window: &Window| query.newest && window.score >= WELL;
    windows.sort_by(|left, right| match (newest(left), newest(right)) {
        (true, true) => right.range.start.cmp(&left.range.start),
        (true, false) => std::cmp::Ordering::Less,
        (false, true) => std::cmp::Ordering::Greater,
        (false, false) => right.score.total_cmp(&left.score).then(left.range.start.cmp(&right.range.start)),
    });
    Ranking { windows, terms, eligible: scope.eligible }
}

/// The part of an index that is searched.
pub(crate) struct Scope<'a> {
    index: &'a Index,
    /// The numbers of the units, ascending.
    eligible: Vec<u32>,
    /// The place of each unit of the index among them; [`NOWHERE`] for the others.
    places: Vec<u32>,
    /// Ranges of places, ascending by both ends.
    windows: Vec<Range<usize>>,
    /// The terms of each window.
    lengths: Vec<f32>,
}

const NOWHERE: u32 = u32::MAX;

impl<'a> Scope<'a> {
    /// Returns the part of `index` that a query searches. Linear in the units.
    pub(crate) fn new(index: &'a Index, query: &Query) -> Self {
        let is_eligible: Vec<bool> = index.pieces.iter().map(|piece| piece.is_from(&query.from)).collect();
        let mut places = vec![NOWHERE; index.units.len()];
        let mut eligible = Vec::with_capacity(index.units.len());
        let units = index.units.iter().enumerate();
        for (number, _) in units.filter(|(_, unit)| is_eligible[unit.piece as usize]) {
            places[number] = eligible.len() as u32;
            eligible.push(number as u32);
        }
        let windows = windows(index, &eligible);
        let mut before = Vec::with_capacity(eligible.len() + 1);
        before.push(0);
        for (at, unit) in eligible.iter().enumerate() {
            before.push(before[at] + index.term_count(*unit as usize));
        }
        let lengths = windows.iter().map(|window| (before[window.end] - before[window.start]) as f32).collect();
        Self { index, eligible, places, windows, lengths }
    }

    /// Returns the score of each window for one query.
    fn score_windows(&self, words: &str, stemmer: &Stemmer) -> Vec<f32> {
        let mut scores = vec![0.0; self.windows.len()];
        self.add_terms(&self.term_numbers(words, stemmer), &mut scores);
        if let Some((term, windows)) = self.answering(words, stemmer) {
            let worth = ANSWERS * rarity(self.counts(term).len(), self.windows.len());
            windows.into_iter().for_each(|window| scores[window] += worth);
        }
        let all = self.eligible.len().max(1) as f32;
        for (score, window) in scores.iter_mut().zip(&self.windows) {
            *score *= 1.0 + NEWER * window.start as f32 / all;
        }
        // A person's last message seldom shares a word with a question about what was said last: it counts as if it
        // contained the question's "last", and no other window did.
        if asks_for_newest(words)
            && let Some(newest) = self.windows.iter().rposition(|window| self.holds_typed(window))
        {
            scores[newest] += (1.0 + self.windows.len() as f32).ln();
        }
        scores
    }

    /// Whether a window contains a person's words.
    fn holds_typed(&self, window: &Range<usize>) -> bool {
        let piece = |unit: &u32| &self.index.pieces[self.index.units[*unit as usize].piece as usize];
        self.eligible[window.clone()].iter().any(|unit| piece(unit).speaker == Speaker::User)
    }

    /// Returns the terms of a query as numbers, each once.
    fn term_numbers(&self, words: &str, stemmer: &Stemmer) -> Vec<u32> {
        let number = |key: &String| self.index.number_of_key(key);
        query_terms(words, stemmer).iter().filter_map(number).collect()
    }

    /// Returns how many windows there are.
    pub(crate) fn window_count(&self) -> usize {
        self.windows.len()
    }

    /// Returns how often a term occurs in each window that has it, with the window's number.
    pub(crate) fn counts(&self, term: u32) -> Vec<(usize, u32)> {
        let mut counts: Vec<(usize, u32)> = Vec::new();
        let mut first = 0; // of the windows that a place may stand in
        let mut start = 0; // where that one stands in `counts`, or would
        let places = self.index.postings(term).iter().map(|unit| self.places[*unit as usize]);
        for place in places.filter(|place| *place != NOWHERE).map(|place| place as usize) {
            first += self.windows[first..].iter().take_while(|window| window.end <= place).count();
            start += counts[start..].iter().take_while(|(window, _)| *window < first).count();
            let held = (first..self.windows.len()).take_while(|window| self.windows[*window].start <= place);
            for (at, window) in (start..).zip(held) {
                match counts.get_mut(at) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((window, 1)),
                }
            }
        }
        counts
    }

    /// Returns the term that a question asks for, and the windows that have a value behind it, ascending. Linear in the
    /// lines with the term.
    pub(crate) fn answering(&self, words: &str, stemmer: &Stemmer) -> Option<(u32, Vec<usize>)> {
        let term = self.index.number_of_key(&asked_term(words, stemmer)?)?;
        let postings = self.index.postings(term).chunk_by(|unit, next| unit == next).map(|same| same[0]);
        let searched = postings.filter(|unit| self.places[*unit as usize] != NOWHERE);
        let answering = searched.filter(|unit| self.has_value_behind(*unit, term, stemmer));
        let mut windows: Vec<usize> = Vec::new();
        for place in answering.map(|unit| self.places[unit as usize] as usize) {
            let first = self.windows.partition_point(|window| window.end <= place);
            let first = first.max(windows.last().map_or(0, |last| last + 1));
            windows.extend((first..self.windows.len()).take_while(|window| self.windows[*window].start <= place));
        }
        Some((term, windows))
    }

    /// Whether a value follows a term in a line.
    fn has_value_behind(&self, unit: u32, term: u32, stemmer: &Stemmer) -> bool {
        let unit = &self.index.units[unit as usize];
        let body = self.index.body(&self.index.pieces[unit.piece as usize]);
        let (mut asked, mut answers) = (None, false);
        read_terms(&body[unit.start as usize..unit.end as usize], |at, found| {
            if self.index.number(found, stemmer) == Some(term) {
                asked = Some(at);
            } else if let Some(asked) = asked {
                answers |= at > asked && at - asked <= BEHIND && is_value(found);
            }
        });
        answers
    }

    /// Returns the worth of a value behind the asked term in a window, as strength.
    pub(crate) fn answer_strength(answering: Option<&(u32, Vec<usize>)>, term: u32, window: usize) -> f32 {
        let answers =
            answering.is_some_and(|(asked, windows)| *asked == term && windows.binary_search(&window).is_ok());
        if answers { ANSWERS } else { 0.0 }
    }

    /// Returns the worth of `count` occurrences of a term in a window, before the term's rarity counts.
    pub(crate) fn strength(&self, count: u32, window: usize) -> f32 {
        let average = self.lengths.iter().sum::<f32>() / self.lengths.len().max(1) as f32;
        strength(count, self.lengths[window] / average)
    }

    /// Returns the number of the window that begins at a place.
    pub(crate) fn window_at(&self, place: usize) -> usize {
        self.windows.partition_point(|window| window.start <= place).saturating_sub(1)
    }

    /// Adds the score of each term to the windows that contain it.
    fn add_terms(&self, terms: &[u32], scores: &mut [f32]) {
        let average = self.lengths.iter().sum::<f32>() / self.lengths.len().max(1) as f32;
        for term in terms {
            let counts = self.counts(*term);
            let rarity = rarity(counts.len(), self.windows.len());
            for (window, count) in counts {
                scores[window] += rarity * strength(count, self.lengths[window] / average);
            }
        }
    }
}

/// Returns BM25's weight of a term that `holding` of `all` windows contain.
pub(crate) fn rarity(holding: usize, all: usize) -> f32 {
    (1.0 + (all as f32 - holding as f32 + 0.5) / (holding as f32 + 0.5)).ln()
}

/// Returns BM25's weight of a term that occurs `count` times in a window of `length` averages.
fn strength(count: u32, length: f32) -> f32 {
    let count = count as f32;
    count * (SATURATION + 1.0) / (count + SATURATION * (1.0 - LENGTH + LENGTH * length))
}

/// Returns stretches of the eligible units of about a window's characters, one beginning every step. No window crosses
/// a unit that is not searched: lines in one window are neighbours in the log. Linear.
fn windows(index: &Index, eligible: &[u32]) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    let mut start = 0;
    for run in eligible.chunk_by(|unit, next| unit + 1 == *next) {
        add_windows(index, eligible, start..start + run.len(), &mut windows);
        start += run.len();
    }
    windows
}

/// Adds the windows of a run of neighbours.
fn add_windows(index: &Index, eligible: &[u32], run: Range<usize>, windows: &mut Vec<Range<usize>>) {
    let length = |at: usize| index.characters(eligible[at] as usize) as u32;
    let (mut end, mut size, mut passed, mut next) = (run.start, 0, 0, 0);
    for start in run.clone() {
        while end < run.end && (end <= start || size + length(end) <= WINDOW) {
            size += length(end);
            end += 1;
        }
        if passed >= next {
            next = passed + STEP;
            if windows.last().is_none_or(|last| last.end < end) {
                windows.push(start..end);
            }
        }
        passed += length(start);
        size -= length(start);
    }
}
