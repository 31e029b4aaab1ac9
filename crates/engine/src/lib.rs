//! The engine: asks strategies for plans and validates, resolves, archives, applies, counts, journals and reports them.
//!
//! It knows no strategy and no file format, and does no IO. Only the summarizer's and the embedder's calls are
//! asynchronous.

mod archive;
mod arrival;
mod block_on;
mod budget;
mod by_hand;
mod clearing;
mod conclude;
mod context;
mod cut_floor;
mod cutting;
mod detector;
mod draft;
mod editor;
mod engine;
mod floor;
mod focus;
mod freed;
mod gaps;
pub mod guard;
mod hand_report;
mod instructions;
mod language;
mod least;
mod ledger;
mod loaded;
mod memories;
mod mutants;
mod observe;
mod oversize;
mod pictures;
mod prefix;
mod protect;
mod quality;
mod receipts;
mod refill;
mod report;
mod request;
mod returning;
mod run;
mod select;
mod slots;
mod stages;
mod state;
mod status;
mod summaries;
#[cfg(test)]
mod tests;
mod tournament;
mod triggers;
mod trim;
mod usage;
mod wording;
mod working;
mod yields;

pub use archive::MemoryArchive;
pub use arrival::Arrival;
pub use block_on::block_on;
pub use budget::{Budget, Check, DEFAULT_SOFT, DEFAULT_TARGET, Threshold, Urgency};
pub use by_hand::ByHandError;
pub use detector::SignalDetector;
pub use draft::{Draft, DraftSummary, EditSummaryError};
pub use engine::{Engine, EngineError};
pub use hand_report::{ByHandReport, StayingMessages};
pub use language::language;
pub use ledger::{Ledger, MESSAGE_TOKENS, ReasoningFilter, count_block, count_media, count_message};
pub use observe::{Observer, Progress};
pub use quality::{KeptShare, MinQuality, OnLoss, Quality, QualityPart, Shortfall, Try};
pub use report::{
    EditReport, Floor, FloorPart, Mode, Outcome, ReasonReport, Receipt, RecentMessages, Repairs, Report, Step,
    SummarizerReport, Timings,
};
pub use request::{Chain, Chains, MemoryNote, Pins, Request, SummaryRole, WithoutSummary};
pub use select::SelectSettings;
pub use status::Status;
pub use triggers::{DEFAULT_BOUNDARY_WAIT, HIGHEST_TARGET, Triggers, Watch};
pub use usage::{has_usage, learned_of, learned_requests};
