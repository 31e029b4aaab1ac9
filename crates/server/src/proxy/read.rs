//! Reads requests: few new messages at once, many of them in their turn.

use std::sync::{Arc, Mutex, PoisonError};

use epitome::wire::{Address, Wire};
use epitome_fit::conversation::Digest;

use super::incoming::Incoming;
use super::state::Proxy;
use super::unread::{KnownBody, UnreadRequest};
use crate::auth::Caller;
use crate::worker_pool::WorkFailure;

/// The most bytes of new messages that are read at once; more of them wait for a worker.
const SMALL_BYTES: usize = 64 * 1024;

/// The reason why a request was not read: it got no worker, or an internal error.
pub(super) struct ReadFailure {
    pub(super) cause: WorkFailure,
    /// The request as far as it was looked at, where reading has not begun.
    pub(super) request: Option<UnreadRequest>,
}

impl ReadFailure {
    /// The cause as a code.
    pub(super) fn code(&self) -> &'static str {
        self.cause.as_str()
    }
}

/// Reads a request that got no worker in time: the decisions for its conversation can still be carried out. It
/// takes no turn, and costs less than it saves the provider.
pub(super) async fn read_elsewhere(proxy: &Arc<Proxy>, sighted: Option<UnreadRequest>) -> Option<Incoming> {
    let (shared_proxy, sighted) = (Arc::clone(proxy), sighted?);
    tokio::task::spawn_blocking(move || sighted.learn(&shared_proxy).ok()).await.ok()?
}

/// Looks at a request, and reads its new messages. Few of them are read at once; many wait for a turn.
pub(super) async fn look(
    proxy: &Arc<Proxy>,
    caller: &Caller,
    wire: Wire,
    seed: Digest,
    body: KnownBody,
    said: Address,
) -> Result<Result<Incoming, &'static str>, ReadFailure> {
    let (shared_proxy, tenant) = (Arc::clone(proxy), Arc::clone(&caller.tenant));
    let looked = tokio::task::spawn_blocking(move || {
        let sighted = UnreadRequest::new(&shared_proxy, tenant, wire, seed, body, said)?;
        let is_small = sighted.new_bytes() <= SMALL_BYTES;
        if is_small { sighted.learn(&shared_proxy).map(Ok) } else { Ok(Err(sighted)) }
    });
    match looked.await.map_err(|_| ReadFailure { cause: WorkFailure::Panicked, request: None })? {
        Ok(Ok(incoming)) => Ok(Ok(incoming)),
        Ok(Err(sighted)) => {
            let (shared_proxy, waiting) = (Arc::clone(proxy), Arc::new(Mutex::new(Some(sighted))));
            let take =
                |waiting: &Mutex<Option<UnreadRequest>>| waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
            let its = Arc::clone(&waiting);
            match proxy
                .core
                .workers
                .run(&caller.tenant, move |_| take(&its).map(|sighted| sighted.learn(&shared_proxy)))
                .await
            {
                Ok(Some(learnt)) => Ok(learnt),
                // Nobody else takes it before it has failed.
                Ok(None) => Err(ReadFailure { cause: WorkFailure::Panicked, request: None }),
                Err(cause) => Err(ReadFailure { cause, request: take(&waiting) }),
            }
        }
        Err(detail) => Ok(Err(detail)),
    }
}
