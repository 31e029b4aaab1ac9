//! Choosing what of a long text stays: pieces, what they are worth, and how many fit.

use std::ops::Range;

use crate::services::Tokens;
use crate::text;
use crate::view::View;

/// A line longer than this many bytes is several pieces, so that a text of one giant line can be cut too.
const LONGEST_LINE: usize = 400;
/// The most bytes of a piece of such a line: small enough for small budgets.
const LONGEST_PIECE: usize = 120;
/// Gaps of at most this many bytes stay: the mark would cost as much.
const SHORTEST_GAP: usize = 48;
/// How many pieces in a row may be too large for what is left of a budget before the choice ends.
const MOST_MISSES: u32 = 32;

/// The byte ranges of a text's lines, each with its line feed; a very long line is cut behind white space, a comma, a
/// semicolon or a bracket. They cover the text. Linear.
pub fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    for line in text::lines(text) {
        let mut at = line.start;
        while line.len() > LONGEST_LINE && line.end - at > LONGEST_PIECE {
            let reach = &text.as_bytes()[at + LONGEST_PIECE / 2..at + LONGEST_PIECE];
            let is_break = |byte: &u8| matches!(byte, b' ' | b'\t' | b',' | b';' | b'}' | b']' | b')' | b'>');
            let end = match reach.iter().rposition(is_break) {
                Some(offset) => at + LONGEST_PIECE / 2 + offset + 1,
                None => text::floor_boundary(text, at + LONGEST_PIECE),
            };
            pieces.push(at..end);
            at = end;
        }
        pieces.push(at..line.end);
    }
    pieces
}

/// The numbers below `count` from both ends inwards: 0, the last, 1, the last but one, …
pub fn from_both_ends(count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |step| if step % 2 == 0 { step / 2 } else { count - 1 - step / 2 })
}

/// The ranges of `text` to keep: pieces in the order in which `ranked` names them, as many as `budget` tokens hold, the
/// marks for what is left out included. Pieces must be sorted and cover the text.
///
/// Only the pieces that are looked at are counted, so the cost goes with the budget and not with the text.
pub fn fit(
    view: &View<'_>,
    text: &str,
    pieces: &[Range<usize>],
    ranked: impl IntoIterator<Item = usize>,
    budget: Tokens,
) -> Vec<Range<u32>> {
    let (first_mark, mark) = (view.mark_tokens(), view.further_mark_tokens());
    let mut kept = vec![false; pieces.len()];
    let mut chosen = Vec::new();
    let marks_tokens = |gaps: usize| if gaps == 0 { 0 } else { first_mark + (gaps as Tokens - 1) * mark };
    let mut used = first_mark;
    let mut left_out = 1; // gaps
    let mut misses = 0;
    for index in ranked {
        if kept[index] {
            continue;
        }
        let left = usize::from(index > 0 && !kept[index - 1]);
        let right = usize::from(index + 1 < pieces.len() && !kept[index + 1]);
        let gaps = left_out - 1 + left + right;
        let marks = used - marks_tokens(left_out) + marks_tokens(gaps);
        // A token of more than 64 bytes is as good as unseen: a giant line that cannot fit is not counted at all.
        let least = (pieces[index].len() / 64) as Tokens;
        if marks + least > budget || marks + view.count(&text[pieces[index].clone()]) > budget {
            misses += 1;
            if misses == MOST_MISSES {
                break;
            }
            continue;
        }
        misses = 0;
        used = marks + view.count(&text[pieces[index].clone()]);
        left_out = gaps;
        kept[index] = true;
        chosen.push(index);
    }
    // Counts of pieces add up to no less than the count of the whole for every vocabulary seen; this makes sure.
    loop {
        let ranges = joined(pieces, &kept, text.len());
        let gaps = gaps(&ranges, text.len());
        let count: Tokens =
            ranges.iter().map(|range| view.count(&text[range.start as usize..range.end as usize])).sum();
        if count + marks_tokens(gaps) <= budget {
            return ranges;
        }
        match chosen.pop() {
            Some(last) => kept[last] = false,
            None => return Vec::new(),
        }
    }
}

/// Kept pieces as ranges, short gaps between them closed.
fn joined(pieces: &[Range<usize>], kept: &[bool], length: usize) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for (piece, _) in pieces.iter().zip(kept).filter(|(_, kept)| **kept) {
        let (start, end) = (piece.start as u32, piece.end as u32);
        match ranges.last_mut() {
            Some(last) if start as usize <= last.end as usize + SHORTEST_GAP => last.end = end,
            None if start as usize <= SHORTEST_GAP => ranges.push(0..end),
            _ => ranges.push(start..end),
        }
    }
    if let Some(last) = ranges.last_mut()
        && length <= last.end as usize + SHORTEST_GAP
    {
        last.end = length as u32;
    }
    ranges
}

