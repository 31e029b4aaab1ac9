//! Locking of shared values.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose value is valid between any two statements of its holders. A holder's panic poisons the mutex but
/// does not damage the value, so later holders use it.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
