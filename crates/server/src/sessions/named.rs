//! The session that a request names.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use epitome::live::{ContextTokens, LiveSession, TurnUsage};
use epitome::strategy::Cancellation;
use tokio::time::error::Elapsed;

use super::input::SessionId;
use super::key::SessionKey;
use super::open::{Operation, OperationResult, SessionSnapshot, change_with, read_at};
use super::state::Sessions;
use crate::auth::Caller;
use crate::http::{ApiError, Problem};

/// A session by its key, which there need not be, among the kept ones.
#[derive(Debug, Clone)]
pub(crate) struct NamedSession {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) key: SessionKey,
}

impl FromRequestParts<Arc<Sessions>> for NamedSession {
    type Rejection = ApiError;

    /// That of the path, for the caller.
    async fn from_request_parts(parts: &mut Parts, sessions: &Arc<Sessions>) -> Result<Self, ApiError> {
        let SessionId(id) = SessionId::from_request_parts(parts, sessions).await?;
        let caller = parts.extensions.get::<Caller>().ok_or(Problem::Unauthorized)?;
        Self::new(sessions, caller, &id)
    }
}

impl NamedSession {
    /// The caller's session of that id. Errors where nothing is kept.
    pub(crate) fn new(sessions: &Arc<Sessions>, caller: &Caller, id: &str) -> Result<Self, ApiError> {
        Ok(Self { sessions: Arc::clone(sessions), key: sessions.key(caller, id)? })
    }

    /// Its tenant's name.
    pub(crate) fn owner(&self) -> Arc<str> {
        self.key.0.name()
    }

    /// Looks at it. Never waits for a compaction: that is shown the session as it was before.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(SessionSnapshot<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        read_at(&self.sessions, self.key.clone(), look).await
    }

    /// Works on it when it is its turn, and stores it: it is changed whole or not at all, also when the caller has left.
    pub(crate) async fn change<O: Operation>(&self, operation: O) -> Result<OperationResult<O::Output>, ApiError> {
        let Ok(changed) = self.change_with(async { Ok(Ok::<O, Infallible>(operation)) }).await?;
        Ok(changed)
    }

    /// The same with an operation that has to be worked out first: its turn is that of a request which came when this is
    /// called, however long that takes. Input that gives no operation is returned.
    pub(crate) async fn change_with<O: Operation, N>(
        &self,
        prepared: impl Future<Output = Result<Result<O, N>, ApiError>>,
    ) -> Result<Result<OperationResult<O::Output>, N>, ApiError> {
        change_with(&self.sessions, &self.key, prepared).await
    }

    /// Works on a copy of it, which others need not wait for. The error is that it took longer than work on a session may.
    pub(super) async fn work_on<T: Send + 'static, W: Future<Output = Result<T, ApiError>> + Send + 'static>(
        &self,
        mut copy: LiveSession,
        work: impl FnOnce(LiveSession) -> W,
    ) -> Result<Result<T, ApiError>, Elapsed> {
        let (core, owner, cancellation) = (&self.sessions.core, self.key.0.name(), Cancellation::new());
        copy.cancel_by(cancellation.clone());
        let worked = core.workers.run_future(&owner, &cancellation, work(copy));
        let worked = tokio::time::timeout(core.settings.limits.session_timeout, worked).await?;
        Ok(worked.unwrap_or_else(|failure| Err(failure.into())))
    }

    /// The fill of its context, and what the provider counted for the present turn.
    pub(crate) async fn context_and_usage(&self) -> Result<(ContextTokens, Option<TurnUsage>), ApiError> {
        self.read(|seen| Ok((seen.opened.live.context(), seen.opened.live.turn_usage()))).await
    }

    /// The fill of its context.
    pub(crate) async fn context(&self) -> Result<ContextTokens, ApiError> {
        self.read(|seen| Ok(seen.opened.live.context())).await
    }
}
