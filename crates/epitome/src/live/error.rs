//! Errors of a live session.

use epitome_engine::{EditSummaryError, EngineError, Floor, Report};
use epitome_session::UndoError;
use epitome_store::StoreError;
use epitome_strategy::{ArchiveError, Tokens};
use thiserror::Error;

/// Why a live session did not do what it was asked to. Unless said otherwise, it is as it was.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The engine could not work.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The session could not be stored. In memory it is as before the call, but for a message that was pushed: that is
    /// there, and [`LiveSession::save`](super::LiveSession::save) stores it once the trouble is over.
    #[error("the session could not be stored: {0}")]
    Store(#[from] StoreError),
    /// A compaction cannot be undone.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// No compaction is in force that could be undone.
    #[error("no compaction is in force")]
    NothingToUndo,
    /// A draft's summary cannot be replaced by that text.
    #[error(transparent)]
    EditSummary(#[from] EditSummaryError),
    /// The archive did not answer.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A draft names something that the session's archive does not hold: it was made by another process, or before the
    /// session was opened again.
    #[error("the draft cannot be made: the archive does not hold `{handle}`, which it names; make a new draft here")]
    NotArchived {
        /// The handle.
        handle: String,
    },
    /// The messages that must stay are larger than the limit.
    #[error("the session cannot fit {limit} tokens: what must stay takes at least {} ({})", .floor.tokens, parts(.floor))]
    Infeasible {
        /// The limit.
        limit: Tokens,
        /// The messages that must stay.
        floor: Box<Floor>,
        /// The report of the attempt.
        report: Box<Report>,
    },
    /// The provider has refused the session as too long again and again.
    #[error(
        "the provider has refused the session as too long {attempts} times; it has {tokens} tokens now: use a model with a larger window, or start a new session"
    )]
    StillTooLong {
        /// The number of attempts.
        attempts: u32,
        /// Tokens of the view by the engine's counter.
        tokens: Tokens,
    },
    /// A compaction is due, it was refused, and the settings say that this is an error.
    #[error("a compaction is due ({tokens} of {usable} tokens) and was refused: allow it, or start a new session")]
    Refused {
        /// Tokens of the view.
        tokens: Tokens,
        /// Tokens that it may take.
        usable: Tokens,
    },
}

impl LiveError {
    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Engine(EngineError::NoSummary(error)) => error.retryable,
            Self::Engine(EngineError::Refused(_) | EngineError::Cancelled) | Self::Store(_) | Self::Archive(_) => true,
            Self::Engine(EngineError::ByHand(_) | EngineError::Stale | EngineError::Outgrown { .. })
            | Self::Undo(_)
            | Self::NothingToUndo
            | Self::EditSummary(_)
            | Self::NotArchived { .. }
            | Self::Infeasible { .. }
            | Self::StillTooLong { .. }
            | Self::Refused { .. } => false,
        }
    }
}

fn parts(floor: &Floor) -> String {
    let parts: Vec<String> = floor.parts.iter().map(ToString::to_string).collect();
    parts.join(" + ")
}
