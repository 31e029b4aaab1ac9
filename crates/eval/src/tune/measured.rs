//! Earlier measurements: the state of a search, which makes it resumable.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::bench::{Bench, TuneCase};
use super::candidate::Candidate;
use super::weights::{Figures, Weights};
use crate::EvalError;

/// A line of the state: a candidate on a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The candidate's key.
    pub candidate: String,
    /// The case's key.
    pub case: String,
    /// The budgets as they were asked for.
    pub budgets: String,
    /// The other inputs of the figures: see [`Bench::basis`]. Lines of versions that did not record it have none.
    #[serde(default)]
    pub basis: String,
    /// The figures, one for each budget.
    pub figures: Vec<Figures>,
}

/// How many of the requested measurements of an earlier run were reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeasurementReuse {
    /// Reused as they are.
    pub reused: usize,
    /// Repeated, because the candidate's settings or the version have changed.
    pub changed: usize,
}

/// Receives each measurement as soon as it is made.
pub(crate) type Listener<'a> = &'a mut dyn FnMut(&[Measurement]);

/// Measurements, looked up before new ones are made.
pub(crate) struct Memory<'a> {
    bench: &'a dyn Bench,
    cases: Vec<TuneCase>,
    budgets: String,
    weights: Weights,
    /// By candidate and case; with the basis for a measurement of an earlier run that this one has not used yet.
    known: HashMap<(String, String), (Option<String>, Vec<Figures>)>,
    recalled: MeasurementReuse,
    listener: Listener<'a>,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(
        bench: &'a dyn Bench,
        budgets: String,
        weights: Weights,
        known: Vec<Measurement>,
        listener: Listener<'a>,
    ) -> Self {
        let fits = known.into_iter().filter(|measured| measured.budgets == budgets);
        let known = fits.map(|it| ((it.candidate, it.case), (Some(it.basis), it.figures))).collect();
        let recalled = MeasurementReuse::default();
        Self { bench, cases: bench.cases(), budgets, weights, known, recalled, listener }
    }

    pub(crate) fn cases(&self) -> &[TuneCase] {
        &self.cases
    }

    /// Returns the figures of a candidate on cases; only unknown ones are measured.
    pub(crate) fn figures(&mut self, candidate: &Candidate, numbers: &[usize]) -> Result<Vec<Vec<Figures>>, EvalError> {
        let name = candidate.key();
        let cases = &self.cases;
        let key = |number: &usize| (name.clone(), cases[*number].key.clone());
        let basis = self.bench.basis(candidate)?;
        for number in numbers {
            let Some((earlier, _)) = self.known.get_mut(&key(number)) else { continue };
            match earlier.take() {
                None => {}
                Some(earlier) if earlier == basis => self.recalled.reused += 1,
                Some(_) => {
                    self.recalled.changed += 1;
                    self.known.remove(&key(number));
                }
            }
        }
        let missing: Vec<usize> =
            numbers.iter().filter(|number| !self.known.contains_key(&key(number))).copied().collect();
        if !missing.is_empty() {
            let found = self.bench.measure(candidate, &missing)?;
            let new: Vec<Measurement> = missing
                .iter()
                .zip(found)
                .map(|(number, figures)| {
                    let (candidate, case) = key(number);
                    Measurement { candidate, case, budgets: self.budgets.clone(), basis: basis.clone(), figures }
                })
                .collect();
            (self.listener)(&new);
            for measured in new {
                self.known.insert((measured.candidate, measured.case), (None, measured.figures));
            }
        }
        let figures =
            |number: &usize| self.known.get(&key(number)).map(|(_, figures)| figures.clone()).unwrap_or_default();
        Ok(numbers.iter().map(figures).collect())
    }

    /// Returns the objective of a candidate on each of the cases: the mean over budgets; `None` where no figure counts.
    pub(crate) fn objectives(
        &mut self,
        candidate: &Candidate,
        numbers: &[usize],
    ) -> Result<Vec<Option<f64>>, EvalError> {
        let weights = self.weights;
        let figures = self.figures(candidate, numbers)?;
        let of_case = |figures: &Vec<Figures>| {
            let parts: Vec<f64> = figures.iter().filter_map(|figures| weights.objective(figures)).collect();
            mean(&parts)
        };
        Ok(figures.iter().map(of_case).collect())
    }

    /// Returns the mean objective over cases; 0 without any.
    pub(crate) fn mean(&mut self, candidate: &Candidate, numbers: &[usize]) -> Result<f64, EvalError> {
        let found: Vec<f64> = self.objectives(candidate, numbers)?.into_iter().flatten().collect();
        Ok(mean(&found).unwrap_or(0.0))
    }

    /// Returns how many measurements of the earlier run were reused.
    pub(crate) fn recalled(&self) -> MeasurementReuse {
        self.recalled
    }

    pub(crate) fn bench(&self) -> &'a dyn Bench {
        self.bench
    }
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
