//! Which call a result answers: the one of its id; else, in the step in front of it, the first open call of its tool;
//! else the first that is open.
//!
//! Ids are missing (Gemini's SDKs make responses without one beside calls that have one), are the client's own, or occur
//! more than once in a step. Results are given in the order of their calls, so a result finds its call without an id.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::block::{CallId, Content, ToolCall, ToolResult};
use crate::message::{Message, Role};

/// Calls that wait for their results, each with a value of the caller's.
#[derive(Debug, Clone)]
pub struct OpenCalls<T> {
    /// By id, in the order in which they were made.
    by_id: HashMap<CallId, VecDeque<OpenCall<T>>>,
}

#[derive(Debug, Clone)]
struct OpenCall<T> {
    step: usize,
    name: Arc<str>,
    value: T,
}

impl<T> Default for OpenCalls<T> {
    fn default() -> Self {
        Self { by_id: HashMap::new() }
    }
}

impl<T> OpenCalls<T> {
    /// Adds a call of the message numbered `step`. Messages are added in their order. Amortised constant time.
    pub fn open(&mut self, step: usize, call: &ToolCall, value: T) {
        let name = Arc::clone(&call.name);
        self.by_id.entry(Arc::clone(&call.id)).or_default().push_back(OpenCall { step, name, value });
    }

    /// Takes the call that a result of the session answers, with the number of its message; `None` where none of its id
    /// is open. It is of the nearest message with such a call; there the first of the result's tool, where the result
    /// names one, else the first. Linear in the calls of one id in that message, constant where they are of one tool.
    ///
    /// A result that came without its call's id has it once it is in a [`Session`](crate::Session).
    pub fn answer(&mut self, result: &ToolResult) -> Option<(usize, T)> {
        let at = self.place(result, usize::MAX)?;
        self.take(&result.call_id, at)
    }

    /// The place, among the calls of its id, of the call that a result in front of the message numbered `end` answers.
    fn place(&self, result: &ToolResult, end: usize) -> Option<usize> {
        let calls = self.by_id.get(&result.call_id)?;
        let last = start_of(calls, end).checked_sub(1)?;
        let first = start_of(calls, calls.get(last)?.step);
        let of_tool = |name: &str| (first..=last).find(|at| *calls[*at].name == *name);
        Some(result.name.as_deref().and_then(of_tool).unwrap_or(first))
    }

    fn take(&mut self, id: &CallId, at: usize) -> Option<(usize, T)> {
        let calls = self.by_id.get_mut(id)?;
        let call = calls.remove(at)?;
        if calls.is_empty() {
            self.by_id.remove(id);
        }
        Some((call.step, call.value))
    }
}

/// Where the calls of a step begin among those of one id.
fn start_of<T>(calls: &VecDeque<OpenCall<T>>, step: usize) -> usize {
    calls.partition_point(|call| call.step < step)
}

impl OpenCalls<usize> {
    /// The blocks of the open calls of the message `caller`, which has the number `step`. Linear in its calls.
    fn blocks_of(&self, step: usize, caller: &Message) -> HashSet<usize> {
        let ids: HashSet<&CallId> = caller.calls().map(|(_, call)| &call.id).collect();
        let calls = ids.into_iter().filter_map(|id| self.by_id.get(id));
        calls
            .flat_map(|calls| calls.iter().skip(start_of(calls, step)).filter(|it| it.step == step))
            .map(|it| it.value)
            .collect()
    }

    /// Takes the call in a block of the message numbered `step`.
    fn take_block(&mut self, step: usize, id: &CallId, block: usize) {
        let at = self.by_id.get(id).map(|calls| calls.partition_point(|it| (it.step, it.value) < (step, block)));
        at.and_then(|at| self.take(id, at));
    }
}

/// The pairing of a log that grows: its open calls with the numbers of their blocks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pairing {
    open: OpenCalls<usize>,
    /// The newest message that calls.
    newest: Option<usize>,
}

/// A result among messages that are paired, and the call that it is given.
struct Given {
    /// The number of the result's message among those that are paired.
    result: usize,
    block: usize,
    id: CallId,
}

