#![allow(clippy::unwrap_used)]
use epitome_strategy::session::Session;
use epitome_strategy::{Language, SummaryRequest};
use epitome_testkit::{FakeCounter, session};

use super::*;

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
fn what_contradicts_the_newest_state() {
    let session = session(SESSION);
    let evidence = with_task(&session, Evidence::read);
    let check = |text: &str, expect: &[&str]| {
        let headings = ["State", "Open", "Constraints"].map(str::to_owned);
        let body = Body::read(text, &headings);
        let found = with_task(&session, |task| evidence.contradictions(&body, task));
        assert_eq!(found, expect, "{text}");
    };
    let lexer = "it says that `/repo/src/lexer.rs` was deleted; the newest call wrote or edited it";
    check("## State\n- src/lexer.rs was edited; `notes.md` was deleted.", &[]);
    check("## State\n- lexer.rs was deleted.", &[lexer]);
    check("## State\n- /repo/src/lexer.rs: already deleted, the tests pass", &[lexer]);
    check("## State\n- lexer.rs was not deleted", &[]);
    check("## State\n- src/lexer.rs: the field depth was removed.", &[]);
    check("## State\n- In src/lexer.rs one benchmark was removed.", &[]);
    check("## State\n- three lines were deleted from lexer.rs", &[]);
    check("## Open\n- lexer.rs is to be deleted", &[]);
    let untouched = "it says that `/repo/src/lexer.rs` was not changed; calls changed it";
    check("## State\n- src/lexer.rs is unchanged", &[untouched]);
    check("## Constraints\n- src/lexer.rs must stay unchanged", &[]);
    let open = "it says that “measure the time” is done; the newest task list has it open";
    check("## State\n- [x] measure the time", &[open]);
    check("## State\n- fix the lexer: done, measure the time: not done", &[]);
    check("## State\n- [x] fix the lexer", &[]);
    check("## State\n- the agent is running the function that is needed to measure the time (done)", &[open]);
    check("## State\n- fix the lexer (done), measure the time (open)", &[]);
}

#[test]
fn what_contradicts_the_newest_run_or_list() {
    let more = r#"call Bash c6 {"command":"cd /repo && cargo test --test deep_nesting"}
result c6: test result: FAILED. 2 passed; 1 failed
call Bash c7 {"command":"rm /repo/old.md"}
result c7: ok
call Write c8 {"file_path":"/repo/old.md","content":"new"}
result c8: ok
"#;
    let session = session(&format!("{SESSION}{more}"));
    let evidence = with_task(&session, Evidence::read);
    let check = |text: &str, expect: &[&str]| {
        let headings = ["State", "Done", "Findings", "Open"].map(str::to_owned);
        let body = Body::read(text, &headings);
        let found = with_task(&session, |task| evidence.contradictions(&body, task));
        assert_eq!(found, expect, "{text}");
    };
    let failed = "it says that `cargo test --test deep_nesting` passes; its newest run failed";
    check("## State\n- `cargo test --test deep_nesting` passes.", &[failed]);
    check("## State\n- the lexer was edited; all tests pass", &[failed]);
    check("## Done\n- All tests pass now.", &[failed]);
    check("## State\n- `cargo test --test deep_nesting` fails: 1 failed", &[]);
    check("## Findings\n- all tests pass", &[]);
    check("## Open\n- all tests pass", &[]);
    let open = "it says that “measure the time” is done; the newest task list has it open";
    check("## Done\n- Measure the time.", &[open]);
    check("## Done\n- fix the lexer", &[]);
    let back = "it says that `/repo/old.md` was deleted; the newest call wrote or edited it";
    check("## State\n- old.md was deleted", &[back]);
    check("## State\n- old.md was deleted and written again", &[]);
    check("## Findings\n- old.md was deleted", &[]);
    check("## State\n- notes.md was deleted", &[]);
}

#[test]
fn demands_that_were_taken_back_are_none() {
    let untold = |later: &str| {
        let session = session(&format!("{SESSION}assistant: ok\nuser: {later}\n"));
        with_task(&session, Evidence::read).untold_demands("## Goal\n- nested brackets").1
    };
    let [api, port, times] = ["Never touch the public API.", "You must keep port 48213.", "Always write times in ms."];
    assert_eq!(untold("Go on."), [api, port, times]);
    let allowed = "You may touch the public API now.";
    assert_eq!(untold(allowed), [port, times, allowed]);
    let newer = "Use port 49090 instead of 48213.";
    assert!(!untold(newer).contains(&port.to_owned()), "{:?}", untold(newer));
    assert!(!untold("No longer write times in ms.").contains(&times.to_owned()));
}

#[test]
fn demands_and_files() {
    let session = session(SESSION);
    let evidence = with_task(&session, Evidence::read);
    let untold = |text: &str| evidence.untold_demands(text).1;
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
