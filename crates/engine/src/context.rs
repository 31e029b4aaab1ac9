//! What stays the same during one compaction.

use epitome_session::{Language, MessageId, Session};
use epitome_strategy::{Cancellation, Embedder, Lexicon, Summarizer, TokenCounter};

use crate::guard::{Guards, Refusal};
use crate::observe::{Observer, Progress};
use crate::request::{Pins, SummaryRole, WithoutSummary};

/// Everything that stays the same during one compaction.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub counter: &'a dyn TokenCounter,
    pub pins: &'a Pins,
    pub language: Language,
    pub summary_role: SummaryRole,
    /// Whether texts name the handles of what they stand for.
    pub handles: bool,
    pub lexicon: &'a Lexicon,
    pub guards: Guards,
    pub epoch: u32,
    pub session: &'a Session,
    pub cancellation: &'a Cancellation,
    pub summarizer: Option<&'a dyn Summarizer>,
    pub without_summary: WithoutSummary,
    pub embedder: Option<&'a dyn Embedder>,
    /// What summaries are to remember.
    pub memories: &'a [String],
    pub observer: Option<&'a dyn Observer>,
    /// How many messages at the end of the view were never sent.
    pub unsent_messages: u32,
}

impl Context<'_> {
    /// An error where the compaction is given up: asked before each piece of work whose cost grows with the view.
    pub(crate) fn go_on(&self) -> Result<(), Refusal> {
        if self.cancellation.is_requested() { Err(Refusal::Cancelled) } else { Ok(()) }
    }

    /// Tells the observer, if there is one.
    pub(crate) fn tell(&self, progress: Progress<'_>) {
        if let Some(observer) = self.observer {
            observer.on(progress);
        }
    }

    /// The handle that a text may name: none where nobody could use it.
    pub(crate) fn told<'h>(&self, handle: &'h str) -> Option<&'h str> {
        self.handles.then_some(handle)
    }

    /// An id for the engine's message number `number` that the session does not have yet.
    pub(crate) fn free_id(&self, number: usize) -> MessageId {
        let mut id = MessageId::new(format!("epitome-{}-{number}", self.epoch));
        while self.session.has_id(&id) {
            id = MessageId::new(format!("{id}x"));
        }
        id
    }
}
