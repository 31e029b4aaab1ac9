//! That a compaction of a session is under way, for all instances to see.

use std::time::Duration;

use epitome::store::CompactionMark;

use super::key::SessionKey;
use super::queue::CompactionFlag;
use super::state::Sessions;
use crate::http::{ApiError, Problem};

/// The time for giving a mark back.
const RELEASE: Duration = Duration::from_secs(5);

/// A compaction that was asked for: here from the request on, and for other instances as soon as they can see it.
#[derive(Debug)]
pub(super) struct CompactionUnderWay {
    // Dropped first: who is let in here next finds no mark of the one before.
    mark: Option<CompactionMark>,
    _here: Option<CompactionFlag>,
}

impl CompactionUnderWay {
    /// Marks a compaction that was asked for and let in here. Errors where one is under way at another instance.
    pub(super) async fn asked_for(
        sessions: &Sessions,
        key: &SessionKey,
        here: CompactionFlag,
    ) -> Result<Self, ApiError> {
        match mark(sessions, key).await? {
            Some(mark) => Ok(Self { mark: Some(mark), _here: Some(here) }),
            None => Err(Problem::CompactionRunning.into()),
        }
    }

    /// Marks work that may compact. Where another instance has asked for a compaction, which waits for this work to end, the
    /// mark is that one's.
    pub(super) async fn possible(sessions: &Sessions, key: &SessionKey) -> Result<Self, ApiError> {
        Ok(Self { mark: mark(sessions, key).await?, _here: None })
    }

    /// Returns when other instances see the end.
    pub(super) async fn end(mut self) {
        let Some(mark) = self.mark.take() else { return };
        if tokio::time::timeout(RELEASE, mark.release()).await.is_err() {
            tracing::warn!("the mark of a compaction is given back without an answer");
        }
    }
}

async fn mark(sessions: &Sessions, (tenant, id): &SessionKey) -> Result<Option<CompactionMark>, ApiError> {
    let storage = sessions.storage()?;
    storage.store.mark_compaction(tenant, id).await.map_err(|error| storage.api_error(error))
}

/// Whether a compaction of the session is under way at any instance.
pub(super) async fn is_marked(sessions: &Sessions, (tenant, id): &SessionKey) -> Result<bool, ApiError> {
    let storage = sessions.storage()?;
    storage.store.is_marked(tenant, id).await.map_err(|error| storage.api_error(error))
}
