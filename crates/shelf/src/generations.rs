//! A bounded map that forgets values which were not used for long.

use std::collections::HashMap;
use std::hash::Hash;

/// A bounded map in two generations: when the young one is full it becomes the old one, and the values of the earlier
/// old one leave. A value that is used returns to the young one. Each call takes the time of a look into a map, however
/// many values it forgets.
#[derive(Debug)]
pub struct Generations<K, V> {
    half: usize,
    young: HashMap<K, V>,
    old: HashMap<K, V>,
}

impl<K: Eq + Hash, V> Generations<K, V> {
    /// An empty map of at most `most` values; of two where that is fewer.
    pub fn new(most: usize) -> Self {
        Self { half: (most / 2).max(1), young: HashMap::new(), old: HashMap::new() }
    }

    /// Puts a value under `key`, in place of the one that is there.
    pub fn put(&mut self, key: K, value: V) {
        if self.young.len() >= self.half && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    /// The value under `key`, which is used by that.
    pub fn get(&mut self, key: &K) -> Option<V>
    where
        V: Clone,
    {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, value) = self.old.remove_entry(key)?;
        self.put(key, value.clone());
        Some(value)
    }

    /// The number of values; one that was put in again while it was old counts twice.
    pub fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Whether the map has no value.
    pub fn is_empty(&self) -> bool {
        self.young.is_empty() && self.old.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_rest_goes() {
        let check = |most: usize, bound: usize| {
            let mut map = Generations::new(most);
            assert!(map.is_empty());
            for key in 0..1_000 {
                map.put(key, key);
                assert_eq!((map.get(&0), map.get(&key)), (Some(0), Some(key)), "after {key}");
                assert!(map.len() <= bound, "{} of {most}", map.len());
            }
            assert_eq!(map.get(&1), None);
            map.put(999, 1);
            assert_eq!(map.get(&999), Some(1), "the newest value is the one that counts");
        };
        check(10, 10);
        check(11, 10);
        check(4, 4);
    }

    #[test]
    fn the_newest_value_counts() {
        let mut map = Generations::new(4);
        [(1, 'a'), (2, 'a'), (3, 'a')].into_iter().for_each(|(key, value)| map.put(key, value)); // 1 and 2 are old now
        map.put(1, 'b');
        assert_eq!(map.get(&1), Some('b'));
        map.put(4, 'a'); // 3 and 1 are old now, 2 is gone
        assert_eq!((map.get(&1), map.get(&2)), (Some('b'), None));
    }
}