impl Pairing {
    /// Pairs messages that follow those of `log`. Returns for each the number of the message whose call it answers, where
    /// it is a result that answers one, and gives the result that call's id: the id that it came with goes to
    /// [`Message::recorded_call_id`]. Linear in the messages, and in the log where a result has an id that no open call
    /// has.
    ///
    /// Invariant (results): whatever has the id of a call finds that call, before any other result is given one; a
    /// result without the id of a call is given one of the step in front of it while one is open there.
    pub(crate) fn pair_next(&mut self, log: &[Arc<Message>], messages: &mut [Message]) -> Vec<Option<usize>> {
        let mut answered = vec![None; messages.len()];
        // Results without the id of an open call, with the step in front of them.
        let mut others: Vec<(usize, Option<usize>)> = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            for (block, call) in message.calls() {
                self.open.open(log.len() + index, call, block);
                self.newest = Some(log.len() + index);
            }
            let Some(result) = result_of(message) else { continue };
            let call = if result.call_id.is_empty() { None } else { self.open.answer(result) };
            match call {
                Some((step, _)) => answered[index] = Some(step),
                None => others.push((index, self.newest)),
            }
        }
        if others.is_empty() {
            return answered;
        }
        let mut given = Vec::new();
        let known = known_ids(log, messages, others.iter().map(|(index, _)| *index));
        for group in others.chunk_by(|one, next| one.1 == next.1) {
            let results = || group.iter().filter_map(|(index, _)| Some((*index, result_of(&messages[*index])?)));
            if let Some(step) = group[0].1 {
                let caller = step.checked_sub(log.len()).map_or_else(|| &*log[step], |index| &messages[index]);
                for given_call in self.choose(step, caller, results().filter(|(_, it)| !known.contains(&*it.call_id))) {
                    self.open.take_block(step, &given_call.id, given_call.block);
                    answered[given_call.result] = Some(step);
                    given.push(given_call);
                }
            }
            // What has no id may be the late result of an earlier call that has none.
            for (index, result) in results().filter(|(_, result)| result.call_id.is_empty()) {
                if answered[index].is_none()
                    && let Some(at) = self.open.place(result, log.len() + index)
                {
                    answered[index] = self.open.take(&result.call_id, at).map(|(step, _)| step);
                }
            }
        }
        for Given { result, id, .. } in given {
            let message = &mut messages[result];
            for block in &mut message.blocks {
                if let Content::ToolResult(result) = &mut block.content
                    && result.call_id != id
                {
                    message.recorded_call_id = Some(std::mem::replace(&mut result.call_id, Arc::clone(&id)));
                    break;
                }
            }
        }
        answered
    }

    /// Returns the call that a result would answer behind the messages of `log`, as the numbers of its message and of its
    /// block. Costs what pairing it does.
    pub(crate) fn find(&self, log: &[Arc<Message>], result: &ToolResult) -> Option<(usize, usize)> {
        let of_id = || {
            let call = self.open.by_id.get(&result.call_id)?.get(self.open.place(result, usize::MAX)?)?;
            Some((call.step, call.value))
        };
        let chosen = || {
            let step = self.newest?;
            let is_known = !result.call_id.is_empty() && ids(log.iter().map(AsRef::as_ref)).contains(&*result.call_id);
            let mut calls = self.choose(step, &log[step], std::iter::once((0, result)).filter(|_| !is_known));
            calls.pop().map(|call| (step, call.block))
        };
        if result.call_id.is_empty() { chosen().or_else(of_id) } else { of_id().or_else(chosen) }
    }

    /// Gives results, each with its number, the open calls of the message `caller`, which has the number `step`: first those
    /// of a result's tool, then all others, in their order. Linear in the calls and results.
    fn choose<'m>(
        &self,
        step: usize,
        caller: &'m Message,
        results: impl Iterator<Item = (usize, &'m ToolResult)>,
    ) -> Vec<Given> {
        let open = self.open.blocks_of(step, caller);
        let calls: Vec<(usize, &ToolCall)> = caller.calls().filter(|(block, _)| open.contains(block)).collect();
        let mut of_tool: HashMap<&str, VecDeque<usize>> = HashMap::new();
        for (at, (_, call)) in calls.iter().enumerate() {
            of_tool.entry(&call.name).or_default().push_back(at);
        }
        let mut chosen: Vec<(usize, Option<usize>)> = results
            .map(|(number, result)| {
                let calls = result.name.as_deref().and_then(|name| of_tool.get_mut(name));
                (number, calls.and_then(VecDeque::pop_front))
            })
            .collect();
        let taken: HashSet<usize> = chosen.iter().filter_map(|(_, at)| *at).collect();
        let mut free = (0..calls.len()).filter(|at| !taken.contains(at));
        for (_, at) in chosen.iter_mut().filter(|(_, at)| at.is_none()) {
            *at = free.next();
        }
        let given = |(result, at): (usize, Option<usize>)| {
            let (block, call) = calls[at?];
            Some(Given { result, block, id: Arc::clone(&call.id) })
        };
        chosen.into_iter().filter_map(given).collect()
    }
}

/// Gives each result among messages that are not in a session the id of the call among them that it answers, as a
/// [`Session`](crate::Session) does. Linear in the messages.
pub fn pair(messages: &mut [Message]) {
    Pairing::default().pair_next(&[], messages);
}

/// The result that a message is.
fn result_of(message: &Message) -> Option<&ToolResult> {
    if message.role != Role::Tool {
        return None;
    }
    message.blocks.iter().find_map(|block| block.as_result())
}

/// The ids of all calls, where one of the results numbered `results` has an id: a second result of a call answers no
/// other.
fn known_ids<'m>(
    log: &'m [Arc<Message>],
    messages: &'m [Message],
    mut results: impl Iterator<Item = usize>,
) -> HashSet<&'m str> {
    if results.any(|index| result_of(&messages[index]).is_some_and(|result| !result.call_id.is_empty())) {
        let mut known = ids(log.iter().map(AsRef::as_ref).chain(messages));
        known.remove(""); // that is none
        return known;
    }
    HashSet::new()
}

fn ids<'m>(messages: impl Iterator<Item = &'m Message>) -> HashSet<&'m str> {
    messages.flat_map(Message::calls).map(|(_, call)| &*call.id).collect()
}

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;
