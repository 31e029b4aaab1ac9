//! The past of the conversation that a request belongs to, read when the model first asks for it.

use std::sync::Arc;

use epitome::live::LiveSession;
use epitome::strategy::Cancellation;
use epitome::wire::Call as RecallCall;
use epitome_fit::conversation::past_of;
use epitome_mcp::{Call, ContextStatus, LogIndex, SessionPast};

use crate::proxy::conversation::SharedConversation;
use crate::proxy::incoming::Incoming;
use crate::proxy::state::Proxy;

/// The result of a call whose lookup failed.
const FAILED: &str = "The history cannot be searched now. Go on without it.";

/// The past of a conversation.
pub(super) struct ConversationPast {
    proxy: Arc<Proxy>,
    incoming: Arc<Incoming>,
    shared: SharedConversation,
    /// The session with its index, once it was read.
    read: Option<(LiveSession, LogIndex)>,
}

impl std::fmt::Debug for ConversationPast {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ConversationPast").field("read", &self.read.is_some()).finish_non_exhaustive()
    }
}

impl ConversationPast {
    pub(super) fn new(proxy: &Arc<Proxy>, incoming: &Arc<Incoming>, shared: &SharedConversation) -> Self {
        let (proxy, incoming, shared) = (Arc::clone(proxy), Arc::clone(incoming), shared.clone());
        Self { proxy, incoming, shared, read: None }
    }

    /// The answers to calls, in their order. The first time the request is read and indexed, linear in it; on a worker.
    pub(super) async fn answers(&mut self, calls: &[RecallCall]) -> Vec<String> {
        let (proxy, incoming, shared) = (Arc::clone(&self.proxy), Arc::clone(&self.incoming), self.shared.clone());
        let (read, asked) = (self.read.take(), calls.to_vec());
        let tenant = Arc::clone(&self.incoming.owner);
        let work = move |cancellation: &Cancellation| {
            let (live, mut index) = match read {
                Some(read) => read,
                None => {
                    (past_of(&proxy.decider, &incoming, &shared.blocking_lock(), cancellation)?, LogIndex::default())
                }
            };
            let answers = asked.iter().map(|call| answer(&proxy, &incoming, &live, &mut index, call)).collect();
            Some((answers, (live, index)))
        };
        match self.proxy.core.turns.run(&tenant, work).await {
            Ok(Some((answers, read))) => {
                self.read = Some(read);
                answers
            }
            Ok(None) | Err(_) => vec![FAILED.to_owned(); calls.len()],
        }
    }
}

fn answer(proxy: &Proxy, incoming: &Incoming, live: &LiveSession, index: &mut LogIndex, call: &RecallCall) -> String {
    match Call::read_text(&call.name, &call.arguments) {
        Ok(call) => {
            let archive = |handle: &str| Ok(proxy.core.archives.find(&incoming.owner, handle).map(|found| found.item));
            let status = || ContextStatus::measure(live.session(), live.engine(), live.budget(), |_| live.fullness());
            SessionPast { session: live.session(), index, archive: &archive, status: &status }.answer(&call).text
        }
        Err(problem) => problem,
    }
}
