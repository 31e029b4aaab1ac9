//! What a session is made of, and how it stands against its budget.

use epitome::Session;
use epitome::context::{Contents, Fullness, MessageSize, tool_definition_tokens};
use epitome::engine::Budget;
use epitome::formats::Format;
use epitome::live::HistoryEntry;
use serde::Serialize;

use crate::Parts;

/// What a session is made of. The keys are those of the service's `/v1/inspect`, and each message with what protects it.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// The name of the format that it came in.
    pub format: &'static str,
    /// The whole, in tokens and counts.
    #[serde(flatten)]
    pub contents: Contents,
    /// Each message of the view.
    pub messages: Vec<MessageSize>,
    /// What left the view, and when.
    pub compactions: Vec<HistoryEntry>,
}

impl Inspection {
    /// The contents of a session's view. Linear in it.
    pub fn measure(parts: &Parts, session: &Session, format: Format) -> Self {
        let engine = parts.engine(session);
        let ledger = engine.ledger(session);
        Self {
            format: format.as_str(),
            contents: Contents::measure(&engine, session, &ledger),
            messages: MessageSize::measure(&engine, session, &ledger),
            compactions: epitome::live::history(session),
        }
    }
}

/// How full a session's context is. Linear in the view.
pub fn measure_fullness(parts: &Parts, session: &Session) -> Fullness {
    let engine = parts.engine(session);
    let runtime = &parts.runtime;
    let tool_definitions = tool_definition_tokens(&engine, session);
    let budget = Budget { tool_definitions, ..runtime.budget.clone() };
    Fullness::measure(&engine, session, engine.ledger(session).total(), &budget, &runtime.triggers)
}
