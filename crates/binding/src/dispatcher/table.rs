//! Objects that a package holds by numbers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Objects by their numbers.
#[derive(Debug)]
pub(super) struct Table<T>(Mutex<Rows<T>>);

#[derive(Debug)]
struct Rows<T> {
    next: u32,
    kept: HashMap<u32, Arc<T>>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Mutex::new(Rows { next: 1, kept: HashMap::new() }))
    }
}

impl<T> Table<T> {
    /// Keeps an object; its number, which is not that of another one for the next four thousand million.
    pub(super) fn keep(&self, object: T) -> u32 {
        self.keep_shared(object).0
    }

    /// The same with the object.
    pub(super) fn keep_shared(&self, object: T) -> (u32, Arc<T>) {
        let mut rows = self.lock();
        let (number, object) = (rows.next, Arc::new(object));
        rows.next = rows.next.wrapping_add(1);
        rows.kept.insert(number, Arc::clone(&object));
        (number, object)
    }

    /// The object of a number; `None` where it was freed.
    pub(super) fn get(&self, number: u32) -> Option<Arc<T>> {
        self.lock().kept.get(&number).map(Arc::clone)
    }

    /// Lets an object go, when the calls that are at work on it are done; whether it was there.
    pub(super) fn free(&self, number: u32) -> bool {
        self.lock().kept.remove(&number).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Rows<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
