//! `epitome hook` and `epitome statusline`: what an agent's hooks are answered.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::place::{Place, Ran, example};

/// What a hook answers, without the sign of life, which is always there and comes first.
fn hooked(place: &Place, event: &str, input: &Value) -> Ran {
    without_sign(place.run_with(&format!("hook claude-code {event}"), input.to_string().as_bytes()))
}

fn without_sign(ran: Ran) -> Ran {
    let stderr = ran.stderr.strip_prefix("epitome is at work\n").unwrap().to_owned();
    Ran { stderr, ..ran }
}

#[test]
fn behind_a_compaction_the_exact_words() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let path = place.path("session.jsonl");
    let input = |source: &str| json!({"transcript_path": path, "hook_event_name": "SessionStart", "source": source});
    let ran = hooked(&place, "session-start", &input("compact"));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let told = &ran.json()["hookSpecificOutput"];
    let text = told["additionalContext"].as_str().unwrap();
    assert_eq!(told["hookEventName"], "SessionStart");
    assert!(text.starts_with("Exact words of the conversation before the compaction"), "{text}");
    assert!(text.contains("Stop there, please. Don't change the values in `fingerprint`."), "{text}");
    let length = text.chars().count();
    assert!((5_000..=9_500).contains(&length), "{length}: Claude Code shows 10,000");
    for source in ["startup", "resume", "clear"] {
        let ran = hooked(&place, "session-start", &input(source));
        assert_eq!((ran.code, ran.text(), ran.stderr.as_str()), (0, "", ""), "{source}");
    }
}

#[test]
fn words_are_added_where_the_model_compacts() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let ran_with = |event: &str, file: &str| {
        let input = json!({"transcript_path": place.path(file), "session_id": "a-1", "source": "compact"});
        let mut command = place.command(&format!("hook claude-code {event}"));
        command.env("CLAUDE_PLUGIN_DATA", place.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        without_sign(Ran::read(child.wait_with_output().unwrap()))
    };
    let ran = |event: &str| {
        let ran = ran_with(event, "session.jsonl");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        !ran.text().is_empty()
    };
    assert!(!ran("session-start"), "the module has compacted");
    assert!(ran("pre-compact") && ran("session-start"), "the model has");
    assert!(!ran("session-start"), "the next time it is the module again");
    assert_eq!(ran_with("pre-compact", "gone.jsonl").code, 1);
    assert!(ran("session-start"), "the model has, though the demands could not be read");
    assert_eq!(place.files(), ["session.jsonl"]);
}

#[test]
fn before_a_compaction_the_demands() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let ran =
        hooked(&place, "pre-compact", &json!({"transcript_path": place.path("session.jsonl"), "trigger": "auto"}));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.text().starts_with("The user demanded the following."), "{}", ran.text());
    assert!(ran.text().contains("\n- Don't change the values in `fingerprint`."), "{}", ran.text());
    assert!(ran.text().chars().count() < 3_500);
    let line = json!({"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
                      "message": {"role": "user", "content": "What is the time?"}});
    let place = Place::with("session.jsonl", format!("{line}\n"));
    let ran = hooked(&place, "pre-compact", &json!({"transcript_path": place.path("session.jsonl")}));
    assert_eq!((ran.code, ran.text()), (0, ""), "{}", ran.stderr);
}

