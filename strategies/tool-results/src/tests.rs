use super::*;
use epitome_testkit::PlanCase;

/// Six rounds: five old reads of 100 tokens and more, the newest with a test run.
const ROUNDS: &str = r#"
system: You are a coding agent.
user: fix the parser
call Read c1 {"file_path":"a.rs"}
result c1: aaaa … x100
call Read c2 {"file_path":"b.rs"}
result c2: bbbb … x100
call Skill c3 {"name":"review"}
result c3: kkkk … x100
call Write c4 {"file_path":"c.rs","content":"wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"}
result c4: ok
call Read c5 {"file_path":"d.rs"}
result c5: dddd … x100
user: and now?
call Bash c6 {"command":"cargo test"}
result c6: eeee … x100
"#;

/// The rounds with the unit of the protected tool, which the engine pins.
fn rounds(settings: &str) -> PlanCase {
    PlanCase::new::<ToolResults>(ROUNDS, settings).protect(4, Protection::Pinned)
}

fn check(settings: &str, target: Tokens, expect: &str) {
    rounds(settings).target(target).expect(expect);
}

#[test]
fn old_rounds_are_cleared_from_the_oldest_on() {
    let settings = "keep_tool_rounds=2 tail_share=0.0 max_argument_chars=0";
    check(settings, 760, "excerpt m3.0 keep nothing (old-tool-result)");
    check(
        settings,
        550,
        "excerpt m3.0 keep nothing (old-tool-result)
         excerpt m5.0 keep nothing (old-tool-result)",
    );
}

#[test]
fn short_results_stay() {
    let settings = "keep_tool_rounds=1 tail_share=0.0 min_kept_tokens=5000";
    check(
        settings,
        1,
        "excerpt m3.0 keep nothing (old-tool-result)
         excerpt m5.0 keep nothing (old-tool-result)
         trim m8.0 to 200 characters (long-arguments)
         excerpt m11.0 keep nothing (old-tool-result)",
    );
    check("min_chars=501", 1, "declined: no tool result, argument or text is long enough to cut");
}

#[test]
fn results_in_the_tail_are_cut_not_cleared() {
    let settings = "keep_tool_rounds=1 tail_share=0.9 max_argument_chars=0 min_kept_tokens=20";
    let case = rounds(settings).target(530);
    // The tail of 0.9 · 530 tokens starts behind the skill: what stands in it is cut, the round before the newest first.
    let planned = case.expect(
        r#"excerpt m3.0 keep nothing (old-tool-result)
           excerpt m5.0 keep nothing (old-tool-result)
           excerpt m11.0 keep "dddd dddd dddd dddd" (large-tool-result)"#,
    );
    assert!(planned.after <= 530, "{} {}", planned.before, planned.after);
}

const TEST_RUN: &str = r#"
user: why does the tokenizer reject nested brackets?
call Bash c1 {"command":"cargo test"}
result c1:
  running 300 tests
  test number_{n} ... ok … x150 lines
  test tokenizer::nested ... FAILED
    at src/tokenizer.rs:41
  test number_{n} ... ok … x150 lines
  note: see the tokenizer's documentation
  test number_{n} ... ok … x20 lines
  test result: FAILED. 299 passed; 1 failed
"#;

#[test]
fn a_cut_keeps_errors_the_focus_and_both_ends() {
    let case = |target| PlanCase::new::<ToolResults>(TEST_RUN, "min_kept_tokens=40").target(target);
    let planned = case(150).focus("what does the documentation say?").expect(
        r#"excerpt m2.0 keep "running 300 tests⏎test number_…2 ... ok⏎test number_3 ... ok⏎" + "test tokenizer::nested ... FAILED⏎  at src/tokenizer.rs:41⏎" + "note: see the tokenizer's documentation⏎" + "test number_18 ... ok⏎test num…: FAILED. 299 passed; 1 failed" (large-tool-result)"#,
    );
    assert!((110..=150).contains(&planned.after), "{}", planned.after);
    // Without a question nothing but the error and the ends stays, and more of the ends.
    case(150).expect(
        r#"excerpt m2.0 keep "running 300 tests⏎test number_…4 ... ok⏎test number_5 ... ok⏎" + "test tokenizer::nested ... FAILED⏎  at src/tokenizer.rs:41⏎" + "test number_16 ... ok⏎test num…: FAILED. 299 passed; 1 failed" (large-tool-result)"#,
    );
}

#[test]
fn cuts_meet_the_goal_exactly_at_every_size() {
    for target in (100..2000).step_by(37) {
        let planned = PlanCase::new::<ToolResults>(TEST_RUN, "min_kept_tokens=1").target(target).run();
        assert!(planned.after <= target, "{} is over {target}", planned.after);
        // A line more or less, and what the counter rounds up line by line.
        assert!(
            planned.after + 60 + target / 10 > target.min(planned.before),
            "{} throws away too much of {target}",
            planned.after
        );
    }
}

#[test]
fn one_giant_line_is_cut_too() {
    let fixture = "user: go\ncall fetch c1 {}\nresult c1: {\"key\":\"value\"}, … x3000";
    let planned = PlanCase::new::<ToolResults>(fixture, "").target(500).expect(
        r#"excerpt m2.0 keep "{"key":"value"}, {"key":"value…y":"value"}, {"key":"value"}, " + "{"key":"value"}, {"key":"value…ey":"value"}, {"key":"value"}," (large-tool-result)"#,
    );
    assert!((300..=500).contains(&planned.after), "{}", planned.after);
}

#[test]
fn a_giant_result_is_cut_on_arrival() {
    let fixture = "user: go\ncall a c1 {}\nresult c1: aaa … x1000\ncall b c2 {}\nresult c2: bbb … x4000\ncall c c3 {}\nresult c3: x";
    let case = PlanCase::new::<ToolResults>(fixture, "keep_tool_rounds=1 tail_share=0.0").target(2000);
    case.run();
    let planned = case.unsent_from(2).run();
    let first = planned.text.lines().next().unwrap_or_default();
    assert!(first.starts_with("excerpt m4.0") && first.ends_with("(large-new-result)"), "{}", planned.text);
    assert!(!planned.text.contains("m2.0"), "{}", planned.text);
}

#[test]
fn long_texts_of_old_rounds_are_cut_only_when_asked_for() {
    let fixture = "
        user: go
        assistant: One sentence is here. … x20
        call Read c1 {}
        result c1: x
        user: on";
    let fixture = fixture.replace("        ", "");
    let settings = "keep_tool_rounds=0 tail_share=0.0 max_text_chars";
    let case =
        |chars| PlanCase::new::<ToolResults>(&fixture, &format!("{settings}={chars}")).protect(1, Protection::Free);
    case(0).expect("declined: no tool result, argument or text is long enough to cut");
    case(100)
        .expect(r#"excerpt m1.0 keep "One sentence is here. One sent…is here. One sentence is here." (long-text)"#);
}

#[test]
fn newer_results_can_be_left_alone() {
    let settings = "keep_tool_rounds=1 tail_share=0.0 max_argument_chars=0 cut_newer=false";
    // Old results alone: the goal is not met, and what is newer stays whole.
    check(
        settings,
        1,
        "excerpt m3.0 keep nothing (old-tool-result)
         excerpt m5.0 keep nothing (old-tool-result)
         excerpt m11.0 keep nothing (old-tool-result)",
    );
    PlanCase::new::<ToolResults>(TEST_RUN, "cut_newer=false")
        .target(150)
        .expect("declined: no tool result, argument or text is long enough to cut");
}
