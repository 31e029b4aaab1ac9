//! The messages that Claude Code gives its function hook, read without a guess: what is not understood is refused.

use std::collections::BTreeSet;

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
        Self { role, text, tool_uses, tool_results, more: Map::new() }
    }

    /// The messages, if all of them are understood; otherwise which one is not, and why.
    pub(super) fn read_all(messages: &[Value]) -> Result<Vec<Self>, String> {
        let read = |(number, message): (usize, &Value)| {
            let object = message.as_object().ok_or_else(|| "it is not an object".to_owned());
            let message = object.and_then(|object| Self::deserialize(object).map_err(|error| error.to_string()));
            let message = message.and_then(|message| message.check().map(|()| message));
            message.map_err(|why| format!("message {number} is not understood: {why}"))
        };
        let all: Vec<Self> = messages.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        check_pairs(&all)?;
        let is_empty = |message: &Self| {
            message.text.trim().is_empty() && message.tool_uses.is_empty() && message.tool_results.is_empty()
        };
        if all.iter().all(is_empty) {
            return Err("there is no message that says anything".to_owned());
        }
        Ok(all)
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

/// Refuses calls that have one name together, and results without a call: none of these can stay in a conversation.
fn check_pairs(messages: &[AgentMessage]) -> Result<(), String> {
    let mut called = BTreeSet::new();
    for (number, message) in messages.iter().enumerate() {
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
