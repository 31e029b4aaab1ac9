//! A call of a tool, and what a tool printed.

use serde_json::Value;

use crate::block::BlockRef;
use crate::services::Tokens;
use crate::tools::ToolKind;

/// A tool call of a view.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The block that contains it.
    pub at: BlockRef,
    /// The position of its unit.
    pub unit: u32,
    /// The tool's name.
    pub name: &'a str,
    /// The kind of the tool.
    pub kind: ToolKind,
    /// The arguments as text.
    pub arguments: &'a str,
    /// Whether the arguments are recorded as JSON.
    pub is_json: bool,
    /// Its result, or for a call in plain text the output that followed.
    pub output: Option<BlockRef>,
    /// Whether the tool marked its result as an error, or a shell's result begins with another exit code than 0; `None` without
    /// a result.
    pub failed: Option<bool>,
}

impl Call<'_> {
    /// Returns the arguments as JSON, where they are. Linear in the arguments, parsed anew each time.
    pub fn json(&self) -> Option<Value> {
        self.is_json.then(|| serde_json::from_str(self.arguments).ok()).flatten()
    }
}

/// A tool's output: a tool result, or a user-role message that carries one.
#[derive(Debug, Clone)]
pub struct ToolOutput<'a> {
    /// The block that contains it.
    pub at: BlockRef,
    /// The position of its unit.
    pub unit: u32,
    /// The call that it answers, as a position in [`Facts::calls`](crate::Facts::calls).
    pub call: Option<u32>,
    /// The tool's name; empty when unknown.
    pub tool: &'a str,
    /// The text as the model sees it.
    pub text: &'a str,
    /// Its tokens.
    pub tokens: Tokens,
    /// Whether the tool reported an error.
    pub is_error: bool,
    /// Whether an earlier edit has excerpted it already.
    pub is_excerpted: bool,
    /// How many units with tool output come after its own: 0 for the newest.
    pub newer_tool_units: u32,
}
