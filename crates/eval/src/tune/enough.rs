//! Whether there are enough sessions to tune on, and what they can tell.

use std::collections::BTreeMap;

use super::bench::{Bench, TuneCase};
use super::candidate::Candidate;
use super::measurements::MeasurementCache;
use super::weights::Weights;
use crate::EvalError;
use crate::figures::paired::bootstrap;
use crate::tables::sheet::ENOUGH;

/// The fewest sessions of a kind of task to search on, and to verify on: fewer say little.
pub const LEAST_SESSIONS: usize = ENOUGH as usize;

/// The sessions of a kind of task, as numbers of the bench's cases.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KindSessions {
    /// Those to search on.
    pub train: Vec<usize>,
    /// Those to verify on.
    pub verify: Vec<usize>,
}

impl KindSessions {
    /// Whether there are enough on both sides.
    pub fn is_enough(&self) -> bool {
        self.train.len() >= LEAST_SESSIONS && self.verify.len() >= LEAST_SESSIONS
    }
}

/// Returns the sessions by kind of task.
pub fn by_kind(cases: &[TuneCase], train: &[usize], verify: &[usize]) -> BTreeMap<String, KindSessions> {
    let mut kinds: BTreeMap<String, KindSessions> = BTreeMap::new();
    for number in train {
        kinds.entry(cases[*number].kind.clone()).or_default().train.push(*number);
    }
    for number in verify {
        kinds.entry(cases[*number].kind.clone()).or_default().verify.push(*number);
    }
    kinds
}

/// Returns how far either way a difference over these cases is uncertain: half of the 95 % interval of that between the
/// default and `chain`, under `seed`. Measures both; `None` where fewer than two cases have figures.
pub fn uncertainty(
    bench: &dyn Bench,
    numbers: &[usize],
    chain: &[String],
    weights: Weights,
    seed: u64,
) -> Result<Option<f64>, EvalError> {
    let mut listener = |_| ();
    let mut memory = MeasurementCache::new(bench, weights, &mut listener);
    let default = memory.objectives(&Candidate::default(), numbers)?;
    let other = memory.objectives(&Candidate::of_chain(chain), numbers)?;
    let pairs = default.into_iter().zip(other);
    let differences: Vec<f64> = pairs.filter_map(|(default, other)| Some(other? - default?)).collect();
    let interval = bootstrap(&differences, seed).filter(|_| differences.len() > 1);
    Ok(interval.map(|(_, low, high)| (high - low) / 2.0))
}
