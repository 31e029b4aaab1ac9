//! This engine as a method.

use epitome::engine::{Chain, Engine, Ledger, Mode, block_on};
use epitome::session::Entry;
use epitome::{MemoryArchive, Request, Session, Status};

use crate::cases::case::Case;
use crate::run::generations::session_from_chat;

/// This engine under a configuration.
#[derive(Debug)]
pub(super) struct EngineMethod {
    pub(super) engine: Engine,
    pub(super) mode: Mode,
    pub(super) chain: Option<Chain>,
}

impl EngineMethod {
    pub(super) fn compact(&self, case: &Case, budget: u32, focus: Option<&str>) -> Result<Vec<Entry>, String> {
        let mut session = case.prefix.clone();
        let mut ledger = self.engine.ledger(&session);
        self.compact_once(&mut session, &mut ledger, &mut MemoryArchive::new(), budget, focus)?;
        Ok(session.view().to_vec())
    }

    pub(super) fn compact_through(&self, case: &Case, budgets: &[u32], is_piped: bool) -> Result<Vec<Entry>, String> {
        let mut session = case.prefix.clone();
        let mut ledger = self.engine.ledger(&session);
        let mut archive = MemoryArchive::new();
        let mut last = Ok(());
        for (number, budget) in budgets.iter().enumerate() {
            if is_piped && number > 0 {
                session = session_from_chat(session.view(), case.prefix.tools.as_deref())?;
                ledger = self.engine.ledger(&session);
            }
            last = self.compact_once(&mut session, &mut ledger, &mut archive, *budget, None);
        }
        last.map(|()| session.view().to_vec())
    }

    /// Makes one compaction of `session`; the error says why there was none.
    fn compact_once(
        &self,
        session: &mut Session,
        ledger: &mut Ledger,
        archive: &mut MemoryArchive,
        budget: u32,
        focus: Option<&str>,
    ) -> Result<(), String> {
        let mut request = Request::to_budget(budget);
        request.mode = self.mode;
        request.focus = focus.map(str::to_owned);
        request.chain.clone_from(&self.chain);
        let compacted = block_on(self.engine.compact(session, ledger, archive, &request));
        let report = compacted.map_err(|error| error.to_string())?;
        match report.status {
            Status::NoChange | Status::Compacted | Status::Hollow => Ok(()),
            Status::RolledBack => Err("rolled back: no chain kept what the configuration asks for".to_owned()),
            Status::Infeasible => {
                let floor = report.floor.map_or(0, |floor| floor.tokens);
                Err(format!("infeasible: {floor} tokens must stay, the budget is {budget}"))
            }
        }
    }
}
