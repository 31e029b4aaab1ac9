//! The commands whose newest run failed.

use std::collections::HashMap;

use epitome_strategy::View;
use epitome_strategy::commands::{exit_code, has_failed, script_of};
use epitome_strategy::tools::ToolKind;

use crate::rules::command_line::command_of;

/// Exit codes of programs that were ended from outside: they neither failed nor succeeded.
const ENDED: [i32; 4] = [124, 130, 137, 143];
/// Commands that put the files into another state for a run.
const ELSEWHERE: &[&str] = &["git stash", "git checkout", "git switch", "git worktree", "git bisect"];
/// The commands whose newest run failed for certain, and after which nothing of their kind succeeded: by the exit code that
/// the output names, or by its last line that says how it ended. Linear in the calls.
pub(super) fn failed_runs(view: &View<'_>) -> Vec<String> {
    let facts = view.facts();
    let mut newest: HashMap<String, (usize, bool)> = HashMap::new();
    let mut succeeded: HashMap<String, usize> = HashMap::new();
    for (number, output) in facts.outputs().iter().enumerate() {
        let call = output.call.and_then(|call| facts.calls().get(call as usize));
        let Some(call) = call.filter(|call| call.kind == ToolKind::Shell) else { continue };
        let (Some(command), Some(script)) = (command_of(call), script_of(call)) else { continue };
        let was_ended = exit_code(output.text).is_some_and(|code| ENDED.contains(&code));
        if ELSEWHERE.iter().any(|word| script.contains(word)) || was_ended {
            continue;
        }
        let failed = has_failed(output) == Some(true);
        if !failed && !output.is_error {
            succeeded.insert(kind(&command), number);
        }
        // A run that ended in another way says nothing of success or failure.
        if failed || !output.is_error {
            newest.insert(command, (number, failed));
        }
    }
    let is_mended = |command: &str, at: usize| succeeded.get(&kind(command)).is_some_and(|later| *later > at);
    let failed = newest.into_iter().filter(|(command, (at, failed))| *failed && !is_mended(command, *at));
    let mut found: Vec<String> = failed.map(|(command, _)| command).collect();
    found.sort();
    found
}

/// The program and its first word: runs with the same are of a kind.
fn kind(command: &str) -> String {
    command.split_whitespace().filter(|word| !word.contains('=')).take(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use epitome_strategy::NoTokens;
    use epitome_strategy::{Language, SummaryTask};

    fn runs(fixture: &str) -> Vec<String> {
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
        let check = |calls: &[(&str, &str)], expect: &[&str]| {
            let calls = calls
                .iter()
                .enumerate()
                .map(|(number, (command, output))| shell(&format!("c{number}"), command, output));
            let fixture = format!("user: go\n{}", calls.collect::<String>());
            let found = runs(&fixture);
            assert_eq!(found, expect, "{fixture}");
        };
        check(&[("cd /r && cargo test", FAILED)], &["cargo test"]);
        check(&[("cargo test", FAILED), ("cargo test", PASSED)], &[]);
        check(&[("cargo test", PASSED), ("cargo test", FAILED)], &["cargo test"]);
        check(&[("cargo test", FAILED), ("cargo test --all", PASSED)], &[]);
        check(&[("cargo test", FAILED), ("pytest -q", "4 passed")], &["cargo test"]);
        check(&[("make lint", "Exit code: 2")], &["make lint"]);
        check(&[("cargo test", "Exit code: 137")], &[]);
        check(&[("git stash && cargo test; git stash pop", FAILED)], &[]);
        check(&[("cargo test", "it was not allowed to run")], &[]);
    }
}
