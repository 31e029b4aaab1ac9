//! Random numbers that are the same everywhere.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// A generator with a seed.
#[derive(Debug, Clone)]
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // The remainder's bias is far below what a bootstrap can see.
        (self.next() % bound as u64) as usize
    }
}

/// Returns a hash of `key` under `seed`.
pub(crate) fn hash(seed: u64, key: &str) -> u64 {
    let mut random = Random::new(seed);
    let mut state = random.next();
    for byte in key.bytes() {
        state = Random::new(state ^ u64::from(byte)).next();
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_splitmix64() {
        // The first numbers of the reference implementation: https://prng.di.unimi.it/splitmix64.c
        let mut random = Random::new(1_234_567);
        assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }
}
