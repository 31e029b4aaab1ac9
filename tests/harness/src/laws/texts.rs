//! Are shortened texts and the archive true?

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use epitome_session::{
    Arguments, Change, Content, EditKind, Entry, EntryKey, Epoch, EpochOrigin, Excerpt, Message, MessageId, Role,
};
use epitome_strategy::{Archive, ArchivedContent};

use super::Laws;
use super::json::{Token, tokens};
use super::marks::{cut_string, mark};

/// The share by which a mark of an earlier compaction may be off: the counter may have learned from more requests since.
const LEARNED_SINCE: f64 = 0.1;

impl Laws<'_> {
    /// Every removed item is in the archive as it was recorded, under the handle that the edit names.
    pub(super) fn archived(&mut self) {
        let Some(epoch) = self.epoch() else { return };
        self.law("archive-first", epoch.edits.len() == self.report.edits.len(), || "an edit is not told of".to_owned());
        for (edit, told) in epoch.edits.iter().zip(&self.report.edits) {
            self.law("archive-first", edit.recall == told.recall && edit.kind == told.edit, || {
                format!("{told:?} is told of {edit:?}")
            });
            if edit.changes.is_empty() {
                continue; // it only wrote something
            }
            let recall = edit.recall.as_deref();
            if recall.is_none() && edit.changes.iter().all(|change| self.removes_nothing(change)) {
                continue; // a message without content: there is nothing to bring back
            }
            let Some(item) = recall.and_then(|handle| self.archive.get(handle).ok().flatten()) else {
                self.law("archive-first", false, || format!("an edit of {} is not archived", edit.strategy));
                continue;
            };
            let removed: Vec<EntryKey> =
                edit.changes.iter().filter(|it| matches!(it, Change::Remove { .. })).map(Change::entry).collect();
            if !removed.is_empty() {
                let messages: Vec<Arc<Message>> = removed.iter().filter_map(|key| self.recorded(*key)).collect();
                let ids: Vec<MessageId> = messages.iter().map(|message| message.id.clone()).collect();
                self.law("archive-first", ids == told.messages, || format!("{ids:?} left, not {:?}", told.messages));
                self.law("archive-first", item == ArchivedContent::Messages(messages), || {
                    format!("{ids:?} are not archived as they were: {item:?}")
                });
                continue;
            }
            for change in &edit.changes {
                let Some(message) = self.recorded(change.entry()) else { continue };
                let whole = item == ArchivedContent::Messages(vec![Arc::clone(&message)]);
                let text = text_of(&message, change);
                let same = text.is_some_and(|text| item == ArchivedContent::Text(text));
                self.law("archive-first", whole || same, || format!("{change:?}: {item:?} is archived"));
                if let (Some(recall), Change::Trim { arguments, .. }) = (recall, change) {
                    // An untouched string could contain the handle only by chance, which practically does not happen
                    // with a hash.
                    let named = arguments.contains(recall);
                    self.law("archive-first", named == self.engine.handles, || format!("{arguments} and {recall}"));
                }
            }
        }
    }

    /// Whether a change takes out a message in which there is nothing.
    fn removes_nothing(&self, change: &Change) -> bool {
        let Change::Remove { entry } = change else { return false };
        let is_blank = |block: &epitome_session::Block| match &block.content {
            Content::Text { text } => text.trim().is_empty(),
            content => *content == Content::Gone,
        };
        self.recorded(*entry).is_some_and(|message| message.blocks.iter().all(is_blank))
    }

    /// Returns a message as it was recorded, or as the compaction wrote it.
    fn recorded(&self, key: EntryKey) -> Option<Arc<Message>> {
        let entry = self.before.view().iter().find(|entry| entry.key == key);
        entry.map(|entry| Arc::clone(&entry.original)).or_else(|| match key {
            EntryKey::Synthetic { epoch, index } => {
                let synthetic = self.epoch().filter(|it| it.id == epoch)?.synthetics.get(index as usize)?;
                Some(Arc::clone(&synthetic.message))
            }
            EntryKey::Log(_) => None,
        })
    }

    /// An excerpt shows its kept ranges of the recorded text, and true marks for the rest.
    pub(super) fn excerpts(&mut self) {
        let newest = self.epoch().map(|epoch| epoch.id);
        // Cuts of the recording agent have marks of its own kind.
        let own = |epoch: &&Epoch| epoch.origin == EpochOrigin::Engine;
        let cut: HashSet<EntryKey> = (self.after.journal().iter().filter(own))
            .flat_map(|epoch| epoch.changes().filter(|change| matches!(change, Change::Excerpt { .. })))
            .map(Change::entry)
            .collect();
        let new: HashSet<EntryKey> = self.epoch().into_iter().flat_map(Epoch::changes).map(Change::entry).collect();
        for entry in self.after.view().iter().filter(|entry| cut.contains(&entry.key)) {
            let share = if new.contains(&entry.key) { 0.0 } else { LEARNED_SINCE };
            for (block, excerpt) in &entry.excerpts {
                let original = entry.original.blocks.get(*block as usize).and_then(|block| block.excerptable());
                let Some(original) = original else {
                    self.law("excerpts", false, || format!("{} has no text to cut", entry.message.id));
                    continue;
                };
                let expected = self.excerpted(entry, original, excerpt, share);
                let shown = entry.message.blocks.get(*block as usize).and_then(|block| block.excerptable());
                self.law("excerpts", shown.is_some_and(|shown| **shown == *expected), || {
                    format!("{} shows {shown:?}, not {expected:?}", entry.message.id)
                });
            }
        }
        // The first mark of an excerpt names the handle of the edit that made it, where texts name handles.
        let edits = self.after.journal().iter().filter(|epoch| Some(epoch.id) == newest).flat_map(|epoch| &epoch.edits);
        for edit in edits.filter(|edit| edit.kind == EditKind::Excerpt) {
            for change in &edit.changes {
                let Change::Excerpt { excerpt, .. } = change else { continue };
                let named: Vec<Option<&str>> = excerpt
                    .marks
                    .iter()
                    .filter(|text| !stands_for_a_secret(text))
                    .map(|text| mark(text)?.recall)
                    .collect();
                let handle = edit.recall.as_deref().filter(|_| self.engine.handles);
                let first = named.first().is_none_or(|named| *named == handle);
                let once = named.iter().skip(1).all(Option::is_none);
                self.law("excerpts", first && once, || format!("the marks name {named:?}, not {:?}", edit.recall));
            }
        }
    }

    /// Returns the expected text of an excerpt, made of the recorded text and checked mark for mark; the tokens of a mark may be
    /// off by `share`, and by rounding.
    fn excerpted(&mut self, entry: &Entry, original: &str, excerpt: &Excerpt, share: f64) -> String {
        let id = &entry.message.id;
        let of_text = f64::from(self.counter.count(original));
        let mut shown = String::new();
        let mut marks = excerpt.marks.iter();
        let mut at = 0;
        let end = original.len() as u32;
        for range in excerpt.kept.ranges().iter().chain([&(end..end)]) {
            if at < range.start {
                let gap = &original[at as usize..range.start as usize];
                let text = marks.next().map_or("", AsRef::as_ref);
                let (whole, touched) = lines_of(original, &(at as usize..range.start as usize));
                let tokens = of_text * gap.len() as f64 / original.len() as f64;
                let fits = stands_for_a_secret(text)
                    || mark(text).is_some_and(|mark| {
                        (whole..=touched).contains(&mark.lines)
                            && (mark.tokens as f64 - tokens).abs() <= 1.0 + tokens * share
                            && (!mark.breaks_before || gap.starts_with('\n'))
                            && (!mark.breaks_after || gap.ends_with('\n'))
                    });
                self.law("excerpts", fits, || {
                    format!("{id}: {text:?} stands for {whole} to {touched} lines, {tokens} tokens")
                });
                shown.push_str(text);
            }
            shown.push_str(&original[range.start as usize..range.end as usize]);
            at = range.end;
        }
        self.law("excerpts", marks.next().is_none(), || format!("{id} has more marks than gaps"));
        if let Some(mark) = &excerpt.attachments {
            if !shown.is_empty() && !shown.ends_with('\n') {
                shown.push('\n');
            }
            shown.push_str(mark);
        }
        shown
    }

    /// Shortened arguments keep their keys and all values that are not strings; strings keep their beginning and a true
    /// mark.
    pub(super) fn trims(&mut self) {
        for entry in self.after.view().iter().filter(|entry| entry.is_edited()) {
            for (recorded, shown) in entry.original.blocks.iter().zip(&entry.message.blocks) {
                let (Some(recorded), Some(shown)) = (recorded.as_call(), shown.as_call()) else { continue };
                let fits = recorded.arguments == shown.arguments
                    || match (&recorded.arguments, &shown.arguments) {
                        (Arguments::Json(recorded), Arguments::Json(shown)) => is_cut_json(recorded, shown),
                        (Arguments::Text(recorded), Arguments::Text(shown)) => is_cut(recorded, shown),
                        _ => false,
                    };
                self.law("trims", fits && recorded.id == shown.id && recorded.name == shown.name, || {
                    format!("{} shows {shown:?} of {recorded:?}", entry.message.id)
                });
            }
        }
    }

    /// A message differs from its recorded form only by the edits in force.
    pub(super) fn only_edits(&mut self) {
        for entry in self.after.view().iter().filter(|entry| entry.is_edited()) {
            let told_by_user = entry.original.role == Role::Tool && entry.message.role == Role::User;
            if told_by_user {
                continue; // a result whose call has left
            }
            let frame = Message { blocks: entry.original.blocks.clone(), ..(*entry.message).clone() };
            self.law("only-edits", frame == *entry.original, || format!("{} is another message", entry.message.id));
            self.law("only-edits", entry.original.blocks.len() == entry.message.blocks.len(), || {
                format!("{} has other blocks", entry.message.id)
            });
            for (index, (recorded, shown)) in entry.original.blocks.iter().zip(&entry.message.blocks).enumerate() {
                let explained = recorded == shown
                    || entry.excerpt(index as u32).is_some()
                    || recorded.as_call().is_some() && shown.as_call().is_some()
                    || recorded.is_signed_thinking() && shown.content == Content::Gone
                    || matches!(recorded.content, Content::Media(_) | Content::Opaque(_))
                        && matches!(shown.content, Content::Text { .. } | Content::Gone);
                self.law("only-edits", explained, || format!("block {index} of {} changed", entry.message.id));
            }
        }
    }
}

