//! What the tests of this workspace share and no author of a strategy needs: an HTTP server that answers from a script,
//! and hostile sessions played through the engine.

pub mod http_server;
pub mod play;

pub use http_server::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
