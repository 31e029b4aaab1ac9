//! The script of a shell call.

use std::sync::LazyLock;

use serde_json::Value;

use crate::facts::Call;
use crate::lists::LISTS;

/// Returns the script that a call runs, unchanged.
pub fn script_of(call: &Call<'_>) -> Option<String> {
    match call.json() {
        Some(json) => script_in(&json),
        None => Some(call.arguments.to_owned()),
    }
}

/// Returns the script in a shell call's arguments: a text, or the words of a command; of `["bash", "-lc", "…"]` the last.
/// Source of the keys: the tools of the recorded agents.
pub fn script_in(arguments: &Value) -> Option<String> {
    let keys = ["command", "cmd", "script", "code", "commands", "input"];
    match keys.iter().find_map(|key| arguments.get(*key))? {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(match words.as_slice() {
                [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => (*script).to_owned(),
                words => words.join(" "),
            })
        }
        _ => None,
    }
}

/// Parts of a command that are not informative: redirections of its output, and fallbacks for its failure.
static NOISE: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("plumbing"));

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

/// Programs that print what they find. Those of the first line report with the exit code 1 that they found nothing.
static SEARCHING: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("searching"));

/// Whether the last command of a script prints what it finds, and nothing else: its silence says that nothing was found.
pub fn is_search(script: &str) -> bool {
    let last = script.trim().rsplit(['\n', ';']).find(|line| !line.trim().is_empty()).unwrap_or_default();
    let last = last.rsplit("&&").next().unwrap_or(last).split("||").next().unwrap_or(last).replace("2>", "");
    let mut parts = last.split('|').map(words_of_program);
    let searches = parts.any(|(program, rest)| {
        SEARCHING.contains(&program.as_str()) || (program == "git" && rest.split_whitespace().next() == Some("grep"))
    });
    searches && !last.contains('>') && !last.split_whitespace().any(is_silent)
}

/// The program of a command, in small letters and without its folder, and what follows it.
fn words_of_program(command: &str) -> (String, &str) {
    let command = command.trim();
    let (program, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    (program.rsplit('/').next().unwrap_or(program).to_ascii_lowercase(), rest)
}

/// Whether an option makes a search print nothing, or act on what it finds.
fn is_silent(option: &str) -> bool {
    let is_quiet = option.strip_prefix('-').is_some_and(|short| !short.starts_with('-') && short.contains('q'));
    is_quiet || matches!(option, "--quiet" | "--silent" | "-exec" | "-delete" | "xargs" | "tee")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches() {
        let check = |script: &str, expect: bool| assert_eq!(is_search(script), expect, "{script}");
        check("grep -rn token src", true);
        check("cd /srv && rg -n 'a b' --glob '*.rs' 2>/dev/null | head -20", true);
        check("cat a.log | grep ERROR || true", true);
        check("git grep -n token", true);
        check("make\nfind . -name '*.rs'", true);
        check("grep -q token a && echo yes", false);
        check("grep -qi token a", false);
        check("grep token a > b", false);
        check("find . -name '*.o' -delete", false);
        check("cat a", false);
        check("git log --grep token", false);
    }
}
