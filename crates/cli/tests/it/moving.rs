//! `epitome move`: sessions of agents in a made-up home, as files of the other agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::place::{Place, Ran, chat, several};

/// A folder that is the home of all agents and of a project.
fn place() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("work")).unwrap();
    place
}

fn moved(place: &Place, line: &str) -> Ran {
    let mut command = place.command(line);
    command.env("HOME", place.path("")).env_remove("GIT_DIR");
    for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"] {
        command.env_remove(name);
    }
    Ran::read(command.stdin(Stdio::null()).output().unwrap())
}

/// A file that an agent recorded.
fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agents/recorded").join(name)
}

const CLAUDE: &str = "claude/taken-back/73d6a7f2-a7d5-4aab-b677-82143cb7c6cb.jsonl";
const CODEX: &str = "codex/forks/rollout-2026-11-27T14-51-29-01a21d7d-6df6-7d03-a52f-18c0797828a5.jsonl";
const PI: &str = "pi/turns/2026-11-27T14-50-31-306Z_01a21d7c-8c08-724a-bd6d-71184b7a36d7.jsonl";

/// Every file below a folder, by its path in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The only file below a folder.
fn only(folder: &Path) -> PathBuf {
    let found = files(folder);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// What was said in a session's file, in order, without what an agent says of itself: roles with texts, calls by their tools,
/// results by their calls. Every call has its results behind it.
fn said(place: &Place, file: &Path) -> Vec<String> {
    let ran = place.run(&format!("convert {} --to openai-chat -q", file.display()));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (mut told, mut open) = (Vec::new(), Vec::new());
    for message in ran.json()["messages"].as_array().unwrap() {
        let content = match &message["content"] {
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<String>(),
            content => content.as_str().unwrap_or_default().to_owned(),
        };
        let role = message["role"].as_str().unwrap();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap().to_owned();
            let at = open.iter().position(|open| *open == id).unwrap();
            open.remove(at);
        } else {
            assert!(open.is_empty(), "{open:?} have no results");
        }
        let is_own = content.contains("<system-reminder>") || content.starts_with("<environment_context>");
        if matches!(role, "system" | "developer") || is_own {
            continue;
        }
        told.extend(Some(format!("{role}: {content}")).filter(|_| !content.is_empty()));
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            open.push(call["id"].as_str().unwrap().to_owned());
            told.push(format!("calls {} {}", call["function"]["name"], call["function"]["arguments"]));
        }
    }
    told
}

