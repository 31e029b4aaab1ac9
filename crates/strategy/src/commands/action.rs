//! The effect of a shell command, by its words.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::shell::simple_commands;
use crate::lists::LISTS;

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// No effect that says anything of the work: `cd`, `echo`, a plan, a question.
    Nothing,
    /// Read, listed or searched something.
    Look,
    /// Read or searched the web.
    Web,
    /// Built, tested or ran something.
    Run,
    /// Recorded changes, or moved between states of the sources.
    Commit,
    /// Changed a file.
    Change,
}

/// First words of commands by what they do.
static WORDS: LazyLock<HashMap<&str, Action>> = LazyLock::new(|| LISTS.table("commands"));

/// The effect of `git` by its sub-command; all others only look.
static GIT: LazyLock<HashMap<&str, Action>> = LazyLock::new(|| LISTS.table("git"));

/// Words that precede the command proper.
static PREFIXES: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("prefixes"));

/// Returns the strongest effect of a shell command; programs that are not known have none. Linear in the command.
pub fn action(command: &str) -> Action {
    effects(command).into_iter().flatten().max().unwrap_or(Action::Nothing)
}

/// Whether a command, and every later one of the script, only looks, as far as its programs are known. Linear.
pub fn is_looking(command: &str) -> bool {
    let effects = effects(command);
    !effects.is_empty() && effects.into_iter().all(|effect| effect.is_some_and(|effect| effect <= Action::Look))
}

/// Returns the effects of the simple commands of a script; `None` for a program that is not known.
fn effects(command: &str) -> Vec<Option<Action>> {
    let fed = command.contains("<<") && command.lines().any(writes_in_script);
    simple_commands(command).map(of_part).chain(fed.then_some(Some(Action::Change))).collect()
}

/// Whether a line of a script that is fed to an interpreter writes a file.
fn writes_in_script(line: &str) -> bool {
    ["write_text(", ".write(", "writeFileSync(", "*** Update File", "*** Add File"]
        .iter()
        .any(|word| line.contains(word))
}

/// Whether a word stands in front of the program: a variable, `sudo`, `timeout`, their options and numbers.
pub fn is_prefix(word: &str) -> bool {
    PREFIXES.contains(&word)
        || word.contains('=')
        || word.starts_with('-')
        || word.bytes().all(|byte| byte.is_ascii_digit())
}

fn of_part(part: &str) -> Option<Action> {
    let mut words = part.split_whitespace().map(|word| word.trim_matches(['(', ')', '"', '\'', '$', '{', '}', '`']));
    let Some(first) = words.by_ref().find(|word| !is_prefix(word)) else { return Some(Action::Nothing) };
    let name = first.rsplit('/').next().unwrap_or(first).to_lowercase();
    if redirects(part) {
        return Some(Action::Change);
    }
    match name.as_str() {
        "git" => {
            let sub_command = words.find(|word| !word.starts_with('-') && !word.contains('/')).unwrap_or("");
            GIT.get(sub_command).copied().or(Some(Action::Look))
        }
        "sed" | "perl" if words.any(|word| word.starts_with("-i") || word.starts_with("-pi")) => Some(Action::Change),
        // Of a forge's or a cluster's own programs most sub-commands only look.
        "gh" | "glab" if words.any(|word| matches!(word, "create" | "merge" | "close" | "edit" | "comment")) => {
            Some(Action::Run)
        }
        "str_replace_editor" => match words.next() {
            Some("view") => Some(Action::Look),
            _ => Some(Action::Change),
        },
        "tee" | "cp" | "mv" | "touch" | "rm" if part.split_whitespace().last().is_some_and(is_scratch) => {
            Some(Action::Nothing)
        }
        // A script of the project, named by its path.
        name => WORDS.get(name).copied().or(first.contains('/').then_some(Action::Run)),
    }
}

/// Whether the part writes its output to a file: `> file`, not `2>&1`, `> /dev/null` or a comparison.
fn redirects(part: &str) -> bool {
    let mut rest = part;
    while let Some(at) = rest.find('>') {
        let (before, after) = (&rest[..at], rest[at + 1..].trim_start_matches('>'));
        let target = after.trim_start();
        let plain = before.is_empty() || before.ends_with([' ', '1']);
        let is_file = target
            .starts_with(|char: char| char.is_alphanumeric() || matches!(char, '/' | '.' | '~' | '$' | '"' | '_'));
        if plain && is_file && !is_scratch(target) && (after.len() > target.len() || target.contains(['/', '.'])) {
            return true;
        }
        rest = after;
    }
    false
}

/// Whether a path is a device or lies in a folder for temporary files: writing there changes nothing.
fn is_scratch(path: &str) -> bool {
    let path = path.trim_start_matches('"');
    ["/dev/", "/tmp/", "$TMP", "${TMP"].iter().any(|start| path.starts_with(start)) || path.contains("/Temp/")
}
