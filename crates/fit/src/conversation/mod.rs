//! Conversations that are recognised by their beginnings, and the decisions for each: for hosts whose requests are
//! bytes, such as a proxy. Hosts that have lists of messages use [`Fitter`](crate::Fitter), which is made of the same
//! parts.
//!
//! A request goes through [`UnreadRequest`] (where its messages are, and which of them are new), [`Incoming`] (the
//! known facts of each, and the request's places in its conversation), [`glance()`] (the quick way: no compaction is
//! due, and the way to carry out the earlier decisions is known) and [`prepare()`] (the full way). Where the client itself
//! asks for a compaction, [`compact_on_demand()`] makes it; where its model does, [`compact_as_asked()`].

mod asked;
mod bare;
mod chain;
mod counts;
mod decider;
mod demand;
mod full_request;
mod glance;
mod host;
mod incoming;
mod items;
mod memory;
mod prepare;
mod prepared;
mod provenance;
mod recipe;
mod reported;
mod tail;

pub use asked::{AskedCompaction, compact_as_asked};
pub use chain::{Digest, MessageKey};
pub use decider::Decider;
pub use demand::{Demand, DemandedCompaction, compact_on_demand};
pub use glance::glance;
pub use host::{Host, NoHost};
pub use incoming::{Incoming, UnreadRequest};
pub use items::Item;
pub use memory::{Conversation, Decision, Decisions, Slot};
pub use prepare::{past_of, prepare, replay, shrink};
pub use prepared::{Figures, FitOutcome, PreparedRequest};
pub use provenance::{Addition, Provenance, Removal};
pub use recipe::Recipe;
pub use reported::ReportedShares;
