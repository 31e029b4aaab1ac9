//! A compaction that is being prepared: whether one is under way or ready, and where it runs.

use std::fmt::Debug;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use epitome_engine::Draft;
use epitome_store::SessionArchive;
use epitome_strategy::{BoxFuture, Tokens, lock};

/// Runs work in the background: a runtime's `spawn`.
pub trait BackgroundExecutor: Send + Sync + Debug {
    /// Runs `work` to its end, somewhere else. It may block for as long as a model answers.
    fn run(&self, work: BoxFuture<'static, ()>);
}

/// A compaction that is prepared, for one session: at most one is under way at any time. Clones are the same one.
#[derive(Debug, Clone, Default)]
pub struct Preparation(Arc<Mutex<SharedPreparation>>);

#[derive(Debug, Default)]
struct SharedPreparation {
    state: State,
    /// The wakers of callers that wait until no preparation is under way.
    waiting: Vec<Waker>,
}

#[derive(Debug, Default)]
enum State {
    /// None is prepared.
    #[default]
    Idle,
    /// One is being worked out; tokens of the session that it is made from.
    UnderWay { tokens: Tokens, number: u64 },
    /// One is ready, with what it archived.
    Ready { tokens: Tokens, draft: Box<Draft>, archive: Box<SessionArchive> },
    /// None could be made of a session of this many tokens: it is not tried again until there are more.
    Failed { tokens: Tokens },
}

/// The state of a preparation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreparationState {
    /// None is prepared.
    Idle,
    /// One is being worked out.
    UnderWay,
    /// One is ready to be made.
    Ready,
    /// The last one failed.
    Failed,
}

impl Preparation {
    /// The current state.
    pub fn state(&self) -> PreparationState {
        match lock(&self.0).state {
            State::Idle => PreparationState::Idle,
            State::UnderWay { .. } => PreparationState::UnderWay,
            State::Ready { .. } => PreparationState::Ready,
            State::Failed { .. } => PreparationState::Failed,
        }
    }

    /// Waits until none is under way.
    pub async fn wait_until_done(&self) {
        poll_fn(|context| {
            let mut shared = lock(&self.0);
            if matches!(shared.state, State::UnderWay { .. }) {
                shared.waiting.push(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Throws away a finished preparation; one that is under way is thrown away when it is done.
    pub fn discard(&self) {
        self.set(&mut lock(&self.0), State::Idle);
    }

    fn set(&self, shared: &mut SharedPreparation, state: State) {
        shared.state = state;
        shared.waiting.drain(..).for_each(Waker::wake);
    }

    /// Begins one for a session of `tokens` tokens and returns its number; `None` if there is one already.
    pub(super) fn begin(&self, tokens: Tokens, patience: Tokens) -> Option<u64> {
        let mut shared = lock(&self.0);
        match shared.state {
            State::UnderWay { tokens: made_from, .. } | State::Ready { tokens: made_from, .. }
                if tokens >= made_from =>
            {
                return None;
            }
            State::Failed { tokens: failed } if tokens >= failed && tokens < failed.saturating_add(patience) => {
                return None;
            }
            // The session has shrunk since: a draft of the longer one is useless.
            _ => {}
        }
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        self.set(&mut shared, State::UnderWay { tokens, number });
        Some(number)
    }

    /// Ends the one of that number; one that was thrown away meanwhile is not kept.
    pub(super) fn end(&self, number: u64, made: Option<(Draft, SessionArchive)>) {
        let mut shared = lock(&self.0);
        let State::UnderWay { tokens, number: current } = shared.state else { return };
        if current == number {
            let state = match made {
                Some((draft, archive)) => State::Ready { tokens, draft: Box::new(draft), archive: Box::new(archive) },
                None => State::Failed { tokens },
            };
            self.set(&mut shared, state);
        }
    }

    /// Takes the finished preparation.
    pub(super) fn take(&self) -> Option<(Draft, SessionArchive)> {
        let mut shared = lock(&self.0);
        match std::mem::take(&mut shared.state) {
            State::Ready { draft, archive, .. } => Some((*draft, *archive)),
            other => {
                shared.state = other;
                None
            }
        }
    }
}

/// Numbers of preparations, each once in a process.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// Ends a preparation also where working it out panics or is cancelled.
pub(super) struct PreparationGuard {
    pub(super) preparation: Preparation,
    pub(super) number: u64,
}

impl Drop for PreparationGuard {
    fn drop(&mut self) {
        self.preparation.end(self.number, None);
    }
}

/// Where preparations run.
#[derive(Debug, Clone)]
pub(super) struct BackgroundPreparation {
    pub(super) preparation: Preparation,
    pub(super) background: Arc<dyn BackgroundExecutor>,
}
