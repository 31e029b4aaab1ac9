//! Background work, put into a session.

use std::sync::Arc;

use epitome::session::{Arguments, Block, Content, Message, Origin, Role, ToolCall, ToolResult};
use serde::Deserialize;

use crate::EvalError;
use crate::cases::case::Case;
use crate::cases::cut::part_of;

/// A call that starts background work.
#[derive(Debug, Deserialize)]
pub(super) struct BackgroundJob {
    /// By what it is read or stopped; stands in the answer alone, or in the arguments too.
    pub(super) id: String,
    tool: String,
    arguments: String,
    answer: String,
}

impl BackgroundJob {
    /// Returns the call and its answer.
    fn messages(&self) -> [Message; 2] {
        let id: Arc<str> = format!("job-{}", self.id).into();
        let arguments = Arguments::Json(self.arguments.as_str().into());
        let call = ToolCall { id: Arc::clone(&id), name: self.tool.as_str().into(), arguments };
        let text = self.answer.as_str().into();
        let result = ToolResult { call_id: id, name: None, text, attachments: Vec::new(), is_error: false };
        let blocks = vec![Block::new(Content::ToolCall(call))];
        [Message::new("", Role::Assistant, Origin::Model, blocks), Message::result("", result)]
    }
}

/// Returns the case with each job behind the message at its place. Linear in the session.
pub(super) fn with_jobs(case: &Case, jobs: &[(usize, &BackgroundJob)]) -> Result<Case, EvalError> {
    let mut messages: Vec<Arc<Message>> = Vec::new();
    for (at, entry) in case.prefix.view().iter().enumerate() {
        messages.push(Arc::clone(&entry.message));
        let here = jobs.iter().filter(|(place, _)| *place == at);
        messages.extend(here.flat_map(|(_, job)| job.messages()).map(Arc::new));
    }
    Case::from_prefix(case.id.clone(), &case.format, part_of(&case.prefix, messages.into_iter()), &[])
}
