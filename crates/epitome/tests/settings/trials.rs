//! The results of a configuration on the fixtures: everything that a user of it would see.

use epitome::engine::{MemoryArchive, Request, Timings, block_on};
use epitome::live::{Compaction, LiveSession};
use epitome::session::Role;
use epitome::store::Scope;
use epitome::{Config, Message, Runtime, Session};

use super::fixtures;

/// One way to see what a configuration does; the configuration's text is as in a file.
pub(crate) type Trial = fn(&Runtime) -> String;

/// The trials, the quick ones first. A key acts where one of them shows another result.
pub(crate) const TRIALS: &[Trial] = &[
    |runtime| live(runtime, &fixtures::work()),
    |runtime| compacted(runtime, fixtures::work(), 0.6, 0),
    |runtime| compacted(runtime, fixtures::work(), 0.25, 6),
    |runtime| compacted(runtime, fixtures::talk(), 0.5, 0),
    |runtime| compacted(runtime, fixtures::talk(), 0.2, 0),
    |runtime| live(runtime, &fixtures::talk()),
    |runtime| compacted(runtime, fixtures::work(), 0.9, 0),
    |runtime| compacted(runtime, fixtures::work(), 0.1, 0),
    |runtime| compacted(runtime, fixtures::work(), 0.8, 20),
    |runtime| compacted(runtime, fixtures::talk(), 0.85, 0),
    |runtime| compacted(runtime, fixtures::talk(), 0.7, 0),
    |runtime| compacted(runtime, fixtures::example(), 0.4, 0),
    |runtime| compacted(runtime, fixtures::example(), 0.1, 0),
    |runtime| two_kinds(runtime),
];

pub(crate) fn runtime(toml: &str) -> Runtime {
    let registry = epitome::registry();
    let config = Config::parse(toml, "case.toml", &registry).unwrap_or_else(|problems| panic!("{toml}\n{problems}"));
    let agent = config.agents().next().map(str::to_owned);
    let config = match agent {
        Some(agent) => config.for_agent(&agent).unwrap(),
        None => config,
    };
    config.build(&registry).unwrap_or_else(|problems| panic!("{toml}\n{problems}"))
}

/// The view and the report of one compaction to a share of the session.
fn compacted(runtime: &Runtime, mut session: Session, share: f64, unsent_messages: u32) -> String {
    let engine = epitome::engine_of(runtime);
    let mut ledger = engine.ledger(&session);
    let mut archive = MemoryArchive::new();
    let target = (f64::from(ledger.total()) * share) as u32;
    let request = Request {
        mode: runtime.mode,
        chain: runtime.fixed.clone(),
        window: Some(runtime.budget.window),
        unsent_messages,
        ..Request::to_budget(target)
    };
    let done = block_on(engine.compact(&mut session, &mut ledger, &mut archive, &request));
    let report = match done {
        Ok(report) => shown(report),
        Err(error) => error.to_string(),
    };
    format!("{report}\n{}", view(&session))
}

/// The report without what differs from run to run.
fn shown(mut report: epitome::Report) -> String {
    report.timings = Timings::default();
    report.steps.iter_mut().for_each(|step| step.duration_us = 0);
    serde_json::to_string(&report).unwrap()
}

fn view(session: &Session) -> String {
    session
        .view()
        .iter()
        .map(|entry| format!("{:?} {}\n", entry.message.role, serde_json::to_string(&entry.message.blocks).unwrap()))
        .collect()
}

/// A session that grows, with everything that it reports on its way.
fn live(runtime: &Runtime, session: &Session) -> String {
    // Each trial begins with no memories.
    runtime.live.memory_path().iter().for_each(|path| drop(std::fs::remove_file(path)));
    let mut live = LiveSession::new(runtime);
    live.remember_in_file(Scope::All).unwrap();
    let mut said = String::new();
    for message in session.log() {
        if message.role == Role::Assistant {
            said.push_str(&maintained(&mut live));
        }
        live.push(Message::clone(message)).unwrap();
    }
    said.push_str(&maintained(&mut live));
    format!("{said}{:?}\n{}", live.history(), view(live.session()))
}

fn maintained(live: &mut LiveSession) -> String {
    let check = live.check();
    let done = match block_on(live.maintain()) {
        Ok(epitome::live::MaintainOutcome::Compacted(report)) => shown(*report),
        Ok(done) => format!("{:?}", std::mem::discriminant(&done)),
        Err(error) => error.to_string(),
    };
    format!("{:?} {:?} {:?} {done}\n", check.threshold_tokens, check.trigger, live.context())
}

/// A session that is a talk at first and work later, compacted by hand after each part.
fn two_kinds(runtime: &Runtime) -> String {
    let mut live = LiveSession::new(runtime);
    let mut said = String::new();
    let parts = [fixtures::talk(), fixtures::work(), fixtures::work(), fixtures::work()];
    for (part, session) in parts.iter().enumerate() {
        for message in session.log().iter().skip(usize::from(part > 0)) {
            live.push(Message::clone(message)).unwrap();
        }
        said.push_str(&match block_on(live.compact(&Compaction::default())) {
            Ok(report) => shown(report),
            Err(error) => error.to_string(),
        });
    }
    format!("{said}{}", view(live.session()))
}
