//! The part of the cache that lives as long as the process.

use std::collections::HashMap;
use std::sync::Arc;

use super::TextHash;

/// A bounded map in two generations: when the young one is full it becomes the old one, and what nobody asked for since goes.
/// What is used stays, at constant cost.
#[derive(Debug)]
pub(super) struct VectorMemory {
    half: usize,
    young: HashMap<TextHash, Arc<[f32]>>,
    old: HashMap<TextHash, Arc<[f32]>>,
}

impl VectorMemory {
    /// At most `capacity` vectors, at least two.
    pub(super) fn new(capacity: usize) -> Self {
        Self { half: (capacity / 2).max(1), young: HashMap::new(), old: HashMap::new() }
    }

    pub(super) fn get(&mut self, hash: &TextHash) -> Option<Arc<[f32]>> {
        if let Some(vector) = self.young.get(hash) {
            return Some(Arc::clone(vector));
        }
        let vector = self.old.remove(hash)?;
        self.put(*hash, Arc::clone(&vector));
        Some(vector)
    }

    pub(super) fn put(&mut self, hash: TextHash, vector: Arc<[f32]>) {
        if self.young.len() >= self.half && !self.young.contains_key(&hash) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(hash, vector);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let mut memory = VectorMemory::new(10);
        let hash = |number: u8| [number; 32];
        for number in 0..100 {
            memory.put(hash(number), Arc::from([1.0]));
            assert!(memory.get(&hash(0)).is_some(), "after {number}");
            assert!(memory.young.len() + memory.old.len() <= 10);
        }
        assert!(memory.get(&hash(1)).is_none());
        assert!(memory.get(&hash(99)).is_some());
    }
}