#[test]
fn a_session_goes_on_in_every_other_agent() {
    let check = |from: &str, to: &str, folder: &str, start: &str| {
        let place = place();
        let source = recorded(from);
        let before = fs::read(&source).unwrap();
        let ran = moved(&place, &format!("move {} --to {to} --cwd work", source.display()));
        assert_eq!(ran.code, 0, "{from} to {to}: {}", ran.stderr);
        let file = &only(&place.path(folder));
        let work = fs::canonicalize(place.path("work")).unwrap();
        let line = ran.text().strip_prefix(&format!("cd {} && {start} ", work.display())).unwrap().trim_end();
        let name = file.file_name().unwrap().to_str().unwrap();
        match to {
            "claude-code" => {
                let project: String =
                    work.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
                assert_eq!(name, format!("{line}.jsonl"));
                assert!(file.parent().unwrap().ends_with(project), "{}", file.display());
            }
            "codex" => assert!(name.starts_with("rollout-20") && name.ends_with(&format!("-{line}.jsonl")), "{name}"),
            _ => assert_eq!(line, file.to_str().unwrap()),
        }
        let content = fs::read_to_string(file).unwrap();
        assert!(content.contains(&format!("\"cwd\":\"{}\"", work.display())), "{content}");
        assert_eq!(said(&place, file), said(&place, &source), "{from} to {to}");
        assert!(!content.contains("hinking"), "reasoning is for the model that wrote it: {content}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read(&source).unwrap(), before, "the session's own file is touched");
    };
    check(CLAUDE, "codex", ".codex/sessions", "codex resume");
    check(CLAUDE, "pi", ".pi/agent/sessions", "pi --session");
    check(CODEX, "claude-code", ".claude/projects", "claude --resume");
    check(CODEX, "pi", ".pi/agent/sessions", "pi --session");
    check(PI, "claude-code", ".claude/projects", "claude --resume");
    check(PI, "codex", ".codex/sessions", "codex resume");
}

#[test]
fn each_agent_finds_its_sessions_where_its_variable_says() {
    let check = |to: &str, variable: &str, folder: &str| {
        let place = place();
        let mut command = place.command(&format!("move {} --to {to} -q", recorded(CLAUDE).display()));
        command.env("HOME", place.path("")).env(variable, place.path("elsewhere")).current_dir(place.path("work"));
        let ran = Ran::read(command.stdin(Stdio::null()).output().unwrap());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(files(&place.path("elsewhere").join(folder)).len(), 1, "{to}: {}", ran.text());
        assert!(!ran.text().contains("cd "), "it is the current folder: {}", ran.text());
    };
    check("codex", "CODEX_HOME", "sessions");
    check("pi", "PI_CODING_AGENT_DIR", "sessions");
    check("pi", "PI_CODING_AGENT_SESSION_DIR", "");
}

#[test]
fn a_moved_session_is_compacted_to_the_budget() {
    let place = place();
    place.file("chat.json", chat());
    let ran = moved(&place, "move chat.json --to claude-code --cwd work --budget 400");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = said(&place, &only(&place.path(".claude/projects"))).join("\n");
    assert!(told.contains("Then fix unit 61.") && !told.contains("unit number 30 "), "{told}");
    let ran = moved(&place, "move chat.json --to pi --cwd work -b 5");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(files(&place.path(".pi")).is_empty());
}

#[test]
fn what_is_shown_first_and_what_is_refused() {
    let place = place();
    place.file("chat.json", chat());
    let ran = moved(&place, "move chat.json --to codex --cwd work --dry-run -q");
    assert!(ran.text().starts_with("would write ") && ran.text().contains("codex resume "), "{}", ran.text());
    // A person's own prompt is a loss, an agent's is not.
    let strict = moved(&place, "move chat.json --to codex --cwd work --strict -q");
    assert_eq!(strict.code, 2);
    assert!(strict.stderr.contains("not all of it has a place in codex: the system prompt"), "{}", strict.stderr);
    assert_eq!(
        moved(&place, &format!("move {} --to codex --cwd work --strict -q --dry-run", recorded(PI).display())).code,
        0
    );
    let refused = |line: &str, what: &str| {
        let ran = moved(&place, line);
        assert_eq!(ran.code, 2, "{line}");
        assert!(ran.stderr.contains(what) && ran.text().is_empty(), "{line}: {}", ran.stderr);
    };
    refused("move chat.json --to gemini-cli", "invalid value 'gemini-cli'");
    refused("move chat.json --to anthropic", "invalid value 'anthropic'");
    refused("move chat.json --to pi --cwd none", "--cwd none is not a folder");
    refused("move none.json --to pi", "`none.json` is not a file");
    refused(&format!("move {} --to pi", recorded(PI).display()), "it is a session of pi already");
    refused("move chat.json --to pi -o chat.json -q", "cannot write chat.json");
    assert_eq!(place.read("chat.json"), chat().as_bytes());
    assert!([".codex", ".pi", ".claude"].iter().all(|folder| files(&place.path(folder)).is_empty()));
}

#[test]
fn a_file_can_be_named() {
    let place = place();
    place.file("chat.json", chat());
    let ran = moved(&place, "move chat.json --to pi --cwd work --output moved.jsonl");
    assert!(ran.text().ends_with("moved.jsonl\n") && ran.text().contains("pi --session /"), "{}", ran.text());
    let ran = moved(&place, "move chat.json --to codex --cwd work -o -");
    assert!(ran.text().starts_with('{') && ran.stderr.contains(".codex/sessions"), "{}", ran.stderr);
    assert_eq!(place.files(), ["chat.json", "moved.jsonl", "work"]);
}

#[test]
fn a_session_is_read_and_compacted_as_is_asked() {
    let place = place();
    place.file("all.jsonl", several());
    let settings = "[budget]\nwindow = 20_000\nreserve_output = 1_000\n[agents.small]\nwindow = 1_800\n";
    place.file("c.toml", settings);
    // What Codex is sent, and what is told on the way.
    let codex = |options: &str| {
        let ran = moved(&place, &format!("move all.jsonl --to codex --cwd work -o - {options}"));
        assert_eq!(ran.code, 0, "{options}: {}", ran.stderr);
        (ran.text().matches("compiled unit number").count(), ran.stderr.clone())
    };
    let (whole, told) = codex("--session 1 --config c.toml");
    assert_eq!(whole, 30);
    assert!(told.contains("fits") && told.contains("codex finds it at"), "{told}");
    assert_eq!(codex("--session 2 --config c.toml").0, 50);
    assert!(codex("--session 2 --config c.toml --agent small").0 < 50, "the agent's window is smaller");
    assert_eq!(codex("--session 1 --quiet").1, "");
    let other = moved(&place, "move all.jsonl --to codex --from claude-code --session 1");
    assert_eq!(other.code, 2, "{}", other.stderr);
    let one_of_three = moved(&place, "move all.jsonl --to codex");
    assert!(one_of_three.stderr.contains("all.jsonl holds 3 sessions"), "{}", one_of_three.stderr);
}
