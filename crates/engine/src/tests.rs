//! What tests of several files here count with.

use epitome_strategy::{TokenCounter, Tokens};

/// Counts bytes.
#[derive(Debug)]
pub(crate) struct Bytes;

impl TokenCounter for Bytes {
    fn name(&self) -> &str {
        "bytes"
    }

    fn count(&self, text: &str) -> Tokens {
        text.len() as Tokens
    }

    fn is_exact(&self) -> bool {
        false
    }
}
