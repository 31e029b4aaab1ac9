//! Counts that are remembered: a text is counted once, whoever asks for it.

use std::hash::{DefaultHasher, Hasher};
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::session::Media;
use epitome::strategy::{TokenCounter, Tokens};
use epitome_shelf::Generations;

/// Texts of fewer bytes are counted anew: that takes no longer than to look them up.
const SHORT: usize = 64;

/// What a text is looked up by: its hash and its length.
type TextKey = (u64, usize);

/// A counter that remembers what it counted, up to a bound: a message that was counted for what is known of it is read again
/// where a compaction is due, and its texts need not be counted then. Of texts it remembers hashes.
#[derive(Debug)]
pub(super) struct RememberingCounter {
    base: Arc<dyn TokenCounter>,
    secret: [u8; 32],
    counts: Arc<Mutex<Generations<TextKey, Tokens>>>,
}

impl RememberingCounter {
    /// A counter that counts as `base` does, and takes so much memory at most. Its hashes mean nothing without the secret.
    pub(super) fn new(base: Arc<dyn TokenCounter>, secret: [u8; 32], most_bytes: usize) -> Self {
        // In tables that are half empty after they have grown.
        let most = most_bytes / (2 * size_of::<(TextKey, Tokens)>());
        Self { base, secret, counts: Arc::new(Mutex::new(Generations::new(most))) }
    }

    fn key(&self, text: &str) -> TextKey {
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.secret);
        hasher.write(self.base.name().as_bytes());
        hasher.write(text.as_bytes());
        (hasher.finish(), text.len())
    }

    fn counts(&self) -> MutexGuard<'_, Generations<TextKey, Tokens>> {
        // The map is whole between any two statements that can panic.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenCounter for RememberingCounter {
    fn name(&self) -> &str {
        self.base.name()
    }

    fn count(&self, text: &str) -> Tokens {
        if text.len() < SHORT {
            return self.base.count(text);
        }
        let key = self.key(text);
        let known = self.counts().get(&key);
        known.unwrap_or_else(|| {
            let tokens = self.base.count(text);
            self.counts().put(key, tokens);
            tokens
        })
    }

    fn is_exact(&self) -> bool {
        self.base.is_exact()
    }

    fn media_tokens(&self, media: &Media) -> Tokens {
        self.base.media_tokens(media)
    }

    fn margin(&self) -> f64 {
        self.base.margin()
    }

    fn of_model(&self, model: Option<&str>) -> Option<Arc<dyn TokenCounter>> {
        let base = self.base.of_model(model)?;
        Some(Arc::new(Self { base, secret: self.secret, counts: Arc::clone(&self.counts) }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts bytes, and how often it was asked.
    #[derive(Debug)]
    struct Bytes {
        name: &'static str,
        asked: Arc<AtomicUsize>,
    }

    impl TokenCounter for Bytes {
        fn name(&self) -> &str {
            self.name
        }

        fn count(&self, text: &str) -> Tokens {
            self.asked.fetch_add(1, Ordering::Relaxed);
            text.len() as Tokens
        }

        fn is_exact(&self) -> bool {
            true
        }

        fn of_model(&self, model: Option<&str>) -> Option<Arc<dyn TokenCounter>> {
            model.map(|_| Arc::new(Self { name: "of a model", asked: Arc::clone(&self.asked) }) as _)
        }
    }

    #[test]
    fn a_text_is_counted_once_by_each_counter() {
        let asked = Arc::new(AtomicUsize::new(0));
        let base = Arc::new(Bytes { name: "bytes", asked: Arc::clone(&asked) });
        let counter = RememberingCounter::new(base, [7; 32], 1 << 20);
        let other = counter.of_model(Some("m")).map(|other| (other.count(&"a".repeat(100)), other.is_exact()));
        assert_eq!(other, Some((100, true)));
        let check = |text: &str, expect: usize| {
            assert_eq!(counter.count(text), text.len() as Tokens);
            assert_eq!(asked.swap(0, Ordering::Relaxed), expect, "{} bytes", text.len());
        };
        asked.store(0, Ordering::Relaxed);
        check(&"a".repeat(100), 1);
        check(&"a".repeat(100), 0);
        check(&"a".repeat(101), 1);
        check("short", 1);
        check("short", 1);
        assert!(counter.of_model(None).is_none());
    }
}
