//! Commands as methods.
#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Duration;

use epitome::session::{Message, Origin, Role, Session};
use epitome_eval::{Case, CaseId, Method, MethodOutcome};

#[test]
fn commands_may_fail() {
    let mut session = Session::new();
    session.push(Message::text("", Role::System, Origin::Instructions, "Be brief."));
    session.push(Message::text("", Role::User, Origin::Typed, "fix the parser"));
    let id = CaseId { file: String::new(), session: String::new(), cut_permille: 0, part: None };
    let case = Case::from_prefix(id, "", session, &[]).unwrap();
    let run = |command: &str, seconds: u64| -> MethodOutcome {
        Method::command(command, command, Duration::from_secs(seconds)).compact(&case, 600)
    };
    let check = |command: &str, seconds: u64, expect: &str| {
        let problem = run(command, seconds).problem.unwrap_or_default();
        assert!(problem.contains(expect), "{command}: {problem}");
    };
    let whole = run("cd . && X=1 cat | cat", 60);
    assert!(case.score(&whole.entries.unwrap(), 600).is_usable(), "the messages come back as they went");
    check("false", 60, "failed");
    check("cat, dog", 60, "failed");
    check("echo {}", 60, "no list");
    check("echo nonsense", 60, "not JSON");
    // What its shell started ends with it.
    check("(sleep 5; echo late) & sleep 30", 1, "more than 1 s");
}
