//! Conversations that are recognised by their beginnings, and the decisions for each: for hosts whose requests are
//! bytes, such as a proxy. Hosts that have lists of messages use [`Fitter`](crate::Fitter), which is made of the same
//! parts.
//!
//! A request goes through [`RawRequest`] (where its messages are, and which of them are new), [`MatchedRequest`] (the
//! known facts of each, and the request's places in its conversation), [`prepare_fast()`] (the fast path: no compaction is
//! due, and the way to carry out the earlier decisions is known) and [`prepare()`] (the full path). Where the client itself
//! asks for a compaction, [`compact_on_request()`] makes it; where its model does, [`compact_as_asked()`].

mod asked;
mod bare;
mod chain;
mod counts;
mod decider;
mod decisions;
mod fast_path;
mod full_request;
mod host;
mod items;
mod matched_request;
mod prepare;
mod prepared;
mod provenance;
mod recipe;
mod reported;
mod requested;
mod tail;

pub use asked::{AskedCompaction, compact_as_asked};
pub use chain::{Digest, MessageKey};
pub use decider::Decider;
pub use decisions::{Conversation, Decision, Decisions, Slot};
pub use fast_path::prepare_fast;
pub use host::{Host, NoHost};
pub use items::Item;
pub use matched_request::{MatchedRequest, RawRequest};
pub use prepare::{prepare, replay, session_of_request, shrink};
pub use prepared::{FitOutcome, PreparedRequest, TokenCounts};
pub use provenance::{Addition, Provenance, Removal};
pub use recipe::Recipe;
pub use reported::ReportedShares;
pub use requested::{CompactionRequest, RequestedCompaction, compact_on_request};
