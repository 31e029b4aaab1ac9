//! The state of a session as 32 bytes.
//!
//! Every field of a message and of an epoch is destructured by name, so a new field does not compile until it is
//! decided here whether it counts. Texts and lists are hashed with their lengths: no two sessions write the same bytes.

use crate::block::{Arguments, Block, Content, OpaqueBlock, RawBlock, Thinking, ToolCall, ToolResult};
use crate::excerpt::Excerpt;
use crate::fold::EntryKey;
use crate::journal::{AppliedEdit, Change, Choice, Epoch, Reason, SyntheticMessage};
use crate::media::{Media, MediaSource};
use crate::message::{Message, TextCall, Usage};
use crate::text_range::TextRange;

/// A hash of a part of a session.
pub(crate) type Hash = [u8; 32];

/// Returns the hash of a log that ends with `message`; `before` is the hash of the messages before it. Costs the
/// message's length.
pub(crate) fn log(before: &Hash, message: &Message) -> Hash {
    let mut parts = HashBuilder::default();
    parts.text(before);
    parts.message(message);
    parts.finish()
}

/// Returns the hash of an epoch as it was committed: whether it was undone since is not part of it. Costs its length.
pub(crate) fn epoch(epoch: &Epoch) -> Hash {
    let mut parts = HashBuilder::default();
    parts.epoch(epoch);
    parts.finish()
}

/// Returns the hash of a session from those of its parts: the log, and each epoch with whether it was undone.
pub(crate) fn state<'e>(log: &Hash, tools: Option<&str>, epochs: impl Iterator<Item = (&'e Hash, bool)>) -> Hash {
    let mut parts = HashBuilder::default();
    parts.text(log);
    parts.optional_text(tools);
    for (epoch, is_undone) in epochs {
        parts.text(epoch);
        parts.number(is_undone);
    }
    parts.finish()
}

#[derive(Default)]
struct HashBuilder(blake3::Hasher);

impl HashBuilder {
    fn finish(self) -> Hash {
        *self.0.finalize().as_bytes()
    }

    fn number(&mut self, number: impl Into<u64>) {
        self.0.update(&number.into().to_le_bytes());
    }

    fn numbers<const N: usize>(&mut self, numbers: [impl Into<u64>; N]) {
        for number in numbers {
            self.number(number);
        }
    }

    fn text(&mut self, text: impl AsRef<[u8]>) {
        let bytes = text.as_ref();
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn optional_text(&mut self, text: Option<&str>) {
        self.number(text.is_some());
        self.text(text.unwrap_or_default());
    }

    fn maybe_number(&mut self, number: Option<u64>) {
        self.number(number.is_some());
        self.number(number.unwrap_or_default());
    }

    fn list<T>(&mut self, items: &[T], mut add: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            add(self, item);
        }
    }

    fn message(&mut self, message: &Message) {
        let Message {
            id,
            role,
            origin,
            blocks,
            name,
            timestamp,
            pinned,
            text_calls,
            usage,
            records,
            recorded_call_id,
            program,
        } = message;
        self.text(id.as_str());
        self.number(*role as u64);
        self.number(*origin as u64);
        self.list(blocks, Self::block);
        self.optional_text(name.as_deref());
        self.maybe_number(timestamp.map(i64::cast_unsigned));
        self.number(*pinned);
        self.list(text_calls, |parts, TextCall { name, block, start, end }| {
            parts.text(&**name);
            parts.numbers([*block, *start, *end]);
        });
        self.number(usage.is_some());
        let Usage { input, cache_read, cache_write, output } = usage.unwrap_or_default();
        self.numbers([input, cache_read, cache_write, output]);
        self.list(records, |parts, record| parts.number(*record));
        self.optional_text(recorded_call_id.as_deref());
        self.optional_text(program.as_deref());
    }

