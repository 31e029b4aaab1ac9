//! What checking a request finds.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

/// A rule of a provider that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, such as `messages[3].content[0]`.
    pub path: String,
    /// Which rule: `json`, `messages`, `role`, `first-user`, `content`, `arguments`, `call-id`, `call-without-result`,
    /// `result-without-call`, `alternation`, `system-in-messages`, `results-first`, `part-type`, `caller`,
    /// `tools`.
    pub rule: &'static str,
    /// What is wrong, for a person.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {} ({})", self.path, self.message, self.rule)
    }
}

/// The violations that were found.
#[derive(Default)]
pub(crate) struct Findings(pub(crate) Vec<Violation>);

impl Findings {
    pub(crate) fn add(&mut self, path: &str, rule: &'static str, message: String) {
        self.0.push(Violation { path: path.to_owned(), rule, message });
    }
}

/// Calls that wait for their results.
#[derive(Default)]
pub(crate) struct OpenCalls {
    /// The ids in the order of the calls; none where a result has come.
    calls: Vec<Option<String>>,
    /// By id and kind, the positions of those that wait, oldest first.
    waiting: HashMap<(String, String), VecDeque<usize>>,
    pub(crate) answered_some: bool,
}

impl OpenCalls {
    /// Adds a call; whether no other call of that id and kind is waiting.
    pub(crate) fn open(&mut self, id: &str, kind: &str) -> bool {
        let waiting = self.waiting.entry((id.to_owned(), kind.to_owned())).or_default();
        waiting.push_back(self.calls.len());
        self.calls.push(Some(id.to_owned()));
        waiting.len() == 1
    }

    /// Whether a call of that id and kind was waiting.
    pub(crate) fn answer(&mut self, id: &str, kind: &str) -> bool {
        self.answered_some = true;
        let waiting = self.waiting.get_mut(&(id.to_owned(), kind.to_owned()));
        let Some(at) = waiting.and_then(VecDeque::pop_front) else { return false };
        self.calls[at] = None;
        true
    }

    /// Ends the step: nothing may be waiting.
    pub(crate) fn close(&mut self, path: &str, found: &mut Findings) {
        for id in self.calls.drain(..).flatten() {
            found.add(path, "call-without-result", format!("the call `{id}` has no result in front of this"));
        }
        self.waiting.clear();
        self.answered_some = false;
    }
}

/// Checks that arguments in a string are a JSON object.
pub(crate) fn arguments(path: &str, arguments: &Value, found: &mut Findings) {
    let is_object =
        arguments.as_str().is_some_and(|text| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object()));
    if !is_object {
        found.add(path, "arguments", "the arguments are not a JSON object in a string".to_owned());
    }
}
