use super::*;
use epitome_strategy::Protection;
use epitome_testkit::PlanCase;

fn case(fixture: &str, settings: &str) -> PlanCase {
    PlanCase::new::<KeyEvents>(fixture, &format!("min_summary_tokens=20 {settings}"))
}

/// The events that a session of these lines holds, the greatest first.
fn events(middle: &str) -> Vec<String> {
    let fixture = format!("user: t\n{middle}\nuser(injected): filler … x40\nuser: last\n");
    let settings = "run_above=0 keep_newest=0 tail_share=0";
    let planned = case(&fixture, settings).run();
    let evidence = planned.plan.edits.iter().flat_map(|edit| edit.reason().evidence.iter());
    evidence.map(|line| line.split_once(": ").unwrap_or_default().1.to_owned()).collect()
}

#[test]
fn events_are_found() {
    let check = |middle: &str, expect: &[&str]| assert_eq!(events(middle), expect, "{middle}");
    let long = "and so on and so forth … x10";
    check("user: the grey one", &["the user's words"]);
    check("user: 请记得用灰色", &["the user wants it remembered"]);
    check("user: That is important.", &["the user wants it remembered"]);
    check("user(injected): remember the time", &[]);
    check("assistant: It rains.", &[]);
    check("assistant: We decided.", &[]);
    check(&format!("assistant: We decided to use grey {long}"), &["a decision"]);
    check(&format!("assistant: 我们决定用灰色 {long}"), &["a decision"]);
    check("assistant: The failure is there.", &["an error or a fix"]);
    check("assistant: 报错了", &["an error or a fix"]);
    check("assistant: It is done.", &["a task is finished"]);
    check("assistant: 任务已完成", &["a task is finished"]);
    check("assistant: Let me start.", &["a task starts"]);
    check("assistant: Done.\ncall Read c1 {}\nresult c1: x", &[]);
    check("assistant: !!!COMPLETE!!!\ncall Read c1 {}\nresult c1: x", &["a task is finished"]);
    check("user(summary): We decided; a failure; done", &[]);
}

