//! Giving work up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells work that is under way that nobody waits for it any more. Clones are one and the same.
///
/// The default never asks for anything: for hosts that let their work come to its end.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Option<Arc<AtomicBool>>);

impl Cancellation {
    /// One that can be requested.
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// One that never asks for anything: the default.
    pub const fn never() -> Self {
        Self(None)
    }

    /// Asks for the work to be given up; for good. Without effect on the default.
    pub fn request(&self) {
        if let Some(requested) = &self.0 {
            requested.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the work is to be given up. Constant time: a load, for loops to ask in every round that is worth more.
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
