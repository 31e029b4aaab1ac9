#![allow(clippy::unwrap_used)]
use epitome_strategy::session::Session;
use epitome_strategy::{Language, SummaryRequest};
use epitome_testkit::{FakeCounter, session};

use super::*;
use crate::model::state_lines;

const SESSION: &str = r#"
user: Make the lexer of /repo accept nested brackets. Never touch the public API. You must keep port 48213.
assistant: Let me look at it, 75,366 bytes.
call Read c1 {"file_path":"/repo/src/lexer.rs"}
result c1: fn next() { "no such bracket" } at line 41
call Bash c2 {"command":"cd /repo && cargo test --test deep_nesting"}
result c2: 3 passed in 0.85 s
call Edit c3 {"file_path":"/repo/src/lexer.rs","old_string":"x","new_string":"pub fn next_token() {\n}"}
result c3: done
call Write c4 {"file_path":"/repo/notes.md","content":"notes"}
result c4: done
call Bash c5 {"command":"rm /repo/notes.md"}
result c5: ok
call TodoWrite t1 {"todos":[{"content":"fix the lexer","status":"completed"},{"content":"measure the time","status":"in_progress"}]}
result t1: ok
assistant: Nested brackets work now.
user: Good. Always write times in ms.
"#;

fn with_task<R>(session: &Session, read: impl FnOnce(&SummaryTask<'_>) -> R) -> R {
    let request = SummaryRequest::new(500, None);
    read(&SummaryTask {
        messages: session.log(),
        session: Some(session),
        request: &request,
        language: Language::English,
        counter: &FakeCounter,
    })
}

#[test]
fn strings_that_nobody_said() {
    let session = session(SESSION);
    let evidence = with_task(&session, Evidence::read);
    let check = |text: &str, expect: &[&str]| assert_eq!(evidence.unknown(text).0, expect, "{text}");
    check("- src/lexer.rs was edited, `next_token` is new, port 48213", &[]);
    check("- /repo/src/lexer.rs:41 and `cargo test --test deep_nesting`", &[]);
    check("- 75366 bytes, 0.85 s, \"No such bracket.\"", &[]);
    check("- `cargo test   --test deep_nesting` as it was", &[]);
    check("- two things and three more", &[]);
    check("- src/parser.rs was edited", &["src/parser.rs"]);
    check("- `cargo bench` was run on port 4821", &["cargo bench", "4821"]);
    check("- it said \"no such brace\" in 85 files", &["no such brace", "85"]);
    check("- next_toke is new", &["next_toke"]);
    check("- src/lexer.rs:42", &["src/lexer.rs:42"]);
    // What is proposed is not there yet.
    check("## Next step\n- Run `cargo bench` and write src/bench.rs.\n\n## Done\n- src/other.rs", &["src/other.rs"]);
    check("## 待办\n- 写 src/bench.rs", &[]);
}

#[test]
fn states_that_the_log_corrects() {
    let more = r#"call Bash c6 {"command":"cd /repo && cargo test --test deep_nesting"}
result c6: test result: FAILED. 2 passed; 1 failed
call Bash c7 {"command":"rm /repo/old.md"}
result c7: ok
call Write c8 {"file_path":"/repo/old.md","content":"new"}
result c8: ok
"#;
    let session = session(&format!("{SESSION}{more}"));
    let evidence = with_task(&session, Evidence::read);
    let check = |section: &str, line: &str, expect: &str| {
        let mut body = Body::read(&format!("## {section}\n{line}"), &["State", "Open", "现状"].map(str::to_owned));
        let corrected = state_lines::correct(&mut body, evidence.log_state(), Language::English);
        assert_eq!(body.sections[0].lines, [expect], "{line}");
        assert_eq!(corrected.len(), usize::from(line != expect), "{line}");
    };
    let keep = |section: &str, line: &str| check(section, line, line);
    check("State", "- `src/lexer.rs`: deleted", "- `src/lexer.rs`: changed");
    check("State", "- /repo/src/lexer.rs: deleted (the field too)", "- /repo/src/lexer.rs: changed (the field too)");
    check("State", "- `notes.md`: changed", "- `notes.md`: deleted");
    check("State", "* `old.md`：已删除", "* `old.md`：changed");
    check("State", "- `cargo test --test deep_nesting`: passed", "- `cargo test --test deep_nesting`: failed");
    check("State", "- [x] measure the time", "- [ ] measure the time");
    keep("State", "- `src/lexer.rs`: changed");
    keep("State", "- `notes.md`: deleted");
    keep("State", "- `cargo test --test deep_nesting`: failed");
    keep("State", "- `cargo test`: passed");
    keep("State", "- `src/other.rs`: deleted");
    keep("State", "- `lexer.rs`: deletedness");
    keep("State", "- [x] fix the lexer");
    // Prose is the model's own, and a plan is no state.
    keep("State", "- lexer.rs was deleted; all tests pass");
    keep("Open", "- `src/lexer.rs`: deleted");
}

#[test]
fn demands_stand_with_later_words_about_the_same() {
    let untold = |later: &str| {
        let session = session(&format!("{SESSION}assistant: ok\nuser: {later}\n"));
        let evidence = with_task(&session, Evidence::read);
        let untold = evidence.untold_demands("## Goal\n- nested brackets").1;
        untold.into_iter().map(|demand| (demand.text.clone(), demand.later.clone())).collect::<Vec<_>>()
    };
    let [api, port, times] = ["Never touch the public API.", "You must keep port 48213.", "Always write times in ms."];
    let alone = |demand: &str| (demand.to_owned(), None);
    let with = |demand: &str, later: &str| (demand.to_owned(), Some(later.to_owned()));
    assert_eq!(untold("Go on."), [alone(api), alone(port), alone(times)]);
    let allowed = "You may touch the public API now.";
    assert!(untold(allowed).contains(&with(api, allowed)), "{:?}", untold(allowed));
    let newer = "Use port 49090 instead of 48213.";
    assert!(untold(newer).contains(&with(port, newer)), "{:?}", untold(newer));
    // What says the same is no news, and one word in common is another subject.
    assert!(untold(times).contains(&alone(times)) && untold("The API is small.").contains(&alone(api)));
}

#[test]
fn demands_and_files() {
    let session = session(SESSION);
    let evidence = with_task(&session, Evidence::read);
    let untold = |text: &str| -> Vec<&str> {
        evidence.untold_demands(text).1.into_iter().map(|demand| demand.text.as_str()).collect()
    };
    let all = ["Never touch the public API.", "You must keep port 48213.", "Always write times in ms."];
    assert_eq!(untold("## Goal\n- nested brackets"), all);
    assert_eq!(
        untold("- “Never touch the public API.”\n- The port 48213 must be kept.\n- times are always written in ms"),
        [""; 0]
    );
    assert_eq!(untold("- The public API must never be touched.\n- port 48213 must be kept"), all[2..]);
    let files = |text: &str| -> Vec<(String, bool)> {
        evidence.files(text).map(|(file, is_named)| (file.state(Language::English), is_named)).collect()
    };
    let states = |named: [bool; 2]| {
        ["deleted or moved away", "edited"].map(str::to_owned).into_iter().zip(named).collect::<Vec<_>>()
    };
    assert_eq!(files("- src/lexer.rs was edited"), states([false, true]));
    assert_eq!(files("- nothing"), states([false, false]));
}

#[test]
fn marks_of_what_is_not_verified() {
    let check = |line: &str, unknown: &[&str], expect: &str| {
        let mut body = Body::read(line, &[]);
        let unknown: Vec<String> = unknown.iter().map(|it| (*it).to_owned()).collect();
        mark(&mut body, &unknown, "[unverified]");
        mark(&mut body, &unknown, "[unverified]");
        assert_eq!(body.write(), expect);
    };
    check("- a.rs and `b c` too", &["a.rs"], "- a.rs [unverified] and `b c` too");
    check("- a.rs and `b c` too", &["b c"], "- a.rs and `b c` [unverified] too");
    check("- nothing", &["b"], "- nothing");
    check("## Done\n- a.rs\n\n## Open\n- a.rs", &["a.rs"], "## Done\n- a.rs [unverified]\n\n## Open\n- a.rs");
}

#[test]
fn a_marked_string_does_not_become_known() {
    let earlier =
        "user(summary):\n  ## State\n  - src/ghost.rs [unverified] holds it\n  - src/real.rs holds it\nuser: go on\n";
    let session = session(earlier);
    let evidence = with_task(&session, Evidence::read);
    assert_eq!(evidence.unknown("- src/ghost.rs and src/real.rs").0, ["src/ghost.rs"]);
}
