//! The request to send, and the report about it.

use std::sync::Arc;

use bytes::Bytes;
use epitome::engine::{Floor, Quality, Report};
use epitome::session::Epoch;
use epitome::strategy::ArchivedContent;

use super::provenance::Provenance;

/// What was done with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitOutcome {
    /// Sent as it came: there was nothing to do.
    Passed,
    /// Sent as it came: it is not one that can be fitted.
    Bypassed,
    /// Earlier decisions were applied again.
    Replayed,
    /// A new compaction was made.
    Compacted,
    /// The provider said that it was too long, and took it when it was smaller.
    OverflowRetried,
    /// An internal error: it was sent as earlier decisions make it, or as it came where there are none.
    FailedOpen,
}

impl FitOutcome {
    /// The outcome's name, as in a header or a log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Bypassed => "bypassed",
            Self::Replayed => "replayed",
            Self::Compacted => "compacted",
            Self::OverflowRetried => "overflow-retried",
            Self::FailedOpen => "failed-open",
        }
    }
}

/// The request to send.
#[derive(Debug)]
pub struct PreparedRequest {
    /// The outcome.
    pub outcome: FitOutcome,
    /// The reason for the outcome as a code, where there is one.
    pub detail: Option<&'static str>,
    /// The body to send.
    pub body: Bytes,
    /// The counts of the request; `None` where nothing was counted.
    pub counts: Option<TokenCounts>,
    /// The new compactions.
    pub epochs: Vec<Epoch>,
    /// Removed text under its handles: the host keeps it.
    pub archived: Vec<(Arc<str>, ArchivedContent)>,
    /// The report of the attempt at a compaction, where one was made.
    pub report: Option<Box<Report>>,
    /// The messages that must stay, where they are too many.
    pub floor: Option<Arc<Floor>>,
    /// The changes to the request's messages, where any was changed and the [decider](super::Decider::tell_provenance)
    /// tells them.
    pub provenance: Option<Arc<Provenance>>,
    /// What the newest compaction in force kept, where it was made in this process.
    pub quality: Option<Arc<Quality>>,
}

/// The counts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenCounts {
    /// Tokens of the messages as they came.
    pub tokens_before: u32,
    /// Tokens of the messages as they are sent.
    pub tokens_after: u32,
    /// Compactions in force.
    pub epochs: u32,
    /// Tokens that messages may take.
    pub usable: u32,
}

impl PreparedRequest {
    /// Nothing is changed, for the reason `detail`.
    pub fn as_it_came(outcome: FitOutcome, detail: &'static str, body: Bytes) -> Self {
        Self { detail: Some(detail), ..Self::new(outcome, body, None) }
    }

    pub(super) fn new(outcome: FitOutcome, body: Bytes, counts: Option<TokenCounts>) -> Self {
        let (epochs, archived) = (Vec::new(), Vec::new());
        let (report, floor, provenance, quality) = (None, None, None, None);
        Self { outcome, detail: None, body, counts, epochs, archived, report, floor, provenance, quality }
    }
}
