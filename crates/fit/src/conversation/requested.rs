//! A compaction that the client itself asks for, whether or not one is due.

use std::sync::Arc;

use bytes::Bytes;
use epitome::engine::{EngineError, block_on};
use epitome::live::{Compaction, LiveError};
use epitome::session::Trigger;
use epitome::strategy::{ArchivedContent, Tokens};

use super::decider::Decider;
use super::decisions::Conversation;
use super::full_request::{FullRequest, ProtectedTail};
use super::host::Host;
use super::matched_request::MatchedRequest;
use super::prepare::{fits, saved};
use super::prepared::TokenCounts;

/// The share of the tokens from which on a client wants a compaction that the compaction gets down to, where the budget's
/// target is not below it: at half, as much again can be said before the next one.
const SHARE_OF_THRESHOLD: f64 = 0.5;

/// The least share of a conversation that a compaction at a threshold has to save. With less the next request would be
/// over the threshold again, and every one would cost the client a new beginning.
const LEAST_SAVED: f64 = 0.05;

/// A conversation of fewer tokens is given back as it is: a summary of it would not be shorter, and half of it is an answer
/// or two that would be missed.
const SHORTEST: Tokens = 1_000;

/// The compaction that a client asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompactionRequest {
    /// Nothing is done for a conversation of fewer tokens, tool definitions included; 0 for any.
    pub from_tokens: Tokens,
}

/// A conversation that was compacted because its client asked for it. It is not remembered: the client goes on with
/// what it is given.
#[derive(Debug)]
pub struct RequestedCompaction {
    /// The request with the compacted messages: as it came where nothing could leave.
    pub body: Bytes,
    /// The counts of the request.
    pub counts: TokenCounts,
    /// Removed text under its handles: the host keeps it.
    pub archived: Vec<(Arc<str>, ArchivedContent)>,
    /// Why nothing left, or nothing worth a compaction at a threshold, as a code; `None` where something did.
    pub detail: Option<&'static str>,
}

/// Compacts the conversation of `incoming`, with the decisions of `known` in force, as [`CompactionRequest`] says. `None` where
/// the conversation is shorter than that. Linear in the request, plus the compaction.
///
/// # Errors
///
/// A code: why the request cannot be compacted at all.
pub fn compact_on_request(
    decider: &Decider,
    incoming: &MatchedRequest,
    known: &Conversation,
    demand: CompactionRequest,
    host: &dyn Host,
) -> Result<Option<RequestedCompaction>, &'static str> {
    let whole = FullRequest::new(incoming, host.cancellation())?;
    let mut conversation = known.fork();
    conversation.truncate(fits(incoming, &conversation));
    // The provider takes the newest step back with its signatures or not at all.
    let tail = if whole.is_in_signed_loop() { ProtectedTail::Step } else { ProtectedTail::Nothing };
    let mut live = whole.live(decider, &conversation, tail);
    let messages_before = live.tokens();
    if messages_before.saturating_add(incoming.tool_tokens) < demand.from_tokens {
        return Ok(None);
    }
    whole.ask_its_model(host, &mut live);
    let before = live.session().journal().len();
    let compaction = Compaction { trigger: Trigger::Manual, target: target(&live, demand), ..Compaction::default() };
    let made = match messages_before < SHORTEST {
        true => None,
        false => Some(block_on(live.compact(&compaction))),
    };
    let detail = match made.transpose() {
        Ok(_) => None,
        Err(LiveError::Infeasible { .. }) => Some("infeasible"),
        Err(LiveError::Engine(EngineError::Cancelled)) => return Err("timeout"),
        Err(error) => {
            tracing::warn!(%error, "a compaction that a client asked for could not be made");
            Some("not-compacted")
        }
    };
    let session = live.session();
    let journal = session.journal();
    let body = match journal.is_empty() {
        true => incoming.body.clone(),
        false => whole.sendable(session).ok_or("not-written")?,
    };
    let handles = journal[before..].iter().flat_map(|epoch| &epoch.edits).filter_map(|edit| edit.recall.as_ref());
    let archived = handles.filter_map(|handle| Some((Arc::clone(handle), live.recall(handle).ok()??))).collect();
    let tokens_after = live.tokens();
    let counts = TokenCounts {
        tokens_before: tokens_after.saturating_add(journal.iter().map(saved).sum()),
        tokens_after,
        epochs: session.cycle(),
        usable: live.budget().usable(),
    };
    let least = if demand.from_tokens > 0 { (f64::from(messages_before) * LEAST_SAVED) as Tokens } else { 0 };
    let is_too_little = messages_before.saturating_sub(tokens_after) < least;
    let nothing_left = || (journal.len() == before || is_too_little).then_some("nothing-can-leave");
    Ok(Some(RequestedCompaction { detail: detail.or_else(nothing_left), body, counts, archived }))
}

/// Tokens to get down to; `None` where the session's own choice for a compaction by hand is right.
fn target(live: &epitome::live::LiveSession, demand: CompactionRequest) -> Option<Tokens> {
    if demand.from_tokens == 0 {
        return None;
    }
    let budget = live.budget();
    let most = (f64::from(demand.from_tokens) * SHARE_OF_THRESHOLD) as Tokens;
    Some(budget.target.tokens(budget.usable()).min(most).max(1))
}
