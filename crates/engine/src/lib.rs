//! The engine: asks strategies for plans and validates, resolves, archives, applies, counts, journals and reports them.
//!
//! It knows no strategy and no file format, and does no IO. The one asynchronous thing in it is the summarizer's call.

mod budget;
mod report;
mod request;

pub use budget::{Budget, Check, Threshold, Urgency};
pub use report::{
    EditReport, Floor, FloorPart, Mode, Outcome, Receipt, Report, Status, Step, SummarizerReport,
};
pub use request::{Chain, Chains, Pins, Request};
