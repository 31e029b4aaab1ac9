//! The messages behind a compaction's record that repeat what stays through it.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Origin, Session, Trigger};

use crate::agent_file::mark::replace_view;
use crate::anthropic::blocks as anthropic;
use crate::claude_code::replaced::{GivenMessage, ReplacedView};
use crate::json::Object;

/// The way to read them.
#[derive(Debug, Clone)]
pub(super) enum Copies {
    /// The mark of our own record said everything: they are passed over.
    Skip,
    /// The mark did not fit: they are the view.
    Collect(Vec<GivenMessage>),
    /// A function hook gave them in place of a summary.
    Given(ReplacedView),
}

impl Copies {
    /// Takes a record. `by_message_id` has the places of the answers, whose records are one message.
    pub(super) fn add(&mut self, record: &Object<'_>, by_message_id: &mut HashMap<Arc<str>, usize>) {
        let messages = match self {
            Self::Skip => return,
            Self::Collect(messages) => messages,
            Self::Given(given) => &mut given.messages,
        };
        let Some(message) = record.object("message") else { return };
        let role = message.text("role").unwrap_or_default();
        let id = message.text("id").filter(|_| role == "assistant");
        let is_written = record.text("rowSource").as_deref() == Some("hook");
        for mut read in anthropic::messages(&role, message.get("content").unwrap_or_default()) {
            let known = id.as_deref().and_then(|id| by_message_id.get(id));
            if let Some(first) = known.and_then(|index| messages.get_mut(*index)) {
                first.message.blocks.append(&mut read.blocks);
                continue;
            }
            if record.is_true("isCompactSummary") {
                read.origin = Origin::Summary;
            }
            by_message_id.extend(id.as_deref().map(|id| (Arc::from(id), messages.len())));
            messages.push(GivenMessage { message: read, is_written });
        }
    }

    /// Commits what was taken.
    pub(super) fn commit(self, session: &mut Session) {
        match self {
            Self::Skip => {}
            Self::Collect(messages) => {
                replace_view(session, Trigger::Recorded, messages.into_iter().map(|it| it.message).collect());
            }
            Self::Given(given) => given.commit(session),
        }
    }
}