#[test]
fn demands_are_as_they_were_said() {
    let line = |id: &str, before: Value, role: &str, content: Value| {
        let line = json!({"type": role, "uuid": id, "parentUuid": before, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
                          "message": {"role": role, "content": content}});
        format!("{line}\n")
    };
    let pasted: String = (1..90).map(|n| format!("- You must always check module {n} before a release.\n")).collect();
    let session = [
        line(
            "a",
            Value::Null,
            "user",
            "From now on:\n- Never touch the lexer.\n- It must stay fast.\n\n1. yes\n2.".into(),
        ),
        line("b", "a".into(), "assistant", json!([{"type": "tool_use", "id": "t", "name": "Edit", "input": {}}])),
        line(
            "c",
            "b".into(),
            "user",
            json!([{"type": "tool_result", "tool_use_id": "t", "is_error": true, "content":
            "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse the old name"}]),
        )
        .replacen('{', r#"{"toolUseResult":"User rejected tool use","#, 1),
        line("d", "c".into(), "user", format!("Here is the plan:\n{pasted}").into()),
        line(
            "e",
            "d".into(),
            "user",
            "<command-message>review</command-message>\n<command-name>/review</command-name>".into(),
        ),
    ];
    let place = Place::with("session.jsonl", session.concat());
    let ran = hooked(&place, "pre-compact", &json!({"transcript_path": place.path("session.jsonl")}));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let (own, plan) = ran.text().split_once("\n- You must always check module").unwrap();
    insta::assert_snapshot!(own, @r"
    The user demanded the following. Repeat each of these word for word in the summary:
    - From now on:
    - Never touch the lexer.
      - It must stay fast.
    - 1. yes
    - use the old name
    - Here is the plan:
    ");
    // The plan leaves room for what was said before it.
    assert!((500..1_100).contains(&plan.chars().count()) && !plan.contains("review"), "{plan}");
}

#[test]
fn the_newest_request_is_repeated_whole() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let ran = hooked(&place, "pre-compact", &json!({"transcript_path": place.path("session.jsonl")}));
    let newest = ran.text().rsplit("\n- ").next().unwrap();
    assert!(newest.starts_with("Good. We deploy tonight, so: put 0004 and 0005 into SHIPPED"), "{newest}");
    assert!(newest.trim_end().ends_with("how many corrections Mette's database will get."), "{newest}");
}

#[test]
fn a_hook_that_fails_does_not_stop_the_agent() {
    let place = Place::with("other.jsonl", "no session\n");
    let check = |event: &str, input: &str, expect: &str| {
        let ran = place.run_with(&format!("hook claude-code {event}"), input.as_bytes());
        // Claude Code takes the exit code 2 for an order.
        assert_eq!((ran.code, ran.text()), (1, ""), "{event} {input}");
        assert!(ran.stderr.contains(expect), "{event} {input}: {}", ran.stderr);
    };
    for event in ["pre-compact", "session-start", "compact"] {
        check(event, "", "what the agent said on standard input is not understood");
        check(event, "{}", "what the agent said on standard input is not understood");
    }
    let of = |name: &str| json!({"transcript_path": place.path(name), "source": "compact"}).to_string();
    check("session-start", &of("none.jsonl"), "none.jsonl");
    check("pre-compact", &of("other.jsonl"), "other.jsonl");
}

#[test]
fn a_status_line() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let check = |input: Value, parts: &[&str]| {
        let mut command = place.command("statusline");
        command.env("NO_COLOR", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        let ran = Ran::read(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.text().lines().count()), (0, 1), "{}", ran.stderr);
        parts.iter().for_each(|part| assert!(ran.text().contains(part), "{part:?} in {}", ran.text()));
    };
    let path = place.path("session.jsonl");
    check(json!({"transcript_path": path}), &["tool results ", " · "]);
    let window = json!({"context_window_size": 200_000, "used_percentage": 61.4});
    check(
        json!({"transcript_path": path, "context_window": window}),
        &["██████▏··· 61 % of 200,000, messages 45 % of 184,000 · "],
    );
    // Where the transcript is not there, nothing is said of its messages.
    let missing = |window: Option<&Value>, line: &str| {
        let input = json!({"transcript_path": place.path("none.jsonl"), "context_window": window}).to_string();
        let mut command = place.command("statusline");
        command.env("NO_COLOR", "1");
        let ran = place.run_command(command, input.as_bytes());
        assert_eq!((ran.code, ran.text()), (0, line));
        assert!(ran.stderr.contains("there is no ") && ran.stderr.contains("none.jsonl"), "{}", ran.stderr);
    };
    missing(Some(&window), "██████▏··· 61 % of 200,000\n");
    missing(None, "window 200,000\n");
    let over = json!({"context_window_size": 64_000, "used_percentage": 130.2});
    check(
        json!({"transcript_path": path, "context_window": over}),
        &["██████████ 130 % of 64,000, messages 173 % of 48,000 · "],
    );
    // Nor where none is named.
    for unknown in [json!({}), json!({"session_id": "x", "context_window": null})] {
        let ran = place.run_with("statusline", unknown.to_string().as_bytes());
        assert_eq!((ran.code, ran.text(), &*ran.stderr), (0, "window 200,000\n", ""));
    }
    // As it is before the first message.
    let line = json!({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}});
    for begun in [String::new(), format!("{line}\n")] {
        place.file("begun.jsonl", begun);
        check(json!({"transcript_path": place.path("begun.jsonl"), "context_window": null}), &["·········· 0 % of "]);
    }
    // Both say the same of the same session and window.
    for window in [64_000, 200_000, 1_000_000] {
        let page = place.run(&format!("context session.jsonl --window {window}")).text().to_owned();
        let share = page.lines().find_map(|line| line.strip_suffix(" full")?.rsplit("  ").next()).unwrap().to_owned();
        let usable = page.split("of the ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().to_owned();
        let of_context = format!(" {share} of {usable} · ");
        check(json!({"transcript_path": path, "context_window": {"context_window_size": window}}), &[&of_context]);
    }
    for (wrong, why) in [("no JSON", "is not understood"), ("[]", "invalid type: sequence, expected a map")] {
        let ran = place.run_with("statusline", wrong.as_bytes());
        assert!(ran.code == 2 && ran.stderr.contains(why), "{}", ran.stderr);
    }
}
