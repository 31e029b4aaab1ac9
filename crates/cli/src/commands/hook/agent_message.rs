//! The rows that Claude Code gives its function hook, read without a guess: what is not understood is refused.
//!
//! A row is one of the agent's records: an answer of the model is one for each of its blocks. Thinking is a row that says
//! nothing, and that the agent knows by its handle.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A row as the hook has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentMessage {
    pub(super) role: AgentRole,
    pub(super) text: String,
    #[serde(default)]
    pub(super) tool_uses: Vec<ToolUse>,
    #[serde(default)]
    pub(super) tool_results: Vec<ToolOutput>,
    /// The agent's own name of the row: the uuid of its record.
    pub(super) handle: Option<String>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AgentRole {
    User,
    Assistant,
}

/// A call. What else the agent has with it is a copy of its result.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub(super) struct ToolUse {
    pub(super) tool_use_id: String,
    pub(super) tool: String,
    pub(super) input: Map<String, Value>,
}

/// A result of a call.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolOutput {
    #[serde(rename = "tool_use_id")]
    pub(super) tool_use_id: String,
    pub(super) text: String,
    #[serde(default)]
    pub(super) is_error: bool,
    /// What the tool gave, in the agent's own form.
    #[serde(default, skip_serializing)]
    pub(super) result: Value,
    #[serde(flatten, skip_serializing)]
    more: Map<String, Value>,
}

/// What the agent keeps of a result beside the fields above, in its own form.
const OF_A_RESULT: &str = "meta";

impl ToolOutput {
    pub(super) fn new(tool_use_id: String, text: String, is_error: bool) -> Self {
        Self { tool_use_id, text, is_error, result: Value::Null, more: Map::new() }
    }
}

impl AgentMessage {
    /// The rows, if all of them are understood; otherwise which one is not, and why.
    pub(super) fn read_all(rows: &[Value]) -> Result<Vec<Self>, String> {
        let read = |(number, row): (usize, &Value)| {
            let object = row.as_object().ok_or_else(|| "it is not an object".to_owned());
            let row = object.and_then(|object| Self::deserialize(object).map_err(|error| error.to_string()));
            let row = row.and_then(|row: Self| row.check().map(|()| row));
            row.map_err(|why| format!("message {number} is not understood: {why}"))
        };
        rows.iter().enumerate().map(read).collect()
    }

    /// Whether the row is one of the model's thinking, or of another block that has no words.
    pub(super) fn is_silent(&self) -> bool {
        self.text.trim().is_empty() && self.tool_uses.is_empty() && self.tool_results.is_empty()
    }

    pub(super) fn is_of_model(&self) -> bool {
        self.role == AgentRole::Assistant
    }

    /// Refuses a field that is not known and may hold a part of the conversation, and a call or a result on the wrong side.
    fn check(&self) -> Result<(), String> {
        let of_results = self.tool_results.iter().flat_map(|result| &result.more);
        let of_results = of_results.filter(|(name, _)| *name != OF_A_RESULT);
        if let Some((name, _)) = self.more.iter().chain(of_results).find(|(_, value)| may_say_something(value)) {
            return Err(format!("the field `{name}` is not known"));
        }
        match self.role {
            AgentRole::User if !self.tool_uses.is_empty() => Err("it is the user's, and calls a tool".to_owned()),
            AgentRole::Assistant if !self.tool_results.is_empty() => {
                Err("it is the model's, and has a tool's result".to_owned())
            }
            AgentRole::User | AgentRole::Assistant => Ok(()),
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
