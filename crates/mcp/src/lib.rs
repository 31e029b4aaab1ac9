//! A model's look-ups in its own past, as tools: `search_history`, `recall`, `context_status`.
//!
//! [`tools`](tools::tools) describes them, [`Call`] reads a model's arguments, [`SessionPast`] answers from one
//! session. The rest is the Model Context Protocol around these: [`Handler`] is its server, [`serve_stdio`] and
//! [`serve_http`] run it, [`LocalSession`] answers for a session on this machine that an agent is still writing,
//! [`RemoteService`] for those of a running service. `docs/recall.md` describes it from a model's side.

mod answer;
mod call;
mod call_origin;
mod handler;
mod lines;
mod local;
mod message;
mod past;
mod remote;
mod run;
mod serve;
mod status;
pub mod tools;

pub use answer::{Answer, item_text};
pub use call::{Call, RECALLED_CHARACTERS, session_of};
pub use call_origin::{CallOrigin, SharedFolder};
pub use epitome::context::ContextStatus;
pub use epitome::follow::ReadProblem;
pub use handler::{Handler, ToolBackend};
pub use local::{LocalSession, SessionLocation};
pub use past::{LogIndex, SessionPast};
pub use remote::{RemoteProblem, RemoteService};
pub use run::run;
pub use serve::{PATH, ServeProblem, http_service, serve_http, serve_stdio};
