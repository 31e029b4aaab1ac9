//! What a strategy knows of the signed thinking behind a change is what the engine takes out.

use std::sync::Arc;

use epitome_engine::{Chain, Engine, EngineError, MemoryArchive, Report};
use epitome_session::Session;
use epitome_strategy::{Edit, Goal, Lossiness, Meta, Plan, PlanError, RequiredServices, Strategy, Tokens, View};
use epitome_testkit::session;

use super::support::{engine, reason, request};

/// Changes one unit as little as may be, and says what that frees behind it.
#[derive(Debug)]
struct Change(u32);

impl Strategy for Change {
    fn meta(&self) -> &Meta {
        const META: Meta = Meta {
            id: "change",
            summary: "",
            docs: "",
            lossiness: Lossiness::Whole,
            needs: RequiredServices { embeddings: false, model: false },
            since: "0.1.0",
        };
        &META
    }

    fn plan(&self, view: &View<'_>, _: &Goal) -> Result<Plan, PlanError> {
        let unit = self.0 as usize;
        let own = view.signed_thinking(unit);
        let reason = reason().with_evidence((view.thinking_behind(unit) - own).to_string());
        Ok(Plan::from_edits(vec![Edit::Drop { units: vec![self.0], reason }], "nothing"))
    }
}

/// Drops `unit`: the tokens that the strategy expected to be freed behind it, and those that were.
fn freed(fixture: &str, unit: u32) -> (Tokens, Tokens) {
    let mut session = session(fixture);
    let chain = Some(Chain(vec![Arc::new(Change(unit))]));
    let engine = engine();
    let report = drop_only(&engine, &mut session, chain).unwrap();
    let edits = &session.journal().last().unwrap().edits;
    let expected = edits[0].reason.evidence[0].parse().unwrap();
    let freed = edits[1..].iter().map(|edit| edit.tokens_saved).sum();
    assert!(edits[1..].iter().all(|edit| &*edit.strategy == "thinking"), "{:?}", report.edits);
    (expected, freed)
}

fn drop_only(engine: &Engine, session: &mut Session, chain: Option<Chain>) -> Result<Report, EngineError> {
    let mut ledger = engine.ledger(session);
    let request = request(ledger.total() - 1, chain);
    epitome_engine::block_on(engine.compact(session, &mut ledger, &mut MemoryArchive::new(), &request))
}

#[test]
fn what_leaves_behind_a_change_is_known_before() {
    let fixture = "
system: S
user: earlier, and of some length so that anything at all is saved
thinking signed: the first loop thinks for itself, for quite a while
assistant: answered
user: a task that may leave
thinking signed: first thought
call Read c1 {}
result c1: line {n} … x60 lines
thinking signed: second thought, a little longer
call Read c2 {}
result c2: line {n} … x60 lines
assistant(pinned): this one stays
user(injected): a reminder
thinking signed: nothing but a thought
user: go on
thinking signed: the newest thought
call Read c3 {}
result c3: ok
";
    let check = |unit, expect| assert_eq!(freed(fixture, unit), (expect, expect), "unit {unit}");
    // The answer, then the task with the loops in front of it and behind it, then its steps, then what is injected.
    check(2, 4 + 8 + 10);
    check(3, 13 + 4 + 8 + 10);
    check(4, 8 + 10);
    check(5, 4 + 10);
    check(7, 4 + 8 + 10);
    check(8, 0);
}
