//! The newest runs of commands, and whether a clause says that one succeeded which failed.

use std::collections::HashMap;

use epitome_strategy::View;
use epitome_strategy::commands::{exit_code, is_failure, outcome, script_of};
use epitome_strategy::tools::ToolKind;

use super::claims::fold_for_lookup;
use crate::rules::command_line::command_of;

/// Exit codes of programs that were ended from outside: they neither failed nor succeeded.
const ENDED: [i32; 4] = [124, 130, 137, 143];
/// Programs and words that run tests.
const TESTING: &[&str] =
    &["test", "tests", "pytest", "jest", "vitest", "ctest", "tox", "nextest", "rspec", "phpunit", "unittest", "mocha"];
/// Commands that put the files into another state for a run.
const ELSEWHERE: &[&str] = &["git stash", "git checkout", "git switch", "git worktree", "git bisect"];
/// Words in front of a command that passes.
const FRONT: &[&str] = &["passes with", "passed with", "pass with", "passing with"];
/// Words behind a command, or behind the tests, with which they succeed.
const SUCCEEDS: &[&str] = &[
    "passes",
    "passed",
    "pass",
    "succeeds",
    "succeeded",
    "succeed",
    "is green",
    "are green",
    "is clean",
    "ran clean",
    "通过",
    "成功",
];
/// Words between a command and its result.
const BETWEEN: &[&str] = &["now", "all", "also", "still", "everything", "tests", "全部", "已", "均", "现在", "都"];
/// Words that give a clause another meaning.
const NOT: &[&str] = &[
    " not ",
    "n't",
    "never",
    " should",
    " must",
    " will ",
    " would",
    " to be ",
    " until",
    " if ",
    " once ",
    " when ",
    " except",
    " but ",
    " apart ",
    " other than",
    " before",
    " after",
    " earlier",
    " first",
    " previously",
    " only",
    " fail",
    " had ",
    " were passing",
    " was passing",
    " on main",
    " on the main",
    "没有",
    "未",
    "不",
    "应",
    "必须",
    "之前",
    "除",
];

/// A command whose newest run failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FailedRun {
    /// The command, without a change of folder in front of it and plumbing behind it.
    pub command: String,
    /// Whether the run is the newest run of tests at all.
    pub is_newest_test: bool,
}

/// The commands whose newest run failed for certain, and after which nothing of their kind succeeded: by the exit code that
/// the output names, or by its last line that says how it ended. Linear in the calls.
pub(super) fn failed_runs(view: &View<'_>) -> Vec<FailedRun> {
    let facts = view.facts();
    let mut newest: HashMap<String, (usize, bool)> = HashMap::new();
    let mut succeeded: HashMap<String, usize> = HashMap::new();
    let mut newest_test = None;
    for (number, output) in facts.outputs().iter().enumerate() {
        let call = output.call.and_then(|call| facts.calls().get(call as usize));
        let Some(call) = call.filter(|call| call.kind == ToolKind::Shell) else { continue };
        let (Some(command), Some(script)) = (command_of(call), script_of(call)) else { continue };
        let exit = exit_code(output.text);
        if ELSEWHERE.iter().any(|word| script.contains(word)) || exit.is_some_and(|code| ENDED.contains(&code)) {
            continue;
        }
        let failed = match exit {
            Some(code) => code != 0,
            None => outcome(output.text).is_some_and(is_failure),
        };
        if !failed && !output.is_error {
            succeeded.insert(kind(&command), number);
        }
        // A run that ended in another way says nothing of success or failure.
        if failed || !output.is_error {
            if is_testing(&command) {
                newest_test = Some(number);
            }
            newest.insert(command, (number, failed));
        }
    }
    let is_mended = |command: &str, at: usize| succeeded.get(&kind(command)).is_some_and(|later| *later > at);
    let failed = newest.into_iter().filter(|(command, (at, failed))| *failed && !is_mended(command, *at));
    let mut found: Vec<FailedRun> =
        failed.map(|(command, (at, _))| FailedRun { is_newest_test: newest_test == Some(at), command }).collect();
    found.sort_by(|left, right| left.command.cmp(&right.command));
    found
}

/// The program and its first word: runs with the same are of a kind.
fn kind(command: &str) -> String {
    command.split_whitespace().filter(|word| !word.contains('=')).take(2).collect::<Vec<_>>().join(" ")
}

fn is_testing(command: &str) -> bool {
    let mut words = command.split(|char: char| !char.is_alphanumeric());
    words.any(|word| TESTING.contains(&word))
}

impl FailedRun {
    /// Whether a clause says that it succeeded: by its name, or where it is the newest run of tests, of all tests. Linear in
    /// the clause for each place of the command.
    pub(super) fn is_denied_by(&self, clause: &str) -> bool {
        let clause = format!(" {} ", fold_for_lookup(clause));
        if NOT.iter().any(|word| clause.contains(word)) {
            return false;
        }
        let command = fold_for_lookup(&self.command);
        let is_part = |char: Option<char>| {
            char.is_some_and(|char| char.is_alphanumeric() || matches!(char, '-' | '_' | '/' | '.'))
        };
        let by_name = command.contains(' ')
            && clause.match_indices(&command).any(|(at, _)| {
                let (front, behind) = (&clause[..at], &clause[at + command.len()..]);
                // A longer command is another one.
                let is_whole = match behind.chars().next() {
                    Some('`' | '"') => !is_part(front.chars().next_back()),
                    _ => false,
                };
                let front = front.trim_end_matches(['`', '"', ' ']);
                is_whole && (succeeds(behind) || FRONT.iter().any(|words| front.ends_with(words)))
            });
        by_name || self.is_newest_test && tells_of_all_tests(&clause)
    }
}

