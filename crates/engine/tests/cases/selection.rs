//! The chosen chain over several compactions: stickiness through the journal, later chains, stored sessions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use epitome_engine::{Chain, Chains, Engine, Request, Status};
use epitome_session::{Message, Origin, Role, Session};
use epitome_strategy::{TaskDetector, TaskKind, Verdict, View};
use epitome_testkit::{FakeCounter, session};

use super::support::{Script, compact};

/// Says one kind after the other.
#[derive(Debug)]
struct Told(Mutex<Vec<(TaskKind, f64)>>);

impl TaskDetector for Told {
    fn detect(&self, _: &View<'_>) -> Verdict {
        let mut told = self.0.lock().unwrap();
        let (kind, confidence) = if told.len() > 1 { told.remove(0) } else { told[0] };
        Verdict { kind, confidence, evidence: vec!["told".to_owned()] }
    }
}

fn engine(told: &[(TaskKind, f64)]) -> Engine {
    let chain = |id| Chain(vec![Arc::new(Script(id, Vec::new()))]);
    let mut engine = Engine::new(Arc::new(FakeCounter), Arc::new(Told(Mutex::new(told.to_vec()))));
    engine.chains = Chains {
        code: chain("script"),
        analysis: chain("other"),
        later: BTreeMap::from([(TaskKind::Code, chain("other"))]),
        ..Chains::default()
    };
    engine
}

/// Compacts, lets the session grow, and compacts again; the chosen kind and chain of each compaction.
fn run(engine: &Engine, times: usize, between: impl Fn(&mut Session)) -> Vec<String> {
    let mut session = session("user: task\nassistant: work … x400\nuser: newest");
    let mut chosen = Vec::new();
    for _ in 0..times {
        let (report, _) = compact(engine, &mut session, &Request::to_budget(200));
        assert_eq!(report.status, Status::Compacted);
        let choice = session.journal().last().unwrap().choice.clone().unwrap();
        assert_eq!(&*choice.chosen, report.task.kind.as_str());
        chosen.push(format!("{} by {}", report.task.kind, report.chain.join(" ")));
        between(&mut session);
        for (role, origin, text) in [
            (Role::Assistant, Origin::Model, "more work ".repeat(100)),
            (Role::User, Origin::Typed, "and now?".to_owned()),
        ] {
            session.push(Message::text("", role, origin, text));
        }
    }
    chosen
}

#[test]
fn the_kind_stays_until_verdicts_agree() {
    use TaskKind::{Analysis, Code};
    let check = |told: &[(TaskKind, f64)], expect: &[&str]| {
        assert_eq!(run(&engine(told), expect.len(), |_| {}), expect, "{told:?}");
    };
    check(&[(Analysis, 0.9), (Code, 0.9), (Code, 0.9)], &["analysis by other", "analysis by other", "code by other"]);
    check(&[(Analysis, 0.9), (Code, 0.9), (Analysis, 0.9)], &["analysis by other"; 3]);
    check(&[(Analysis, 0.9), (Code, 0.2), (Code, 0.2)], &["analysis by other"; 3]);
}

#[test]
fn later_compactions_take_the_later_chain() {
    let told = [(TaskKind::Code, 0.9)];
    assert_eq!(run(&engine(&told), 3, |_| {}), ["code by script", "code by script", "code by other"]);
}

#[test]
fn what_was_chosen_outlives_the_process() {
    let stored = |session: &mut Session| {
        let json = serde_json::to_string(session).unwrap();
        *session = serde_json::from_str(&json).unwrap();
    };
    let told = [(TaskKind::Analysis, 0.9), (TaskKind::Code, 0.9), (TaskKind::Code, 0.9)];
    assert_eq!(run(&engine(&told), 3, stored), ["analysis by other", "analysis by other", "code by other"]);
    // An epoch that says nothing of a choice is of an earlier version: the newest verdict is taken.
    let forget = |session: &mut Session| {
        let json = serde_json::to_string(session).unwrap();
        let start = json.find("\"choice\":{").unwrap();
        let end = start + json[start..].find("},").unwrap() + 2;
        *session = serde_json::from_str(&(json[..start].to_owned() + &json[end..])).unwrap();
    };
    assert_eq!(run(&engine(&told), 2, forget), ["analysis by other", "code by script"]);
}
