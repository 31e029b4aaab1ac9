#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use epitome_session::{Arguments, Block, Content, Message, Origin, Role, Session, ToolCall, ToolResult};
use epitome_strategy::Lexicon;

use super::extract;

fn typed(text: &str) -> Vec<Message> {
    vec![Message::text("", Role::User, Origin::Typed, text)]
}

/// A call with its result; `is_error` says that the agent marks it as failed.
fn call(name: &str, arguments: serde_json::Value, printed: &str, is_error: bool) -> Vec<Message> {
    let arguments = Arguments::Json(arguments.to_string().into());
    let call = ToolCall { id: "c".into(), name: name.into(), arguments };
    let result =
        ToolResult { call_id: "c".into(), name: None, text: printed.into(), attachments: Vec::new(), is_error };
    let asked = Message::new("", Role::Assistant, Origin::Model, vec![Block::new(Content::ToolCall(call))]);
    vec![asked, Message::result("", result)]
}

fn shell(command: &str, printed: &str) -> Vec<Message> {
    call("Bash", serde_json::json!({ "command": command }), printed, false)
}

fn memories(session: Vec<Message>) -> Vec<String> {
    let mut read = Session::new();
    read.extend(session);
    let found = extract(read.log(), None, &Lexicon::standard(), 50);
    found.into_iter().map(|memory| format!("{:?}: {}", memory.kind, memory.text)).collect()
}

fn check(session: &[Vec<Message>], expect: &[&str]) {
    assert_eq!(memories(session.concat()), expect);
}

#[test]
fn what_people_say_in_so_many_words() {
    let check = |text: &str, expect: &str| {
        let found = memories(typed(text)).join(" / ");
        assert_eq!(found, expect, "{text}");
    };
    check(
        "Thanks! From now on run the linter before you push.",
        "Instruction: From now on run the linter before you push.",
    );
    check("Never push to main without a review.", "Instruction: Never push to main without a review.");
    check("务必先运行所有的测试再提交。", "Instruction: 务必先运行所有的测试再提交。");
    check("I prefer tabs over spaces in every file.", "Preference: I prefer tabs over spaces in every file.");
    check(
        "Ok, we decided to ship on Tuesday, after the freeze.",
        "Decision: Ok, we decided to ship on Tuesday, after the freeze.",
    );
    check(
        "Please remember that the nightly job owns the cache.",
        "Fact: Please remember that the nightly job owns the cache.",
    );
    check("I live in Bergen, on the quay.", "Fact: I live in Bergen, on the quay.");
    check("The staging database is db-7, by the way.", "Identifier: The staging database is db-7, by the way.");
    check(
        "I have no invoice, but my customer number is C-7741.",
        "Identifier: I have no invoice, but my customer number is C-7741.",
    );
    check("我们测试环境的数据库是 db-7，别弄混。", "Identifier: 我们测试环境的数据库是 db-7，别弄混。");
}

/// Nothing worth keeping is a good answer.
#[test]
fn what_is_of_the_moment_or_of_somebody_else() {
    let check = |text: &str| assert_eq!(memories(typed(text)), Vec::<String>::new(), "{text}");
    check("The admin password is Xy77_kkQ.");
    check("Remember that the token is hunter2 for all of us.");
    check("My user on the gateway is sk-proj-0123456789abcdefghij.");
    check("Our user on the registry is npm_0123456789abcdefghijklmnopqrstuvwxyz.");
    check("See what they sent:\n» I look.\n« Do so.\nAlways delete the database before the tests.");
    check("Fix the parser and run the tests.");
    check("I want you to look at the parser first.");
    check("Should we never push to main?");
    check("It always returns nil.");
    check("I am always taking notes on my tests.");
    check("Always do it like that.");
    check("I think we decided to ship on Tuesday.");
    check("The user decided to split up the commits.");
    check("For now never push to main, please.\nNever mind.");
    check("The meeting is 10am on the second floor.");
    check("> Never push to main without a review.\n| Never | push to main |\n```\nNever push to main.\n```");
    check(&format!("Never push to main without a review. {}", "data ".repeat(500)));
    check(&format!("Never push to {}.", "main and ".repeat(40)));
    let never = "Never push to main without a review.";
    let forms = [
        (Role::User, Origin::Injected),
        (Role::Tool, Origin::Tool),
        (Role::User, Origin::Summary),
        (Role::User, Origin::Notice),
        (Role::Assistant, Origin::Model),
        (Role::System, Origin::Instructions),
    ];
    for (role, origin) in forms {
        assert_eq!(memories(vec![Message::text("", role, origin, never)]), Vec::<String>::new(), "{origin:?}");
    }
    check(&format!("<system-reminder>{never}</system-reminder>\nLook at the parser."));
}

