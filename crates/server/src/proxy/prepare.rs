//! What is sent in place of what came: earlier decisions again, byte for byte, and new ones where they are due.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use epitome::engine::{EngineError, Urgency, block_on, count_message};
use epitome::formats::{LoadedFile, Profile, validate, write};
use epitome::live::{LiveError, LiveSession, MaintainOutcome, Overflow};
use epitome::session::{Epoch, Message, Role, Session};
use epitome::strategy::Cancellation;

use super::bare::bare;
use super::checked::SummaryFigures;
use super::handoff::{UpstreamRoute, answer_with, has_ended, prepare_in};
use super::incoming::Incoming;
use super::lookup::offer_tools;
use super::memory::{Conversation, Decision, SharedConversation};
use super::prepared::{Figures, PreparedRequest, ProxyOutcome};
use super::recipe::Recipe;
use super::state::Proxy;
use super::tail;

/// After an attempt that came to nothing, the next waits until the view has grown by this share of the usable window.
const PATIENCE: f64 = 0.01;

/// A request that was read whole.
struct FullRequest<'a> {
    incoming: &'a Incoming,
    loaded: LoadedFile,
    cancellation: &'a Cancellation,
}

impl<'a> FullRequest<'a> {
    fn new(incoming: &'a Incoming, cancellation: &'a Cancellation) -> Result<Self, &'static str> {
        Ok(Self { incoming, loaded: incoming.load()?, cancellation })
    }

    fn log(&self) -> &Session {
        &self.loaded.sessions[0].session
    }

    /// Has the conversation's own model write the hand-offs of `live`, where the configuration says so: it is asked at the end
    /// of what is sent without a new compaction.
    fn ask_its_model(&self, proxy: &Proxy, live: &mut LiveSession, outgoing: &Arc<UpstreamRoute>) {
        let incoming = self.incoming;
        answer_with(proxy, live, outgoing, (incoming.format, incoming.model.as_deref()), |live| {
            match live.session().journal() {
                [] => Some(incoming.body.clone()),
                // With our own tools, where they are sent: what is asked begins like what is sent, byte for byte.
                _ => Some(offer_tools(proxy, incoming, sendable(proxy, self, live.session())?)),
            }
        });
    }

    /// Whether the model is at work in a loop of tools with signed reasoning: it is left whole wherever that is possible.
    fn is_in_signed_loop(&self) -> bool {
        self.newest_loop().any(|message| message.has_signed_thinking())
    }

    /// Tokens of the loop that the model is at work in, where there is signed reasoning in it. Linear in the loop.
    fn loop_tokens(&self, proxy: &Proxy) -> Option<u32> {
        let counter = &*proxy.core.runtime.counter;
        let tokens = || self.newest_loop().map(|message| count_message(counter, message).total).sum();
        self.is_in_signed_loop().then(tokens)
    }

    /// The messages behind the newest one of the user's, the newest first.
    fn newest_loop(&self) -> impl Iterator<Item = &Message> {
        self.log().log().iter().rev().take_while(|message| message.role != Role::User).map(AsRef::as_ref)
    }

    /// The session of this request with the decisions made at the places where they were made before, and with what
    /// is to be kept pinned.
    fn live(&self, proxy: &Proxy, conversation: &Conversation, keep: ProtectedTail) -> LiveSession {
        let log = self.log().log();
        let n_pinned = match keep {
            ProtectedTail::Nothing => 0,
            ProtectedTail::Step => {
                self.newest_loop().position(|it| it.role == Role::Assistant).map_or(0, |step| step + 1)
            }
            ProtectedTail::Loop => self.newest_loop().count(),
        };
        let pinned_from = log.len() - n_pinned;
        let mut session = Session::new();
        session.tools.clone_from(&self.log().tools);
        let push_up_to = |session: &mut Session, length: usize| {
            for (index, message) in log.iter().enumerate().take(length).skip(session.log().len()) {
                let mut message = Message::clone(message);
                message.pinned |= index >= pinned_from;
                session.push(message);
            }
        };
        for made in conversation.decisions.iter() {
            push_up_to(&mut session, made.epoch.log_length as usize);
            session.commit(made.epoch.clone());
        }
        push_up_to(&mut session, log.len());
        let mut live = LiveSession::with_engine(proxy.engine(self.incoming.format), &proxy.runtime, session);
        live.count_into(Arc::clone(&proxy.core.metrics.sessions));
        live.set_budget(conversation.budget(&proxy.core, self.incoming));
        live.cancel_by(self.cancellation.clone());
        live.remember_refusals_in(conversation.refusals.clone());
        live
    }
}