/// Whether the words behind a command, or behind the tests, begin with its success.
fn succeeds(behind: &str) -> bool {
    let mut rest = behind.trim_start_matches(['`', '"', ':', '-', '–', '—', '→', '(', ' ', '：', '（']);
    loop {
        if SUCCEEDS.iter().any(|word| rest.starts_with(word)) {
            return true;
        }
        let Some(word) = BETWEEN.iter().find(|word| rest.starts_with(*word)) else { return false };
        rest = rest[word.len()..].trim_start();
    }
}

/// Whether a folded clause says of all tests that they pass, and nothing else.
fn tells_of_all_tests(clause: &str) -> bool {
    let bare = clause.trim_matches([' ', '-', '*', '.', '。']);
    let bare = bare.strip_prefix("and ").unwrap_or(bare);
    let subjects = [
        "all of the tests",
        "all the tests",
        "all tests",
        "the tests",
        "the test suite",
        "the whole test suite",
        "tests",
        "所有测试",
        "全部测试",
        "测试",
    ];
    let behind = subjects.iter().find_map(|subject| bare.strip_prefix(subject));
    behind.is_some_and(|behind| {
        let end = behind.trim_start_matches([' ', ':']);
        let end = BETWEEN.iter().fold(end, |end, word| end.strip_prefix(word).unwrap_or(end).trim_start());
        let rest = SUCCEEDS.iter().find_map(|word| end.strip_prefix(word));
        rest.is_some_and(|rest| matches!(rest.trim(), "" | "now" | "again" | "了"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::counter::NoTokens;
    use epitome_strategy::{Language, SummaryTask};

    fn runs(fixture: &str) -> Vec<FailedRun> {
        let session = epitome_testkit::session(fixture);
        let request = epitome_strategy::SummaryRequest::new(500, None);
        let task = SummaryTask {
            messages: session.log(),
            session: None,
            request: &request,
            language: Language::English,
            counter: &NoTokens,
        };
        super::super::source::with_messages(session.log().iter(), &task, failed_runs)
    }

    fn shell(id: &str, command: &str, output: &str) -> String {
        format!("call Bash {id} {{\"command\":\"{command}\"}}\nresult {id}: {output}\n")
    }

    const FAILED: &str = "test result: FAILED. 3 passed; 1 failed";
    const PASSED: &str = "test result: ok. 4 passed; 0 failed";

    #[test]
    fn the_newest_run_counts() {
        let check = |calls: &[(&str, &str)], expect: &[(&str, bool)]| {
            let calls = calls
                .iter()
                .enumerate()
                .map(|(number, (command, output))| shell(&format!("c{number}"), command, output));
            let fixture = format!("user: go\n{}", calls.collect::<String>());
            let found = runs(&fixture);
            let found: Vec<(&str, bool)> = found.iter().map(|run| (run.command.as_str(), run.is_newest_test)).collect();
            assert_eq!(found, expect, "{fixture}");
        };
        check(&[("cd /r && cargo test", FAILED)], &[("cargo test", true)]);
        check(&[("cargo test", FAILED), ("cargo test", PASSED)], &[]);
        check(&[("cargo test", PASSED), ("cargo test", FAILED)], &[("cargo test", true)]);
        check(&[("cargo test", FAILED), ("cargo test --all", PASSED)], &[]);
        check(&[("cargo test", FAILED), ("pytest -q", "4 passed")], &[("cargo test", false)]);
        check(&[("make lint", "Exit code: 2")], &[("make lint", false)]);
        check(&[("cargo test", "Exit code: 137")], &[]);
        check(&[("git stash && cargo test; git stash pop", FAILED)], &[]);
        check(&[("cargo test", "it was not allowed to run")], &[]);
    }

    #[test]
    fn what_denies_a_failure() {
        let run = |is_newest_test| FailedRun { command: "cargo test --lib".to_owned(), is_newest_test };
        let check = |clause: &str, by_name: bool, by_all: bool| {
            assert_eq!(
                (run(false).is_denied_by(clause), run(true).is_denied_by(clause)),
                (by_name, by_all),
                "{clause}"
            );
        };
        check("- `cargo test --lib` passes", true, true);
        check("- `cargo test --lib`: all pass", true, true);
        check("- `cargo test --lib` now passes with 4 tests", true, true);
        check("- everything passes with `cargo test --lib`", true, true);
        check("- `cargo test --lib` 全部通过", true, true);
        check("- all tests pass", false, true);
        check("- The tests pass now.", false, true);
        check("- 所有测试通过", false, true);
        for clause in [
            "- `cargo test --lib` fails",
            "- `cargo test --lib` does not pass yet",
            "- `cargo test --lib` must pass",
            "- `cargo test --lib parser` passes",
            "- `cargo test --lib` passed before the change",
            "- `cargo test --lib` was run",
            "- all tests pass except the one of the parser",
            "- the tests of the lexer pass",
            "- unit tests pass",
            "- the user asked that all tests pass",
            "- passing arguments to `cargo test --lib`",
        ] {
            check(clause, false, false);
        }
    }
}
