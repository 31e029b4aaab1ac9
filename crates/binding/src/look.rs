//! What a session is made of, and how it stands against its budget.

use epitome::Session;
use epitome::context::{Contents, Fullness, MessageSize, tool_definition_tokens};
use epitome::engine::Budget;
use epitome::formats::{Format, LoadedFile, recorded_model};
use epitome::live::HistoryEntry;
use serde::Serialize;

use crate::Parts;

/// What a session is made of. The keys are those of the service's `/v1/inspect`, and each message with what protects it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(utoipa::ToSchema))]
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
        let engine = parts.engine();
        let ledger = engine.ledger(session);
        Self {
            format: format.as_str(),
            contents: Contents::measure(&engine, session, &ledger),
            messages: MessageSize::measure(&engine, session, &ledger),
            compactions: epitome::live::history(session),
        }
    }
}

/// How full the context of the session of that number is. Linear in the view; where nothing names a model, the file is
/// searched for one.
pub fn measure_fullness(parts: &Parts, loaded: &LoadedFile, index: usize) -> Fullness {
    let session = &loaded.sessions[index].session;
    let ledger = parts.engine().ledger(session);
    let runtime = &parts.runtime;
    let tool_definitions = tool_definition_tokens(&**ledger.counter(), session);
    let budget = Budget { tool_definitions, ..runtime.budget.clone() };
    let model = runtime.model.clone().or_else(|| recorded_model(loaded.format, &loaded.bytes).name);
    Fullness::measure_reported(&ledger, session, ledger.total(), &budget, &runtime.triggers).for_model(model.as_deref())
}
