//! What fills a context, and how the session is found.

use std::fs;

use serde_json::Value;

use crate::place::{Place, Ran, chat, example, several};

#[test]
fn a_context_is_told_in_whole_lines() {
    let place = Place::with("chat.json", chat());
    let check = |line: &str, expect: &[&str]| {
        let told = place.run(line);
        assert_eq!((told.code, told.stderr.as_str()), (0, ""), "{line}");
        for expect in expect {
            assert!(told.text().lines().any(|line| line.trim() == *expect), "{expect}\n{}", told.text());
        }
        assert!(told.text().lines().all(|line| line.chars().count() <= 100), "{}", told.text());
    };
    check(
        "context chat.json",
        &[
            "chat.json  openai-chat, m, 6 messages",
            "about 1,207 of the 184,000 tokens that the messages may take",
            "window 200,000 assumed, m is not a known model: --window sets it; 16,000 kept free for the answer",
            "a compaction is suggested from 92,000 tokens on: 90,793 more",
            "What fills it",
            "tool results      1,139   94 %  ███████████████▏  bash 1,139",
            "the task             18    1 %  ▎···············",
            "What would leave next",
            "What has left",
            "Nothing.",
        ],
    );
    check(
        "context chat.json --budget 1200",
        &[
            "about 1,207 of the 1,200 tokens that the messages may take",
            "as --budget says",
            "a compaction is due: 1,140 tokens are reached",
            "warning: one result of bash (#3) fills 95 % of the usable window",
        ],
    );
    check(
        "context chat.json --budget 10",
        &[
            "a compaction is due: 9 tokens are reached",
            "Nothing: 37 tokens must stay, and that is more than there is room for.",
            "newest user    11  1 message",
        ],
    );
}

#[test]
fn what_has_left_comes_back_by_the_handle_that_is_named() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let nothing = place.run("context session.jsonl --json").json();
    assert_eq!((&nothing["format"], &nothing["window"]["by"]), (&"claude-code".into(), &"default".into()), "{nothing}");
    assert_eq!(nothing["removed"]["items"].as_array().unwrap().len(), 0);
    let parts = nothing["contents"]["parts"].as_array().unwrap();
    let tokens: u64 = parts.iter().map(|part| part["tokens"].as_u64().unwrap()).sum();
    assert_eq!(Some(tokens), nothing["fullness"]["current_tokens"].as_u64());
    assert!(parts.iter().any(|part| part["part"] == "files-read" && !part["items"].as_array().unwrap().is_empty()));
    assert_eq!(place.run("compact session.jsonl --budget 20k -o session.jsonl --quiet").code, 0);
    let context = place.run("context session.jsonl --json").json();
    let items = context["removed"]["items"].as_array().unwrap();
    assert!(!items.is_empty() && context["removed"]["compactions"] == 1, "{context}");
    let page = place.run("context session.jsonl");
    let shown = page.text().lines().find(|line| line.contains("--handle")).unwrap().to_owned();
    let restore = shown.trim().split("  ").next().unwrap().strip_prefix("epitome ").unwrap();
    let restored = place.run(restore);
    assert!(restored.code == 0 && restored.stdout.len() > 100, "{restore}: {}", restored.stderr);
    for item in items {
        let handle = item["handle"].as_str().unwrap();
        assert_eq!(place.run(&format!("restore session.jsonl --handle {handle}")).code, 0, "{item}");
    }
}

#[cfg(unix)]
#[test]
fn the_lines_that_bring_it_back_run_in_a_shell() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    assert_eq!(place.run("compact session.jsonl --budget 20k -o session.jsonl --quiet").code, 0);
    fs::rename(place.path("session.jsonl"), place.path("it's a session.jsonl")).unwrap();
    let mut command = place.command("context --from claude-code --session 0");
    let page = Ran::read(command.arg("it's a session.jsonl").output().unwrap());
    let run = |part: &str, replaced: (&str, &str)| {
        let shown = page.text().lines().find(|line| line.contains(part)).unwrap().trim();
        assert!(shown.contains("session.jsonl' --from claude-code --session 0 "), "{shown}");
        let line = shown.split("  ").next().unwrap().replace(replaced.0, replaced.1);
        let line = line.replacen("epitome", concat!("'", env!("CARGO_BIN_EXE_epitome"), "'"), 1);
        let mut shell = std::process::Command::new("sh");
        let ran = Ran::read(shell.args(["-c", &line]).current_dir(place.path("")).output().unwrap());
        assert!(ran.code == 0 && ran.stdout.len() > 100, "{line}: {}", ran.stderr);
    };
    run("epitome restore", ("", ""));
    run("epitome search", ("WORDS", "fingerprint"));
    // What was piped in is nowhere to be read again.
    let piped = place.run_with("context -", &place.read("it's a session.jsonl"));
    assert!(piped.code == 0 && !piped.text().contains("epitome restore"), "{}", piped.all());
}

#[test]
fn the_room_is_what_is_said_of_it() {
    let place = Place::with("chat.json", chat());
    let claude = chat().replace("\"model\": \"m\"", "\"model\": \"claude-sonnet-4-5\"");
    place.file("claude.json", claude);
    place.file("c.toml", "[budget]\nwindow = 50_000\n");
    let check = |line: &str, by: &str, model: Value, window: u64, usable: u64| {
        let found = place.run(&format!("context {line} --json")).json();
        assert_eq!((&found["window"]["by"], &found["window"]["model"]), (&by.into(), &model), "{line}");
        let figure = |name: &str| found["fullness"][name].as_u64().unwrap();
        assert_eq!((figure("window_tokens"), figure("usable_tokens")), (window, usable), "{line}");
    };
    check("chat.json", "default", "m".into(), 200_000, 184_000);
    check("chat.json --budget 4k", "budget", Value::Null, 4_000, 4_000);
    check("chat.json --window 100k", "window", Value::Null, 100_000, 84_000);
    check("chat.json --model gpt-4o", "model", "gpt-4o".into(), 128_000, 112_000);
    check("claude.json", "model", "claude-sonnet-4-5".into(), 200_000, 184_000);
    check("claude.json --config c.toml", "configuration", Value::Null, 50_000, 37_500);
    check("claude.json --window 60k", "window", Value::Null, 60_000, 45_000);
}

