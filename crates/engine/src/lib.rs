//! The engine: asks strategies for plans and validates, resolves, archives, applies, counts, journals and reports them.
//!
//! It knows no strategy and no file format, and does no IO. Only the summarizer's and the embedder's calls are
//! asynchronous.

mod archive;
mod arrival;
mod block_on;
mod budget;
mod by_hand;
mod calibration;
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
mod ledger;
mod loaded;
mod media_limits;
mod memories;
mod minimum;
mod mutants;
mod observe;
mod oversize;
mod prefix;
mod protect;
mod quality;
mod receipts;
mod refill;
mod report;
mod request;
mod restore;
mod run;
mod select;
mod shrink_protected;
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
mod wording;
mod working;

pub use archive::MemoryArchive;
pub use arrival::Arrival;
pub use block_on::block_on;
pub use budget::{Budget, Check, DEFAULT_SOFT, DEFAULT_TARGET, Threshold, Urgency};
pub use by_hand::ByHandError;
pub use calibration::{calibration_requests, calibration_requests_of, has_usage};
pub use detector::SignalDetector;
pub use draft::{Draft, DraftSummary, EditSummaryError};
pub use engine::{Engine, EngineError};
pub use hand_report::{ByHandReport, StayingMessages};
pub use language::language;
pub use ledger::{Ledger, MESSAGE_TOKENS, ReasoningFilter, count_block, count_media, count_message};
pub use observe::{Observer, Progress};
pub use quality::{KeptShare, MinQuality, OnLoss, Quality, QualityPart, Shortfall, TriedChain};
pub use report::{
    EditReport, Floor, FloorPart, Mode, Outcome, ReasonReport, Receipt, RecentMessages, Repairs, Report, Step,
    SummarizerReport, Timings,
};
pub use request::{Chain, Chains, MemoryNote, Pins, Request, SummaryRole, WithoutSummary};
pub use select::SelectSettings;
pub use status::Status;
pub use triggers::{DEFAULT_BOUNDARY_WAIT, HIGHEST_TARGET, Triggers, Watch};
