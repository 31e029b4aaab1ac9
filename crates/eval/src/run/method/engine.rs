//! This engine as a method.

use epitome::engine::{Chain, Engine, Mode, block_on};
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
    /// Returns a case's prefix after one compaction; the error says why there was none.
    pub(super) fn compact(&self, case: &Case, budget: u32) -> Result<Session, String> {
        let mut session = case.prefix.clone();
        let mut ledger = self.engine.ledger(&session);
        let mut request = Request::to_budget(budget);
        request.mode = self.mode;
        request.chain.clone_from(&self.chain);
        let compacted = block_on(self.engine.compact(&mut session, &mut ledger, &mut MemoryArchive::new(), &request));
        let report = compacted.map_err(|error| error.to_string())?;
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
