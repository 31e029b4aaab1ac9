//! Clearing: old text leaves in small parts before any threshold is reached, without a model and without the floor.

use epitome_session::{Session, Trigger};
use epitome_strategy::{Archive, Cancellation, Goal, HostChanges, Strategy, TaskKind, Tokens};

use crate::archive::MemoryArchive;
use crate::arrival::Arrival;
use crate::engine::{Engine, EngineError, working};
use crate::guard::EditRefusal;
use crate::language::language;
use crate::ledger::Ledger;
use crate::run::ChainRunner;

impl Engine {
    /// Applies the plan of `strategy` for a view that is to shrink as far as the strategy can, if that saves at least
    /// `least` tokens; otherwise nothing changes and the result is `None`. The epoch can be undone and does not count
    /// as a compaction of the session: no summary is written, nothing leaves that the strategy does not name, and the
    /// quality is not measured.
    ///
    /// Cost: that of the plan, linear in the view.
    pub async fn clear(
        &self,
        session: &mut Session,
        ledger: &mut Ledger,
        archive: &mut dyn Archive,
        strategy: &dyn Strategy,
        least: Tokens,
    ) -> Result<Option<Arrival>, EngineError> {
        let refused = |refusal: EditRefusal| EngineError::Refused(refusal.to_string());
        let never = Cancellation::never();
        let context = self.context(session, ledger, language(session.view()), &never);
        let start = working(session, ledger, &self.pins);
        let mut goal = Goal {
            current: start.total,
            target: 0,
            limit: start.total,
            window: start.total,
            max_summary_tokens: None,
            task: TaskKind::Unknown,
            cycle: session.cycle() + 1,
            focus: None,
            focus_given: false,
            first_unsent_unit: None,
            language: context.language,
            host: HostChanges::Any,
        };
        // Cancelled work leaves nothing in the session's archive.
        let mut scratch = MemoryArchive::new();
        let total = start.total;
        let mut runner = ChainRunner::new(start, &context, &mut scratch);
        runner.ask(strategy, &mut goal).await.map_err(refused)?;
        let run = runner.into_run();
        let saved = total.saturating_sub(run.working.total);
        if saved < least.max(1) || !run.working.synthetics.is_empty() {
            return Ok(None);
        }
        for (handle, item) in scratch.items() {
            let given = archive.put(item.clone()).map_err(|error| EngineError::Refused(error.to_string()))?;
            if given != *handle {
                let problem = format!("the archive gave the handle {given} where {handle} was expected");
                return Err(EngineError::Refused(problem));
            }
        }
        let after = run.working.total;
        Ok(Some(Arrival::commit(session, ledger, Trigger::Clearing, run.working, (total, after))))
    }
}
