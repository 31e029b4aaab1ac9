#![allow(clippy::unwrap_used)]

use super::*;
use epitome_session::{EntryKey, Message, Position};

fn found(text: &str, is_json: bool) -> Vec<&str> {
    let mut found = Vec::new();
    scan(text, is_json, |it| found.push(&text[it.start..it.end]));
    found
}

#[test]
fn exact_strings_are_found() {
    let check = |text: &str, expect: &[&str]| assert_eq!(found(text, false), expect, "{text}");
    check("Open src/main.rs, please.", &["src/main.rs", "main.rs"]);
    check("see src/main.rs:12 there", &["src/main.rs:12", "src/main.rs", "main.rs"]);
    check("at https://example.org/a?b=1.", &["https://example.org/a?b=1"]);
    check("and/or either/or", &[]);
    check("The max_tokens of parseConfig is 4096 or 12", &["max_tokens", "parseConfig", "4096"]);
    check("commit a1b2c3d by Ann", &["a1b2c3d"]);
    check("a plain sentence. Another one", &[]);
    check("run `cargo test --all` now", &["cargo test --all"]);
    check("在 config.toml 里设置 retry_limit", &["config.toml", "retry_limit"]);
    check("key=build_id_77", &["key=build_id_77", "build_id_77"]);
    check("std::mem::swap", &["std::mem::swap"]);
    check("...", &[]);
}

#[test]
fn escapes_are_no_part_of_a_string() {
    assert_eq!(found(r#"{"text":"one\nsrc/lib.rs\n\"two_words\""}"#, true), ["src/lib.rs", "lib.rs", "two_words"]);
}

#[test]
fn atoms_know_where_they_were() {
    let say = |index: u32, role, origin, text: &str| {
        let message = Message::text(format!("m{index}"), role, origin, text);
        Entry::new(EntryKey::Log(index), Position::log(index), std::sync::Arc::new(message))
    };
    let entries = [
        say(0, Role::User, Origin::Typed, "fix run_job"),
        say(1, Role::Tool, Origin::Tool, "run_job in jobs.rs; jobs.rs"),
        say(2, Role::Assistant, Origin::Model, "jobs.rs it is"),
    ];
    let strings = ExactStrings::new(&entries);
    let string = |text: &str| strings.all().iter().find(|string| string.text == text).unwrap();
    let job = string("run_job");
    assert_eq!(
        (job.introduced, job.first_message, job.last_message, job.last_asked),
        (StringPlace::Typed, 0, 1, Some(0))
    );
    let file = string("jobs.rs");
    assert_eq!(
        (file.introduced, file.messages, file.last_message, file.was_asked_for()),
        (StringPlace::Output, 2, 2, false)
    );
    assert_eq!(
        (file.count(StringPlace::Output), file.count(StringPlace::Model), file.count(StringPlace::Arguments)),
        (1, 1, 0)
    );
    assert_eq!(strings.in_block(BlockRef { message: 1, block: 0 }).len(), 3);
}

#[test]
fn what_was_asked_for_is_read_alone() {
    let say = |index: u32, role, origin, blocks| {
        let message = Message::new(format!("m{index}"), role, origin, blocks);
        Entry::new(EntryKey::Log(index), Position::log(index), std::sync::Arc::new(message))
    };
    let text = |text: &str| vec![epitome_session::Block::text(text)];
    let call = |arguments: String| {
        let call = epitome_session::ToolCall {
            id: "c".into(),
            name: "Run".into(),
            arguments: Arguments::Json(arguments.into()),
        };
        vec![epitome_session::Block::new(Content::ToolCall(call))]
    };
    let entries = [
        say(0, Role::System, Origin::Instructions, text("in system_prompt")),
        say(1, Role::User, Origin::Typed, text("fix run_job")),
        say(2, Role::Assistant, Origin::Model, text("let me see said_here")),
        say(
            3,
            Role::Assistant,
            Origin::Model,
            call(format!(r#"{{"a":"arg_ument","b":"{}in_text"}}"#, "x ".repeat(200))),
        ),
        say(4, Role::Tool, Origin::Tool, text("printed_here and run_job")),
    ];
    let (all, asked) = (ExactStrings::new(&entries), ExactStrings::asked_for(&entries));
    let texts =
        |strings: &ExactStrings<'_>| strings.all().iter().map(|string| string.text.to_owned()).collect::<Vec<_>>();
    assert_eq!(texts(&asked), ["run_job", "arg_ument"]);
    for string in asked.all() {
        let same = all.all().iter().find(|other| other.text == string.text).unwrap();
        assert_eq!(string.last_asked, same.last_asked);
    }
    assert_eq!(all.all().iter().filter(|string| string.was_asked_for()).count(), asked.all().len());
}
