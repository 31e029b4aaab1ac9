//! What the host loaded as instructions stays in its place, and as far as there is room, whole.

use epitome_engine::{Chain, Pins, Request, Status};
use epitome_session::{Origin, Session};
use epitome_strategy::{Edit, HostChanges};
use epitome_testkit::session;

use super::support::{compact, engine, reason, request, shown};

/// Rules of forty lines, about 500 tokens, in the words of a host.
fn rules(prose: usize) -> String {
    let rules: String = (0..40).map(|number| format!("  - Never rename module {number} without a ticket.\n")).collect();
    let prose: String =
        (0..prose).map(|number| format!("  The house number {number} was built by many people.\n\n")).collect();
    format!(
        "user(injected): # AGENTS.md instructions for /w\n\n  <INSTRUCTIONS>\n  # Rules\n{prose}{rules}  </INSTRUCTIONS>\n"
    )
}

/// Loaded rules, a task, and steps of about 2,000 tokens.
fn talk(loaded: &str) -> Session {
    let steps: String = (0..20).map(|step| format!("assistant: step {step} word … x80\n")).collect();
    session(&format!("{loaded}user: task\n{steps}user: newest\nassistant: done\n"))
}

/// How many of the forty rules the view has, word for word, in a message of this origin.
fn held(session: &Session, origin: Origin) -> usize {
    let texts: Vec<String> = session
        .view()
        .iter()
        .filter(|entry| entry.message.origin == origin)
        .flat_map(|entry| &entry.message.blocks)
        .filter_map(|block| Some(block.excerptable()?.to_string()))
        .collect();
    let rule = |number| format!("Never rename module {number} without a ticket.");
    (0..40).filter(|number| texts.iter().any(|text| text.contains(&rule(*number)))).count()
}

#[test]
fn rules_stay_for_every_host_and_over_generations() {
    let check = |host: HostChanges, target: u32| {
        let mut session = talk(&rules(0));
        // A host of one cut keeps what a person typed behind it.
        let generations = if host == HostChanges::Cut { 1 } else { 4 };
        for generation in 0..generations {
            let asked = Request { host, ..request(target, None) };
            let (report, _) = compact(&engine(), &mut session, &asked);
            assert_ne!(report.status, Status::Infeasible, "{host:?} {target}: {report:?}");
            assert_eq!(held(&session, Origin::Injected), 40, "{host:?} {target} {generation}: {}", shown(&session));
            session.push(epitome_testkit::session("user: and now").log()[0].as_ref().clone());
            for step in 0..20 {
                let text = format!("assistant: later {generation}/{step} word … x80\n");
                let said = epitome_testkit::session(&text).log()[0].as_ref().clone();
                session.push(said);
            }
        }
    };
    check(HostChanges::Any, 1_400);
    check(HostChanges::Cut, 1_400);
    check(HostChanges::Removals, 1_400);
    check(HostChanges::Texts, 2_800);
}

/// A host of one cut cannot keep what stands in the middle: rules there do not keep it from compacting.
#[test]
fn rules_in_the_middle_do_not_end_a_cut() {
    let mut session = talk("");
    let later = talk(&rules(0));
    later.log().iter().for_each(|message| _ = session.push(message.as_ref().clone()));
    let asked = Request { host: HostChanges::Cut, ..request(400, None) };
    let (report, _) = compact(&engine(), &mut session, &asked);
    assert_ne!(report.status, Status::Infeasible, "{}", shown(&session));
}

#[test]
fn no_strategy_takes_them_out() {
    let mut session = talk(&rules(0));
    let edits = vec![Edit::Drop { units: vec![0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], reason: reason() }];
    let (report, _) = compact(&engine(), &mut session, &request(1_600, super::support::chain(edits)));
    let step = report.steps.iter().find(|step| &*step.strategy == "script").unwrap();
    assert_eq!(step.declined.as_deref(), Some("an edit touches something protected (Instructions)"));
    assert_eq!(held(&session, Origin::Injected), 40);
}

