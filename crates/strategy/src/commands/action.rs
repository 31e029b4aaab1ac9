//! The effect of a shell command, by its words.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

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
    effects(command).into_iter().all(|effect| effect.is_some_and(|effect| effect <= Action::Look))
}

/// Returns the effects of the simple commands of a script; `None` for a program that is not known.
fn effects(command: &str) -> Vec<Option<Action>> {
    let mut effects = Vec::new();
    let mut heredoc: Option<String> = None;
    for line in command.lines() {
        if let Some(end) = &heredoc {
            if line.trim() == end {
                heredoc = None;
            } else if writes_in_script(line) {
                effects.push(Some(Action::Change));
            }
            continue;
        }
        heredoc = heredoc_end(line);
        effects.extend(parts(line).map(of_part));
    }
    effects
}

/// Whether a line of a script that is fed to an interpreter writes a file.
fn writes_in_script(line: &str) -> bool {
    ["write_text(", ".write(", "writeFileSync(", "*** Update File", "*** Add File"]
        .iter()
        .any(|word| line.contains(word))
}

/// Returns the word that ends the here-document which starts on this line: `EOF` of `cat <<'EOF' > a.py`.
pub(crate) fn heredoc_end(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.trim_start_matches('-').trim_start();
    let word: String = rest
        .trim_start_matches(['\'', '"', '\\'])
        .chars()
        .take_while(|char| char.is_alphanumeric() || *char == '_')
        .collect();
    (!word.is_empty() && !rest.starts_with('<')).then_some(word)
}

/// Returns the simple commands of a line. Quotes are not parsed: a separator inside a quoted text makes a part that
/// starts with no known command.
fn parts(line: &str) -> impl Iterator<Item = &str> {
    line.split(['|', ';', '&']).map(str::trim).filter(|part| !part.is_empty() && !part.starts_with('#'))
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
