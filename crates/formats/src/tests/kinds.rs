#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use crate::{Format, ReadOptions, read};

fn user(uuid: usize) -> String {
    format!(
        r#"{{"type":"user","uuid":"{uuid}","parentUuid":null,"sessionId":"S","message":{{"role":"user","content":"say {uuid}"}}}}"#
    ) + "\n"
}

fn event(kind: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"payload\":{{}}}}\n")
}

/// Reads a file, and gives its format with its warnings, or the error.
fn told(input: &str, format: Option<Format>) -> Result<(Format, Vec<String>), String> {
    let loaded = read(input.as_bytes().to_vec(), ReadOptions { format, ..ReadOptions::default() });
    let warnings = |loaded: crate::LoadedFile| loaded.warnings.into_iter().map(|warning| warning.message).collect();
    loaded.map(|loaded| (loaded.format, warnings(loaded))).map_err(|error| error.to_string())
}

#[test]
fn unknown_kinds_of_records_are_named_once_with_their_number() {
    let check = |input: &str, expect: Format, warning: &[&str]| {
        let (format, warnings) = told(input, None).unwrap();
        assert_eq!((format, warnings.iter().map(String::as_str).collect::<Vec<_>>()), (expect, warning.to_vec()));
    };
    let many: String = (0..14).map(user).collect();
    let claude = |lines: &[&str]| [many.clone(), lines.concat()].concat();
    check(&many, Format::ClaudeCode, &[]);
    check(&claude(&[&event("mode"), &event("progress")]), Format::ClaudeCode, &[]);
    let (foo, bar) = (event("foo"), event("bar"));
    check(
        &claude(&[&bar, &foo, &foo]),
        Format::ClaudeCode,
        &["not read: 3 records of kinds that are not known (`foo` 2, `bar` 1)"],
    );
    check(&claude(&[&bar]), Format::ClaudeCode, &["not read: 1 record of a kind that is not known (`bar` 1)"]);
    // A kind that stands for many is named with what it is narrower.
    let system = "{\"type\":\"system\",\"subtype\":\"new_thing\",\"content\":\"x\"}\n";
    check(
        &claude(&[system]),
        Format::ClaudeCode,
        &["not read: 1 record of a kind that is not known (`system/new_thing` 1)"],
    );
    let item = |kind: &str| {
        format!(
            "{{\"type\":\"response_item\",\"payload\":{{\"type\":\"{kind}\",\"role\":\"user\",\"content\":\"a\"}}}}\n"
        )
    };
    let codex = [item("message"), item("message")].concat();
    let codex = |event: &str| format!("{codex}{{\"type\":\"event_msg\",\"payload\":{{\"type\":\"{event}\"}}}}\n");
    check(&codex("token_count"), Format::Codex, &[]);
    check(
        &codex("turned_over"),
        Format::Codex,
        &["not read: 1 record of a kind that is not known (`event_msg/turned_over` 1)"],
    );
    let pi = concat!(
        "{\"type\":\"session\",\"version\":3,\"id\":\"P\",\"cwd\":\"/\"}\n",
        "{\"type\":\"message\",\"id\":\"1\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"a\"}}\n",
        "{\"type\":\"folded\",\"id\":\"2\",\"parentId\":\"1\"}\n",
    );
    check(pi, Format::Pi, &["not read: 1 record of a kind that is not known (`folded` 1)"]);
    let copilot = concat!(
        "{\"type\":\"user.message\",\"data\":{\"content\":\"a\"}}\n",
        "{\"type\":\"assistant.turn_start\",\"data\":{}}\n",
        "{\"type\":\"session.truncation\",\"data\":{}}\n",
    );
    check(copilot, Format::CopilotCli, &["not read: 1 record of a kind that is not known (`session.truncation` 1)"]);
    let gemini = r#"{"sessionId":"s","projectHash":"h","messages":[{"type":"user","content":"a"},{"type":"hint","content":"b"},{"type":"info","content":"c"}]}"#;
    check(gemini, Format::GeminiCli, &["not read: 1 record of a kind that is not known (`hint` 1)"]);
    // The names are the file's own words.
    let mut odd = String::new();
    (0..9).for_each(|number| write!(odd, "{}", event(&format!("\\u001b[2Jnew{number}"))).unwrap());
    let warning = &told(&claude(&[&odd]), None).unwrap().1[0];
    assert!(warning.contains("`\\u{1b}[2Jnew0` 1") && warning.ends_with(", 3 more)"), "{warning}");
}

#[test]
fn a_file_of_which_most_is_of_no_known_kind_is_of_no_known_format() {
    let few: String = (0..3).map(user).collect();
    let check = |foreign: usize, is_read: bool| {
        let input = few.clone() + &event("foo").repeat(foreign);
        let found = told(&input, None);
        assert_eq!(found.is_ok(), is_read, "{found:?}");
        if let Err(error) = found {
            let expect =
                format!("most of it is not read: {foreign} records of kinds that are not known (`foo` {foreign})");
            assert!(error.starts_with("this is not a session in a known format") && error.contains(&expect), "{error}");
        }
        // Who names the format has it read.
        assert_eq!(told(&input, Some(Format::ClaudeCode)).unwrap().1.len(), 1);
    };
    check(3, true);
    check(4, false);
}
