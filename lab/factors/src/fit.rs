//! Weights of at least 0 by least squares of the relative error, in which requests that are far off count little.

use crate::growth::{Counts, Growth, KINDS};

/// Tokens for one of each kind.
pub(crate) type Weights = Counts;

/// How often the reasoning that is not shown, and the weight of each request, are set again by the weights found.
const ROUNDS: usize = 8;

/// Sweeps of coordinate descent in a round.
const SWEEPS: usize = 2_000;

/// The relative error from which a request counts less.
const USUAL_ERROR: f64 = 0.1;

/// Returns the weights that a family's growths give.
pub(crate) fn fit(growths: &[Growth]) -> Weights {
    let mut weights = Weights::default();
    weights[0] = 1.2; // anything near the result
    for _ in 0..ROUNDS {
        let mut squares = [[0.0; KINDS.len()]; KINDS.len()];
        let mut products = Weights::default();
        for growth in growths {
            let (counts, reported) = shown_part(&weights, growth);
            if reported <= 0.0 {
                continue;
            }
            let error = (reported - sum(&weights, &counts)).abs() / reported;
            let weight = (USUAL_ERROR / error.max(USUAL_ERROR)).powi(2) / reported;
            for (row, one) in counts.iter().enumerate() {
                products[row] += weight * one * reported;
                for (column, other) in counts.iter().enumerate() {
                    squares[row][column] += weight * one * other;
                }
            }
        }
        descend(&mut weights, &squares, &products);
    }
    weights
}

fn descend(weights: &mut Weights, squares: &[[f64; KINDS.len()]; KINDS.len()], products: &Weights) {
    for _ in 0..SWEEPS {
        for kind in 0..KINDS.len() {
            let own = squares[kind][kind];
            if own > 0.0 {
                let rest = products[kind] - sum(&squares[kind], weights);
                weights[kind] = (weights[kind] + rest / own).max(0.0);
            }
        }
    }
}

/// What a recording shows of a growth, and the provider's tokens for it: without the reasoning that it does not show.
fn shown_part(weights: &Weights, growth: &Growth) -> (Counts, f64) {
    let mut counts = growth.answer;
    counts.iter_mut().zip(growth.others).for_each(|(sum, one)| *sum += one);
    let hidden = (growth.output - sum(weights, &growth.answer)).max(0.0);
    (counts, growth.grown - hidden)
}

fn sum(weights: &Weights, counts: &Counts) -> f64 {
    weights.iter().zip(counts).map(|(weight, count)| weight * count).sum()
}

/// Returns the median of reported over computed tokens, each request weighing what it grew by.
pub(crate) fn median_ratio(weights: &Weights, growths: &[Growth]) -> Option<f64> {
    let mut ratios: Vec<(f64, f64)> = growths
        .iter()
        .map(|growth| {
            let (counts, reported) = shown_part(weights, growth);
            let computed = sum(weights, &counts);
            (reported / computed, computed)
        })
        .filter(|(ratio, computed)| *ratio > 0.0 && *computed > 0.0)
        .collect();
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let total: f64 = ratios.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    ratios.into_iter().find_map(|(ratio, weight)| {
        below += weight;
        (2.0 * below >= total).then_some(ratio)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A growth of known tokens: 1.5 for a token and half a one for a capital, with reasoning of 40 that is not shown.
    fn growth(tokens: f64, capitals: f64) -> Growth {
        let (answer, others) = ([10.0, 0.0, 2.0, 0.0], [tokens, 0.0, capitals, 0.0]);
        let spent = |counts: &Counts| 1.5 * counts[0] + 0.5 * counts[2];
        let output = spent(&answer) + 40.0;
        Growth { answer, others, output, grown: output + spent(&others) }
    }

    #[test]
    fn known_weights_are_found_again() {
        let mut growths: Vec<Growth> =
            (1..60).map(|step| growth(f64::from(step * 37 % 900 + 100), f64::from(step * 53 % 200))).collect();
        growths.push(Growth { grown: 90_000.0, ..growth(300.0, 20.0) });
        let weights = fit(&growths);
        for (found, expect) in weights.iter().zip([1.5, 0.0, 0.5, 0.0]) {
            assert!((found - expect).abs() < 0.02, "{weights:?}");
        }
        assert!(median_ratio(&weights, &growths).is_some_and(|ratio| (ratio - 1.0).abs() < 0.01));
        assert_eq!(median_ratio(&weights, &[]), None);
    }
}
