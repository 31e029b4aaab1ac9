//! Fixtures, checks and a hostile session generator for tests of strategies and the engine.

pub mod embedder;
pub mod fixture;
pub mod hostile;
pub mod http_server;
pub mod laws;
pub mod plan_check;
pub mod play;

pub use embedder::FakeEmbedder;
pub use fixture::{FakeCounter, session};
pub use http_server::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
pub use plan_check::PlanCase;