#[test]
fn tool_results_are_events() {
    let check = |call: &str, result: &str, expect: &[&str]| {
        assert_eq!(events(&format!("call {call}\nresult {result}")), expect, "{call}");
    };
    check(r#"Read c1 {"file_path":"a.rs"}"#, "c1: an error", &[]);
    check(r#"Edit c1 {"file_path":"a.rs"}"#, "c1: ok", &["changed a.rs"]);
    check(r#"Edit c1 {"file_path":"a.rs"}"#, "c1 error: no", &["Edit failed"]);
    check(r#"Write c1 {"file_path":"a.rs"}"#, "c1: ok", &["wrote a.rs"]);
    check(r#"Bash c1 {"command":"./deploy.sh"}"#, "c1: exit code 2", &["Bash failed"]);
    check(r#"Bash c1 {"command":"ls"}"#, "c1: a.rs", &[]);
    check(r#"Bash c1 {"command":"cargo test -p a"}"#, "c1: x", &["Bash ran `cargo test`"]);
    check(r#"Bash c1 {"command":"cat cargo tests"}"#, "c1: x", &[]);
    check(r#"Bash c1 {"command":"git commit -m x"}"#, "c1: x", &["Bash ran `git commit`"]);
    // Neither in the first nor in the last lines.
    check(r#"Bash c1 {"command":"cat log"}"#, "c1:\n  line … x100 lines\n  error\n  line … x100 lines", &[]);
    assert_eq!(events("assistant: I run it.\ntextcall bash: ./deploy.sh\nuser(output): exit code: 2"), ["bash failed"]);
}

/// A task, then steps of about 43 tokens: a change, a look, a failure, a look, a decision, and twelve looks.
fn session() -> String {
    let mut text = String::from("user: the task\n");
    let mut step = |number: usize, said: &str, call: &str, mark: &str| {
        let said = if said.is_empty() { String::new() } else { format!("assistant: {said}\n") };
        text.push_str(&format!("{said}call {call}\nresult c{number}{mark}: line … x30\n"));
    };
    step(1, "", r#"Edit c1 {"file_path":"a.rs"}"#, "");
    step(2, "", "Read c2 {}", "");
    step(3, "", "Read c3 {}", " error");
    step(4, "", "Read c4 {}", "");
    step(5, "We decided to use grey, not black … x5", "Read c5 {}", "");
    for number in 6..=17 {
        step(number, "", &format!("Read c{number} {{}}"), "");
    }
    text.push_str("user: go on\n");
    text
}

#[test]
fn the_letter() {
    let settings = "strict=true";
    case(&session(), settings).target(10).expect(
        "drop u2 (no-key-event)
         drop u4 (no-key-event)
         drop u6..u12 (no-key-event)",
    );
    case(&session(), "strict=true keep_newest=0").target(10).expect(
        "summarize u6..u17 in 20 tokens (no-key-event)
         drop u2 (no-key-event)
         drop u4 (no-key-event)",
    );
    case(&session(), "run_above=36").target(10).expect("declined: 36 messages: runs above 36");
    let fixture = "user: a\nassistant: It is done.\n".repeat(8);
    let reason = "declined: every unit that may leave holds a key event, or is one of the newest";
    case(&fixture, "strict=true").target(10).expect(reason);
}

#[test]
fn as_many_leave_as_the_goal_needs() {
    let planned = case(&session(), "").target(650);
    let planned = planned.expect(
        "drop u2 (no-key-event)
         drop u4 (no-key-event)
         drop u6..u11 (no-key-event)",
    );
    assert!(planned.after <= 650 && planned.after > 500, "{}", planned.after);
}

#[test]
fn the_least_kind_goes_first() {
    let check = |target: u32, expect: &str| {
        case(&session(), "tail_share=0").target(target).expect(expect);
    };
    check(
        600,
        "drop u2 (no-key-event)
         drop u4 (no-key-event)
         drop u6..u12 (no-key-event)",
    );
    check(
        550,
        "drop u2..u4 (least-key-event)
         drop u6..u12 (no-key-event)",
    );
    check(
        500,
        "drop u1..u4 (least-key-event)
         drop u6..u12 (no-key-event)",
    );
    // The decision is so large that the change can stay after all.
    check(420, "summarize u2..u12 in 63 tokens (least-key-event)");
    check(60, "summarize u1..u17 in 20 tokens (least-key-event)");
}

#[test]
fn a_summary_for_each_run() {
    let mut fixture = String::from("user: the task\n");
    for number in 1..=40 {
        let tool = if number % 4 == 0 { r#"Edit c {"file_path":"a.rs"}"# } else { "Read c {}" };
        fixture.push_str(&format!("call {tool}\nresult c: line {{n}} … x30\n"));
    }
    case(&fixture, "min_run_tokens=40").target(1200).expect(
        "summarize u1..u11 in 49 tokens (least-key-event)
         summarize u13..u15 in 20 tokens (no-key-event)
         summarize u17..u19 in 20 tokens (no-key-event)
         summarize u21..u23 in 20 tokens (no-key-event)
         drop u25..u27 (no-key-event)
         drop u29..u31 (no-key-event)
         drop u33 (no-key-event)",
    );
    case(&fixture, "min_run_tokens=500").target(1200).expect(
        "summarize u1..u11 in 180 tokens (least-key-event)
         drop u13..u15 (no-key-event)
         drop u17..u19 (no-key-event)
         drop u21..u23 (no-key-event)
         drop u25..u27 (no-key-event)
         drop u29..u31 (no-key-event)
         drop u33 (no-key-event)",
    );
}

#[test]
fn what_is_protected_stays() {
    case(&session(), "").target(650).protect(2, Protection::ProtectedTool).expect(
        "drop u4 (no-key-event)
         drop u6..u12 (no-key-event)",
    );
}

#[test]
fn earlier_summaries_are_folded_in() {
    let fixture = session().replacen("call Edit", "user(summary): goals … x50\ncall Edit", 1);
    case(&fixture, "").target(650).expect(
        "drop u3 (no-key-event)
         drop u5 (no-key-event)
         drop u7..u12 (no-key-event)",
    );
    let mut lone = case(&fixture, "");
    for unit in 2..20 {
        lone = lone.protect(unit, Protection::Pinned);
    }
    lone.target(100).expect("declined: what may leave is no longer than its summary would be");
}
