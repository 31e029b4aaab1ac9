//! Fixtures and checks for tests of strategies and the engine.

pub mod embedder;
pub mod fixture;
pub mod plan_check;

pub use embedder::FakeEmbedder;
pub use fixture::{FakeCounter, session};
pub use plan_check::PlanCase;