/// Returns the recorded text of the block that a change edits.
fn text_of(message: &Message, change: &Change) -> Option<Arc<str>> {
    let block = match change {
        Change::Remove { .. } => return None,
        Change::Excerpt { block, .. } | Change::Trim { block, .. } | Change::Strip { block, .. } => *block,
    };
    match &message.blocks.get(block as usize)?.content {
        Content::Text { text } => Some(Arc::clone(text)),
        Content::Thinking(thinking) => Some(Arc::clone(&thinking.text)),
        Content::ToolCall(call) => Some(Arc::clone(call.arguments.text())),
        Content::ToolResult(result) => Some(Arc::clone(&result.text)),
        Content::Media(_) | Content::Opaque(_) | Content::Gone => None,
    }
}

/// Returns how many lines a gap has whole, and how many it has a part of; a line feed belongs to no line's text.
fn lines_of(text: &str, gap: &Range<usize>) -> (u64, u64) {
    let (mut whole, mut touched, mut start) = (0, 0, 0);
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end_matches('\n').len();
        let is_whole = gap.start <= start && end <= gap.end && (start < gap.end);
        let is_touched = is_whole || gap.start < end && start < gap.end;
        whole += u64::from(is_whole);
        touched += u64::from(is_touched);
        start += line.len();
    }
    (whole, touched)
}

