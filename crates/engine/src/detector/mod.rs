//! Detects the kind of task of a session: counts what was said and done in it, and weighs the counts by one table.
//!
//! The verdict is the kind with the highest score. The confidence is its share among the scores' exponentials, drawn
//! towards even shares where there is little material. `docs/detection.md` has the agreement with labelled sessions.

mod call_purpose;
mod signals;
mod weights;

use epitome_strategy::text::counted;
use epitome_strategy::{TaskDetector, TaskKind, Verdict, View};

use signals::Signals;
use weights::{BIAS, FEATURES, KINDS};

/// The detector that ships. It reads calls, typed messages, and how turns and calls alternate, those behind summaries
/// included. Linear in the view and in the messages behind its summaries.
#[derive(Debug, Clone, Copy, Default)]
pub struct SignalDetector;

/// The fewest typed messages, calls and edit blocks together that allow a verdict.
const LEAST_MATERIAL: usize = 4;

/// The amount of material at which the confidence moves halfway from even shares to the kind's own.
const HALF_BELIEVED: f64 = 1.0;

/// Evidence that adds less than this to the verdict's score over the second best is not reported.
const LEAST_TOLD: f64 = 0.15;

/// The most lines of evidence for the verdict.
const MOST_LINES: usize = 4;

impl TaskDetector for SignalDetector {
    fn detect(&self, view: &View<'_>) -> Verdict {
        verdict(&Signals::read(view))
    }
}

fn verdict(signals: &Signals) -> Verdict {
    let material = signals.typed + signals.calls + signals.edit_blocks;
    if material < LEAST_MATERIAL {
        let evidence = vec![format!(
            "too little to tell: {}, {}",
            counted(signals.typed, "typed message"),
            counted(signals.calls, "tool call")
        )];
        return Verdict { kind: TaskKind::Unknown, confidence: 0.0, evidence };
    }
    let values: Vec<f64> = FEATURES.iter().map(|feature| (feature.value)(signals).clamp(0.0, 1.0)).collect();
    let mut scores = BIAS;
    for (feature, value) in FEATURES.iter().zip(&values) {
        for (score, weight) in scores.iter_mut().zip(feature.weights) {
            *score += weight * value;
        }
    }
    let (first, second) = best_two(&scores);
    let share = 1.0 / scores.iter().map(|score| (score - scores[first]).exp()).sum::<f64>();
    let even = 1.0 / KINDS.len() as f64;
    let believed = material as f64 / (material as f64 + HALF_BELIEVED);
    let confidence = even + (share - even) * believed;
    Verdict {
        kind: KINDS[first],
        confidence: (confidence * 100.0).round() / 100.0,
        evidence: evidence(signals, &values, first, second),
    }
}

/// Returns the positions of the highest and the second highest score; the first of equals.
fn best_two(scores: &[f64]) -> (usize, usize) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
    (order[0], order[1])
}

/// Returns the evidence for the first kind over the second, strongest first, and the strongest against it.
fn evidence(signals: &Signals, values: &[f64], first: usize, second: usize) -> Vec<String> {
    let mut weighted_lines: Vec<(f64, String)> = FEATURES
        .iter()
        .zip(values)
        .map(|(feature, value)| (value * (feature.weights[first] - feature.weights[second]), feature))
        .filter(|(gain, _)| gain.abs() >= LEAST_TOLD)
        .map(|(gain, feature)| (gain, (feature.says)(signals)))
        .collect();
    weighted_lines.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let against = weighted_lines.last().filter(|(gain, _)| *gain < 0.0);
    let against = against.map(|(_, line)| format!("rather {}: {line}", KINDS[second]));
    let mut lines: Vec<String> = Vec::new();
    for (_, line) in weighted_lines.iter().filter(|(gain, _)| *gain > 0.0) {
        if lines.len() < MOST_LINES && !lines.contains(line) {
            lines.push(line.clone());
        }
    }
    lines.extend(against);
    lines
}

#[cfg(test)]
mod tests;
