//! A counter that is corrected by a provider's own figures.

use std::sync::Arc;

use epitome_strategy::{TokenCounter, Tokens};

/// One usage record: a counter's estimate of a request, and the provider's figure for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The tokens by the base counter, of everything that the reported figure includes.
    pub estimated: Tokens,
    /// The input tokens that the provider reported, cached ones included.
    pub reported: Tokens,
}

/// Another counter times a factor learned from usage records; immutable once learned.
///
/// The factor is the median of `reported / estimated`, each record weighing as many as its estimated tokens. A median
/// shrugs off the records that mean something else, such as those of a request with images or of a changed prompt, as
/// long as they are fewer than half; the weight keeps many small requests, dominated by a fixed overhead, from
/// outvoting a large one. It stays between 0.5 and 2.0, the bounds of the one learned estimator in the field (that of
/// Gemini's command-line agent, a moving average): beyond them the base counter is wrong, not the factor.
///
/// Each count rounds up and so does the factor: rounding never undercounts, but adds up to one token a text.
///
/// ```
/// use std::sync::Arc;
/// use epitome_strategy::TokenCounter;
/// use epitome_tokens::{CalibratedCounter, Estimator, Sample};
///
/// let records = [(1_000, 1_250), (2_000, 2_500), (500, 4_000)];
/// let samples = records.map(|(estimated, reported)| Sample { estimated, reported });
/// let counter = CalibratedCounter::learn(Arc::new(Estimator::Quarters), samples);
/// assert_eq!(counter.factor(), 1.25);
/// assert_eq!(counter.count("twenty characters ok"), 7); // 5 × 1.25
/// ```
#[derive(Clone, Debug)]
pub struct CalibratedCounter {
    name: String,
    base: Arc<dyn TokenCounter>,
    /// The factor in units of 1 / [`ONE`], a fixed-point number so that rounding is exact.
    factor: u64,
}

const ONE: u64 = 1 << 16;
const MIN_FACTOR: u64 = ONE / 2;
const MAX_FACTOR: u64 = ONE * 2;

impl CalibratedCounter {
    /// Learns the factor of `base` from usage records and returns the counter. Without a usable record (both figures
    /// above 0) the factor is 1.
    ///
    /// Cost: O(n log n) for n records, and one allocation of their size.
    pub fn learn(base: Arc<dyn TokenCounter>, samples: impl IntoIterator<Item = Sample>) -> CalibratedCounter {
        let ratios = samples
            .into_iter()
            .filter(|sample| sample.estimated > 0 && sample.reported > 0)
            .map(|Sample { estimated, reported }| {
                ((u64::from(reported) * ONE).div_ceil(estimated.into()), estimated.into())
            })
            .collect();
        let factor = weighted_median(ratios).unwrap_or(ONE).clamp(MIN_FACTOR, MAX_FACTOR);
        CalibratedCounter { name: format!("calibrated {}", base.name()), base, factor }
    }

    /// Returns the factor for the base counter, 0.5 to 2.0.
    pub fn factor(&self) -> f64 {
        self.factor as f64 / ONE as f64
    }
}

impl TokenCounter for CalibratedCounter {
    /// Returns `calibrated` and the base counter's name.
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> Tokens {
        let n_tokens = (u64::from(self.base.count(text)) * self.factor).div_ceil(ONE);
        Tokens::try_from(n_tokens).unwrap_or(Tokens::MAX)
    }

    /// Returns false, even on an exact base: the factor is learned.
    fn is_exact(&self) -> bool {
        false
    }
}

/// Returns the value at which half of the weight is reached, of pairs of a value and its weight; the upper one in a
/// tie.
fn weighted_median(mut values: Vec<(u64, u64)>) -> Option<u64> {
    values.sort_unstable();
    let total: u64 = values.iter().map(|&(_, weight)| weight).sum();
    let mut below = 0;
    values.into_iter().find_map(|(value, weight)| {
        below += weight;
        (2 * below > total).then_some(value)
    })
}

#[cfg(test)]
#[cfg(feature = "vocab-o200k")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Estimator, ExactCounter};

    fn learn(samples: &[(Tokens, Tokens)]) -> CalibratedCounter {
        let samples = samples.iter().map(|&(estimated, reported)| Sample { estimated, reported });
        CalibratedCounter::learn(Arc::new(Estimator::Quarters), samples)
    }

    #[test]
    fn learns_the_median_by_weight_within_bounds() {
        for (samples, factor) in [
            (&[][..], 1.0),
            (&[(0, 10), (10, 0)], 1.0),
            (&[(100, 150)], 1.5),
            (&[(100, 110), (100, 120)], 1.2),
            // Requests with images are outvoted.
            (&[(100, 125), (100, 125), (100, 125), (90, 900), (90, 900)], 1.25),
            // So are small ones, in which an overhead dominates.
            (&[(10, 30), (10, 30), (10, 30), (1000, 1000)], 1.0),
            (&[(100, 1)], 0.5),
            (&[(1, Tokens::MAX)], 2.0),
        ] {
            let learned = learn(samples).factor();
            assert!((learned - factor).abs() < 1e-4, "{samples:?}: {learned}");
        }
    }

    #[test]
    fn names_its_base_and_claims_no_exactness() {
        let counter = CalibratedCounter::learn(Arc::new(ExactCounter::O200kBase), []);
        assert_eq!(counter.name(), "calibrated o200k_base");
        assert!(!counter.is_exact());
        assert_eq!((counter.count(""), counter.count("Hello, world!")), (0, 4));
    }

    proptest! {
        #[test]
        fn rounding_never_undercounts(estimated in 1..10_000_u32, reported in 1..10_000_u32, length in 0..400_usize) {
            let counter = learn(&[(estimated, reported)]);
            let text = "x".repeat(length);
            let factor = (f64::from(reported) / f64::from(estimated)).clamp(0.5, 2.0);
            let ideal = f64::from(Estimator::Quarters.count(&text)) * factor;
            let counted = f64::from(counter.count(&text));
            prop_assert!(counted >= ideal - 1e-9 && counted < ideal + 1.01, "{counted} of {ideal}");
        }
    }
}