fn gaps(ranges: &[Range<u32>], length: usize) -> usize {
    let before = ranges.first().is_none_or(|range| range.start > 0);
    let after = ranges.last().is_some_and(|range| (range.end as usize) < length);
    ranges.len().saturating_sub(1) + usize::from(before) + usize::from(after)
}

/// How much of each amount may stay so that together at least `need` goes: an amount stays whole up to the level times
/// its weight, and never goes below `floor`. 0 when even the floor leaves too much.
///
/// Large amounts give first, equal ones give the same; a weight of 2 keeps twice as much.
pub fn level(amounts: &[(Tokens, f64)], floor: Tokens, need: Tokens) -> f64 {
    let saved = |level: f64| -> u64 {
        amounts.iter().map(|(tokens, weight)| u64::from(tokens.saturating_sub(allowed(level, *weight, floor)))).sum()
    };
    if saved(0.0) <= u64::from(need) {
        return 0.0;
    }
    let highest = amounts.iter().map(|(tokens, weight)| f64::from(*tokens) / weight.max(0.01)).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, highest);
    // 32 halvings of a level below 2³² tokens are exact to a token.
    for _ in 0..32 {
        let middle = (low + high) / 2.0;
        if saved(middle) >= u64::from(need) { low = middle } else { high = middle }
    }
    low
}

/// What may stay of an amount at a level: see [`level`].
pub fn allowed(level: f64, weight: f64, floor: Tokens) -> Tokens {
    floor.max((level * weight) as Tokens)
}

/// Share of a budget that error lines and lines in focus may take; the rest is for the text's two ends.
const TELLING_SHARE: f64 = 0.6;

/// The ranges of a tool's output to keep within `budget` tokens, marks included: the first and the last line, lines that
/// speak of errors and lines in `focus`, then both ends inwards. Empty when nothing fits. Linear in the text.
pub fn telling_lines(view: &View<'_>, text: &str, focus: &Focus, budget: Tokens) -> Vec<Range<u32>> {
    let pieces = pieces(text);
    if budget == 0 || pieces.is_empty() {
        return Vec::new();
    }
    let line = |index: usize| &text[pieces[index].clone()];
    let focus = focus.telling((0..pieces.len()).map(line));
    let errors: Vec<usize> = (0..pieces.len()).filter(|index| is_error_line(line(*index))).collect();
    let mut picked: Vec<usize> = (0..pieces.len()).filter(|index| focus.hits(line(*index)) > 0).collect();
    // Where most lines speak of errors (a listing of `error.rs`, say) it says nothing about one of them.
    if errors.len() * 2 <= pieces.len() {
        picked.extend(errors);
    }
    let sample = &text[..text::floor_boundary(text, 2000)];
    let bytes_per_token = sample.len() as f64 / f64::from(view.count(sample).max(1));
    let room = (f64::from(budget) * TELLING_SHARE * bytes_per_token) as usize;
    let mut used = 0;
    picked.retain(|index| {
        used += pieces[*index].len();
        used <= room
    });
    let ends = || from_both_ends(pieces.len());
    fit(view, text, &pieces, ends().take(2).chain(picked).chain(ends()), budget)
}

/// How many tokens each of several summaries may take: `least`, and of what `room` leaves beyond that its part by the
/// size of what it replaces; never more than `most` nor than half of that size, where these are above `least`.
pub fn allot(sizes: &[Tokens], least: Tokens, most: Tokens, room: Tokens) -> Vec<Tokens> {
    let total = sizes.iter().map(|size| u64::from(*size)).sum::<u64>().max(1);
    let spare = u64::from(room).saturating_sub(u64::from(least) * sizes.len() as u64);
    let part = |size: &Tokens| least + (spare * u64::from(*size) / total) as Tokens;
    sizes.iter().map(|size| part(size).min(most).min(size / 2).max(least)).collect()
}