/// What a compaction is to leave as it is, of the loop of tools that the model is at work in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProtectedTail {
    Nothing,
    /// The newest step with its results.
    Step,
    /// All of it.
    Loop,
}

/// Decides what to send. Linear in the request; a compaction where one is due.
pub(crate) fn prepare(
    proxy: &Proxy,
    incoming: &Incoming,
    shared: &SharedConversation,
    known: &mut Conversation,
    outgoing: &Arc<UpstreamRoute>,
    cancellation: &Cancellation,
) -> PreparedRequest {
    let whole = match FullRequest::new(incoming, cancellation) {
        Ok(whole) => whole,
        Err(detail) => return PreparedRequest::as_it_came(ProxyOutcome::Bypassed, detail, incoming.body.clone()),
    };
    let (mut fork, mut forked);
    let (shared, conversation) = if fits(incoming, known) == known.decisions.len() {
        (shared, known)
    } else {
        // The conversation parted from the known one: what was decided before that is taken over.
        forked = known.fork();
        forked.truncate(fits(incoming, &forked));
        fork = SharedConversation::default();
        (&mut fork as &SharedConversation, &mut forked)
    };
    let patience = proxy.core.settings.limits.work_timeout;
    let mut live = whole.live(proxy, conversation, ProtectedTail::Nothing);
    let before = live.session().journal().len();
    let check = live.check();
    let target = live.budget().target.tokens(check.usable_tokens);
    let is_due = check.urgency == Urgency::Hard;
    // A model that is still at work when there is no room left is given half of the time that the client waits. Then the
    // rules write: the whole history would not fit any more.
    let asks = !is_due || has_ended(conversation, patience / 2);
    if !asks {
        conversation.preparation.discard();
    }
    if check.trigger.is_some() && asks {
        whole.ask_its_model(proxy, &mut live, outgoing);
        if prepare_in(proxy, &mut live, conversation)
            && let Some(maintained) = ahead(&mut live, conversation)
        {
            let detail = matches!(maintained, MaintainOutcome::Preparing(_)).then_some("preparing");
            let prepared = finish(proxy, &whole, conversation, &live, before, ProxyOutcome::Compacted);
            keep(proxy, incoming, shared, conversation);
            return PreparedRequest { detail: detail.or(prepared.detail), ..prepared };
        }
    }
    let detail = match whole.loop_tokens(proxy) {
        Some(tokens) if check.trigger.is_some() && tokens <= target / 4 * 3 => {
            live = whole.live(proxy, conversation, ProtectedTail::Loop);
            if asks {
                whole.ask_its_model(proxy, &mut live, outgoing);
            }
            compact_where_due(&mut live, conversation, patience)
        }
        // A loop that leaves too little to take out would have to be compacted around again and again.
        Some(_) if check.trigger.is_some() && !is_due => Some("loop-goes-on"),
        Some(_) if is_due => {
            live = whole.live(proxy, conversation, ProtectedTail::Step);
            if asks {
                whole.ask_its_model(proxy, &mut live, outgoing);
            }
            compact_where_due(&mut live, conversation, patience)
        }
        _ => compact_where_due(&mut live, conversation, patience),
    };
    let detail = match detail {
        // There is no room without a part of what was to be kept.
        Some("infeasible" | "nothing-can-leave") if is_due && whole.is_in_signed_loop() => {
            conversation.failed_at = None;
            live = whole.live(proxy, conversation, ProtectedTail::Nothing);
            compact_where_due(&mut live, conversation, patience)
        }
        other => other,
    };
    let prepared = finish(proxy, &whole, conversation, &live, before, ProxyOutcome::Compacted);
    keep(proxy, incoming, shared, conversation);
    PreparedRequest { detail: detail.or(prepared.detail), ..prepared }
}

/// The session that a request is of, with the decisions that are in force; `None` where it cannot be read. Linear in the
/// request.
pub(super) fn past_of(
    proxy: &Proxy,
    incoming: &Incoming,
    known: &Conversation,
    cancellation: &Cancellation,
) -> Option<LiveSession> {
    let mut conversation = known.fork();
    conversation.truncate(fits(incoming, &conversation));
    Some(FullRequest::new(incoming, cancellation).ok()?.live(proxy, &conversation, ProtectedTail::Nothing))
}

