//! The script of a shell call.

use serde_json::Value;

use crate::facts::Call;

/// Returns the script that a call runs, unchanged.
pub fn script_of(call: &Call<'_>) -> Option<String> {
    match call.json() {
        Some(json) => ["command", "cmd", "script", "code"].iter().find_map(|key| match json.get(*key)? {
            Value::String(text) => Some(text.clone()),
            Value::Array(words) => words.last().and_then(Value::as_str).map(str::to_owned),
            _ => None,
        }),
        None => Some(call.arguments.to_owned()),
    }
}

/// Parts of a command that are not informative: redirections of its output, and fallbacks for its failure.
const NOISE: &[&str] =
    &[" 2>&1", " 2>/dev/null", " | head", " | tail", " || true", " || echo", " && echo", "; echo", " > /dev/null"];

/// Returns the first command of a script on one line: without comments, a change of folder in front of it and plumbing
/// behind it, with the first line of a text for it (the subject of a commit's message).
pub fn first_command(command: &str) -> Option<String> {
    let mut lines = command.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut line = lines.next()?.to_owned();
    while let Some(start) = line.strip_suffix('\\') {
        line = format!("{} {}", start.trim_end(), lines.next()?);
    }
    for mark in ["$(cat <<'EOF'", "$(cat <<EOF", "$(cat << 'EOF'"] {
        if let Some((start, _)) = line.split_once(mark) {
            line = format!("{start}{}", lines.next().unwrap_or_default());
            break;
        }
    }
    if let Some((first, rest)) = line.split_once("&&")
        && first.trim_start().starts_with("cd ")
    {
        line = rest.trim().to_owned();
    }
    let end = NOISE.iter().filter_map(|noise| line.find(noise)).min().unwrap_or(line.len());
    line.truncate(end);
    Some(line)
}

/// Programs that only look.
const LOOKING: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "sed",
    "awk",
    "grep",
    "rg",
    "find",
    "fd",
    "pwd",
    "echo",
    "wc",
    "which",
    "cd",
    "tree",
    "less",
    "ps",
    "sleep",
    "true",
    "stat",
    "file",
    "du",
    "df",
    "env",
    "export",
    "printf",
    "nl",
    "open",
    "goto",
    "scroll_down",
    "scroll_up",
    "search_dir",
    "search_file",
    "find_file",
    "type",
    "jq",
    "date",
    "whoami",
];

/// Sub-commands of `git`, `gh` and the like that only look.
const LOOKING_AT: &[&str] = &[
    "status",
    "diff",
    "log",
    "show",
    "branch",
    "blame",
    "rev-parse",
    "ls-files",
    "api",
    "view",
    "checks",
    "list",
    "remote",
    "add",
];

/// Whether a command and every later one only look.
pub fn is_looking(command: &str) -> bool {
    command.split("&&").flat_map(|part| part.split(';')).all(only_looks)
}

fn only_looks(command: &str) -> bool {
    let mut words = command.split_whitespace().filter(|word| !word.contains('='));
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    LOOKING.contains(&program)
        || (matches!(program, "git" | "gh" | "glab" | "docker" | "kubectl")
            && words.take(3).any(|word| LOOKING_AT.contains(&word)))
}
