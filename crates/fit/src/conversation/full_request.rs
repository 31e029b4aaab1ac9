//! A request that was read whole, with the session that it is of.

use bytes::Bytes;
use epitome::engine::count_message;
use epitome::formats::{LoadedFile, Violation, validate, write, write_rows};
use epitome::live::LiveSession;
use epitome::session::{Message, Role, Session};
use epitome::strategy::{Cancellation, HostChanges};
use epitome::wire::Wire;

use super::bare::bare;
use super::decider::Decider;
use super::decisions::Conversation;
use super::host::Host;
use super::matched_request::MatchedRequest;
use super::tail;

/// A request that was read whole.
pub(super) struct FullRequest<'a> {
    pub(super) incoming: &'a MatchedRequest,
    pub(super) loaded: LoadedFile,
    cancellation: Cancellation,
}

impl<'a> FullRequest<'a> {
    pub(super) fn new(incoming: &'a MatchedRequest, cancellation: Cancellation) -> Result<Self, &'static str> {
        Ok(Self { incoming, loaded: incoming.load()?, cancellation })
    }

    pub(super) fn log(&self) -> &Session {
        &self.loaded.sessions[0].session
    }

    /// Lets the conversation's own model write the hand-offs of `live`, where the host can ask it: the question comes
    /// at the end of what is sent without a new compaction.
    pub(super) fn ask_its_model(&self, host: &dyn Host, live: &mut LiveSession) {
        let request = |live: &LiveSession| match live.session().journal() {
            [] => Some(self.incoming.body.clone()),
            _ => self.sendable(live.session()),
        };
        host.ask_model(live, &request);
    }

    /// The request with the compacted messages, as its model can use them; `None` where it cannot be sent.
    pub(super) fn sendable(&self, session: &Session) -> Option<Bytes> {
        match self.incoming.hides_handles {
            true => render_request(self, &bare(session)),
            false => render_request(self, session),
        }
    }

    /// Whether the model is in a loop of tool calls with signed reasoning: the loop is left whole wherever that is
    /// possible.
    pub(super) fn is_in_signed_loop(&self) -> bool {
        self.newest_loop().any(|message| message.has_signed_thinking())
    }

    /// Tokens of the loop that the model is at work in, where there is signed reasoning in it. Linear in the loop.
    pub(super) fn loop_tokens(&self, decider: &Decider) -> Option<u32> {
        let counter = decider.counter(self.incoming.wire, self.log().model.as_deref());
        let tokens = || self.newest_loop().map(|message| count_message(&*counter, message).total).sum();
        self.is_in_signed_loop().then(tokens)
    }

    /// The messages behind the newest one of the user's, the newest first.
    fn newest_loop(&self) -> impl Iterator<Item = &Message> {
        self.log().log().iter().rev().take_while(|message| message.role != Role::User).map(AsRef::as_ref)
    }

    /// The session of this request, with the earlier decisions at their places, and with the pins that protect the
    /// tail.
    pub(super) fn live(&self, decider: &Decider, conversation: &Conversation, keep: ProtectedTail) -> LiveSession {
        let log = self.log().log();
        let n_pinned = match keep {
            ProtectedTail::Nothing => 0,
            ProtectedTail::Step => {
                self.newest_loop().position(|it| it.role == Role::Assistant).map_or(0, |step| step + 1)
            }
            ProtectedTail::Loop => self.newest_loop().count(),
        };
        let pinned_from = log.len() - n_pinned;
        let mut session = Session::with_settings_of(self.log());
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
        let mut live = LiveSession::with_engine(decider.engine(self.incoming.wire), decider.runtime(), session);
        decider.metrics().into_iter().for_each(|metrics| live.count_into(metrics));
        live.set_budget(conversation.budget(self.incoming));
        live.cancel_by(self.cancellation.clone());
        live.share_backoff(conversation.refusals.clone());
        live.bill_to(conversation.bill.clone());
        live.set_host(self.incoming.host);
        if self.incoming.is_last {
            live.mark_ended();
        }
        live
    }
}

/// The part of the current tool loop that a compaction must leave as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtectedTail {
    Nothing,
    /// The newest step with its results.
    Step,
    /// All of it.
    Loop,
}

/// The request with the compacted messages; `None` where the provider would refuse what it would have taken before.
fn render_request(whole: &FullRequest<'_>, session: &Session) -> Option<Bytes> {
    let incoming = whole.incoming;
    let text = match incoming.host {
        HostChanges::Any => {
            let bytes = write(&whole.loaded, 0, session, incoming.wire.into()).ok()?;
            tail::as_it_came(String::from_utf8(bytes).ok()?, &whole.loaded, session)
        }
        HostChanges::Texts | HostChanges::Cut | HostChanges::Removals => {
            let rows = write_rows(&whole.loaded, 0, session);
            let rows = rows.inspect_err(|error| tracing::warn!(%error, "the host cannot make a compaction's changes"));
            String::from_utf8(rows.ok()?).ok()?
        }
    };
    let broken = broken_rules(&text, incoming.wire, incoming.host);
    if let Some(first) = broken.first() {
        let original = std::str::from_utf8(&incoming.body).ok()?;
        if broken_rules(original, incoming.wire, incoming.host).len() < broken.len() {
            tracing::error!(rule = first.rule, path = first.path, "a compacted request breaks a rule of the provider");
            return None;
        }
    }
    Some(Bytes::from(text))
}

/// The rules that a request breaks. A host that keeps its rows merges no neighbours of one role; where they are one message, the provider joins them itself.
fn broken_rules(request: &str, wire: Wire, host: HostChanges) -> Vec<Violation> {
    let mut broken = validate(request, wire);
    if host != HostChanges::Any && wire.merges_neighbours() {
        broken.retain(|broken| broken.rule != "alternation");
    }
    broken
}