/// Words that make a line of tool output worth keeping, in lower case.
const ERROR_WORDS: &[&str] = &[
    "error",
    "fail",
    "panic",
    "exception",
    "traceback",
    "fatal",
    "denied",
    "not found",
    "no such",
    "cannot",
    "can't",
    "undefined",
    "unresolved",
    "assert",
    "expected",
    "mismatch",
    "refused",
    "timed out",
    "timeout",
    "segfault",
    "killed",
    "abort",
    "invalid",
    "missing",
    "unexpected",
    "错误",
    "失败",
    "异常",
    "拒绝",
    "超时",
    "无法",
    "找不到",
    "不存在",
    "崩溃",
];

/// Phrases that say that nothing went wrong.
const NO_ERROR: &[&str] =
    &["0 errors", "0 failed", "0 failures", "no errors", "no error", "without error", "0 个错误", "没有错误"];

/// Whether a line of tool output speaks of something that went wrong, in English or Chinese. Linear in the line.
pub fn is_error_line(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    if !ERROR_WORDS.iter().any(|word| line.contains(word)) {
        return false;
    }
    if !NO_ERROR.iter().any(|phrase| line.contains(phrase)) {
        return true;
    }
    let rest = NO_ERROR.iter().fold(line, |line, phrase| line.replace(phrase, ""));
    ERROR_WORDS.iter().any(|word| rest.contains(word))
}

/// Words too common to tell one line from another.
const STOP_WORDS: &[&str] = &[
    "the", "and", "for", "with", "that", "this", "from", "have", "has", "are", "was", "were", "you", "your", "not",
    "but", "can", "could", "should", "would", "will", "please", "into", "all", "any", "what", "why", "how", "when",
    "where", "which", "then", "than", "them", "they", "there", "here", "just", "make", "sure", "let", "use", "using",
    "does", "did", "now", "also", "only", "need", "want", "add", "get", "out", "its", "it's", "about", "some", "code",
    "file", "files",
];

/// Whether a word (in lower case) is too common to tell one English text from another.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// What the current question is about: the terms that lines are matched with.
#[derive(Debug, Clone, Default)]
pub struct Focus {
    terms: Vec<String>,
}

impl Focus {
    /// The terms of a question: words of three letters or more that say something, pairs of Chinese characters; at most
    /// 32. None without a question.
    pub fn new(question: Option<&str>) -> Self {
        let mut terms: Vec<String> = Vec::new();
        let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '/' | ':');
        for word in question.unwrap_or_default().split(|char: char| !is_part(char)) {
            let word = word.trim_matches(|char: char| !char.is_alphanumeric());
            let cjk: Vec<char> = word.chars().filter(|char| text::is_cjk(*char)).collect();
            let found: Vec<String> = if cjk.len() > 1 {
                cjk.windows(2).map(|pair| pair.iter().collect()).collect()
            } else {
                vec![word.to_ascii_lowercase()]
            };
            for term in found {
                let says_something = term.chars().any(text::is_cjk) || term.chars().count() >= 3;
                if says_something && !STOP_WORDS.contains(&term.as_str()) && !terms.contains(&term) {
                    terms.push(term);
                }
                if terms.len() == 32 {
                    return Self { terms };
                }
            }
        }
        Self { terms }
    }

    /// Whether there is nothing to match.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// How many of the terms a line holds, each at the start of a word. Linear in the line.
    pub fn hits(&self, line: &str) -> usize {
        if self.terms.is_empty() {
            return 0;
        }
        let line = line.to_ascii_lowercase();
        self.terms.iter().filter(|term| holds(&line, term)).count()
    }

    /// The same terms without those that more than a quarter of `lines` hold: they tell nothing apart.
    #[must_use]
    pub fn telling<'t>(&self, lines: impl Iterator<Item = &'t str>) -> Self {
        let mut counts = vec![0usize; self.terms.len()];
        let mut total = 0;
        for line in lines {
            total += 1;
            if self.terms.is_empty() {
                return Self::default();
            }
            let line = line.to_ascii_lowercase();
            for (count, term) in counts.iter_mut().zip(&self.terms) {
                *count += usize::from(holds(&line, term));
            }
        }
        let tells = |count: usize| total < 8 || count * 4 <= total;
        let terms = self.terms.iter().zip(counts).filter(|(_, count)| tells(*count)).map(|(term, _)| term.clone());
        Self { terms: terms.collect() }
    }
}

/// Whether `line` holds `term` at the start of a word; Chinese has no such starts.
fn holds(line: &str, term: &str) -> bool {
    let is_start = |at: usize| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|char| !char.is_alphanumeric() || text::is_cjk(char))
    };
    let is_cjk = term.chars().next().is_some_and(text::is_cjk);
    line.match_indices(term).any(|(at, _)| is_cjk || is_start(at))
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
