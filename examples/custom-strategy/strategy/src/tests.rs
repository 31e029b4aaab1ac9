use epitome_testkit::PlanCase;

use super::*;

/// A build that fails in the middle of its output, a run that says nothing of errors, and a question.
const BUILD: &str = "\
user: why does the build fail?
call Bash c1 {\"command\":\"make\"}
result c1:
  compiling unit {n} … x100 lines
  unit61.c:7: error: `port` undeclared
  compiling other {n} … x100 lines
call Bash c2 {\"command\":\"ls\"}
result c2: file{n}.c … x200 lines
assistant: Unit 61 does not compile.
user: and now?
";

fn case(settings: &str) -> PlanCase {
    PlanCase::new::<ErrorLines>(BUILD, settings)
}

#[test]
fn lines_with_errors_stay() {
    case("keep_outputs=1 context_lines=0")
        .expect("excerpt m2.0 keep \"unit61.c:7: error: `port` undeclared⏎\" (old-output)");
    let planned = case("keep_outputs=0").run();
    assert_eq!(planned.plan.edits.len(), 2, "{}", planned.text);
    assert!(planned.after < planned.before / 10, "{} of {}", planned.after, planned.before);
}

#[test]
fn it_stops_when_the_goal_is_met() {
    let planned = case("keep_outputs=0").target(700).run();
    assert_eq!(planned.plan.edits.len(), 1, "{}", planned.text);
}

#[test]
fn new_and_short_outputs_stay() {
    case("").expect("declined: no old tool output gets shorter by it");
    case("keep_outputs=0 min_tokens=10000").expect("declined: no old tool output gets shorter by it");
}
