//! Builds the request to send: earlier decisions again, byte for byte, and new ones where they are due.

use std::sync::Arc;

use epitome::engine::{EngineError, Report, Urgency, block_on};
use epitome::live::{LiveError, LiveSession, MaintainOutcome, Overflow};
use epitome::session::{Epoch, Session};
use epitome::strategy::{ArchivedContent, Cancellation};

use super::decider::Decider;
use super::decisions::{Conversation, Decision, Decisions, Slot};
use super::full_request::{FullRequest, ProtectedTail};
use super::host::Host;
use super::matched_request::MatchedRequest;
use super::prepared::{FitOutcome, PreparedRequest, TokenCounts};
use super::provenance::Provenance;
use super::recipe::Recipe;

/// After a failed attempt, the next waits until the view has grown by this share of the usable window.
const PATIENCE: f64 = 0.01;

/// Decides what to send for `incoming`, whose conversation `known` is the content of `shared`, and stores the decisions
/// in `memory`. Linear in the request, plus a compaction where one is due.
pub fn prepare<S: Slot>(
    decider: &Decider,
    memory: &Decisions<S>,
    incoming: &MatchedRequest,
    shared: &S,
    known: &mut Conversation,
    host: &dyn Host,
) -> PreparedRequest {
    let whole = match FullRequest::new(incoming, host.cancellation()) {
        Ok(whole) => whole,
        Err(detail) => return PreparedRequest::as_it_came(FitOutcome::Bypassed, detail, incoming.body.clone()),
    };
    on_its_branch(memory, incoming, shared, known, |conversation| decide(decider, &whole, conversation, host))
}

/// Works on the conversation of a request, every decision of which belongs to it, and remembers what came of it. Where the
/// request parted from the known conversation, that goes on elsewhere with all of its decisions, and this one has those before
/// the fork.
pub(super) fn on_its_branch<S: Slot, T>(
    memory: &Decisions<S>,
    incoming: &MatchedRequest,
    shared: &S,
    known: &mut Conversation,
    work: impl FnOnce(&mut Conversation) -> T,
) -> T {
    if fits(incoming, known) == known.decisions.len() {
        let done = work(known);
        memory.keep(shared, known, incoming.end());
        return done;
    }
    let mut forked = known.fork();
    forked.truncate(fits(incoming, &forked));
    let done = work(&mut forked);
    memory.keep_branch(forked, incoming.end());
    done
}

/// Decides for a conversation of which every decision belongs to this request.
fn decide(
    decider: &Decider,
    whole: &FullRequest<'_>,
    conversation: &mut Conversation,
    host: &dyn Host,
) -> PreparedRequest {
    let mut live = whole.live(decider, conversation, ProtectedTail::Nothing);
    let before = live.session().journal().len();
    let check = live.check();
    let target = live.budget().target.tokens(check.usable_tokens);
    let is_due = check.urgency == Urgency::Hard;
    // A model that is still at work when there is no room left is given half of the time that the client waits. Then the
    // rules write: the whole history would not fit any more.
    let asks = !is_due || host.has_ended(&conversation.preparation, host.patience() / 2);
    if !asks {
        conversation.preparation.discard();
    }
    if check.trigger.is_some() && asks {
        whole.ask_its_model(host, &mut live);
        if host.prepare_ahead(&mut live, &conversation.preparation)
            && let Some(maintained) = ahead(&mut live, conversation)
        {
            let detail = matches!(maintained, MaintainOutcome::Preparing(_)).then_some("preparing");
            let prepared = finish(decider, whole, conversation, &live, before, FitOutcome::Compacted);
            return PreparedRequest { detail: detail.or(prepared.detail), ..prepared };
        }
    }
    let attempt = match whole.loop_tokens(decider) {
        Some(tokens) if check.trigger.is_some() && tokens <= target / 4 * 3 => {
            live = whole.live(decider, conversation, ProtectedTail::Loop);
            if asks {
                whole.ask_its_model(host, &mut live);
            }
            compact_where_due(&mut live, conversation, host)
        }
        // A loop that leaves too little to take out would have to be compacted around again and again.
        Some(_) if check.trigger.is_some() && !is_due => Attempt::failed("loop-goes-on"),
        Some(_) if is_due => {
            live = whole.live(decider, conversation, ProtectedTail::Step);
            if asks {
                whole.ask_its_model(host, &mut live);
            }
            compact_where_due(&mut live, conversation, host)
        }
        _ => compact_where_due(&mut live, conversation, host),
    };
    let attempt = match attempt.detail {
        // There is no room unless a part of the protected messages leaves.
        Some("infeasible" | "nothing-can-leave") if is_due && whole.is_in_signed_loop() => {
            conversation.failed_at = None;
            live = whole.live(decider, conversation, ProtectedTail::Nothing);
            compact_where_due(&mut live, conversation, host)
        }
        _ => attempt,
    };
    let prepared = finish(decider, whole, conversation, &live, before, FitOutcome::Compacted);
    if prepared.outcome == FitOutcome::Compacted {
        conversation.quality = attempt.report.as_ref().and_then(|report| report.quality.clone()).map(Arc::new);
    }
    let quality = conversation.quality.clone();
    // A failed attempt is reported again while its result still holds.
    let floor = attempt.detail.and(conversation.floor.clone());
    PreparedRequest { detail: attempt.detail.or(prepared.detail), report: attempt.report, floor, quality, ..prepared }
}

