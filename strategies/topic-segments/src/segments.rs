//! Finds where one topic ends and the next begins.

use std::ops::Range;

use epitome_strategy::{Cue, Cues, Lexicon};

use crate::Settings;
use crate::passages::Passages;
use crate::terms::{self, Vector};

/// The last position, in bytes, of a shift word in a typed message: behind `Great, thanks!` or `好的，谢谢。`.
const OPENING_BYTES: usize = 60;
/// The share of new terms from which on an opening is something new.
const NEW_SHARE: f32 = 0.6;
/// An opening with fewer terms says too little to be something new: `yes, please`.
const LEAST_OPENING_TERMS: usize = 4;
/// The score of a standard deviation in depth, and how many count at most.
const DEPTH_SCORE: f32 = 0.6;
const MOST_DEVIATIONS: f32 = 2.0;
/// The score of a gap in front of a typed message.
const TYPED_SCORE: f32 = 0.2;
/// The score of a gap behind an earlier summary: that was a topic of its own.
const SUMMARY_SCORE: f32 = 0.4;
/// Milliseconds of a minute.
const MINUTE: f64 = 60_000.0;

/// A topic: consecutive passages.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) units: Range<usize>,
    passages: Range<usize>,
}

impl Segment {
    /// Its most informative words, for a person.
    pub(crate) fn describe(&self, passages: &Passages<'_>) -> String {
        let mut sum = terms::sum(passages.list[self.passages.clone()].iter().map(|passage| &passage.terms));
        sum.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let words: Vec<&str> =
            sum.iter().take(3).map(|(term, _)| passages.terms.names[*term as usize].as_str()).collect();
        if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
    }
}

/// Returns the topics of a session in order; the last is the current one. Linear in the passages' terms, times the
/// window.
pub(crate) fn find(passages: &Passages<'_>, settings: &Settings) -> Vec<Segment> {
    let list = &passages.list;
    let boundaries = boundaries(passages, settings);
    let starts = std::iter::once(0).chain(boundaries.iter().copied());
    let ends = boundaries.iter().copied().chain([list.len()]);
    starts
        .zip(ends)
        .filter(|(start, end)| start < end)
        .map(|(start, end)| Segment { units: list[start].units.start..list[end - 1].units.end, passages: start..end })
        .collect()
}

/// Returns the passages that begin a topic, ascending, without the first.
fn boundaries(passages: &Passages<'_>, settings: &Settings) -> Vec<usize> {
    let list = &passages.list;
    let mut behind = vec![0u64; list.len() + 1]; // tokens in front of each passage
    for (index, passage) in list.iter().enumerate() {
        behind[index + 1] = behind[index] + u64::from(passage.tokens);
    }
    let scores = scores(passages, settings);
    let mut gaps: Vec<usize> = (1..list.len()).filter(|gap| scores[*gap] >= settings.boundary_score as f32).collect();
    gaps.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    // The clearest first: a boundary too near to a clearer one does not count.
    let mut chosen = std::collections::BTreeSet::new();
    for gap in gaps {
        let before = chosen.range(..gap).next_back().copied().unwrap_or(0);
        let after = chosen.range(gap..).next().copied().unwrap_or(list.len());
        let least = u64::from(settings.min_topic_tokens);
        // The current topic may be young, and an earlier summary is a finished topic.
        let is_long = |from: usize, to: usize| {
            let was_topic = from + 1 == to && list[from].is_summary;
            behind[to] - behind[from] >= least || to == list.len() || was_topic
        };
        if list[gap].is_summary || (is_long(before, gap) && is_long(gap, after)) {
            chosen.insert(gap);
        }
    }
    chosen.into_iter().collect()
}

/// Returns the evidence for a boundary in front of each passage.
fn scores(passages: &Passages<'_>, settings: &Settings) -> Vec<f32> {
    let list = &passages.list;
    let window = settings.window as usize;
    let around = |range: Range<usize>| terms::sum(list[range].iter().map(|passage| &passage.terms));
    let mut cohesions = vec![0.0; list.len()];
    let mut novelties = vec![0.0; list.len()];
    for gap in 1..list.len() {
        let before: Vector = around(gap.saturating_sub(window)..gap);
        cohesions[gap] = terms::cosine(&before, &around(gap..list.len().min(gap + window)));
        novelties[gap] = terms::novelty(&list[gap].opening_terms, &before);
    }
    let depths = depths(&cohesions);
    let (mean, deviation) = mean_and_deviation(depths.get(1..).unwrap_or_default());
    let score = |gap: usize| {
        let passage = &list[gap];
        if gap == 0 {
            return 0.0;
        }
        if passage.is_summary {
            return f32::MAX;
        }
        let depth = ((depths[gap] - mean) / deviation).clamp(-1.0, MOST_DEVIATIONS) * DEPTH_SCORE;
        let signs = [
            (list[gap - 1].is_summary, SUMMARY_SCORE),
            (passage.opening.is_some(), TYPED_SCORE),
            (
                passage.opening.as_deref().is_some_and(|text| opens_new(text, passages.lexicon)),
                settings.shift_score as f32,
            ),
            (
                passage.opening_terms.len() >= LEAST_OPENING_TERMS && novelties[gap] >= NEW_SHARE,
                settings.novelty_score as f32,
            ),
            (pause(passages, gap) >= settings.pause_minutes * MINUTE, settings.pause_score as f32),
        ];
        signs.into_iter().filter(|(is_so, _)| *is_so).fold(depth, |score, (_, counts)| score + counts)
    };
    (0..list.len()).map(score).collect()
}

/// Returns how deep each gap lies below the peaks of cohesion to its left and right.
fn depths(cohesions: &[f32]) -> Vec<f32> {
    let mut depths = vec![0.0; cohesions.len()];
    let mut peak = f32::MIN; // the peak that a climb to the left reaches
    for gap in 1..cohesions.len() {
        peak =
            if gap > 1 && cohesions[gap - 1] > cohesions[gap] { peak.max(cohesions[gap - 1]) } else { cohesions[gap] };
        depths[gap] += peak - cohesions[gap];
    }
    peak = f32::MIN;
    for gap in (1..cohesions.len()).rev() {
        let next = cohesions.get(gap + 1).copied().unwrap_or(f32::MIN);
        peak = if next > cohesions[gap] { peak.max(next) } else { cohesions[gap] };
        depths[gap] += peak - cohesions[gap];
    }
    depths
}

/// Returns mean and standard deviation; the latter is never so small that noise is significant.
fn mean_and_deviation(values: &[f32]) -> (f32, f32) {
    let count = values.len().max(1) as f32;
    let mean = values.iter().sum::<f32>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / count;
    (mean, variance.sqrt().max(0.1))
}

/// Returns the milliseconds between a passage and the one before it; 0 where they are not known.
fn pause(passages: &Passages<'_>, gap: usize) -> f64 {
    let (before, after) = (passages.list[gap - 1].times, passages.list[gap].times);
    before.zip(after).map_or(0.0, |((_, end), (start, _))| (start - end) as f64)
}

/// Whether a typed message opens with words that change the subject.
pub(crate) fn opens_new(text: &str, lexicon: &Lexicon) -> bool {
    let text = text.trim_start();
    lexicon.has(&text[..text.floor_char_boundary(OPENING_BYTES)], Cues::new([Cue::TopicShift]))
}
