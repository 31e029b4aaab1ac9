//! What a session decides about a summary.
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
assistant: Nested brackets work now.
user: Good. Always write times in UTC.
"#;

fn with_record<R>(session: &Session, read: impl FnOnce(&SessionRecord, &SummaryTask<'_>) -> R) -> R {
    let request = SummaryRequest::new(500, None);
    let task = SummaryTask {
        messages: session.log(),
        session: Some(session),
        request: &request,
        language: Language::English,
        counter: &FakeCounter,
    };
    read(&SessionRecord::read(&task), &task)
}

/// A text as it is after the check, and the findings.
fn verified(fixture: &str, text: &str) -> (String, Findings) {
    with_record(&session(fixture), |record, task| record.verify(text, task))
}

#[test]
fn strings_of_all_places_are_known() {
    let check = |text: &str, expect: &[&str]| assert_eq!(verified(SESSION, text).1.unknown, expect, "{text}");
    check("- src/lexer.rs was edited, `next_token` is new, port 48213, 75366 bytes, 0.85 s", &[]);
    check("- /repo/src/lexer.rs:41 and `cargo test   --test deep_nesting`", &[]);
    check("- src/parser.rs was edited; `cargo bench` ran on port 4821", &["4821", "cargo bench", "src/parser.rs"]);
    // What is planned is not there yet.
    check("## Next step\n- Run `cargo bench` and write src/bench.rs.\n\n## Done\n- src/other.rs", &["src/other.rs"]);
    check("## 待办\n- 写 src/bench.rs", &[]);
    let earlier =
        "user(summary):\n  ## State\n  - src/ghost.rs [unverified] holds it\n  - src/real.rs holds it\nuser: go on\n";
    assert_eq!(verified(earlier, "- src/ghost.rs and src/real.rs").1.unknown, ["src/ghost.rs"], "marked, so not known");
}

#[test]
fn states_that_the_log_corrects() {
    let more = r#"call Bash c6 {"command":"cd /repo && cargo test --test deep_nesting"}
result c6: test result: FAILED. 2 passed; 1 failed
call Bash c7 {"command":"rm /repo/old.md"}
result c7: ok
call Write c8 {"file_path":"/repo/old.md","content":"new"}
result c8: ok
call Bash c9 {"command":"make lint"}
result c9: Exit code: 0
"#;
    let check = |section: &str, line: &str, expect: &str| {
        let (text, findings) = verified(&format!("{SESSION}{more}"), &format!("## {section}\n{line}"));
        assert_eq!(text, format!("## {section}\n{expect}"), "{line}");
        assert_eq!(findings.corrected, if line == expect { vec![] } else { vec![line] });
    };
    let keep = |section: &str, line: &str| check(section, line, line);
    check("State", "- `notes.md`: changed", "- `notes.md`: deleted");
    check("Where it stands", "* /repo/notes.md：已修改", "* /repo/notes.md：deleted");
    check("State", "- `cargo test --test deep_nesting`: passed", "- `cargo test --test deep_nesting`: failed");
    check("State", "- make lint: failed (2 errors)", "- make lint: passed (2 errors)");
    // A file may leave in ways that no call tells of.
    check("State", "- `src/lexer.rs`: deleted", "- `src/lexer.rs`: deleted [unverified]");
    check("State", "- /repo/old.md: deleted (notes)", "- /repo/old.md: deleted [unverified] (notes)");
    keep("State", "- `src/lexer.rs`: changed");
    keep("State", "- `notes.md`: deleted");
    keep("State", "- `cargo test --test deep_nesting`: failed");
    keep("State", "- `cargo test`: passed");
    keep("State", "- `lexer.rs`: deletedness");
    // Prose is the model's own, and a plan is no state.
    keep("State", "- lexer.rs was deleted; all lint checks failed");
    keep("Open", "- `src/lexer.rs`: deleted");
}

#[test]
fn what_was_said_and_is_not_told() {
    let missing_sentences = |fixture: &str, text: &str| {
        with_record(&session(fixture), |record, _| {
            record
                .missing_sentences(text)
                .into_iter()
                .map(|said| (said.text.clone(), said.later.clone()))
                .collect::<Vec<_>>()
        })
    };
    let [api, port, times] = ["Never touch the public API.", "You must keep port 48213.", "Always write times in UTC."];
    let alone = |said: &[&str]| said.iter().map(|said| ((*said).to_owned(), None)).collect::<Vec<_>>();
    assert_eq!(missing_sentences(SESSION, "## Goal\n- nested brackets"), alone(&[api, port, times]));
    let told = "- “Never touch the public API.”\n- The port 48213 must be kept.\n- times are always written in UTC";
    assert_eq!(missing_sentences(SESSION, told), []);
    assert_eq!(
        missing_sentences(SESSION, "- The public API must never be touched.\n- the port must be kept"),
        alone(&[port, times])
    );
    // Of the newest request the sentences with exact strings that are missing.
    let asks = format!("{SESSION}assistant: ok\nuser: Put it into README.md for LEX-77.\n");
    assert_eq!(missing_sentences(&asks, told), alone(&["Put it into README.md for LEX-77."]));
    assert_eq!(missing_sentences(&asks, &format!("{told}\n- Put it into README.md, for LEX-77")), []);
    // With later words about the same.
    let later = |words: &str| missing_sentences(&format!("{SESSION}assistant: ok\nuser: {words}\n"), "");
    let with = |demand: &str, later: &str| (demand.to_owned(), Some(later.to_owned()));
    let allowed = "You may touch the public API now.";
    assert!(later(allowed).contains(&with(api, allowed)), "{:?}", later(allowed));
    let newer = "Use port 49090 instead of 48213.";
    assert!(later(newer).contains(&with(port, newer)), "{:?}", later(newer));
    // What says the same is no news, and one word in common is another subject.
    assert!(later(times).contains(&alone(&[times])[0]) && later("The API is small.").contains(&alone(&[api])[0]));
}

#[test]
fn strings_to_keep() {
    let asks = format!("{SESSION}assistant: ok\nuser: Put it into docs/README.md, README.md is its name.\n");
    let strings = |most: usize| with_record(&session(&asks), |record, _| record.strings_to_keep(most));
    assert_eq!(strings(9), ["docs/README.md", "48213"]);
    assert_eq!(strings(1), ["docs/README.md"]);
}

#[test]
fn changed_files() {
    let files = |text: &str| {
        with_record(&session(SESSION), |record, task| {
            let files = record.files(text);
            files
                .map(|(file, is_named)| (format!("{}: {}", file.path, state_of(file, task.language)), is_named))
                .collect::<Vec<_>>()
        })
    };
    let expect = |named: [bool; 2]| {
        let lines = ["/repo/notes.md: deleted", "/repo/src/lexer.rs: changed"];
        lines.map(str::to_owned).into_iter().zip(named).collect::<Vec<_>>()
    };
    assert_eq!(files("- src/lexer.rs was edited"), expect([false, true]));
    assert_eq!(files("- nothing"), expect([false, false]));
}