/// How many of a conversation's decisions were made at places of this request.
pub(super) fn fits(incoming: &Incoming, conversation: &Conversation) -> usize {
    let here = |made: &&Decision| incoming.chain.get(made.place) == Some(&made.digest);
    conversation.decisions.iter().take_while(here).count()
}

/// Whether the last attempt at a compaction came to nothing, and too little has changed since.
pub(super) fn was_tried(conversation: &Conversation, tokens: u32, usable: u32) -> bool {
    let patience = (f64::from(usable) * PATIENCE) as u32;
    conversation.failed_at.is_some_and(|failed| tokens < failed.saturating_add(patience))
}

/// What became of a compaction that is prepared before it is due; `None` where one is to be made at once.
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

/// Compacts where that is due; why it came to nothing, as a code.
///
/// `patience` is how long it may take.
fn compact_where_due(
    live: &mut LiveSession,
    conversation: &mut Conversation,
    patience: Duration,
) -> Option<&'static str> {
    let check = live.check();
    check.trigger?;
    if was_tried(conversation, check.current_tokens, check.usable_tokens) {
        return Some("tried-before");
    }
    let (before, began) = (live.session().journal().len(), Instant::now());
    let made = block_on(live.maintain());
    if live.session().journal().len() > before {
        conversation.failed_at = None;
        return None;
    }
    let is_given_up = matches!(made, Err(LiveError::Engine(EngineError::Cancelled)));
    if is_given_up && began.elapsed() < patience / 2 {
        // The client is gone, and nothing was learnt of the conversation. What took too long would do so again.
        return Some("given-up");
    }
    conversation.failed_at = Some(check.current_tokens);
    Some(match made {
        Ok(_) => "nothing-can-leave",
        Err(LiveError::Infeasible { .. }) => "infeasible",
        Err(_) => "not-compacted",
    })
}

/// After the provider refused a request as too long: makes it smaller than was due. `None` where it cannot be.
pub(crate) fn shrink(
    proxy: &Proxy,
    incoming: &Incoming,
    shared: &SharedConversation,
    conversation: &mut Conversation,
    overflow: Overflow,
    cancellation: &Cancellation,
) -> Option<PreparedRequest> {
    let whole = FullRequest::new(incoming, cancellation).ok()?;
    conversation.truncate(fits(incoming, conversation));
    conversation.recipe = None;
    let in_loop = whole.is_in_signed_loop();
    let mut live = whole.live(proxy, conversation, if in_loop { ProtectedTail::Step } else { ProtectedTail::Nothing });
    let before = live.session().journal().len();
    let mut retry = block_on(live.overflowed(overflow));
    if in_loop && retry.is_err() {
        live = whole.live(proxy, conversation, ProtectedTail::Nothing);
        retry = block_on(live.overflowed(overflow));
    }
    // What the provider taught us counts from here on, whether or not this request can be made to fit.
    conversation.learned = Some((incoming.model.clone(), live.budget().clone()));
    let prepared = match retry {
        Ok(_) => Some(finish(proxy, &whole, conversation, &live, before, ProxyOutcome::OverflowRetried)),
        Err(error) => {
            tracing::warn!(%error, "a request that is too long cannot be made smaller");
            None
        }
    };
    keep(proxy, incoming, shared, conversation);
    prepared.filter(|prepared| prepared.outcome == ProxyOutcome::OverflowRetried)
}

pub(super) fn keep(proxy: &Proxy, incoming: &Incoming, shared: &SharedConversation, conversation: &mut Conversation) {
    proxy.decisions.keep(shared, conversation, incoming.end());
}