/// Runs the command with the place as home, and without what moves agents' folders.
fn at_home(place: &Place, line: &str) -> Ran {
    let mut command = place.command(line);
    command.env("HOME", place.path(""));
    for moved in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR"] {
        command.env_remove(moved);
    }
    Ran::read(command.output().unwrap())
}

#[test]
fn a_session_is_found_by_its_agent_or_id() {
    let place = Place::new();
    let empty = at_home(&place, "context");
    assert!(empty.code == 2 && empty.stderr.contains("no agent has kept a session here"), "{}", empty.stderr);
    fs::create_dir_all(place.path(".claude/projects/-home-me")).unwrap();
    place.file(".claude/projects/-home-me/0f1e2d3c-4b5a.jsonl", example("session.jsonl"));
    for line in ["context", "context claude-code", "context 0f1e2d3c", "context .claude", "watch --once"] {
        let found = at_home(&place, &format!("{line} --json")).json();
        let file = found["file"].as_str().unwrap();
        assert!(file.ends_with("0f1e2d3c-4b5a.jsonl"), "{line}: {file}");
    }
    let check = |line: &str, expect: &str| {
        let refused = at_home(&place, line);
        assert!(refused.code == 2 && refused.stderr.contains(expect), "{line}: {}", refused.stderr);
    };
    check("context codex", "codex has no sessions: ");
    check("context 99999999", "is not a file, a folder, an agent, or the id of an agent's session");
    check("context nothing.json", "`nothing.json` is not a file");
    check("watch nobody", "`nobody` is not a file");
}

#[test]
fn what_cannot_be_told_is_said() {
    let place = Place::with("several.jsonl", several());
    place.file("notes.txt", "not a session\n");
    place.file("empty.json", "{\"messages\": []}");
    let check = |line: &str, code: i32, expect: &str| {
        let ran = place.run(line);
        assert!(ran.code == code && ran.all().contains(expect), "{line}: {}", ran.all());
    };
    check("context several.jsonl", 2, "holds 3 sessions");
    check("context several.jsonl --session 1", 0, "What fills it");
    check("context notes.txt", 2, "cannot read notes.txt");
    check("context chat.json --budget 0", 2, "takes 1 token or more");
    check("context several.jsonl --session 0 --model nobodys", 2, "nobodys");
    check("context several.jsonl --budget 3k --window 4k", 2, "cannot be used with");
    let read = place.run_with("context -", chat().as_bytes());
    assert!(read.code == 0 && read.text().starts_with("standard input"), "{}", read.all());
}

/// `context`, `inspect`, `watch`, `check` and `statusline` are views of one model.
#[test]
fn every_command_gives_the_same_figures() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    assert_eq!(place.run("compact session.jsonl -b 20k -o small.jsonl").code, 0);
    for file in ["session.jsonl", "small.jsonl"] {
        let said = |command: &str, options: &str| place.run(&format!("{command} {file} {options} --json")).json();
        let (shown, inspected) = (said("context", ""), said("inspect", "")["session"].clone());
        let (watched, checked) = (said("watch", "--once"), said("check", ""));
        let contents = &shown["contents"];
        for key in ["tokens", "rounds", "calls", "parts", "tokens_by_role", "tokens_by_tool", "counter", "task"] {
            assert_eq!(inspected[key], contents[key], "{file}: {key} of inspect");
        }
        let sum = |list: &str, keys: &[&str]| -> u64 {
            let items = inspected[list].as_array().unwrap().iter();
            items.map(|item| keys.iter().map(|key| item[*key].as_u64().unwrap()).sum::<u64>()).sum()
        };
        let of_parts = |names: &[&str]| -> u64 {
            let parts = contents["parts"].as_array().unwrap().iter();
            parts
                .filter(|part| names.iter().any(|name| part["part"] == *name))
                .map(|it| it["tokens"].as_u64().unwrap())
                .sum()
        };
        assert_eq!(sum("roles", &["tokens"]), contents["tokens"].as_u64().unwrap(), "{file}");
        assert_eq!(sum("timeline", &["tokens"]), contents["tokens"].as_u64().unwrap(), "{file}");
        assert_eq!(sum("tools", &["call_tokens"]), of_parts(&["tool-calls"]), "{file}");
        assert_eq!(sum("tools", &["result_tokens"]), of_parts(&["tool-results", "files-read"]), "{file}");
        assert_eq!(
            (&watched["counted_tokens"], &checked["counted_tokens"]),
            (&contents["tokens"], &contents["tokens"])
        );
        assert_eq!((&watched["parts"], &watched["fullness"]), (&contents["parts"], &shown["fullness"]), "{file}");
        let page = place.run(&format!("context {file}"));
        let rows = page.text().split_once("What fills it\n").unwrap().1.lines().take(3);
        let told = serde_json::json!({"transcript_path": place.path(file)}).to_string();
        let line = place.run_with("statusline", told.as_bytes());
        for row in rows {
            let (name, rest) = row.trim().split_once("  ").unwrap();
            let part = format!("{name} {}", rest.split_whitespace().next().unwrap());
            assert!(without_colours(line.text()).contains(&part), "{file}: {part} in {}", line.text());
        }
    }
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
}