    fn block(&mut self, Block { content, raw, typed, instructions }: &Block) {
        match content {
            Content::Text { text } => self.kind(0, text),
            Content::Thinking(Thinking { text, signature, redacted }) => {
                self.kind(1, text);
                self.optional_text(signature.as_deref());
                self.number(*redacted);
            }
            Content::ToolCall(ToolCall { id, name, arguments }) => {
                self.kind(2, id);
                self.text(&**name);
                match arguments {
                    Arguments::Json(text) => self.kind(0, text),
                    Arguments::Text(text) => self.kind(1, text),
                }
            }
            Content::ToolResult(ToolResult { call_id, name, text, attachments, is_error }) => {
                self.kind(3, call_id);
                self.optional_text(name.as_deref());
                self.text(&**text);
                self.list(attachments, Self::media);
                self.number(*is_error);
            }
            Content::Media(media) => {
                self.number(4_u64);
                self.media(media);
            }
            Content::Opaque(OpaqueBlock { kind, json, dialect }) => {
                self.kind(5, kind);
                self.text(&**json);
                self.number(*dialect as u64);
            }
            Content::Gone => self.number(6_u64),
        }
        self.number(raw.is_some());
        if let Some(RawBlock { dialect, json }) = raw {
            self.number(*dialect as u64);
            self.text(&**json);
        }
        self.number(typed.is_some());
        for ranges in [typed.as_deref().unwrap_or_default(), instructions] {
            self.list(ranges, |parts, TextRange { start, end }| parts.numbers([*start, *end]));
        }
    }

    /// Hashes the number of a kind, and a text that belongs to it.
    fn kind(&mut self, kind: u64, text: &str) {
        self.number(kind);
        self.text(text);
    }

    fn media(&mut self, Media { mime, name, detail, source }: &Media) {
        self.text(&**mime);
        self.optional_text(name.as_deref());
        self.optional_text(detail.as_deref());
        match source {
            MediaSource::Base64(data) => self.kind(0, data),
            MediaSource::Url(url) => self.kind(1, url),
            MediaSource::Missing => self.number(2_u64),
        }
    }

    fn epoch(&mut self, epoch: &Epoch) {
        let Epoch {
            id,
            origin,
            trigger,
            log_length,
            tokens_before,
            tokens_after,
            edits,
            synthetics,
            kept,
            released,
            choice,
            // It is reported and not used anywhere.
            summarizer: _,
            undone: _, // it changes after the commit, and is hashed with the session's state
        } = epoch;
        self.number(*id);
        self.number(*origin as u64);
        self.number(*trigger as u64);
        self.number(*log_length);
        self.maybe_number(tokens_before.map(u64::from));
        self.maybe_number(tokens_after.map(u64::from));
        self.list(edits, Self::edit);
        self.list(synthetics, |parts, SyntheticMessage { position, message }| {
            parts.numbers(position.numbers());
            parts.message(message);
        });
        for keys in [kept, released] {
            self.list(keys, |parts, key| parts.entry(0, key));
        }
        self.number(choice.is_some());
        if let Some(Choice { detected, confidence, chosen }) = choice {
            self.text(&**detected);
            // Choices are made in hundredths: as text the number may return with another last digit.
            self.number((confidence * 100.0).round() as u64);
            self.text(&**chosen);
        }
    }

    fn edit(&mut self, edit: &AppliedEdit) {
        let AppliedEdit { kind, strategy, reason, recall, tokens_saved, changes, into } = edit;
        // The score is reported and not used anywhere, and a value that is not a number is not stored.
        let Reason { code, detail, score: _, evidence } = reason;
        self.number(*kind as u64);
        self.text(&**strategy);
        self.text(&**code);
        self.text(detail);
        self.list(evidence, |parts, text| parts.text(text));
        self.optional_text(recall.as_deref());
        self.number(*tokens_saved);
        self.list(changes, Self::change);
        self.maybe_number(into.map(u64::from));
    }

    fn change(&mut self, change: &Change) {
        match change {
            Change::Remove { entry } => self.entry(0, entry),
            Change::Excerpt { entry, block, excerpt } => {
                self.entry(1, entry);
                self.number(*block);
                let Excerpt { kept, marks, attachments } = excerpt;
                self.list(kept.ranges(), |parts, range| {
                    parts.number(range.start);
                    parts.number(range.end);
                });
                self.list(marks, |parts, mark| parts.text(&**mark));
                self.optional_text(attachments.as_deref());
            }
            Change::Trim { entry, block, arguments } => {
                self.entry(2, entry);
                self.number(*block);
                self.text(&**arguments);
            }
            Change::Strip { entry, block, mark } => {
                self.entry(3, entry);
                self.number(*block);
                self.optional_text(mark.as_deref());
            }
        }
    }

    /// Hashes the number of a kind of change, and the entry that is changed.
    fn entry(&mut self, kind: u64, entry: &EntryKey) {
        self.number(kind);
        match entry {
            EntryKey::Log(index) => self.maybe_number(Some(u64::from(*index))),
            EntryKey::Synthetic { epoch, index } => {
                self.number(2_u64);
                self.number(*epoch);
                self.number(*index);
            }
        }
    }
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod tests;