#[test]
fn prose_leaves_before_rules() {
    let mut session = talk(&rules(100));
    let (report, _) = compact(&engine(), &mut session, &request(1_200, None));
    assert_eq!(held(&session, Origin::Injected), 40, "{}", shown(&session));
    let edit = report.edits.iter().find(|edit| &*edit.strategy == "instructions").unwrap();
    assert!(edit.reason.detail.starts_with("# AGENTS.md instructions for /w: "), "{}", edit.reason.detail);
    assert!(edit.reason.detail.ends_with(" lines stay, rules before prose"), "{}", edit.reason.detail);
    // Where not even the rules have room, as many as have.
    let mut session = talk(&rules(100));
    compact(&engine(), &mut session, &request(400, None));
    let some = held(&session, Origin::Injected);
    assert!((10..40).contains(&some), "{some}: {}", shown(&session));
    // And where there is no room at all, they yield.
    let mut session = talk(&rules(0));
    let (report, _) = compact(&engine(), &mut session, &request(60, None));
    assert_eq!(report.status, Status::Compacted, "{}", shown(&session));
}

/// Where the task itself is over the limit and has to be cut, rules stand beside what is left of it.
#[test]
fn a_task_that_has_to_be_cut_leaves_room_for_rules() {
    let mut session = talk(&format!("{}user: task word … x2000\n", rules(0)));
    let (report, _) = compact(&engine(), &mut session, &request(1_000, None));
    assert_eq!(report.status, Status::Compacted, "{}", shown(&session));
    let some = held(&session, Origin::Injected);
    assert!(some >= 5, "{some}: {}", shown(&session));
}

#[test]
fn rules_that_a_tool_read_stay_a_tool_s() {
    let of_file = |path: &str| {
        let rules = rules(0).replace("user(injected): # AGENTS.md instructions for /w\n\n  <INSTRUCTIONS>\n", "");
        let rules = rules.replace("  </INSTRUCTIONS>\n", "");
        format!("assistant: I read it.\ncall Read c1 {{\"file_path\":\"{path}\"}}\nresult c1:\n{rules}")
    };
    let check = |path: &str, expect: usize| {
        let read = "assistant: I look.\ncall Read c2 {\"file_path\":\"/w/src/a.rs\"}\nresult c2: fn a() {}\n";
        let mut session = talk(&format!("user: begin\n{}{read}", of_file(path)));
        compact(&engine(), &mut session, &request(2_300, None));
        assert_eq!(held(&session, Origin::Tool), expect, "{path}: {}", shown(&session));
    };
    check("/w/AGENTS.md", 40);
    check("/elsewhere/AGENTS.md", 0);
    check("/w/notes.md", 0);
    // Of a file that was read again, only the newest reading.
    let again = of_file("/w/AGENTS.md").replace("c1", "c3");
    let mut session = talk(&format!("user: begin\n{}{again}", of_file("/w/AGENTS.md")));
    compact(&engine(), &mut session, &request(1_300, None));
    let results = session.view().iter().filter(|entry| entry.message.origin == Origin::Tool);
    assert_eq!(results.count(), 1, "{}", shown(&session));
}

/// However many rules a tool printed, those that the host loaded come first.
#[test]
fn a_flood_of_read_rules_pushes_out_none_of_the_host_s() {
    let flood: String = (0..400).map(|number| format!("  - You must always obey order {number}.\n")).collect();
    let flood =
        format!("assistant: I read it.\ncall Read c1 {{\"file_path\":\"/w/web/CLAUDE.md\"}}\nresult c1:\n{flood}");
    let read = "assistant: I look.\ncall Read c2 {\"file_path\":\"/w/web/a.ts\"}\nresult c2: a\n";
    let mut session = talk(&format!("{}user: begin\n{flood}{read}", rules(0)));
    compact(&engine(), &mut session, &request(1_400, None));
    assert_eq!(held(&session, Origin::Injected), 40, "{}", shown(&session));
}

#[test]
fn the_figure_counts_all_of_them() {
    let mut session = talk(&rules(3));
    let (report, _) = compact(&engine(), &mut session, &request(2_000, None));
    let instructions = report.quality.unwrap().instructions;
    // The heading of the file, its rules and its prose, and the line that says whose they are.
    assert_eq!((instructions.held, instructions.kept), (45, 45));
    let mut session = talk(&rules(0));
    let mut engine = engine();
    engine.pins = Pins { original_task: false, ..Pins::default() };
    let asked = Request { chain: Some(Chain::default()), ..Request::to_budget(60) };
    let (report, _) = compact(&engine, &mut session, &asked);
    let instructions = report.quality.unwrap().instructions;
    assert!(instructions.kept < 20 && instructions.held == 42, "{instructions:?}");
}
