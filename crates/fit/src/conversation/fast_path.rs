//! The fast path: where no compaction is due, the known facts of the messages are enough to build the request.
//!
//! It gives what the full path gives, or nothing; then the full path is taken.

use epitome::engine::Watch;

use super::decider::Decider;
use super::decisions::Conversation;
use super::matched_request::MatchedRequest;
use super::prepare::{fits, saved, was_tried};
use super::prepared::{FitOutcome, PreparedRequest, TokenCounts};

/// Returns the request to send, where no compaction is due and it is certain how the earlier ones are carried out. Linear in what
/// is sent; reads nothing that was read before. What is sent is remembered in the conversation.
pub fn prepare_fast(
    decider: &Decider,
    incoming: &MatchedRequest,
    conversation: &mut Conversation,
) -> Option<PreparedRequest> {
    if fits(incoming, conversation) < conversation.decisions.len() {
        return None;
    }
    // Whether its compactions keep the limits shows in the session alone.
    if incoming.is_over_limits() {
        return None;
    }
    // The recipe is for requests whose model can look things up.
    if !conversation.decisions.is_empty() && incoming.hides_handles {
        return None;
    }
    let newest = conversation.decisions.iter().rfind(|made| made.epoch.is_compaction());
    let (from, after) = newest.map_or((0, None), |made| (made.place, made.epoch.tokens_after));
    let tokens_after = match conversation.decisions.is_empty() {
        true => incoming.tokens_behind(0),
        false => conversation.recipe.as_ref()?.tokens(incoming),
    };
    let triggers = &decider.runtime().triggers;
    let rounds = incoming.behind(from).iter().filter(|item| item.is_typed).count();
    let asks = incoming.behind(from).iter().any(|item| item.asks);
    if asks || (triggers.rounds > 0 && rounds >= triggers.rounds as usize) {
        return None;
    }
    let mut watch = Watch::new(triggers.clone());
    if incoming.is_last {
        watch.mark_ended();
    }
    let check =
        watch.check_with_boundary(&conversation.budget(incoming), tokens_after, after, || incoming.is_at_boundary());
    let detail = match check.trigger {
        None => None,
        // A loop with signed reasoning is looked at anew each time.
        Some(_) if incoming.newest_loop().any(|item| item.is_signed) => return None,
        Some(_) if was_tried(conversation, tokens_after, check.usable_tokens) => Some("tried-before"),
        Some(_) => return None,
    };
    let epochs = conversation.decisions.iter().map(|made| &made.epoch);
    let tokens_before = tokens_after.saturating_add(epochs.clone().map(saved).sum());
    let epochs = epochs.filter(|epoch| epoch.is_compaction()).count() as u32;
    let (outcome, body) = match conversation.recipe.as_ref().filter(|_| !conversation.decisions.is_empty()) {
        Some(recipe) => (FitOutcome::Replayed, recipe.apply(incoming)?),
        None => (FitOutcome::Passed, incoming.body.clone()),
    };
    let counts = TokenCounts { tokens_before, tokens_after, epochs, usable: check.usable_tokens };
    let counts = Some(conversation.as_reported(incoming, counts));
    conversation.note_sent(incoming, tokens_after);
    // A failed attempt is reported again while its result still holds.
    let floor = detail.and(conversation.floor.clone());
    let provenance = conversation.provenance.clone();
    let quality = conversation.quality.clone();
    Some(PreparedRequest { detail, floor, provenance, quality, ..PreparedRequest::new(outcome, body, counts) })
}

#[cfg(test)]
#[path = "fast_path_tests.rs"]
mod tests;
