//! What is to be sent, and what is told of it.

use axum::body::Bytes;

use super::checked::SummaryFigures;

/// What the proxy did with a request, as `x-epitome-status` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyOutcome {
    /// Sent as it came: there was nothing to do.
    Passed,
    /// Sent as it came: it is none of the proxy's business.
    Bypassed,
    /// Earlier decisions were applied again.
    Replayed,
    /// A new compaction was made.
    Compacted,
    /// The provider said that it was too long, and took it when it was smaller.
    OverflowRetried,
    /// Something of ours went wrong; it was sent as it came.
    FailedOpen,
}

impl ProxyOutcome {
    pub(crate) fn as_str(self) -> &'static str {
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

/// What is to be sent.
#[derive(Debug)]
pub(crate) struct PreparedRequest {
    pub(crate) outcome: ProxyOutcome,
    /// Why, where there is more to say: a code.
    pub(crate) detail: Option<&'static str>,
    pub(crate) body: Bytes,
    pub(crate) figures: Option<Figures>,
    /// What was found in the summaries of a new compaction, where a model was asked for them.
    pub(crate) checked: Option<SummaryFigures>,
}

/// What the headers of the answer tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) tokens_before: u32,
    pub(crate) tokens_after: u32,
    /// Compactions in force.
    pub(crate) epochs: u32,
}

impl PreparedRequest {
    pub(crate) fn as_it_came(outcome: ProxyOutcome, detail: &'static str, body: Bytes) -> Self {
        Self { outcome, detail: Some(detail), body, figures: None, checked: None }
    }
}