/// The bytes to send, and new decisions for the next time.
fn finish(
    proxy: &Proxy,
    whole: &FullRequest<'_>,
    conversation: &mut Conversation,
    live: &LiveSession,
    before: usize,
    outcome: ProxyOutcome,
) -> PreparedRequest {
    let incoming = whole.incoming;
    let session = live.session();
    let journal = session.journal();
    let saved: u32 = journal.iter().map(saved).sum();
    let tokens_after = live.tokens();
    let tokens_before = tokens_after.saturating_add(saved);
    let figures = Some(Figures { tokens_before, tokens_after, epochs: session.cycle() });
    if journal.is_empty() {
        return PreparedRequest {
            outcome: ProxyOutcome::Passed,
            detail: None,
            body: incoming.body.clone(),
            figures,
            checked: None,
        };
    }
    let Some(body) = sendable(proxy, whole, session) else {
        // The decision is not kept: the next request is not to fail in the same way.
        let earlier = (journal.len() > before).then(|| replay(proxy, incoming, conversation)).flatten();
        return match earlier {
            Some(earlier) => {
                PreparedRequest { outcome: ProxyOutcome::FailedOpen, detail: Some("not-written"), ..earlier }
            }
            None => PreparedRequest::as_it_came(ProxyOutcome::FailedOpen, "not-written", incoming.body.clone()),
        };
    };
    for epoch in &journal[before..] {
        let (place, digest) = (incoming.end_place(), incoming.end());
        Arc::make_mut(&mut conversation.decisions).push(Decision { place, digest, epoch: epoch.clone() });
        let handles = epoch.edits.iter().filter_map(|edit| edit.recall.as_ref());
        let items = handles.filter_map(|handle| Some((Arc::clone(handle), live.recall(handle).ok()??)));
        proxy.core.archives.keep(&incoming.tenant, items);
    }
    if !proxy.hides_handles(incoming) {
        conversation.recipe = Recipe::new(incoming, &body, tokens_after).map(Arc::new);
    } else if journal.len() > before {
        conversation.recipe = None;
    }
    let outcome = if journal.len() > before { outcome } else { ProxyOutcome::Replayed };
    PreparedRequest { outcome, detail: None, body, figures, checked: SummaryFigures::sum(&journal[before..]) }
}

/// What earlier decisions make of a request, where no new one could be made; `None` where there are none for it, or where
/// they cannot be carried out. Linear in the request.
pub(super) fn replay(proxy: &Proxy, incoming: &Incoming, earlier: &Conversation) -> Option<PreparedRequest> {
    let mut conversation = earlier.clone();
    conversation.truncate(fits(incoming, earlier));
    if conversation.decisions.is_empty() {
        return None;
    }
    let epochs = conversation.decisions.iter().map(|made| &made.epoch);
    let saved: u32 = epochs.clone().map(saved).sum();
    let epochs = epochs.filter(|epoch| epoch.is_compaction()).count() as u32;
    let prepared = |body, tokens_after: u32| {
        let figures = Some(Figures { tokens_before: tokens_after.saturating_add(saved), tokens_after, epochs });
        Some(PreparedRequest { outcome: ProxyOutcome::Replayed, detail: None, body, figures, checked: None })
    };
    let recipe = conversation.recipe.as_ref().filter(|_| !proxy.hides_handles(incoming));
    if let Some((recipe, body)) = recipe.and_then(|recipe| Some((recipe, recipe.apply(incoming)?))) {
        return prepared(body, recipe.tokens(incoming));
    }
    let cancellation = Cancellation::never();
    let whole = FullRequest::new(incoming, &cancellation).ok()?;
    let live = whole.live(proxy, &conversation, ProtectedTail::Nothing);
    prepared(sendable(proxy, &whole, live.session())?, live.tokens())
}

/// The request with the compacted messages, as its model can use them.
fn sendable(proxy: &Proxy, whole: &FullRequest<'_>, session: &Session) -> Option<Bytes> {
    match proxy.hides_handles(whole.incoming) {
        true => render_request(whole, &bare(session)),
        false => render_request(whole, session),
    }
}

/// Tokens that a compaction saved.
pub(super) fn saved(epoch: &Epoch) -> u32 {
    epoch.tokens_before.unwrap_or(0).saturating_sub(epoch.tokens_after.unwrap_or(0))
}

/// The request with the compacted messages; `None` where the provider would refuse what it would have taken before.
fn render_request(whole: &FullRequest<'_>, session: &Session) -> Option<Bytes> {
    let incoming = whole.incoming;
    let bytes = write(&whole.loaded, 0, session, incoming.format).ok()?;
    let profile = Profile::of(incoming.format)?;
    let text = tail::as_it_came(String::from_utf8(bytes).ok()?, &whole.loaded, session);
    let broken = validate(&text, profile);
    if let Some(first) = broken.first() {
        let original = std::str::from_utf8(&incoming.body).ok()?;
        if validate(original, profile).len() < broken.len() {
            tracing::error!(rule = first.rule, path = first.path, "a compacted request breaks a rule of the provider");
            return None;
        }
    }
    Some(Bytes::from(text))
}
