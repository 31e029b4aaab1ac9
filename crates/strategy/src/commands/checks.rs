//! The commands that build, test or check a project.

use std::sync::LazyLock;

use crate::lists::LISTS;

/// Programs that do so by themselves. Source: the programs' own manuals.
static CHECKERS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("checkers"));

/// Programs that run what a project names. Source: as above.
static RUNNERS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("runners"));

/// The names that these programs, and the projects, give to building, testing and checking.
static TASKS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("tasks"));

/// Words in front of the program or the task.
static WRAPPERS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("wrappers"));

/// Whether a simple command builds, tests or checks the project. Linear.
pub fn is_check(command: &str) -> bool {
    let words = words_of(command);
    let Some(program) = words.first() else { return false };
    let names_task = |word: &&str| word.split([':', '-', '.', '/']).any(|part| TASKS.contains(&part));
    CHECKERS.contains(program) || RUNNERS.contains(program) && words.get(1).is_some_and(names_task)
}

/// Returns what a command that [checks](is_check) does: its program, with the task where the program runs several. Commands
/// with the same key check the same thing. Linear.
pub fn check_key(command: &str) -> String {
    let words = words_of(command);
    let count = if words.first().is_some_and(|program| CHECKERS.contains(program)) { 1 } else { 2 };
    words.into_iter().take(count).collect::<Vec<_>>().join(" ")
}

/// Returns the words of a command from its program on, without options; the program without its folder.
fn words_of(command: &str) -> Vec<&str> {
    let is_assignment = |word: &str| word.split_once('=').is_some_and(|(name, _)| !name.contains(['-', '/']));
    let words = command
        .split_whitespace()
        .filter(|word| !is_assignment(word) && !WRAPPERS.contains(word) && !word.starts_with(['-', '+']));
    words.map(|word| word.rsplit('/').next().unwrap_or(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_checks_a_project() {
        let check = |command: &str, expect: Option<&str>| {
            assert_eq!(is_check(command).then(|| check_key(command)).as_deref(), expect, "{command}");
        };
        check("cargo test -p parser --locked", Some("cargo test"));
        check("CI=1 npm run test:unit", Some("npm test:unit"));
        check("python -m pytest -q tests", Some("pytest"));
        check("./node_modules/.bin/tsc --noEmit", Some("tsc"));
        check("cargo run", None);
        check("echo test", None);
        check("", None);
    }
}
