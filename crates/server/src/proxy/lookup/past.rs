//! The past of the conversation that a request belongs to, read when the model first asks for it.

use std::sync::Arc;

use epitome::live::LiveSession;
use epitome::strategy::Cancellation;
use epitome_mcp::{Call, ContextStatus, LogIndex, SessionPast};

use super::utterance::RecallCall;
use crate::proxy::incoming::Incoming;
use crate::proxy::memory::SharedConversation;
use crate::proxy::prepare::past_of;
use crate::proxy::state::Proxy;

/// What a call is told where its answer failed.
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
        let (proxy, incoming, shared) = (Arc::clone(proxy), Arc::clone(incoming), Arc::clone(shared));
        Self { proxy, incoming, shared, read: None }
    }

    /// The answers to calls, in their order. The first time the request is read and indexed, linear in it; on a worker.
    pub(super) async fn answers(&mut self, calls: &[RecallCall]) -> Vec<String> {
        let (proxy, incoming, shared) = (Arc::clone(&self.proxy), Arc::clone(&self.incoming), Arc::clone(&self.shared));
        let (read, asked) = (self.read.take(), calls.to_vec());
        let tenant = Arc::clone(&self.incoming.tenant);
        let work = move |cancellation: &Cancellation| {
            let (live, mut index) = match read {
                Some(read) => read,
                None => (past_of(&proxy, &incoming, &shared.blocking_lock(), cancellation)?, LogIndex::default()),
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
            let archive = |handle: &str| Ok(proxy.core.archives.find(&incoming.tenant, handle).map(|found| found.item));
            let status = || ContextStatus::measure(live.session(), live.engine(), live.budget());
            SessionPast { session: live.session(), index, archive: &archive, status: &status }.answer(&call).text
        }
        Err(problem) => problem,
    }
}
