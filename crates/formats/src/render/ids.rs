//! The ids of calls in a rendering.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use epitome_session::{CallId, Content, Entry, ToolCall};

use super::Wire;
use super::plan::{calls_of, pairs};
use super::source::Source;
use crate::json::has_half;

/// The ids of calls that the provider takes.
pub(super) struct Ids {
    profile: Wire,
    same_format: bool,
    used: HashSet<CallId>,
    /// Those of the step that is being rendered.
    used_in_step: HashSet<CallId>,
    /// Every id of the view: a new one must not be one of them.
    taken: HashSet<CallId>,
    /// The last number in use for each beginning of a new id.
    numbers: HashMap<String, u32>,
}

impl Ids {
    pub(super) fn new(profile: Wire, source: Option<&Source<'_>>, entries: &[Entry]) -> Self {
        let calls = entries.iter().flat_map(|entry| entry.message.calls());
        Self {
            profile,
            same_format: source.is_some_and(|source| source.is_own(profile)),
            used: HashSet::new(),
            used_in_step: HashSet::new(),
            taken: calls.map(|(_, call)| Arc::clone(&call.id)).collect(),
            numbers: HashMap::new(),
        }
    }

    /// Starts the calls of another step.
    pub(super) fn begin_step(&mut self) {
        self.used_in_step.clear();
    }

    /// The id under which a call is rendered: its own wherever the provider takes it. Two calls of one step never have one id:
    /// every provider that goes by ids refuses them.
    pub(super) fn written_id(&mut self, call: &ToolCall) -> CallId {
        let id = &call.id;
        let own = self.same_format;
        let repeated = self.used_in_step.contains(id);
        let fits = match self.profile {
            // Longer ids are refused; those that came in this format were not.
            Wire::OpenaiChat => (own && id.is_empty()) || (!id.is_empty() && !repeated && (own || id.len() <= 40)),
            Wire::OpenaiResponses => {
                !id.is_empty() && !repeated && (own || (!self.used.contains(id) && id.len() <= 64))
            }
            Wire::Gemini => id.is_empty() || !repeated,
            Wire::Anthropic => {
                !self.used.contains(id)
                    && !id.is_empty()
                    && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
            }
        };
        let id = if fits && (own || !has_half(id)) { Arc::clone(id) } else { self.fresh(call) };
        self.used.insert(Arc::clone(&id));
        self.used_in_step.insert(Arc::clone(&id));
        id
    }

    /// An id that is not in use, made of the call's own. One that is made of nothing is as short as the engine counts it.
    fn fresh(&mut self, call: &ToolCall) -> CallId {
        let id = &call.id;
        let valid = |char: char| if char.is_ascii_alphanumeric() || "_-".contains(char) { char } else { '_' };
        let mut base: String = id.chars().take(32).map(valid).collect();
        if base.is_empty() {
            base.push_str("call");
        }
        let is_free = |id: &str| !self.used.contains(id) && !self.taken.contains(id);
        if is_free(&base) {
            return Arc::from(base);
        }
        // Ids are not given back, so the search continues where it ended.
        let number = self.numbers.entry(base.clone()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{base}_{number}");
            if is_free(&numbered) {
                return Arc::from(numbered);
            }
        }
    }
}

/// A view for the file of an agent that goes by ids: each call has one of its own, which its result has too. Linear.
pub(crate) fn with_distinct_ids(entries: &[Entry]) -> Cow<'_, [Entry]> {
    let pairs = pairs(entries);
    let mut ids = Ids::new(Wire::Anthropic, None, entries);
    let mut changed: Vec<(usize, usize, CallId)> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        for (block, call) in calls_of(&entry.message) {
            let is_own = !call.id.is_empty() && !ids.used.contains(&call.id);
            let id = if is_own { Arc::clone(&call.id) } else { ids.fresh(call) };
            ids.used.insert(Arc::clone(&id));
            if let Some(answer) = pairs.answers.get(&(index, block)) {
                let message = &entries[*answer].message;
                let result = message.blocks.iter().position(|block| block.as_result().is_some());
                if !is_own || message.recorded_call_id.is_some() {
                    changed.extend(result.map(|block| (*answer, block, Arc::clone(&id))));
                }
            }
            if !is_own {
                changed.push((index, block, id));
            }
        }
    }
    let mut entries = Cow::Borrowed(entries);
    for (index, block, id) in changed {
        let message = Arc::make_mut(&mut entries.to_mut()[index].message);
        message.recorded_call_id = None;
        let block = &mut message.blocks[block];
        block.raw = None;
        match &mut block.content {
            Content::ToolCall(call) => call.id = id,
            Content::ToolResult(result) => result.call_id = id,
            _ => {}
        }
    }
    entries
}