fn is_cut_json(recorded: &str, shown: &str) -> bool {
    if left_whole(shown) == Some(recorded.chars().count() as u64) {
        return true;
    }
    let (Some(recorded), Some(shown)) = (tokens(recorded), tokens(shown)) else { return false };
    recorded.len() == shown.len()
        && recorded.iter().zip(&shown).all(|(recorded, shown)| match (recorded, shown) {
            (Token::Text(recorded), Token::Text(shown)) => recorded == shown || is_cut(recorded, shown),
            _ => recorded == shown,
        })
}

/// Returns the characters of the arguments, where they left whole: then one key in their place has the number.
fn left_whole(shown: &str) -> Option<u64> {
    match tokens(shown)?.as_slice() {
        [_, Token::Key(key), _, Token::Text(text), _] if key == "_elided" => {
            cut_string(text).filter(|(head, _)| head.is_empty()).map(|(_, count)| count)
        }
        _ => None,
    }
}

/// Whether `shown` is the beginning of `recorded` and a mark for exactly the rest of it.
fn is_cut(recorded: &str, shown: &str) -> bool {
    cut_string(shown)
        .is_some_and(|(head, rest)| recorded.strip_prefix(head).is_some_and(|tail| tail.chars().count() as u64 == rest))
}

/// Whether a mark stands for a secret: it says of which kind, and neither how long it was nor where it is.
fn stands_for_a_secret(mark: &str) -> bool {
    mark.starts_with("[redacted ") && mark.ends_with(']')
}
