//! Keys that are hashes of texts, and maps of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::text::fnv;

/// A map from keys that are hashes already: it does not hash them again.
pub type KeyMap<V> = HashMap<u64, V, BuildHasherDefault<KeyHasher>>;

/// A hasher for keys that are hashes already.
#[derive(Debug, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = fnv(bytes.iter().copied());
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// Returns a hash of bytes for a [`KeyMap`].
pub fn key_of(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let mixed = fnv(bytes);
    // The low bits of short texts are poor; a map takes its places from them.
    mixed ^ (mixed >> 29)
}
