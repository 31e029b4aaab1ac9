//! What the tests of this workspace share and no author of a strategy needs: the engine's guarantees as laws, which no
//! strategy can break; hostile sessions and strategies, played through the engine; an HTTP server that answers from a script.

pub mod hostile;
pub mod http_server;
pub mod laws;
pub mod play;

pub use http_server::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
