//! The service over real HTTP, on a port of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agents;
mod api;
mod console;
mod contract;
mod hostile;
mod instances;
mod instances_rates;
mod kept;
mod limits;
mod mcp;
mod memories;
mod model;
mod proxy;
mod proxy_compaction;
mod proxy_conversations;
mod proxy_faults;
mod proxy_gemini;
mod proxy_handoff;
mod proxy_keys;
mod proxy_lookup;
mod proxy_lookup_gemini;
mod proxy_native;
mod proxy_streams;
mod sessions;
mod sessions_by_hand;
mod sessions_compact;
mod sessions_context;
mod sessions_events;
mod sessions_faults;
mod sessions_keeping;
mod sessions_postgres;
mod sessions_turns;
mod sessions_upkeep;
mod support;
