//! Cancelling work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A signal to running work that its result is not needed any more. Clones share the signal.
///
/// The default is never requested: for hosts that let their work finish.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Option<Arc<AtomicBool>>);

impl Cancellation {
    /// Returns a signal that can be requested.
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// Returns a signal that is never requested: the default.
    pub const fn never() -> Self {
        Self(None)
    }

    /// Requests the cancellation, for good. Without effect on the default.
    pub fn request(&self) {
        if let Some(requested) = &self.0 {
            requested.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the cancellation was requested. Constant time (one atomic load), so any loop can check it in each round.
    pub fn is_requested(&self) -> bool {
        self.0.as_ref().is_some_and(|requested| requested.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_one() {
        let (cancellation, never) = (Cancellation::new(), Cancellation::default());
        let clone = cancellation.clone();
        assert!(!clone.is_requested());
        cancellation.request();
        never.request();
        assert!(clone.is_requested() && !never.is_requested());
    }
}
