//! For hosts that keep their sessions elsewhere, and whose users look at a session while it is worked on.

use epitome_config::Runtime;
use epitome_engine::{Budget, Draft, Report};
use epitome_session::{Entry, Epoch, Message, Session};
use epitome_store::SessionArchive;
use epitome_strategy::{Cancellation, ModelBackoff, Tokens, Verdict};

use super::events::Listeners;
use super::{Listener, LiveError, LiveSession};

impl LiveSession {
    /// A copy of the session for looking and drafting while the first one continues: in memory, without listeners.
    /// Linear in the number of messages; their texts are shared. The search index is not copied: the first search reads
    /// the log.
    pub fn copy(&self) -> Self {
        Self {
            engine: self.engine.clone(),
            session: self.session.clone(),
            ledger: self.ledger.clone(),
            archive: self.archive.clone(),
            budget: self.budget.clone(),
            model: self.model.clone(),
            watch: self.watch.clone(),
            settings: self.settings.clone(),
            mode: self.mode,
            fixed: self.fixed.clone(),
            clearing: self.clearing.clone(),
            cleared: self.cleared,
            file: None,
            memories: self.memories.clone(),
            flushed: self.flushed,
            requests: self.requests,
            confirm: self.confirm.clone(),
            listeners: Listeners::default(),
            overflows: self.overflows,
            index: epitome_recall::Index::new(),
            window: self.window,
            cancellation: Cancellation::never(),
            conversation: self.conversation.clone(),
            ahead: None,
            backoff: self.backoff.clone(),
            bill: self.bill.clone(),
            host: self.host,
        }
    }

    /// Continues under other settings. What was undone, refused or failed stays so, a provider's refusals stay counted, and the
    /// limit that it reported stays valid for the same window. Counts the view: linear.
    pub fn reconfigure(&mut self, runtime: &Runtime) {
        let engine = crate::engine_of(runtime);
        let before = self.ledger.total();
        self.ledger = engine.ledger(&self.session);
        self.engine = engine;
        self.watch.reconfigure(runtime.triggers.clone(), before, self.ledger.total());
        let named =
            (self.budget.window < self.window && self.window == runtime.budget.window).then_some(self.budget.window);
        self.window = runtime.budget.window;
        self.budget = runtime.budget.clone();
        self.model.clone_from(&runtime.model);
        if let Some(window) = named {
            self.budget = with_window(&self.budget, window);
        }
        self.count_tools();
        self.settings = runtime.live.clone();
        self.mode = runtime.mode;
        self.fixed.clone_from(&runtime.fixed);
        self.clearing.clone_from(&runtime.clearing);
        // The new settings decide how the session's own model is asked; a preparation was made under the old ones.
        if let Some(answering) = self.conversation.take() {
            self.conversation = answering.with_runtime(runtime);
        }
        if let Some(preparation) = self.preparation() {
            preparation.discard();
        }
        self.backoff.clear();
        self.tell_tokens();
    }

    /// Continues with another state of the session, as another process has stored it. Settings, listeners and memories stay, and
    /// what the provider said of its limit. Counts the view: linear.
    pub fn replace(&mut self, session: Session, archive: SessionArchive) {
        let newest = crate::context::newest_compaction(&session);
        let mut watch = self.watch.for_new_session();
        session.log().iter().skip(newest).for_each(|message| watch.push(message));
        self.ledger = self.engine.ledger(&session);
        (self.session, self.archive, self.watch) = (session, archive, watch);
        (self.flushed, self.cleared) = (newest, 0);
        self.index = epitome_recall::Index::new();
        if let Some(preparation) = self.preparation() {
            preparation.discard();
        }
        self.count_tools();
        self.note_newest();
        self.tell_tokens();
    }

    /// Forgets that the last compaction failed or was refused, and which models gave no summary: the next
    /// [`maintain`](Self::maintain) tries it again.
    pub fn forget_failure(&mut self) {
        self.watch.forget_failure();
        self.backoff.clear();
    }

    /// From here on `backoff` remembers which models gave no summary of the session: for a host that has the same session
    /// read again and again.
    pub fn share_backoff(&mut self, backoff: ModelBackoff) {
        self.backoff = backoff;
    }

    /// Nothing more is added to the session: a compaction reaches the target of its budget, and leaves no room beyond it.
    pub fn mark_ended(&mut self) {
        self.watch.mark_ended();
    }

    /// The detected task type of the session. Linear in the view.
    pub fn task(&self) -> Verdict {
        self.engine.detect(&self.session, &self.ledger)
    }

    /// Makes a compaction that was previewed, as [`apply`](Self::apply) does, and announces its start.
    pub async fn apply_previewed(&mut self, draft: Draft) -> Result<Report, LiveError> {
        let started = self.announce_start(draft.report.trigger);
        let made = self.apply(draft).await;
        started.announce_end(made)
    }

    /// Sends events to `listener` alone from here on, in place of all earlier listeners; to no listener where there is
    /// none.
    pub fn listen(&mut self, listener: Option<Listener>) {
        self.listeners.clear();
        listener.into_iter().for_each(|listener| self.listeners.add(listener));
    }
}

/// The budget where the provider named its limit. The reserve is the host's wish for the answer; it must not take the whole of
/// a window that shrank.
pub(super) fn with_window(budget: &Budget, window: Tokens) -> Budget {
    Budget { window, reserve_output: budget.reserve_output.min(window / 4), ..budget.clone() }
}

/// A session's view before and after one of its compactions.
#[derive(Debug, Clone)]
pub struct EpochViews {
    /// The view before the compaction.
    pub before: Vec<Entry>,
    /// The view after it.
    pub after: Vec<Entry>,
}

/// The view before and after a compaction, also of one that was undone; `None` for an unknown number. Earlier
/// compactions that were undone since are left out of both views. Linear in the session.
pub fn epoch_views(session: &Session, epoch: u32) -> Option<EpochViews> {
    let target = session.journal().get(epoch as usize)?;
    let mut then = Session::new();
    let mut log = session.log().iter();
    for earlier in &session.journal()[..=epoch as usize] {
        let behind = (earlier.log_length as usize).saturating_sub(then.log().len());
        for message in log.by_ref().take(behind) {
            then.push(Message::clone(message));
        }
        if earlier.id == target.id {
            break;
        }
        // An undone compaction counts too: later ones name what they touch by its number. No later one depends on it
        // yet.
        let number = then.commit(epoch_in_force(earlier));
        if earlier.undone {
            then.undo(number).ok();
        }
    }
    let before = then.view().to_vec();
    then.commit(epoch_in_force(target));
    Some(EpochViews { before, after: then.view().to_vec() })
}

fn epoch_in_force(epoch: &Epoch) -> Epoch {
    Epoch { undone: false, ..epoch.clone() }
}