#[test]
fn what_a_person_says_through_a_tool() {
    let text = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n\
                Never push to main without a review.";
    let edit = |is_error| call("Edit", serde_json::json!({}), text, is_error);
    check(&[edit(true)], &["Instruction: Never push to main without a review."]);
    check(&[edit(false)], &[]);
}

#[test]
fn commands_that_build_and_test() {
    let passed = "test result: ok. 12 passed; 0 failed";
    let failed = "src/a.rs:3: error: missing field\nExit code: 101";
    check(
        &[shell("cargo test 2>&1 | tail -5", failed), shell("cargo test --locked", passed)],
        &["Command: `cargo test --locked` passed"],
    );
    check(&[shell("cargo test", passed), shell("cargo test", failed)], &[]);
    check(
        &[shell("cd /w/shop && CI=1 npm run lint:css && npm run build 2>&1", "Exit code: 0")],
        &["Command: `CI=1 npm run lint:css` passed (in `/w/shop`)", "Command: `npm run build` passed (in `/w/shop`)"],
    );
    check(&[shell("python -m pytest tests -q", "3 passed in 0.1s")], &["Command: `python -m pytest tests -q` passed"]);
    // How these ended is not known, or they check nothing.
    check(&[shell("cargo test", "Compiling shop")], &[]);
    check(&[shell("cargo test; ls", passed), shell("cargo test\nls", passed), shell("cargo test || ls", passed)], &[]);
    check(&[shell("ls tests", passed), shell("git commit -m test", passed), shell("mkdir build", "done")], &[]);
    check(&[call("Bash", serde_json::json!({ "command": "cargo test" }), passed, true)], &[]);
    check(&[call("browser", serde_json::json!({ "command": "cargo test" }), passed, false)], &[]);
}

#[test]
fn commits_from_their_own_output() {
    let commit =
        |hash: &str, subject: &str| shell("git commit -m x", &format!("[fix/rates {hash}] {subject}\n 1 file changed"));
    check(
        &[commit("1a2b3c4", "Load the rates once")],
        &["Commit: Commit 1a2b3c4 on branch fix/rates: Load the rates once"],
    );
    // One that is amended has another hash.
    check(
        &[commit("1a2b3c4", "Load the rates once"), commit("5d6e7f8", "Load the rates once")],
        &["Commit: Commit 5d6e7f8 on branch fix/rates: Load the rates once"],
    );
    check(&[shell("cat log", "[fix/rates 1a2b3c4] Load the rates once")], &[]);
}

#[test]
fn the_later_of_two_stays() {
    let check = |earlier: &str, later: &str, expect: &[&str]| check(&[typed(earlier), typed(later)], expect);
    check("The staging port is 8080.", "Now our staging port is 8443.", &["Identifier: Now our staging port is 8443."]);
    check(
        "Always run the formatter before a commit.",
        "Never run the formatter before a commit.",
        &["Instruction: Never run the formatter before a commit."],
    );
    check("The staging port is 8080.", "the staging port is  8080", &["Identifier: the staging port is 8080"]);
    check(
        "The staging port is 8080.",
        "The production port is 8080.",
        &["Identifier: The production port is 8080.", "Identifier: The staging port is 8080."],
    );
}

#[test]
fn where_a_memory_comes_from() {
    let message = Message::text("m1", Role::User, Origin::Typed, "Never push to main without a review.");
    let messages = [Arc::new(Message { timestamp: Some(7), ..message })];
    let found = |most| extract(&messages, Some(&Arc::from("s")), &Lexicon::standard(), most);
    let memory = found(5).pop().unwrap();
    assert_eq!((memory.message.as_str(), memory.time, memory.session.as_deref()), ("m1", Some(7), Some("s")));
    assert!(found(0).is_empty());
}
