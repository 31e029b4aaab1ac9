//! What a model looks up in its own past, as tools: `search_history`, `recall`, `context_status`.
//!
//! [`tools`](tools::tools) describes them, [`Call`] reads what a model asks for, [`SessionPast`] answers from one session. The
//! rest is the Model Context Protocol around that: [`Handler`] is its server, [`serve_stdio`] and [`serve_http`] run it,
//! [`LocalSession`] answers for a session on this machine that somebody else is still writing, [`RemoteService`] for those
//! of a running service. `docs/recall.md` has it from a model's side.

mod answer;
mod call;
mod growth;
mod handler;
mod local;
mod past;
mod remote;
mod run;
mod serve;
mod status;
pub mod tools;

pub use answer::Answer;
pub use call::{Call, RECALLED_CHARACTERS, session_of};
pub use handler::{Handler, ToolBackend};
pub use local::{LocalSession, ReadProblem, SessionLocation};
pub use past::{LogIndex, SessionPast};
pub use remote::{RemoteProblem, RemoteService};
pub use rmcp::model::Extensions;
pub use run::run;
pub use serve::{PATH, ServeProblem, http_service, serve_http, serve_stdio};
pub use status::{ContextPart, ContextStatus, RemovedCounts};
