//! The tools of [`epitome::lookup`] over the Model Context Protocol.
//!
//! [`Handler`] is the server, [`serve_stdio`] and [`serve_http`] run it, [`LocalSession`] answers for a session on this
//! machine that an agent is still writing, [`RemoteService`] for those of a running service.

mod call_origin;
mod handler;
mod lines;
mod local;
mod message;
mod remote;
mod run;
mod serve;

pub use call_origin::{CallOrigin, SharedFolder};
pub use epitome::follow::ReadProblem;
pub use handler::{Handler, ToolBackend};
pub use local::{LocalSession, SessionLocation};
pub use remote::{RemoteProblem, RemoteService};
pub use run::run;
pub use serve::{PATH, ServeProblem, http_service, serve_http, serve_stdio};
