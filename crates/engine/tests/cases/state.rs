//! The state of the work stands behind the last text of a compaction.

use epitome_engine::{Engine, MemoryArchive, Request};
use epitome_harness::laws::compact_and_check;
use epitome_session::heading::state_heading;
use epitome_session::{Language, Session};
use epitome_strategy::HostChanges;
use epitome_testkit::session;

use super::support::engine;

const STARTED: &str = "
user: task
assistant: one word … x30
call Bash b1 {\"command\":\"npm run dev\",\"run_in_background\":true}
result b1: Command running in background with ID: bq7x21
assistant: two word … x30
";

const TALK: &str = "
assistant: three word … x90
assistant: four word … x90
user: newest
";

/// Compacts to a share of the tokens, with every law; the lines of the state, and the number of the text that has them among all
/// texts of compactions.
fn state(session: &mut Session, share: f64, host: HostChanges) -> (Vec<String>, Vec<bool>) {
    let engine = Engine { tells_state: true, ..engine() };
    let target = (f64::from(engine.ledger(session).total()) * share) as u32;
    let request = Request { host, ..Request::to_budget(target) };
    let (report, broken) = compact_and_check(&engine, session, &mut MemoryArchive::new(), &request);
    assert_eq!(broken, [], "{report:#?}");
    let texts: Vec<String> = session.view().iter().map(|entry| entry.message.plain_text()).collect();
    let written = texts.iter().filter(|text| text.starts_with('['));
    let sections: Vec<_> = written.map(|text| text.split_once(state_heading(Language::English))).collect();
    let lines = sections.iter().rev().find_map(|section| Some(section.as_ref()?.1));
    let lines = lines.map(|lines| lines.lines().skip(1).map(str::to_owned).collect()).unwrap_or_default();
    (lines, sections.iter().map(Option::is_some).collect())
}

#[test]
fn what_runs_is_told_last_however_often_it_is_compacted() {
    for host in [HostChanges::Any, HostChanges::Cut, HostChanges::Removals] {
        let mut session = session(&format!("{STARTED}{TALK}"));
        for generation in 0..10 {
            let (lines, sections) = state(&mut session, 0.6, host);
            assert_eq!(lines, ["- runs: bq7x21 · Bash: npm run dev"], "{host:?}, generation {generation}");
            assert_eq!(sections.last(), Some(&true), "behind the last text: {sections:?}");
            session.extend(epitome_testkit::session(TALK).log().iter().map(|message| (**message).clone()));
        }
    }
}

#[test]
fn what_has_ended_is_not_told() {
    let stopped = "call KillShell k1 {\"shell_id\":\"bq7x21\"}\nresult k1: Successfully killed shell: bq7x21\n";
    let mut session = session(&format!("{STARTED}{stopped}{TALK}"));
    assert_eq!(state(&mut session, 0.6, HostChanges::Any).0, Vec::<String>::new());
}

#[test]
fn where_there_is_little_room_every_id_stays() {
    let long = "word ".repeat(40);
    let started: String = (1..=3)
        .map(|number| {
            format!(
                "call Bash b{number} {{\"command\":\"serve {long}\",\"run_in_background\":true}}\n\
                 result b{number}: Command running in background with ID: shell{number}\n"
            )
        })
        .collect();
    let mut session = session(&format!("user: task\nassistant: ok\n{started}{TALK}"));
    let (lines, _) = state(&mut session, 0.5, HostChanges::Any);
    let has = |number: u32| lines.iter().any(|line| line.contains(&format!("shell{number} ")));
    assert!((1..=3).all(has) && lines.iter().all(|line| line.len() < 100), "{lines:#?}");
}
