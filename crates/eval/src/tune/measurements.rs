//! What was measured in a search: nothing is measured twice.

use std::collections::HashMap;

use super::bench::{Bench, TuneCase};
use super::candidate::Candidate;
use super::weights::Weights;
use crate::EvalError;
use crate::figures::score::Scores;

/// Receives the number of measurements that were just made.
pub(crate) type Listener<'a> = &'a mut dyn FnMut(usize);

/// Measurements, looked up before new ones are made.
pub(crate) struct MeasurementCache<'a> {
    bench: &'a dyn Bench,
    cases: Vec<TuneCase>,
    weights: Weights,
    /// By candidate and case.
    known: HashMap<(String, usize), Option<f64>>,
    listener: Listener<'a>,
}

impl<'a> MeasurementCache<'a> {
    pub(crate) fn new(bench: &'a dyn Bench, weights: Weights, listener: Listener<'a>) -> Self {
        Self { bench, cases: bench.cases(), weights, known: HashMap::new(), listener }
    }

    pub(crate) fn cases(&self) -> &[TuneCase] {
        &self.cases
    }

    /// Returns the objective of a candidate on each of the cases: the mean over budgets; `None` where no figure counts.
    /// Only unknown ones are measured.
    pub(crate) fn objectives(
        &mut self,
        candidate: &Candidate,
        numbers: &[usize],
    ) -> Result<Vec<Option<f64>>, EvalError> {
        let name = candidate.key();
        let key = |number: &usize| (name.clone(), *number);
        let missing: Vec<usize> =
            numbers.iter().filter(|number| !self.known.contains_key(&key(number))).copied().collect();
        if !missing.is_empty() {
            let found = self.bench.measure(candidate, &missing)?;
            (self.listener)(missing.len());
            let of_case = |scores: Vec<Scores>| {
                let parts: Vec<f64> = scores.iter().filter_map(|scores| self.weights.objective(scores)).collect();
                mean(&parts)
            };
            self.known.extend(missing.iter().map(key).zip(found.into_iter().map(of_case)));
        }
        Ok(numbers.iter().map(|number| self.known.get(&key(number)).copied().flatten()).collect())
    }

    pub(crate) fn bench(&self) -> &'a dyn Bench {
        self.bench
    }
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
