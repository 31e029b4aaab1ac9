//! How a call ended, and the line of its result that says so.

use epitome_strategy::commands::{exit_code, first_error, is_failure, is_looking, is_search, outcome};
use epitome_strategy::tools::ToolKind;
use epitome_strategy::transcript::Ending;

/// Bytes of the longest line that is brought for the ending of a call: a longer one says more than how it ended.
const LONGEST: usize = 160;

/// Returns how a call ended, as far as its result tells, and the line that says so, where there is a short one. Linear
/// in the result.
pub(crate) fn ending<'r>(kind: ToolKind, asked: &str, result: &'r str, is_error: bool) -> (Ending, Option<&'r str>) {
    let searches = kind == ToolKind::Search || (kind == ToolKind::Shell && is_search(asked));
    if searches && finds_nothing(result) {
        return (Ending::Empty, None);
    }
    let runs = kind == ToolKind::Shell && !is_looking(asked);
    // What a command shows may speak of errors, and of exit codes.
    let told = if runs { outcome(result) } else { None };
    let exit =
        if runs { exit_code(result) } else { (kind == ToolKind::Shell).then(|| first_exit_code(result)).flatten() };
    let failed = match exit {
        Some(code) => code != 0,
        None => is_error || told.is_some_and(is_failure),
    };
    let line = if failed { first_error(result).or(told) } else { told };
    // A line with the exit code says what the mark says.
    let line = line.filter(|line| line.len() <= LONGEST && exit_code(line).is_none());
    (if failed { Ending::Failed } else { Ending::Fine }, line)
}

/// What a tool prints around the output of a command. Source: the shells of the recorded agents.
const FRAMES: [&str; 9] = [
    "Exit code",
    "exit code",
    "Process exited with code",
    "<returncode>",
    "<output",
    "</output>",
    "Output:",
    "Wall time",
    "Chunk ID:",
];

/// What tools print where a search found nothing. Source: as above.
const NOTHING: [&str; 5] = ["no matches", "no files found", "no files matched", "no results", "found 0 "];

/// Whether the result of a search says that nothing was found: nothing was printed, or a line that says so. An exit code
/// of 1 means the same; a higher one, or a text beside it, tells of a failure.
fn finds_nothing(result: &str) -> bool {
    let is_frame = |line: &&str| {
        let line = line.trim_start_matches('<');
        FRAMES.iter().any(|frame| line.starts_with(frame.trim_start_matches('<'))) || line.contains("with exit code")
    };
    let mut lines = result.lines().map(str::trim).filter(|line| !line.is_empty() && !is_frame(line));
    let says_so = |line: &str| {
        let line = line.trim_start_matches(['(', '[']).to_ascii_lowercase();
        NOTHING.iter().any(|words| line.starts_with(words))
    };
    let is_empty = match (lines.next(), lines.next()) {
        (None, _) => true,
        (Some(line), None) => says_so(line) || line == "(no output)",
        _ => false,
    };
    is_empty && exit_code(result).is_none_or(|code| matches!(code, 0 | 1))
}

/// Returns the exit code that one of the first lines names at its beginning.
fn first_exit_code(result: &str) -> Option<i32> {
    const STARTS: [&str; 3] = ["Exit code", "Process exited with code", "<returncode>"];
    let names = |line: &&str| STARTS.iter().any(|start| line.trim_start().starts_with(start));
    result.lines().take(4).find(names).and_then(exit_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        let check = |kind: ToolKind, asked: &str, result: &str, is_error: bool, expect: (Ending, Option<&str>)| {
            assert_eq!(ending(kind, asked, result, is_error), expect, "{asked}: {result}");
        };
        let passed = "....\n64 passed in 0.41s";
        check(ToolKind::Shell, "pytest -q", passed, false, (Ending::Fine, Some("64 passed in 0.41s")));
        let failed = "F...\nE  AssertionError: 3\n1 failed, 63 passed";
        check(ToolKind::Shell, "pytest -q | tail", failed, false, (Ending::Failed, Some("E  AssertionError: 3")));
        check(
            ToolKind::Shell,
            "git push",
            "Exit code 1\nfatal: no remote",
            true,
            (Ending::Failed, Some("fatal: no remote")),
        );
        check(ToolKind::Shell, "rm a", "", false, (Ending::Fine, None));
        check(ToolKind::Shell, "make", "cc a.c\n<job 1 completed with exit code 0>", false, (Ending::Fine, None));
        // What is shown is no ending: the document speaks of one.
        check(ToolKind::Shell, "cat a.md", "# Notes\nexit code: 2\n1 failed", false, (Ending::Fine, None));
        check(
            ToolKind::Shell,
            "cat b.md",
            "Exit code 1\ncat: b.md: No such file",
            true,
            (Ending::Failed, Some("cat: b.md: No such file")),
        );
        let nothing = (Ending::Empty, None);
        check(ToolKind::Shell, "grep -rn token src", "Exit code 1", true, nothing);
        check(ToolKind::Shell, "rg token", "Wall time: 0.1 s\nProcess exited with code 1\nOutput:\n", false, nothing);
        check(ToolKind::Shell, "cat a | grep token", "<returncode>1</returncode>\n<output>\n</output>", false, nothing);
        check(ToolKind::Search, "token", "No matches found", false, nothing);
        check(ToolKind::Search, "token", "a.rs\nb.rs", false, (Ending::Fine, None));
        let unread = "Exit code 2\ngrep: srx: No such file or directory";
        let line = "grep: srx: No such file or directory";
        check(ToolKind::Shell, "grep -rn token srx", unread, true, (Ending::Failed, Some(line)));
        check(ToolKind::Shell, "cargo test", "Exit code 1", true, (Ending::Failed, None));
        check(ToolKind::Read, "a.rs", "fn error() {}", false, (Ending::Fine, None));
        check(ToolKind::Read, "b.rs", "File does not exist.", true, (Ending::Failed, Some("File does not exist.")));
        check(ToolKind::Shell, "make", &format!("error: {}", "x".repeat(400)), true, (Ending::Failed, None));
    }
}
