//! Fits an agent's session into a token budget: the crate that a runtime depends on.
//!
//! A session in any agent's format goes in; one that the provider accepts, at or under the budget, comes out, with a
//! receipt for every message and nothing lost: what left the context stays in the archive.
//!
//! ```
//! use epitome::engine::{MemoryArchive, Request, Status, block_on};
//! use epitome::formats::{Format, ReadOptions, read, write};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let filler = "The build prints the same line again. ".repeat(400);
//! let text = format!(
//!     r#"{{"messages":[
//!         {{"role":"user","content":"Fix the build"}},
//!         {{"role":"assistant","content":null,"tool_calls":[
//!             {{"id":"c1","type":"function","function":{{"name":"bash","arguments":"{{\"command\":\"make\"}}"}}}}]}},
//!         {{"role":"tool","tool_call_id":"c1","content":"{filler}"}},
//!         {{"role":"assistant","content":"The build is fixed."}},
//!         {{"role":"user","content":"Thanks. Add a test."}}]}}"#
//! );
//! let mut loaded = read(text.into_bytes(), ReadOptions::default())?;
//!
//! let engine = epitome::engine_of(&epitome::Config::default().build(&epitome::registry())?);
//! let mut session = loaded.sessions.remove(0).session;
//! let mut ledger = engine.ledger(&session);
//! let mut archive = MemoryArchive::new();
//! let request = Request::to_budget(1_000);
//! let report = block_on(engine.compact(&mut session, &mut ledger, &mut archive, &request))?;
//! assert_eq!(report.status, Status::Compacted);
//! assert!(ledger.total() <= 1_000);
//! # Ok(())
//! # }
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`session`] | the log, messages, blocks, the journal of compactions, views |
//! | [`strategy`] | what the author of a strategy sees: the trait, views, plans, edits, settings |
//! | [`engine`] | the engine, budgets, requests, reports |
//! | [`context`] | what fills a session's context, how full it is, what would leave it next, and what has left it |
//! | [`brief`] | what matters of a session, as one text |
//! | [`follow`] | a session that an agent is still writing: its file found, and read as it grows |
//! | [`live`] | a session that is going on: push, check, compact, preview and apply, undo, recall, save |
//! | [`lookup`] | what a model looks up in its own past, as tools |
//! | [`recall`] | search over everything that was said |
//! | [`store`] | sessions, archives and memories on disk |
//! | [`formats`] | session formats of agents and providers, read and written |
//! | [`tokens`] | token counters |
//! | [`wire`] | how each provider's requests, answers, streams and errors are made |
//! | [`providers`] | summarizers, embedders |
//! | [`config`] | the configuration file |
//! | [`amount`] | tokens and shares as a person writes them |
//!
//! As it comes this is what a runtime needs that compacts by rules. Three features are on by default, and hold what is large:
//! `vocab-o200k` and `vocab-cl100k` the exact vocabularies, `embeddings` the table of the embedder that needs no model. With
//! them off, the crate is what runs on `wasm32-unknown-unknown`. More features: `http` for models and embeddings
//! over HTTP; `clustering` for the strategy `semantic-clustering` and the presets that use it; `fastembed` for neural
//! embedding models on this machine, `fastembed-download` for fetching them on first use; `sqlite` and `postgres` for
//! keeping the sessions of many tenants in a database.

pub use epitome_config as config;
pub use epitome_engine as engine;
pub use epitome_formats as formats;
pub use epitome_providers as providers;
pub use epitome_recall as recall;
pub use epitome_session as session;
pub use epitome_store as store;
pub use epitome_strategy as strategy;
pub use epitome_tokens as tokens;
pub use epitome_wire as wire;

pub mod brief;
pub mod context;
pub mod follow;
pub mod live;
pub mod lookup;

pub use epitome_builtin::registry;
pub use epitome_config::amount;
pub use epitome_config::{Config, Runtime};
pub use epitome_engine::{Budget, Draft, Engine, MemoryArchive, Report, Request, Status};
pub use epitome_session::{Message, Session};
pub use epitome_strategy::{Registry, Strategy};

use std::sync::Arc;

use epitome_config::OnProgress;

/// The engine that a configuration describes, with the summarizer that it asks for.
pub fn engine_of(runtime: &Runtime) -> Engine {
    engine_with_progress(runtime, None)
}

/// The same; `progress` receives how far a model's summary is.
pub fn engine_with_progress(runtime: &Runtime, progress: Option<OnProgress>) -> Engine {
    runtime.engine(Arc::clone(&runtime.counter), runtime.make_summarizer(progress))
}
