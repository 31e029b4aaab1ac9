#![allow(clippy::unwrap_used, clippy::panic)]

use std::time::Instant;

use epitome_strategy::{BlockRef, HostChanges, Language, TaskKind};
use epitome_testkit::plan_check::{count_entry, protections};
use epitome_testkit::{FakeCounter, session};

use super::*;

const FIXTURE: &str = "\
system: You are careful.
user: fix the parser
thinking signed: hm
assistant: I look.
call Read c1 {\"path\":\"a.rs\"}
result c1: one two … x40
user(at=5, name=Ann): and now?
image
assistant: done … x20
user: thanks
";

fn settings(command: &[&str]) -> ProcessSettings {
    ProcessSettings { command: command.iter().map(ToString::to_string).collect(), ..ProcessSettings::default() }
}

/// The strategy's answer for the fixture.
fn ask(settings: ProcessSettings) -> Result<Plan, String> {
    with_view(|view, goal| {
        let strategy = ProcessStrategy::new("external", settings).unwrap();
        strategy.plan(view, goal).map_err(|error| error.to_string())
    })
}

fn with_view<T>(look: impl FnOnce(&View<'_>, &Goal) -> T) -> T {
    let session = session(FIXTURE);
    let entries = session.view();
    let units = epitome_strategy::session::units(entries);
    let tokens: Vec<_> = entries.iter().map(count_entry).collect();
    let protections = protections(entries, &units);
    let view = View::new(entries, &units, &tokens, &protections, &FakeCounter, Language::English);
    let goal = Goal {
        current: view.total_tokens(),
        target: 10,
        limit: 20,
        window: 20,
        max_summary_tokens: None,
        task: TaskKind::Code,
        cycle: 1,
        focus: Some("thanks".to_owned()),
        focus_given: false,
        first_unsent_unit: None,
        language: Language::English,
        host: HostChanges::Any,
    };
    look(&view, &goal)
}

#[test]
fn the_request_shows_the_view() {
    let request = with_view(|view, goal| {
        assert_eq!(view.block_tokens(BlockRef { message: 3, block: 0 }), 81);
        protocol::request(view, goal).unwrap()
    });
    let request: Value = serde_json::from_slice(&request).unwrap();
    let at = |pointer: &str| request.pointer(pointer).unwrap_or_else(|| panic!("{pointer} of {request:#}")).clone();
    assert_eq!(at("/protocol"), 1);
    assert_eq!((at("/goal/target"), at("/goal/task"), at("/goal/focus")), (10.into(), "code".into(), "thanks".into()));
    assert_eq!((at("/view/messages/2/id"), at("/view/messages/2/unit")), ("m2".into(), 2.into()));
    assert_eq!((at("/view/messages/2/role"), at("/view/messages/2/origin")), ("assistant".into(), "model".into()));
    assert_eq!((at("/view/messages/4/name"), at("/view/messages/4/timestamp")), ("Ann".into(), 5.into()));
    let types: Vec<String> =
        (0..3).map(|block| at(&format!("/view/messages/2/blocks/{block}/type")).to_string()).collect();
    assert_eq!(types, [r#""thinking""#, r#""text""#, r#""tool-call""#]);
    assert_eq!(at("/view/messages/2/blocks/0/excerptable"), false, "signed");
    assert_eq!(at("/view/messages/2/blocks/2/arguments"), r#"{"path":"a.rs"}"#);
    assert_eq!(
        (at("/view/messages/3/blocks/0/call_id"), at("/view/messages/3/blocks/0/tokens")),
        ("c1".into(), 81.into())
    );
    assert_eq!((at("/view/units/2/first"), at("/view/units/2/end")), (2.into(), 4.into()));
    assert_eq!((at("/view/units/2/may_leave"), at("/view/units/1/protection")), (true.into(), "original-task".into()));
    assert!(!request.to_string().contains("c2lnbmF0dXJl"), "no signatures");
}

#[test]
fn bad_plans_are_told() {
    let check = |answer: &str, expect: &str| {
        let told = protocol::plan(answer.as_bytes()).map(|plan| format!("{plan:?}")).unwrap_or_else(|problem| problem);
        assert!(told.starts_with(expect), "{answer}: {told}");
    };
    check(" \n", "answered nothing");
    check("{", "answered no plan: EOF");
    check("Hello!", "answered no plan: expected value at line 1 column 1");
    check("{}", "answered a plan without `edits` and without `declined`");
    check(
        r#"{"edits":[{"edit":"burn","units":[1],"reason":{"code":"old"}}]}"#,
        "answered no plan: unknown variant `burn`",
    );
    check(r#"{"edits":[{"edit":"drop","units":[-1],"reason":{"code":"old"}}]}"#, "answered no plan: invalid value");
    check(r#"{"edits":[{"edit":"drop","units":[1]}]}"#, "answered no plan: missing field `reason`");
    check(
        r#"{"edits":[{"edit":"drop","units":[1],"reason":{"code":"Old One"}}]}"#,
        "answered a plan with the reason code `Old One`",
    );
    check(
        r#"{"edits":[{"edit":"drop","units":[1],"reason":{"code":"old"}}],"declined":"no"}"#,
        "answered a plan with `edits` that",
    );
    check(r#"{"declined":"no"} {"declined":"no"}"#, "answered no plan: trailing characters");
    check(r#"{"declined":"nothing to do"}"#, r#"Plan { edits: [], declined: Some("nothing to do") }"#);
    check(r#"{"edits":[{"edit":"drop","units":[1],"reason":{"code":"old"}}]}"#, "Plan { edits: [Drop { units: [1]");
}

#[test]
fn a_command_is_needed() {
    for command in [&[][..], &[" "]] {
        let error = ProcessStrategy::new("external", settings(command)).unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"`command`: takes the program and its arguments, such as ["python3", "strategy.py"]"#
        );
    }
    let values = |command: &str| BTreeMap::from([("command".to_owned(), Value::from(vec![command]))]);
    let registration = ProcessStrategy::registration("mine", &values("x"));
    assert_eq!((registration.meta.id, registration.meta.summary), ("mine", "External: x"));
    assert!(registration.build(&BTreeMap::new()).is_ok());
    assert_eq!(registration.build(&values(" ")).unwrap_err().len(), 1);
    let same = ProcessStrategy::registration("mine", &values("x"));
    assert!(std::ptr::eq(registration.meta.id, same.meta.id), "texts are kept once");
}

#[test]
fn a_program_that_is_not_there() {
    let error = ask(settings(&["/no/such/program", "x"])).unwrap_err();
    assert!(error.starts_with("`/no/such/program x` could not be started: No such file"), "{error}");
}

#[cfg(unix)]
mod programs {
    use std::process::Command;

    use super::*;

    /// The answer of a shell script, within a time and a size.
    fn script(script: &str, timeout_ms: u32, max_output_bytes: u32) -> Result<Plan, String> {
        ask(ProcessSettings { timeout_ms, max_output_bytes, ..settings(&["sh", "-c", script]) })
            .map_err(|error| error.replace(script, "SCRIPT"))
    }

    #[test]
    fn answer_a_plan() {
        let plan = script(r#"cat > /dev/null; echo '{"declined":"not today"}'"#, 20_000, 100).unwrap();
        assert_eq!(plan.declined.as_deref(), Some("not today"));
        // The request need not be read: it is longer than a pipe holds, and no one waits for it to be taken.
        let long = format!("user: {}", "word ".repeat(100_000));
        let session = session(&long);
        assert!(session.view()[0].message.plain_text().len() > 400_000);
        assert!(script(r#"echo '{"declined":"unread"}'"#, 20_000, 100).is_ok());
    }

    #[test]
    fn fail_with_a_reason() {
        let check = |text: &str, expect: &str| {
            let error = script(text, 20_000, 1_000).unwrap_err();
            assert_eq!(error, format!("`sh -c SCRIPT` {expect}"), "{text}");
        };
        check("echo first >&2; echo second >&2; exit 3", "ended with exit status: 3; it said: first / second");
        check("kill -9 $$", "ended with signal: 9 (SIGKILL)");
        check(
            "echo oops >&2; echo '{'",
            "answered no plan: EOF while parsing an object at line 2 column 0; it said: oops",
        );
        check("exit 0", "answered nothing");
        let error = script("while :; do echo 'the same line'; done", 20_000, 1_000).unwrap_err();
        assert_eq!(error, "`sh -c SCRIPT` answered more than 1000 bytes and was ended");
        let error = script("i=0; while [ $i -lt 2000 ]; do echo \"line $i\"; i=$((i+1)); done >&2; exit 1", 20_000, 10);
        let error = error.unwrap_err();
        assert!(error.ends_with("line 1998 / line 1999") && error.len() < 2_800, "only the end is kept: {error}");
    }

    /// Whether a process of that number still runs (a zombie does).
    fn is_there(pid: &str) -> bool {
        Command::new("sh").args(["-c", &format!("kill -0 {pid} 2>/dev/null")]).status().unwrap().success()
    }

    #[test]
    fn hang_and_are_ended_with_what_they_started() {
        let folder = std::env::temp_dir().join(format!("epitome-process-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let pids = folder.join("pids");
        let hang = format!("sleep 600 & echo $! > {0}; echo $$ >> {0}; echo stuck >&2; wait", pids.display());
        let started = Instant::now();
        let error = ask(ProcessSettings { timeout_ms: 400, ..settings(&["sh", "-c", &hang]) }).unwrap_err();
        assert!(error.ends_with("took longer than 400 ms and was ended; it said: stuck"), "{error}");
        assert!(started.elapsed().as_secs() < 300, "it was waited for");
        let pids = std::fs::read_to_string(pids).unwrap();
        assert_eq!(pids.lines().count(), 2);
        for pid in pids.lines() {
            assert!(gone(pid), "{pid} still runs, or is a zombie");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// Whether a process ends soon: one that lost its parent is waited for by the system.
    fn gone(pid: &str) -> bool {
        (0..500).any(|_| {
            let gone = !is_there(pid) || is_zombie_of_another(pid);
            if !gone {
                std::thread::sleep(Duration::from_millis(10));
            }
            gone
        })
    }

    /// In a container nobody may wait for a lost process; what counts is that it has ended and is not a child of ours.
    fn is_zombie_of_another(pid: &str) -> bool {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        let (state, parent) = (fields.next(), fields.next());
        state == Some("Z") && parent != Some(std::process::id().to_string().as_str())
    }

    #[test]
    fn leave_something_behind_that_holds_their_output_open() {
        let started = Instant::now();
        let plan = script(r#"sleep 600 & echo '{"declined":"and gone"}'"#, 500_000, 100).unwrap();
        assert_eq!(plan.declined.as_deref(), Some("and gone"));
        assert!(started.elapsed().as_secs() < 300, "the one left behind was waited for");
    }

    #[test]
    fn close_their_output_and_stay() {
        let error = script(r#"echo '{"declined":"x"}'; exec >&-; sleep 600"#, 300, 100).unwrap_err();
        assert_eq!(error, "`sh -c SCRIPT` took longer than 300 ms and was ended");
    }
}