/// Returns the session that a request belongs to, with the decisions that are in force; `None` if it cannot be read. Linear in the
/// request.
pub fn session_of_request(
    decider: &Decider,
    incoming: &MatchedRequest,
    known: &Conversation,
    cancellation: &Cancellation,
) -> Option<LiveSession> {
    let mut conversation = known.fork();
    conversation.truncate(fits(incoming, &conversation));
    Some(FullRequest::new(incoming, cancellation.clone()).ok()?.live(decider, &conversation, ProtectedTail::Nothing))
}

/// The number of the conversation's decisions that were made at places of this request.
pub(super) fn fits(incoming: &MatchedRequest, conversation: &Conversation) -> usize {
    let here = |made: &&Decision| incoming.chain.get(made.place) == Some(&made.digest);
    conversation.decisions.iter().take_while(here).count()
}

/// Whether the last attempt at a compaction failed, and too little has changed since.
pub(super) fn was_tried(conversation: &Conversation, tokens: u32, usable: u32) -> bool {
    let patience = (f64::from(usable) * PATIENCE) as u32;
    conversation.failed_at.is_some_and(|failed| tokens < failed.saturating_add(patience))
}

/// The outcome of a compaction that is prepared before it is due; `None` where a compaction is to be made at once.
fn ahead(live: &mut LiveSession, conversation: &mut Conversation) -> Option<MaintainOutcome> {
    match block_on(live.maintain_ahead()) {
        Ok(maintained) => {
            if matches!(maintained, Some(MaintainOutcome::Compacted(_))) {
                conversation.failed_at = None;
            }
            maintained
        }
        Err(error) => {
            tracing::warn!(%error, "a compaction that was prepared could not be made");
            None
        }
    }
}

/// The outcome of a compaction.
#[derive(Debug, Default)]
struct Attempt {
    /// Why it came to nothing, as a code; `None` where it was made, or none was due.
    detail: Option<&'static str>,
    /// The engine's report.
    report: Option<Box<Report>>,
}

impl Attempt {
    fn failed(detail: &'static str) -> Self {
        Self { detail: Some(detail), report: None }
    }
}

/// Compacts where that is due.
fn compact_where_due(live: &mut LiveSession, conversation: &mut Conversation, host: &dyn Host) -> Attempt {
    let check = live.check();
    if check.trigger.is_none() {
        return Attempt::default();
    }
    if was_tried(conversation, check.current_tokens, check.usable_tokens) {
        return Attempt::failed("tried-before");
    }
    let (before, began) = (live.session().journal().len(), host.clock());
    let made = block_on(live.maintain());
    if live.session().journal().len() > before {
        (conversation.failed_at, conversation.floor) = (None, None);
        let report = match made {
            Ok(MaintainOutcome::Compacted(report)) => Some(report),
            _ => None,
        };
        return Attempt { detail: None, report };
    }
    let is_given_up = matches!(made, Err(LiveError::Engine(EngineError::Cancelled)));
    if is_given_up && host.clock().saturating_sub(began) < host.patience() / 2 {
        // The client is gone, and nothing was learnt of the conversation. What took too long would do so again.
        return Attempt::failed("given-up");
    }
    conversation.failed_at = Some(check.current_tokens);
    conversation.floor = None;
    match made {
        Ok(MaintainOutcome::Compacted(report) | MaintainOutcome::NotWorthwhile(_, report)) => {
            Attempt { detail: Some("nothing-can-leave"), report: Some(report) }
        }
        Ok(_) => Attempt::failed("nothing-can-leave"),
        Err(LiveError::Infeasible { floor, report, .. }) => {
            conversation.floor = Some(Arc::from(floor));
            Attempt { detail: Some("infeasible"), report: Some(report) }
        }
        Err(error) => {
            tracing::debug!(%error, "a compaction that is due could not be made");
            Attempt::failed("not-compacted")
        }
    }
}

