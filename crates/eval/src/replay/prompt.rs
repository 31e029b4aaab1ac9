//! The prompt as the provider's cache sees it: how much of the next request the last one contained.

use epitome::session::{Entry, EntryKey, Message};
use std::sync::Arc;

/// A message of the prompt: what identifies its content, and its tokens.
#[derive(Debug, Clone)]
struct Part {
    key: EntryKey,
    message: Arc<Message>,
    tokens: u64,
}

/// The messages of the next request, and how many of them the last one began with.
///
/// Appending costs nothing but the new message. Only a change within the prompt is compared with what was sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prompt {
    parts: Vec<Part>,
    total: u64,
    sent: usize,
    sent_tokens: u64,
}

impl Prompt {
    /// Returns the tokens of all messages.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the tokens at the beginning that the last request began with.
    pub(crate) fn unchanged(&self) -> u64 {
        self.sent_tokens
    }

    /// Returns how many messages at the end were never sent.
    pub(crate) fn unsent(&self) -> usize {
        self.parts.len() - self.sent
    }

    /// Returns the number of messages.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Adds a message at the end. Constant time.
    pub(crate) fn append(&mut self, entry: &Entry, tokens: u64) {
        self.parts.push(Part { key: entry.key, message: Arc::clone(&entry.message), tokens });
        self.total += tokens;
    }

    /// Sets the prompt to this view. Returns the tokens already sent that are no longer at the beginning. Linear in the
    /// view.
    pub(crate) fn replace(&mut self, view: &[Entry], tokens: impl Fn(&Entry) -> u64) -> u64 {
        let before = self.sent_tokens;
        let same = |(old, new): &(&Part, &Entry)| {
            old.key == new.key && (Arc::ptr_eq(&old.message, &new.message) || old.message.blocks == new.message.blocks)
        };
        self.sent = self.parts[..self.sent].iter().zip(view).take_while(same).count();
        self.sent_tokens = self.parts[..self.sent].iter().map(|part| part.tokens).sum();
        self.parts.clear();
        self.total = 0;
        for entry in view {
            self.append(entry, tokens(entry));
        }
        before - self.sent_tokens
    }

    /// Records that the prompt was sent as it is. Constant time.
    pub(crate) fn send(&mut self) {
        (self.sent, self.sent_tokens) = (self.parts.len(), self.total);
    }
}
