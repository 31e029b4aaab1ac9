//! A map that knows its least recently used value, and the bytes of all its values.

use std::borrow::Borrow;
use std::hash::Hash;

use hashlink::LruCache;

/// Values with their bytes, in the order of their last use. It forgets nothing on its own: its owner decides how much
/// is too much. All methods but [`bytes`](Self::bytes) and [`len`](Self::len) take the time of a look into a map.
#[derive(Debug)]
pub struct WeighedLru<K: Eq + Hash, V> {
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
    pub fn insert(&mut self, key: K, value: V, bytes: usize) {
        self.bytes += bytes;
        if let Some((_, old)) = self.entries.insert(key, (value, bytes)) {
            self.bytes -= old;
        }
    }

    /// A value, which is used by that.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.entries.get_mut(key).map(|(value, _)| value)
    }

    /// A value, which is not used by that.
    pub fn peek(&self, key: &K) -> Option<&V> {
        self.entries.peek(key).map(|(value, _)| value)
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let (value, bytes) = self.entries.remove(key)?;
        self.bytes -= bytes;
        Some(value)
    }

    /// Takes out the least recently used value; `None` where the map is empty.
    pub fn pop(&mut self) -> Option<(K, V)> {
        let (key, (value, bytes)) = self.entries.remove_lru()?;
        self.bytes -= bytes;
        Some((key, value))
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the map has no value.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Keys and values, the least recently used first. Does not count as a use.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, (value, _))| (key, value))
    }

    /// The bytes of all of them.
    pub fn bytes(&self) -> usize {
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