/// After the provider refused a request as too long: makes it smaller than was due. `None` where it cannot be. `known` is
/// the content of `shared`, and the decisions are stored in `memory`, as [`prepare`] does.
pub fn shrink<S: Slot>(
    decider: &Decider,
    memory: &Decisions<S>,
    incoming: &MatchedRequest,
    shared: &S,
    known: &mut Conversation,
    overflow: Overflow,
    cancellation: &Cancellation,
) -> Option<PreparedRequest> {
    let whole = FullRequest::new(incoming, cancellation.clone()).ok()?;
    on_its_branch(memory, incoming, shared, known, |conversation| shrink_alone(decider, &whole, conversation, overflow))
}

/// Makes a request smaller of whose conversation every decision belongs to it.
fn shrink_alone(
    decider: &Decider,
    whole: &FullRequest<'_>,
    conversation: &mut Conversation,
    overflow: Overflow,
) -> Option<PreparedRequest> {
    conversation.recipe = None;
    let in_loop = whole.is_in_signed_loop();
    let mut live =
        whole.live(decider, conversation, if in_loop { ProtectedTail::Step } else { ProtectedTail::Nothing });
    let before = live.session().journal().len();
    // The provider's counts are of all that it was sent; the session's budget is of what can be seen.
    let hidden = whole.incoming.hidden_tokens;
    let seen = |tokens: Option<u32>| tokens.map(|tokens| tokens.saturating_sub(hidden));
    let overflow = Overflow { limit: seen(overflow.limit), actual: seen(overflow.actual) };
    let mut retry = block_on(live.handle_overflow(overflow));
    if in_loop && retry.is_err() {
        live = whole.live(decider, conversation, ProtectedTail::Nothing);
        retry = block_on(live.handle_overflow(overflow));
    }
    // A limit learnt from the provider counts from here on, whether or not this request can be made to fit.
    let most = conversation.whole_budget(whole.incoming).window;
    let mut learned = live.budget().clone();
    learned.window = learned.window.saturating_add(hidden).min(most);
    conversation.learned = Some((whole.incoming.model.clone(), learned));
    let prepared = match retry {
        Ok(retry) => {
            let prepared = finish(decider, whole, conversation, &live, before, FitOutcome::OverflowRetried);
            conversation.quality = retry.report.quality.clone().map(Arc::new);
            let quality = conversation.quality.clone();
            Some(PreparedRequest { report: Some(Box::new(retry.report)), quality, ..prepared })
        }
        Err(error) => {
            tracing::warn!(%error, "a request that is too long cannot be made smaller");
            None
        }
    };
    prepared.filter(|prepared| prepared.outcome == FitOutcome::OverflowRetried)
}

