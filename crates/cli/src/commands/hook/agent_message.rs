//! The messages that Claude Code gives its function hook, read without a guess: what is not understood is refused.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A message as the hook has it. A call is with the model's message, its result with the next one of the user's side.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentMessage {
    pub(super) role: AgentRole,
    pub(super) text: String,
    #[serde(default)]
    pub(super) tool_uses: Vec<ToolUse>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_results: Vec<ToolOutput>,
    /// The message's place in the agent's list; none where it was written here.
    #[serde(skip)]
    number: Option<usize>,
    /// Whether a part of it was taken out.
    #[serde(skip)]
    is_changed: bool,
    #[serde(flatten, skip_serializing)]
    more: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AgentRole {
    User,
    Assistant,
}

/// A call. What else the agent has with it is a copy of its result.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(super) struct ToolUse {
    pub(super) tool_use_id: String,
    pub(super) tool: String,
    pub(super) input: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
pub(super) struct ToolOutput {
    pub(super) tool_use_id: String,
    pub(super) text: String,
    #[serde(flatten)]
    pub(super) more: Map<String, Value>,
}

/// The agent's own name of a message. One that was changed has none.
const HANDLE: &str = "handle";

/// What the agent keeps of a result beside its text, in its own form.
const OF_A_RESULT: [&str; 3] = ["isError", "result", "meta"];

impl AgentMessage {
    /// A message that was written here.
    pub(super) fn new(role: AgentRole, text: String, tool_uses: Vec<ToolUse>, tool_results: Vec<ToolOutput>) -> Self {
        Self { role, text, tool_uses, tool_results, number: None, is_changed: false, more: Map::new() }
    }

    /// The message's place in the agent's list, where it is as it came.
    pub(super) fn number(&self) -> Option<usize> {
        self.number.filter(|_| !self.is_changed)
    }

    /// The message for the agent: its number where it is as it came.
    pub(super) fn to_piece(&self) -> Result<Value, serde_json::Error> {
        self.number().map_or_else(|| serde_json::to_value(self), |number| Ok(number.into()))
    }

    /// The messages, if all of them are understood; otherwise which one is not, and why. What the agent lists twice is read
    /// where it stands last.
    pub(super) fn read_all(messages: &[Value]) -> Result<Vec<Self>, String> {
        let read = |(number, message): (usize, &Value)| {
            let object = message.as_object().ok_or_else(|| "it is not an object".to_owned());
            let message = object.and_then(|object| Self::deserialize(object).map_err(|error| error.to_string()));
            let message = message.and_then(|message| message.check().map(|()| message));
            let numbered = message.map(|message| Self { number: Some(number), ..message });
            numbered.map_err(|why| format!("message {number} is not understood: {why}"))
        };
        let mut all: Vec<Self> = messages.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        remove_repeated(&mut all);
        check_pairs(&all)?;
        if all.iter().all(Self::is_empty) {
            return Err("there is no message that says anything".to_owned());
        }
        Ok(all)
    }

    fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.tool_uses.is_empty() && self.tool_results.is_empty()
    }

    /// Refuses a field that is not known and may hold a part of the conversation.
    fn check(&self) -> Result<(), String> {
        let of_results = self.tool_results.iter().flat_map(|result| &result.more);
        let of_results = of_results.filter(|(name, _)| !OF_A_RESULT.contains(&name.as_str()));
        let unknown = self.more.iter().filter(|(name, _)| *name != HANDLE).chain(of_results);
        match unknown.into_iter().find(|(_, value)| may_say_something(value)) {
            Some((name, _)) => Err(format!("the field `{name}` is not known")),
            None => Ok(()),
        }
    }
}

fn may_say_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// Takes out the calls that stand again, with their results, further on: where a compaction cut a step between its parallel
/// calls and kept some of them, the agent lists these calls twice, once with the whole step and once as they were kept. A
/// call whose result does not stand again is left alone.
fn remove_repeated(messages: &mut Vec<AgentMessage>) {
    let mut last_calls: BTreeMap<String, usize> = BTreeMap::new();
    let mut last_results: BTreeMap<String, usize> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        last_calls.extend(message.tool_uses.iter().map(|call| (call.tool_use_id.clone(), at)));
        last_results.extend(message.tool_results.iter().map(|result| (result.tool_use_id.clone(), at)));
    }
    let mut at = 0;
    messages.retain_mut(|message| {
        let stands_again = |id: &String| {
            let call = last_calls.get(id);
            call.is_some_and(|call| at < *call && last_results.get(id).is_some_and(|result| call < result))
        };
        let before = (message.tool_uses.len(), message.tool_results.len());
        message.tool_uses.retain(|call| !stands_again(&call.tool_use_id));
        message.tool_results.retain(|result| !stands_again(&result.tool_use_id));
        at += 1;
        message.is_changed = before != (message.tool_uses.len(), message.tool_results.len());
        !(message.is_changed && message.is_empty())
    });
}

/// Refuses calls that have one name together, and results without a call: none of these can stay in a conversation.
fn check_pairs(messages: &[AgentMessage]) -> Result<(), String> {
    let mut called = BTreeSet::new();
    for message in messages {
        let number = message.number.unwrap_or_default();
        for call in &message.tool_uses {
            if message.role == AgentRole::User {
                return Err(format!("message {number} is the user's, and calls a tool"));
            }
            if !called.insert(&*call.tool_use_id) {
                return Err(format!("message {number} has a second call `{}`", call.tool_use_id));
            }
        }
        for result in &message.tool_results {
            if message.role == AgentRole::Assistant {
                return Err(format!("message {number} is the model's, and has a tool's result"));
            }
            if !called.contains(&*result.tool_use_id) {
                return Err(format!("message {number} has a result of no call, `{}`", result.tool_use_id));
            }
        }
    }
    Ok(())
}
