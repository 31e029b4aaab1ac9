//! Every strategy alone, and the chains of every preset, over every recorded session at 40, 20 and 10 % of its tokens: the
//! guarantees as laws, what a provider accepts, and the same answer when asked twice.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use epitome_config::{Config, Preset};
use epitome_engine::{Chain, Engine, MemoryArchive, Request, Status};
use epitome_formats::{Profile, render, validate};
use epitome_providers::RuleSummarizer;
use epitome_testkit::laws::compact_and_check;
use epitome_tests::{SHARES, check_all, loaded};

/// An engine with what a configuration says, vectors included.
fn engine(config: &Config) -> Engine {
    let runtime = config.build(&epitome_builtin::registry()).unwrap();
    let counter = Arc::clone(&runtime.counter);
    runtime.engine(counter, Some(Arc::new(RuleSummarizer)))
}

/// What is run: its name, the engine, and the chain where it is not the engine's own choice.
fn subjects() -> Vec<(String, Engine, Option<Chain>)> {
    let registry = epitome_builtin::registry();
    let runtime = Config::default().build(&registry).unwrap();
    let alone = registry.iter().map(|registration| {
        let id = registration.meta.id;
        let chain = runtime.chain(&[id.to_owned()], &registry).unwrap();
        (id.to_owned(), engine(&Config::default()), Some(chain))
    });
    let presets = Preset::ALL.into_iter().map(|(preset, name, _)| {
        let config = Config::with_preset(preset);
        (format!("preset {name}"), engine(&config), None)
    });
    alone.chain(presets).collect()
}

#[test]
fn every_strategy_and_preset_keeps_the_guarantees() {
    let loaded = loaded();
    let subjects = subjects();
    check_all(&loaded, |loaded, index, found| {
        let recorded = &loaded.sessions[index].session;
        for (name, engine, chain) in &subjects {
            let before = engine.ledger(recorded).total();
            for share in SHARES {
                let label = format!("{name} at {share}");
                let budget = (f64::from(before) * share) as u32;
                let request = Request { chain: chain.clone(), ..Request::to_budget(budget) };
                let mut session = recorded.clone();
                let mut archive = MemoryArchive::new();
                let (report, broken) = compact_and_check(engine, &mut session, &mut archive, &request);
                found.extend(broken.iter().map(|broken| format!("{label}: {broken}")));
                let Some(report) = report else { return };
                // A strategy that did nothing says why.
                let silent = report.steps.iter().filter(|step| step.edits == 0 && step.declined.is_none());
                for step in silent.filter(|step| &*step.strategy != "floor") {
                    found.push(format!("{label}: {} did nothing and does not say why", step.strategy));
                }
                if report.status == Status::Compacted {
                    let rendered = render(session.view(), Profile::Anthropic, session.tools.as_deref(), None);
                    let violations = validate(&rendered.json, Profile::Anthropic);
                    found.extend(violations.into_iter().take(2).map(|it| format!("{label}: {it:?}")));
                }
            }
        }
    });
}
