//! What is constant during one compaction.

use std::borrow::Cow;

use epitome_session::{EntryKey, Language, MessageId, Session};
use epitome_strategy::cut::Focus;
use epitome_strategy::secrets::redact;
use epitome_strategy::{Cancellation, Clock, Embedder, Lexicon, Summarizer, TokenCounter, Tokens};

use crate::guard::{EditRefusal, Guards};
use crate::observe::{Observer, Progress};
use crate::request::{MemoryNote, Pins, SummaryRole, WithoutSummary};

/// Everything that is constant during one compaction.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub counter: &'a dyn TokenCounter,
    pub pins: &'a Pins,
    pub language: Language,
    pub summary_role: SummaryRole,
    pub max_summary_tokens: Option<Tokens>,
    /// Whether the engine's texts name the handles of what they replace.
    pub handles: bool,
    /// Whether these texts leave secrets out.
    pub redacts: bool,
    /// What is asked now: texts that the engine cuts keep what bears on it.
    pub focus: Option<&'a Focus>,
    pub lexicon: &'a Lexicon,
    pub guards: Guards,
    /// Whether the step behind the chain gives back what the room holds.
    pub refill: bool,
    /// Whether the last text tells the state of the work.
    pub tells_state: bool,
    pub epoch: u32,
    pub session: &'a Session,
    pub cancellation: &'a Cancellation,
    pub summarizer: Option<&'a dyn Summarizer>,
    pub without_summary: WithoutSummary,
    pub embedder: Option<&'a dyn Embedder>,
    /// Facts from elsewhere that the texts of the compaction name.
    pub memories: &'a [MemoryNote],
    /// The entries that leave by hand.
    pub drops: &'a [EntryKey],
    pub observer: Option<&'a dyn Observer>,
    /// How many messages at the end of the view were never sent.
    pub unsent_messages: u32,
    /// Times the steps for the report.
    pub clock: &'a Clock,
}

impl Context<'_> {
    /// Returns an error where the compaction is cancelled; called before each piece of work whose cost grows with the
    /// view.
    pub(crate) fn check_cancelled(&self) -> Result<(), EditRefusal> {
        if self.cancellation.is_requested() { Err(EditRefusal::Cancelled) } else { Ok(()) }
    }

    /// Notifies the observer, if there is one.
    pub(crate) fn tell(&self, progress: Progress<'_>) {
        if let Some(observer) = self.observer {
            observer.on(progress);
        }
    }

    /// Returns the handle for a text; `None` where the reader cannot use it.
    pub(crate) fn usable_handle<'h>(&self, handle: &'h str) -> Option<&'h str> {
        self.handles.then_some(handle)
    }

    /// Returns a text of the session as a compaction may write it: without secrets, unless these are to stay. Linear.
    pub(crate) fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.redacts { redact(text) } else { Cow::Borrowed(text) }
    }

    /// Returns an id for the engine's message `number` that the session does not have yet.
    pub(crate) fn free_id(&self, number: usize) -> MessageId {
        let mut id = MessageId::new(format!("epitome-{}-{number}", self.epoch));
        while self.session.has_id(&id) {
            id = MessageId::new(format!("{id}x"));
        }
        id
    }
}
