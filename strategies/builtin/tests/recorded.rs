//! Every strategy on recorded sessions: plans keep the rules that [`PlanCase`] checks, and save something.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use epitome_formats::{ReadOptions, read};
use epitome_testkit::PlanCase;

/// The recorded sessions' files, none when there is no such folder.
fn recorded() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("EPITOME_SESSIONS").map_or(root.join("../shared/data/dev"), PathBuf::from);
    let Ok(formats) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: no recorded sessions in {}", folder.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = formats
        .filter_map(|format| std::fs::read_dir(format.ok()?.path()).ok())
        // A few of each format are enough for rules that hold for all.
        .flat_map(|files| files.filter_map(|file| Some(file.ok()?.path())).take(3))
        .collect();
    files.sort();
    files
}

#[test]
fn plans_over_recorded_sessions_keep_the_rules() {
    let mut took: BTreeMap<&str, (Duration, u64, u32)> = BTreeMap::new(); // (time, tokens planned, plans with edits)
    for file in recorded() {
        let Ok(loaded) = read(std::fs::read(&file).unwrap(), ReadOptions::default()) else { continue };
        for session in loaded.sessions.into_iter().take(2).map(|loaded| loaded.session) {
            for registration in epitome_builtin::registry().iter() {
                let strategy = registration.build(&BTreeMap::new()).unwrap();
                let id = registration.meta.id;
                assert_eq!(strategy.meta().id, id);
                let before = PlanCase::from_session(session.clone(), strategy.clone()).target(u32::MAX).run().before;
                for share in [2, 5, 10] {
                    let case = PlanCase::from_session(session.clone(), strategy.clone()).target(before / share + 1);
                    let started = Instant::now();
                    let planned = case.run();
                    let figures = took.entry(id).or_default();
                    // Each run plans twice, to see that both plans are the same.
                    figures.0 += started.elapsed() / 2;
                    figures.1 += u64::from(before);
                    figures.2 += u32::from(!planned.plan.edits.is_empty());
                    let gains = planned.after < before || planned.text.lines().all(|line| line.starts_with("trim"));
                    assert!(planned.plan.edits.is_empty() || gains, "{}: {id} saves nothing", file.display());
                }
            }
        }
    }
    for (id, (time, tokens, plans)) in took {
        eprintln!("{id}: {plans} plans with edits, {tokens} tokens read in {time:?}");
    }
}
