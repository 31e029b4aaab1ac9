//! A counter for views whose tokens do not matter.

use epitome_strategy::{TokenCounter, Tokens};

/// Counts nothing.
#[derive(Debug)]
pub(super) struct NoTokens;

impl TokenCounter for NoTokens {
    fn name(&self) -> &str {
        "none"
    }

    fn count(&self, _: &str) -> Tokens {
        0
    }

    fn is_exact(&self) -> bool {
        false
    }
}
