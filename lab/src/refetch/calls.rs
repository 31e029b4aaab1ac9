//! Re-fetches that are made: an agent which sees only the compacted view calls a tool again before it goes on.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use epitome::session::{Block, CallId, Content, Message, Origin, Role, ToolCall, ToolResult};

use super::references::MissingString;

/// The calls of a session that are made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExtraCalls {
    /// Calls that were made again, because a recorded call needed a string that the view no longer showed.
    pub extra_calls: u32,
    /// Recorded calls with a needed string that no result of a tool had shown, but a person, the model or the runtime: only
    /// a search of the log gives it back.
    pub lost_calls: u32,
    /// Recorded calls with a needed string that was gone again when its result was there: their needs together do not fit.
    pub crowded_calls: u32,
}

impl ExtraCalls {
    /// Adds the counts of another session.
    pub fn add(&mut self, other: &Self) {
        self.extra_calls += other.extra_calls;
        self.lost_calls += other.lost_calls;
        self.crowded_calls += other.crowded_calls;
    }
}

/// The recorded calls by their results, for calls that are made again.
#[derive(Debug, Default)]
pub(super) struct Fetches {
    /// Calls without an answer yet, by id; ids may repeat, and results come in the order of their calls.
    open: HashMap<CallId, VecDeque<ToolCall>>,
    /// By the number of the result in the recording.
    answered: HashMap<usize, ToolCall>,
    pub(super) made: ExtraCalls,
}

impl Fetches {
    /// Remembers the calls of the recording's message `number`, and those that it answers.
    pub(super) fn push(&mut self, number: usize, message: &Message) {
        for (_, call) in message.calls() {
            self.open.entry(Arc::clone(&call.id)).or_default().push_back(call.clone());
        }
        let answer = message.blocks.iter().find_map(Block::as_result);
        let call = answer.and_then(|result| self.open.get_mut(&result.call_id)?.pop_front());
        if let Some(call) = call {
            self.answered.insert(number, call);
        }
    }

    /// The next result to fetch again for calls that miss strings; `None` where nothing more can be fetched. No result is
    /// fetched twice for one message.
    pub(super) fn next(&self, missing: &[Vec<MissingString>], fetched: &HashSet<usize>) -> Option<usize> {
        let mut sources = missing.iter().flatten().filter_map(|string| string.source);
        sources.find(|source| !fetched.contains(source) && self.answered.contains_key(source))
    }

    /// The call behind the recording's result `number`, made again, and its result.
    pub(super) fn repeat(&mut self, number: usize, result: &Message) -> Option<[Message; 2]> {
        let call = self.answered.get(&number)?;
        self.made.extra_calls += 1;
        let id: CallId = format!("again-{}", self.made.extra_calls).into();
        let call = Content::ToolCall(ToolCall { id: Arc::clone(&id), ..call.clone() });
        let again = Message::new("", Role::Assistant, Origin::Model, vec![Block::new(call)]);
        let answer = result.blocks.iter().find_map(Block::as_result)?;
        let answer = Message::result("", ToolResult { call_id: id, ..answer.clone() });
        Some([again, answer])
    }

    /// Counts the calls that are made without a string that they need.
    pub(super) fn note_missing(&mut self, missing: &[Vec<MissingString>]) {
        for strings in missing.iter().filter(|strings| !strings.is_empty()) {
            let is_lost = strings.iter().any(|string| !string.source.is_some_and(|it| self.answered.contains_key(&it)));
            if is_lost {
                self.made.lost_calls += 1;
            } else {
                self.made.crowded_calls += 1;
            }
        }
    }
}
