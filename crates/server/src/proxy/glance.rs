//! The quick way: where no compaction is due, what is known of the messages is enough to say what is sent.
//!
//! It gives what the full way gives, or nothing; then the full way is gone.

use epitome::engine::Watch;

use super::incoming::Incoming;
use super::memory::Conversation;
use super::prepare::{fits, saved, was_tried};
use super::prepared::{Figures, PreparedRequest, ProxyOutcome};
use super::state::Proxy;

/// What to send, where no compaction is due and it is certain how the earlier ones are carried out. Linear in what is
/// sent, and reads nothing that was read before.
pub(super) fn glance(proxy: &Proxy, incoming: &Incoming, conversation: &mut Conversation) -> Option<PreparedRequest> {
    if fits(incoming, conversation) < conversation.decisions.len() {
        return None;
    }
    // The recipe is for requests whose model can look things up.
    if !conversation.decisions.is_empty() && proxy.hides_handles(incoming) {
        return None;
    }
    let newest = conversation.decisions.iter().rfind(|made| made.epoch.is_compaction());
    let (from, after) = newest.map_or((0, None), |made| (made.place, made.epoch.tokens_after));
    let tokens_after = match conversation.decisions.is_empty() {
        true => incoming.tokens_behind(0),
        false => conversation.recipe.as_ref()?.tokens(incoming),
    };
    let triggers = &proxy.runtime.triggers;
    let rounds = incoming.behind(from).iter().filter(|item| item.is_typed).count();
    let asks = incoming.behind(from).iter().any(|item| item.asks);
    if asks || (triggers.rounds > 0 && rounds >= triggers.rounds as usize) {
        return None;
    }
    let check = Watch::new(triggers.clone()).check(&conversation.budget(&proxy.core, incoming), tokens_after, after);
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
        Some(recipe) => (ProxyOutcome::Replayed, recipe.apply(incoming)?),
        None => (ProxyOutcome::Passed, incoming.body.clone()),
    };
    let figures = Some(Figures { tokens_before, tokens_after, epochs });
    Some(PreparedRequest { outcome, detail, body, figures, checked: None })
}

#[cfg(test)]
#[path = "glance_tests.rs"]
mod tests;
