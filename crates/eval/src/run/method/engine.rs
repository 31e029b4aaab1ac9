//! This engine as a method.

use epitome::engine::{Chain, Engine, EngineError, Mode, block_on};
use epitome::session::SummaryUsage;
use epitome::strategy::SummarizeError;
use epitome::{MemoryArchive, Request, Session, Status};

use crate::cases::case::Case;

/// This engine under a configuration.
#[derive(Debug)]
pub(super) struct EngineMethod {
    pub(super) engine: Engine,
    pub(super) mode: Mode,
    pub(super) chain: Option<Chain>,
}

impl EngineMethod {
    /// Returns a case's prefix after one compaction, and adds what models took for it to `summaries`; the error says why there
    /// was none.
    pub(super) fn compact(&self, case: &Case, budget: u32, summaries: &mut SummaryUsage) -> Result<Session, String> {
        let mut session = case.prefix.clone();
        let mut ledger = self.engine.ledger(&session);
        let mut request = Request::to_budget(budget);
        request.mode = self.mode;
        request.chain.clone_from(&self.chain);
        let compacted = block_on(self.engine.compact(&mut session, &mut ledger, &mut MemoryArchive::new(), &request));
        let report = compacted.map_err(|error| {
            if let EngineError::NoSummary(SummarizeError { usage, .. }) = &error {
                summaries.add(usage);
            }
            error.to_string()
        })?;
        summaries.add(&report.summarizer.models);
        match report.status {
            Status::NoChange | Status::Compacted | Status::NearEmpty => Ok(session),
            Status::RolledBack => {
                let below = || "rolled back: no chain kept what the configuration asks for".to_owned();
                Err(report.stopped.unwrap_or_else(below))
            }
            Status::Infeasible => {
                let floor = report.floor.map_or(0, |floor| floor.tokens);
                Err(format!("infeasible: {floor} tokens must stay, the budget is {budget}"))
            }
        }
    }
}
