//! A function over messages as a strategy: its result is compared with its input, and the differences become edits.
//!
//! ```
//! use epitome_strategy::adapter::from_messages;
//! use epitome_strategy::{Goal, Lossiness, Message, Meta, RequiredServices, Registration, Registry, Role};
//!
//! const META: Meta = Meta {
//!     id: "forget-tool-output",
//!     summary: "Tool results older than the newest six messages are emptied.",
//!     docs: "",
//!     lossiness: Lossiness::Partial,
//!     needs: RequiredServices::NONE,
//!     since: "0.1.0",
//! };
//!
//! fn forget(mut messages: Vec<Message>, _goal: &Goal) -> Result<Vec<Message>, String> {
//!     let old = messages.len().saturating_sub(6);
//!     for message in messages[..old].iter_mut().filter(|message| message.role == Role::Tool) {
//!         for block in &mut message.blocks {
//!             *block = block.with_text("[cleared]".into());
//!         }
//!     }
//!     Ok(messages)
//! }
//!
//! let mut registry = Registry::new();
//! registry.register(Registration::ready(from_messages(META, forget)))?;
//! # Ok::<(), epitome_strategy::RegistryError>(())
//! ```
//!
//! | the function | the edit |
//! |---|---|
//! | leaves out all messages of a unit | `Drop` |
//! | leaves them out and puts one new message of text (a user's, with an id that the view does not have) in their place | `Summarize`, the text ready |
//! | the same, where something between them is protected and stays | `Summarize` of the newest run that is longer than the text, `Drop` of the others; an error that says so where none is |
//! | gives a text back with parts missing, its own marks (`…`, `...`, `[40 lines omitted]`) between them or not | `Excerpt` of what is left; the engine writes marks of its own |
//! | gives nothing but a mark in place of a text (`[cleared]`), or the message without that block | `Excerpt` that keeps nothing |
//! | cuts long strings in a call's arguments behind the same number of characters | `Trim` |
//! | gives everything back as it was | the plan declines |
//!
//! Anything else is not an edit: a text that was rewritten, a message that moved, a part of a unit that left without
//! the rest, a new message where nothing left. The plan is then an error that names the message and says what is
//! allowed; the engine records it and continues the chain. Protected messages (the system prompt, the original task,
//! pins, …) stay as they are whatever the function does to them, so it need not know which they are.

mod arguments;
mod diff;
mod shortened;

use std::fmt;
use std::sync::Arc;

use epitome_session::Message;

use crate::goal::Goal;
use crate::plan::{Plan, PlanError};
use crate::strategy::{Meta, Strategy};
use crate::view::View;

/// Returns a strategy of a function over messages, see [the module](self).
///
/// The function gets the messages as the model sees them and the goal, and returns the messages that should be left, or
/// why there are none. It must be pure: the same messages give the same answer. The comparison is linear in the view,
/// beside hashing and sorting of lines.
pub fn from_messages<F>(meta: Meta, function: F) -> Arc<dyn Strategy>
where
    F: Fn(Vec<Message>, &Goal) -> Result<Vec<Message>, String> + Send + Sync + 'static,
{
    Arc::new(MessageStrategy { meta, function })
}

struct MessageStrategy<F> {
    meta: Meta,
    function: F,
}

impl<F> fmt::Debug for MessageStrategy<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MessageStrategy").field("id", &self.meta.id).finish_non_exhaustive()
    }
}

impl<F> Strategy for MessageStrategy<F>
where
    F: Fn(Vec<Message>, &Goal) -> Result<Vec<Message>, String> + Send + Sync,
{
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let left = (self.function)(view.messages().cloned().collect(), goal).map_err(PlanError)?;
        diff::plan(view, &left).map_err(PlanError)
    }
}

#[cfg(test)]
mod tests;
