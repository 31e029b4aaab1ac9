//! Random numbers that are the same everywhere: splitmix64.

/// A generator with a seed.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // The remainder's bias is far below what a bootstrap can see.
        (self.next() % bound as u64) as usize
    }
}

/// A hash of `key` under `seed`.
pub(crate) fn hash(seed: u64, key: &str) -> u64 {
    let mut random = Random::new(seed);
    let mut state = random.next();
    for byte in key.bytes() {
        state = Random::new(state ^ u64::from(byte)).next();
    }
    state
}
