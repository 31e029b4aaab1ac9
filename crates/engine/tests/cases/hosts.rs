//! Hosts that cannot make every change to their list.

use std::sync::Arc;

use epitome_engine::{Chain, Outcome, Pins, Report, Request, Status};
use epitome_session::{Origin, Session};
use epitome_strategy::{
    Edit, Goal, HostChanges, Lossiness, Meta, Plan, PlanError, RequiredServices, Strategy, SummaryText, View,
};
use epitome_testkit::session;

use super::support::{Script, Spy, compact, engine, reason, request, shown};

/// A task, eight steps of about 100 tokens, a question and a step behind it.
fn talk() -> Session {
    let steps: String = (0..8).map(|step| format!("assistant: step {step} word … x25\n")).collect();
    session(&format!("user: task\n{steps}user: newest\nassistant: the newest step word … x25\n"))
}

/// A strategy that shortens texts, as its description says.
#[derive(Debug)]
struct Shortens;

impl Strategy for Shortens {
    fn meta(&self) -> &Meta {
        const META: Meta = Meta {
            id: "shortens",
            summary: "",
            docs: "",
            lossiness: Lossiness::Partial,
            needs: RequiredServices::NONE,
            since: "0.1.0",
        };
        &META
    }

    fn plan(&self, _: &View<'_>, _: &Goal) -> Result<Plan, PlanError> {
        Err(PlanError("it was asked".to_owned()))
    }
}

fn for_host(host: HostChanges, target: u32, strategies: Vec<Arc<dyn Strategy>>) -> (Session, Report) {
    let mut session = talk();
    let asked = Request { host, ..request(target, Some(Chain(strategies))) };
    let (report, _) = compact(&engine(), &mut session, &asked);
    (session, report)
}

#[test]
fn strategies_are_told_and_declined_for() {
    let check = |host: HostChanges, expect: &str| {
        let spy = Arc::new(Spy::default());
        let (_, report) = for_host(host, 600, vec![spy.clone(), Arc::new(Shortens)]);
        assert!(spy.0.lock().unwrap().iter().all(|goal| goal.host == host));
        let step = report.steps.iter().find(|step| &*step.strategy == "shortens").unwrap();
        assert_eq!(step.declined.as_deref(), Some(expect), "{host:?}");
    };
    check(HostChanges::Any, "failed: it was asked");
    check(HostChanges::Texts, "failed: it was asked");
    check(HostChanges::Cut, "it shortens texts, and the host takes one cut at the front with one text in its place");
    check(HostChanges::Removals, "it shortens texts, and the host takes removals and one text, and no edited message");
}

#[test]
fn the_floor_keeps_to_what_the_host_can_do() {
    let check = |host: HostChanges, target: u32, expect: Status| {
        let before = talk();
        let (after, report) = for_host(host, target, Vec::new());
        assert_eq!(report.status, expect, "{host:?} {target}: {}", shown(&after));
        let kept = |outcome: Outcome| matches!(outcome, Outcome::Kept | Outcome::Pinned);
        let whole = report.messages.iter().filter(|receipt| kept(receipt.outcome)).count();
        (before.view().len(), after.view().len(), whole, report)
    };
    let (before, after, _, _) = check(HostChanges::Texts, 500, Status::Compacted);
    assert_eq!(before, after);
    // The task, one text, and what may not leave.
    let (before, after, whole, _) = check(HostChanges::Cut, 500, Status::Compacted);
    assert!(after == whole + 1 && after < before, "{after} {whole}");
    let (_, after, whole, _) = check(HostChanges::Removals, 500, Status::Compacted);
    assert!(after <= whole + 1, "{after} {whole}");
    // The newest step cannot be cut by a host that edits no message.
    check(HostChanges::Any, 60, Status::Compacted);
    let (_, _, _, report) = check(HostChanges::Cut, 60, Status::Infeasible);
    let floor = report.floor.unwrap();
    assert!(floor.parts.iter().any(|part| part.part == "host-keeps" && part.tokens > 80), "{floor:?}");
    let (_, _, _, report) = check(HostChanges::Texts, 60, Status::Infeasible);
    assert!(report.floor.unwrap().parts.iter().any(|part| part.part == "host-keeps"));
}

#[test]
fn a_cut_moves_and_takes_its_summary_with_it() {
    let summarize = |units: Vec<u32>| {
        let summary = SummaryText::Ready("the steps so far were in order".to_owned());
        Arc::new(Script("script", vec![Edit::Summarize { units, summary, reason: reason() }])) as Arc<dyn Strategy>
    };
    // The strategy replaces three steps; the goal needs more, so the floor moves the cut.
    let (after, report) = for_host(HostChanges::Cut, 500, vec![summarize(vec![1, 2, 3])]);
    assert_eq!(report.status, Status::Compacted);
    let texts: Vec<String> = after
        .view()
        .iter()
        .filter(|entry| entry.message.origin == Origin::Summary)
        .map(|it| it.message.plain_text())
        .collect();
    assert_eq!(texts.len(), 1, "{}", shown(&after));
    assert!(texts[0].ends_with("the steps so far were in order"), "{}", texts[0]);
    // A run that begins elsewhere is refused.
    let (_, report) = for_host(HostChanges::Cut, 500, vec![summarize(vec![3, 4])]);
    let step = report.steps.iter().find(|step| &*step.strategy == "script").unwrap();
    assert!(step.edits == 0 && step.refused > 0, "{step:?}");
}

#[test]
fn a_task_that_is_not_pinned_is_a_part_of_the_cut() {
    let mut session = talk();
    let mut engine = engine();
    engine.pins = Pins { original_task: false, ..Pins::default() };
    let asked = Request { host: HostChanges::Cut, ..request(500, None) };
    let (report, _) = compact(&engine, &mut session, &asked);
    assert_eq!(report.status, Status::Compacted);
    assert!(session.view()[0].message.origin == Origin::Notice, "{}", shown(&session));
}
