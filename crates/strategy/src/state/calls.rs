//! Calls with their results.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Arguments, Content, Message, ToolResult};

use crate::tools::{self, ToolKind};

/// A call with its result.
pub(super) struct CallWithResult<'m> {
    /// The message of the call.
    pub message: usize,
    pub name: &'m str,
    pub kind: ToolKind,
    pub arguments: &'m Arguments,
    pub result: Option<&'m ToolResult>,
}

/// Returns the calls of messages with their results, in order. Linear.
pub(super) fn calls<'m>(messages: &'m [Arc<Message>]) -> Vec<CallWithResult<'m>> {
    let mut calls: Vec<CallWithResult<'m>> = Vec::new();
    let mut open: HashMap<&str, usize> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        for block in &message.blocks {
            match &block.content {
                Content::ToolCall(call) => {
                    open.insert(&call.id, calls.len());
                    let (name, kind) = (&*call.name, tools::kind(&call.name));
                    calls.push(CallWithResult { message: at, name, kind, arguments: &call.arguments, result: None });
                }
                Content::ToolResult(result) => {
                    if let Some(call) = open.remove(&*result.call_id) {
                        calls[call].result = Some(result);
                    }
                }
                _ => {}
            }
        }
    }
    calls
}