/// The bytes to send, and new decisions for the next time.
pub(super) fn finish(
    decider: &Decider,
    whole: &FullRequest<'_>,
    conversation: &mut Conversation,
    live: &LiveSession,
    before: usize,
    outcome: FitOutcome,
) -> PreparedRequest {
    let incoming = whole.incoming;
    let session = live.session();
    let journal = session.journal();
    let saved: u32 = journal.iter().map(saved).sum();
    let tokens_after = live.tokens();
    let tokens_before = tokens_after.saturating_add(saved);
    let usable = live.budget().usable();
    let counted = |before, after, epochs| TokenCounts { tokens_before: before, tokens_after: after, epochs, usable };
    let counts = Some(conversation.as_reported(incoming, counted(tokens_before, tokens_after, session.cycle())));
    conversation.note_sent(incoming, tokens_after);
    if journal.is_empty() {
        return PreparedRequest::new(FitOutcome::Passed, incoming.body.clone(), counts);
    }
    let Some(body) = whole.sendable(session) else {
        // The decision is not kept: the next request is not to fail in the same way.
        let earlier = (journal.len() > before).then(|| replay(decider, incoming, conversation)).flatten();
        return match earlier {
            Some(earlier) => {
                PreparedRequest { outcome: FitOutcome::FailedOpen, detail: Some("not-written"), ..earlier }
            }
            None => PreparedRequest {
                counts: Some(conversation.as_reported(incoming, counted(tokens_before, tokens_before, 0))),
                ..PreparedRequest::as_it_came(FitOutcome::FailedOpen, "not-written", incoming.body.clone())
            },
        };
    };
    let mut archived: Vec<(Arc<str>, ArchivedContent)> = Vec::new();
    for epoch in &journal[before..] {
        let (place, digest) = (incoming.end_place(), incoming.end());
        Arc::make_mut(&mut conversation.decisions).push(Decision { place, digest, epoch: epoch.clone() });
        let handles = epoch.edits.iter().filter_map(|edit| edit.recall.as_ref());
        archived.extend(handles.filter_map(|handle| Some((Arc::clone(handle), live.recall(handle).ok()??))));
    }
    if !incoming.hides_handles {
        conversation.recipe = Recipe::new(incoming, &body, tokens_after).map(Arc::new);
    } else if journal.len() > before {
        conversation.recipe = None;
    }
    let provenance = provenance(decider, whole, session);
    conversation.provenance.clone_from(&provenance);
    let outcome = if journal.len() > before { outcome } else { FitOutcome::Replayed };
    PreparedRequest {
        epochs: journal[before..].to_vec(),
        archived,
        provenance,
        ..PreparedRequest::new(outcome, body, counts)
    }
}

/// The request that earlier decisions give, where no new decision could be made; `None` where it has no earlier
/// decision, or where they cannot be carried out. Linear in the request.
pub fn replay(decider: &Decider, incoming: &MatchedRequest, earlier: &Conversation) -> Option<PreparedRequest> {
    let mut conversation = earlier.clone();
    conversation.truncate(fits(incoming, earlier));
    if conversation.decisions.is_empty() {
        return None;
    }
    let usable = conversation.budget(incoming).usable();
    let epochs = conversation.decisions.iter().map(|made| &made.epoch);
    let saved: u32 = epochs.clone().map(saved).sum();
    let epochs = epochs.filter(|epoch| epoch.is_compaction()).count() as u32;
    let prepared = |body, tokens_after: u32, provenance| {
        let tokens_before = tokens_after.saturating_add(saved);
        let counts = TokenCounts { tokens_before, tokens_after, epochs, usable };
        let counts = Some(earlier.as_reported(incoming, counts));
        let quality = earlier.quality.clone();
        Some(PreparedRequest { provenance, quality, ..PreparedRequest::new(FitOutcome::Replayed, body, counts) })
    };
    let recipe = conversation.recipe.as_ref().filter(|_| !incoming.hides_handles);
    if let Some((recipe, body)) = recipe.and_then(|recipe| Some((recipe, recipe.apply(incoming)?))) {
        return prepared(body, recipe.tokens(incoming), conversation.provenance.clone());
    }
    let whole = FullRequest::new(incoming, Cancellation::never()).ok()?;
    let live = whole.live(decider, &conversation, ProtectedTail::Nothing);
    prepared(whole.sendable(live.session())?, live.tokens(), provenance(decider, &whole, live.session()))
}

/// The changes to a request's messages, if the host asked for them.
fn provenance(decider: &Decider, whole: &FullRequest<'_>, session: &Session) -> Option<Arc<Provenance>> {
    decider.tells_provenance().then(|| Arc::new(Provenance::new(whole.incoming, &whole.loaded, session)))
}

/// Tokens that a compaction saved.
pub(super) fn saved(epoch: &Epoch) -> u32 {
    epoch.tokens_before.unwrap_or(0).saturating_sub(epoch.tokens_after.unwrap_or(0))
}
