//! A map that knows what was used least recently, and the bytes of all that it holds.

use std::borrow::Borrow;
use std::hash::Hash;

use hashlink::LruCache;

/// Values with their bytes, in the order of their last use. It forgets nothing by itself: whoever has it says how much is
/// too much. All but [`bytes`](Self::bytes) and [`len`](Self::len) take the time of a look into a map.
#[derive(Debug)]
pub(crate) struct WeighedLru<K: Eq + Hash, V> {
    entries: LruCache<K, (V, usize)>,
    bytes: usize,
}

impl<K: Eq + Hash, V> Default for WeighedLru<K, V> {
    fn default() -> Self {
        Self { entries: LruCache::new_unbounded(), bytes: 0 }
    }
}

impl<K: Eq + Hash, V> WeighedLru<K, V> {
    /// Puts a value in, in place of the one under its key.
    pub(crate) fn insert(&mut self, key: K, value: V, bytes: usize) {
        self.bytes += bytes;
        if let Some((_, old)) = self.entries.insert(key, (value, bytes)) {
            self.bytes -= old;
        }
    }

    /// A value, which is used by that.
    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.entries.get_mut(key).map(|(value, _)| value)
    }

    /// A value, which is not used by that.
    pub(crate) fn peek(&self, key: &K) -> Option<&V> {
        self.entries.peek(key).map(|(value, _)| value)
    }

    /// Takes a value out.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let (value, bytes) = self.entries.remove(key)?;
        self.bytes -= bytes;
        Some(value)
    }

    /// Takes out what was used least recently; `None` where there is nothing.
    pub(crate) fn pop(&mut self) -> Option<(K, V)> {
        let (key, (value, bytes)) = self.entries.remove_lru()?;
        self.bytes -= bytes;
        Some((key, value))
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The bytes of all of them.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_leaves_first_with_its_bytes() {
        let mut lru = WeighedLru::default();
        (1..=3).for_each(|key| lru.insert(key, key, 10 * key));
        assert_eq!((lru.get(&1).copied(), lru.peek(&2), lru.peek(&9)), (Some(1), Some(&2), None));
        assert_eq!((lru.pop(), lru.len(), lru.bytes()), (Some((2, 2)), 2, 40));
        lru.insert(3, 33, 5);
        assert_eq!((lru.len(), lru.bytes()), (2, 15), "the same key takes its place once");
        assert_eq!((lru.remove(&1), lru.remove(&1), lru.bytes()), (Some(1), None, 5));
        assert_eq!((lru.pop(), lru.pop(), lru.bytes()), (Some((3, 33)), None, 0));
    }
}
