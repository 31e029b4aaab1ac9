//! Compactions that a session's model asks for, with its tool `compact_context`.

use std::sync::Arc;

use epitome::live::{ModelRequest, ModelRequestOutcome};

use super::compact::account;
use super::failure::live;
use super::named::NamedSession;
use super::open::Operation;
use super::opened::CachedSession;
use super::state::Sessions;
use crate::http::ApiError;

/// Compacts where it is wise.
struct CompactAsAsked(ModelRequest);

impl Operation for CompactAsAsked {
    type Output = ModelRequestOutcome;

    async fn run(&self, _app: &Arc<Sessions>, opened: &mut CachedSession) -> Result<Self::Output, ApiError> {
        opened.live.compact_as_asked(&self.0).await.map_err(live)
    }

    fn is_long(&self, _opened: &CachedSession) -> bool {
        true
    }

    fn account(&self, sessions: &Sessions, outcome: &Self::Output) {
        if let ModelRequestOutcome::Compacted { report, .. } = outcome {
            account(sessions, report);
        }
    }

    const IS_COMPACTION: bool = true;
}

/// The answer for the model: what was done, or why nothing was.
pub(crate) async fn compact_as_asked(named: &NamedSession, asked: ModelRequest) -> Result<String, ApiError> {
    Ok(named.change(CompactAsAsked(asked)).await?.value.to_string())
}
