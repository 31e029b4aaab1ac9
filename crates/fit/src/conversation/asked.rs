//! A compaction that the conversation's own model asks for, with its tool `compact_context`.

use std::sync::Arc;

use epitome::engine::{EngineError, block_on};
use epitome::live::{LiveError, ModelRequest, ModelRequestOutcome};

use super::decider::Decider;
use super::decisions::{Conversation, Decisions, Slot};
use super::full_request::{FullRequest, ProtectedTail};
use super::host::Host;
use super::matched_request::MatchedRequest;
use super::prepare::{finish, on_its_branch};
use super::prepared::{FitOutcome, PreparedRequest};

/// What became of a model's wish for a compaction.
#[derive(Debug)]
pub struct AskedCompaction {
    /// The answer for the model, as it displays.
    pub outcome: ModelRequestOutcome,
    /// The request to send in place of the one that the model answered; `None` where nothing left.
    pub prepared: Option<PreparedRequest>,
}

/// Compacts the conversation of `incoming` because the model that answers it asks for it, where
/// [`LiveSession::compact_as_asked`](epitome::live::LiveSession::compact_as_asked) finds it wise. `known` is the content of
/// `shared`, and the decision is stored in `memory`, as [`prepare`](super::prepare()) does. Linear in the request, plus the
/// compaction.
///
/// # Errors
///
/// A code: why the request cannot be compacted.
pub fn compact_as_asked<S: Slot>(
    decider: &Decider,
    memory: &Decisions<S>,
    incoming: &MatchedRequest,
    shared: &S,
    known: &mut Conversation,
    asked: &ModelRequest,
    host: &dyn Host,
) -> Result<AskedCompaction, &'static str> {
    let whole = FullRequest::new(incoming, host.cancellation())?;
    on_its_branch(memory, incoming, shared, known, |conversation| compact(decider, &whole, conversation, asked, host))
}

/// Compacts a request of whose conversation every decision belongs to it.
fn compact(
    decider: &Decider,
    whole: &FullRequest<'_>,
    conversation: &mut Conversation,
    asked: &ModelRequest,
    host: &dyn Host,
) -> Result<AskedCompaction, &'static str> {
    // The provider takes the newest step back with its signatures or not at all.
    let tail = if whole.is_in_signed_loop() { ProtectedTail::Step } else { ProtectedTail::Nothing };
    let mut live = whole.live(decider, conversation, tail);
    whole.ask_its_model(host, &mut live);
    let before = live.session().journal().len();
    let outcome = block_on(live.compact_as_asked(asked)).map_err(|error| match error {
        LiveError::Infeasible { .. } => "infeasible",
        LiveError::Engine(EngineError::Cancelled) => "timeout",
        error => {
            tracing::warn!(%error, "a compaction that a model asked for could not be made");
            "not-compacted"
        }
    })?;
    let report = match &outcome {
        ModelRequestOutcome::Compacted { report, .. } if report.status.is_compaction() => report,
        _ => return Ok(AskedCompaction { outcome, prepared: None }),
    };
    // What is being prepared was begun with what has left.
    conversation.preparation.discard();
    let prepared = finish(decider, whole, conversation, &live, before, FitOutcome::Compacted);
    if prepared.outcome != FitOutcome::Compacted {
        return Err(prepared.detail.unwrap_or("not-written"));
    }
    (conversation.failed_at, conversation.floor) = (None, None);
    conversation.quality = report.quality.clone().map(Arc::new);
    let prepared = PreparedRequest { report: Some(report.clone()), ..prepared };
    Ok(AskedCompaction { prepared: Some(prepared), outcome })
}
