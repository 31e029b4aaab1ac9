//! What models took for a session's summaries.

use std::sync::{Arc, Mutex};

use epitome_session::{Session, SummaryUsage};
use epitome_strategy::lock;

use super::LiveSession;

/// What models took for the summaries of a session, also for those that came to nothing. Clones are the same bill.
#[derive(Debug, Clone, Default)]
pub struct SummaryBill(Arc<Mutex<SummaryUsage>>);

impl SummaryBill {
    /// Returns the bill with what the session's journal records, compactions that were undone included. Linear in the journal.
    pub(super) fn recorded(session: &Session) -> Self {
        Self(Arc::new(Mutex::new(session.summary_usage())))
    }

    /// Returns what models took so far.
    pub fn usage(&self) -> SummaryUsage {
        lock(&self.0).clone()
    }

    pub(super) fn add(&self, usage: &SummaryUsage) {
        lock(&self.0).add(usage);
    }
}

impl LiveSession {
    /// Returns what models took for the session's summaries: those that its journal records, and since it was opened also
    /// those that came to nothing.
    pub fn summary_usage(&self) -> SummaryUsage {
        self.bill.usage()
    }

    /// From here on summaries are put on `bill`: for a host that has the same session again and again.
    pub fn bill_to(&mut self, bill: SummaryBill) {
        self.bill = bill;
    }
}
