//! The past of the conversation that a request belongs to, read when the model first asks for it; and its compactions that
//! the model asks for.

use std::sync::Arc;

use axum::body::Bytes;
use epitome::context::ContextStatus;
use epitome::live::{LiveSession, ModelRequest};
use epitome::lookup::tools::COMPACT_CONTEXT;
use epitome::lookup::{Call, LogIndex, SessionPast};
use epitome::strategy::Cancellation;
use epitome::wire::Call as ToolCall;
use epitome_fit::conversation::{compact_as_asked, session_of_request};

use crate::proxy::conversation::SharedConversation;
use crate::proxy::handoff::{ProxyHost, UpstreamRoute};
use crate::proxy::incoming::Incoming;
use crate::proxy::state::Proxy;

/// The result of a call whose lookup failed.
const FAILED: &str = "The history cannot be searched now. Go on without it.";

/// The result of a call whose compaction failed.
const NOT_COMPACTED: &str = "The context cannot be compacted now. Go on; it is kept within its window anyway.";

/// The past of a conversation.
pub(super) struct ConversationPast {
    proxy: Arc<Proxy>,
    incoming: Arc<Incoming>,
    shared: SharedConversation,
    /// Where its provider is asked, should its model write the compactions.
    outgoing: Arc<UpstreamRoute>,
    /// The session, once it was read.
    live: Option<LiveSession>,
    index: LogIndex,
}

/// The answers to calls.
#[derive(Debug, Default)]
pub(super) struct CallAnswers {
    /// The answers as text, in the order of the calls.
    pub(super) texts: Vec<String>,
    /// The request to go on with, where a compaction was made.
    pub(super) compacted: Option<Bytes>,
}

impl std::fmt::Debug for ConversationPast {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ConversationPast").field("read", &self.live.is_some()).finish_non_exhaustive()
    }
}

impl ConversationPast {
    pub(super) fn new(
        proxy: &Arc<Proxy>,
        incoming: &Arc<Incoming>,
        shared: &SharedConversation,
        outgoing: UpstreamRoute,
    ) -> Self {
        let (proxy, incoming, shared) = (Arc::clone(proxy), Arc::clone(incoming), shared.clone());
        Self { proxy, incoming, shared, outgoing: Arc::new(outgoing), live: None, index: LogIndex::default() }
    }

    /// Answers calls, in their order; `has_open_calls` where the client has calls beside them to answer. The first time the
    /// request is read and indexed, linear in it; on a worker.
    pub(super) async fn answers(&mut self, calls: &[ToolCall], has_open_calls: bool) -> CallAnswers {
        let mut past = Self {
            proxy: Arc::clone(&self.proxy),
            incoming: Arc::clone(&self.incoming),
            shared: self.shared.clone(),
            outgoing: Arc::clone(&self.outgoing),
            live: self.live.take(),
            index: std::mem::take(&mut self.index),
        };
        let asked = calls.to_vec();
        let work = move |cancellation: &Cancellation| {
            let mut answers = CallAnswers::default();
            for call in &asked {
                let text = past.answer(call, has_open_calls, &mut answers.compacted, cancellation);
                answers.texts.push(text);
            }
            (answers, past)
        };
        match self.proxy.core.workers.run(&self.incoming.owner, work).await {
            Ok((answers, past)) => {
                *self = past;
                answers
            }
            Err(_) => {
                let texts = calls.iter().map(|call| failure_of(&call.name).to_owned()).collect();
                CallAnswers { texts, compacted: None }
            }
        }
    }

    /// Answers one call. A compaction that is made leaves the request to go on with in `compacted`.
    fn answer(
        &mut self,
        call: &ToolCall,
        has_open_calls: bool,
        compacted: &mut Option<Bytes>,
        cancellation: &Cancellation,
    ) -> String {
        match Call::read_text(&call.name, &call.arguments) {
            Ok(Call::Compact(asked)) => {
                let asked = ModelRequest { has_open_calls, ..asked };
                self.compact(&asked, compacted, cancellation).unwrap_or_else(|| NOT_COMPACTED.to_owned())
            }
            Ok(read) => {
                let (text, has_found) = match self.look_up(&read, cancellation) {
                    Some(answer) => (answer.text, answer.has_found),
                    None => (FAILED.to_owned(), false),
                };
                self.note(has_found);
                text
            }
            Err(problem) => {
                if call.name != COMPACT_CONTEXT {
                    self.note(false);
                }
                problem
            }
        }
    }

    /// Looks something up; `None` where the request cannot be read.
    fn look_up(&mut self, call: &Call, cancellation: &Cancellation) -> Option<epitome::lookup::Answer> {
        let (proxy, incoming) = (&self.proxy, &self.incoming);
        if self.live.is_none() {
            self.live = session_of_request(&proxy.decider, incoming, &self.shared.blocking_lock(), cancellation);
        }
        let live = self.live.as_ref()?;
        let archive = |handle: &str| Ok(proxy.core.archives.find(&incoming.owner, handle).map(|found| found.item));
        let status = || ContextStatus::measure(live.session(), live.engine(), live.budget(), |_| live.fullness());
        let index = &mut self.index;
        Some(SessionPast { session: live.session(), index, archive: &archive, status: &status }.answer(call))
    }

    /// Compacts where that is wise: the answer for the model, or `None` where it could not be done.
    fn compact(
        &mut self,
        asked: &ModelRequest,
        compacted: &mut Option<Bytes>,
        cancellation: &Cancellation,
    ) -> Option<String> {
        let (proxy, incoming) = (&self.proxy, &self.incoming);
        let host = ProxyHost::new(proxy, incoming, &self.outgoing, cancellation);
        let mut known = self.shared.blocking_lock();
        let made = compact_as_asked(&proxy.decider, &proxy.decisions, incoming, &self.shared, &mut known, asked, &host);
        drop(known);
        let made = made.inspect_err(|code| tracing::warn!(code, "the model's compaction was not made")).ok()?;
        if let Some(prepared) = made.prepared {
            *compacted = Some(proxy.archive(incoming, prepared).body);
            // It is of the context before.
            self.live = None;
        }
        Some(made.outcome.to_string())
    }

    /// Counts a lookup.
    fn note(&self, has_found: bool) {
        self.proxy.core.metrics.looked_up("proxy", has_found);
        self.shared.account().note_lookup(has_found);
    }
}

/// The result of a call of a tool that failed here.
fn failure_of(tool: &str) -> &'static str {
    if tool == COMPACT_CONTEXT { NOT_COMPACTED } else { FAILED }
}
