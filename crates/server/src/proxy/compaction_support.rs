//! The known facts of providers' own compactions, by the model that is asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use epitome::providers::chat::CompactionOffer;

/// The most models for which the provider's offer is remembered. Clients name them: beyond this number all are forgotten, and
/// asked once more.
const MOST_MODELS: usize = 256;

/// The compactions that providers do not offer, by model.
#[derive(Debug, Default)]
pub(super) struct CompactionSupport(Mutex<HashMap<String, Arc<CompactionOffer>>>);

impl CompactionSupport {
    /// The known facts of `model`.
    pub(super) fn offer(&self, model: &str) -> Arc<CompactionOffer> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_MODELS && !known.contains_key(model) {
            known.clear();
        }
        Arc::clone(known.entry(model.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_forgotten_beyond_a_bound() {
        let offers = CompactionSupport::default();
        offers.offer("m").ignore();
        assert_eq!(offers.offer("m").forms(100_000), []);
        for index in 0..MOST_MODELS {
            offers.offer(&index.to_string());
        }
        assert_eq!(offers.offer("m").forms(100_000).len(), 2);
    }
}
