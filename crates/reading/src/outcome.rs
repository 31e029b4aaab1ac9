//! How a call ended, and the line of its result that says so.

use std::sync::LazyLock;

use epitome_strategy::commands::{
    exit_code, first_error, first_exit_code, has_failed, is_failure, is_looking, is_search, is_success, outcome,
    verdict,
};
use epitome_strategy::session::heading::is_missing_result;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::transcript::Ending;

use crate::lists::LISTS;
use crate::pieces::{LONGEST_ANSWER, first_fields};

/// Bytes of the longest line that is brought for the ending of a call: a longer one says more than how it ended.
const LONGEST: usize = LONGEST_ANSWER;
/// The most lines of a result that is an answer and no content.
const SHORT_ANSWER: usize = 3;

/// Whether the tools of a session mark their failures: a result without the mark succeeded. Formats without such a mark have
/// none in any result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Flags {
    /// No result is marked, so that the absence of a mark says nothing.
    #[default]
    Unknown,
    /// A result of the session is marked.
    Set,
}

/// Returns how a call ended, where its result tells, and the line that says so, where there is a short one. Linear in the
/// result.
pub(crate) fn ending<'r>(
    kind: ToolKind,
    asked: &str,
    result: &'r str,
    is_error: bool,
    flags: Flags,
) -> (Option<Ending>, Option<&'r str>) {
    if is_missing_result(result) {
        return (None, None);
    }
    let searches = kind == ToolKind::Search || (kind == ToolKind::Shell && is_search(asked));
    if searches && finds_nothing(result) {
        return (Some(Ending::Empty), None);
    }
    let runs = kind == ToolKind::Shell && !is_looking(asked);
    // What a command shows may speak of errors, and of exit codes.
    let reporting_line = if runs { outcome(result) } else { answer(kind, asked, result) };
    let says = match runs {
        true => exit_code(result).and_then(|_| has_failed(result, is_error, Some(asked))).map(|failed| !failed),
        false if kind == ToolKind::Shell => first_exit_code(result).map(|code| code == 0),
        false => None,
    };
    let says = says.or_else(|| {
        let fails = is_error || reporting_line.is_some_and(is_failure);
        let shows = matches!(kind, ToolKind::Read | ToolKind::Search) || (kind == ToolKind::Shell && !runs);
        let verdict = if shows { None } else { verdict(result) };
        let fine = || flags == Flags::Set || reporting_line.is_some_and(is_success) || is_report_of_silence(result);
        if fails { Some(false) } else { verdict.or_else(|| fine().then_some(true)) }
    });
    let reported =
        if says == Some(false) { first_error(result).or(reporting_line) } else { reporting_line.filter(|_| runs) };
    // A line with the exit code, or of silence, says what the mark says.
    let says_more = |line: &&str| line.len() <= LONGEST && exit_code(line).is_none() && !is_report_of_silence(line);
    // A command's only line is all that it told: a count, a name, a hash. Of a service's answer in one line the first fields are.
    let tells = matches!(kind, ToolKind::Shell | ToolKind::Other);
    let short = |line: &'r str| first_fields(line).map_or(line, |end| line[..end].trim_end());
    let all = || only_line(result).filter(|_| tells).map(short).filter(says_more);
    let line = reported.filter(says_more).or_else(all);
    (says.map(|fine| if fine { Ending::Fine } else { Ending::Failed }), line)
}

/// Returns the line of a result other than a command's that says how the call ended. What reads and shows prints content,
/// which counts only where it is one line, of the program itself where a command shows; of the others short answers
/// do, and the first line of a long one, where an error is told before its details.
fn answer<'r>(kind: ToolKind, asked: &str, result: &'r str) -> Option<&'r str> {
    let first = lines(result).next()?;
    let count = lines(result).take(SHORT_ANSWER + 1).count();
    match kind {
        ToolKind::Shell => (count == 1 && is_failure(first) && is_of_program(first, asked)).then_some(first),
        // What stands in a table may have failed as well.
        ToolKind::Read | ToolKind::Search | ToolKind::Lookup => (count == 1 && is_failure(first)).then_some(first),
        _ if count <= SHORT_ANSWER => lines(result).rev().find(|line| is_failure(line) || is_success(line)),
        ToolKind::Edit | ToolKind::Write => (is_failure(first) || is_success(first)).then_some(first),
        _ => first.to_ascii_lowercase().starts_with("error").then_some(first),
    }
}

/// Whether a line is a message of the shell or of a program that a command names: `ls: cannot access 'x': …`, `fatal: …`.
fn is_of_program(line: &str, asked: &str) -> bool {
    const SHELLS: [&str; 7] = ["bash", "sh", "zsh", "dash", "fatal", "error", "Error"];
    let Some((program, _)) = line.split_once(':') else { return false };
    let program = program.rsplit('/').next().unwrap_or(program);
    SHELLS.contains(&program.trim_start_matches('-')) || asked.split_whitespace().any(|word| word == program)
}

/// Returns the lines of a result with a letter or a digit, without white space at their ends and without what a tool prints
/// around them.
fn lines(result: &str) -> impl DoubleEndedIterator<Item = &str> {
    result.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric) && !is_frame(line))
}

/// Returns the line of a result that has one.
fn only_line(result: &str) -> Option<&str> {
    let mut lines = lines(result);
    lines.next().filter(|_| lines.next().is_none())
}

/// Whether a result is a tool's own report that a command ended and printed nothing. Source: the recorded agents.
fn is_report_of_silence(result: &str) -> bool {
    let result = result.trim().to_ascii_lowercase();
    result.len() < LONGEST
        && ["completed with no output", "ran without output or errors"].iter().any(|it| result.contains(it))
}

/// What a tool prints around the output of a command. Source: the shells of the recorded agents.
static FRAMES: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("frames"));

/// Whether a line is one that a tool prints around the output of a command.
fn is_frame(line: &str) -> bool {
    let line = line.trim_start_matches('<');
    FRAMES.iter().any(|frame| line.starts_with(frame.trim_start_matches('<'))) || line.contains("with exit code")
}

/// What tools print where a search found nothing. Source: as above.
static NOTHING: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("nothing found"));

/// Whether the result of a search says that nothing was found: nothing was printed, or a line that says so. An exit code
/// of 1 means the same; a higher one, or a text beside it, reports a failure.
fn finds_nothing(result: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use epitome_strategy::Language;
    use epitome_strategy::session::heading::missing_result;

    use super::*;

    const FINE: Option<Ending> = Some(Ending::Fine);
    const FAILED: Option<Ending> = Some(Ending::Failed);

    #[test]
    fn endings() {
        let check =
            |kind: ToolKind, asked: &str, result: &str, is_error: bool, expect: (Option<Ending>, Option<&str>)| {
                let found = ending(kind, asked, result, is_error, Flags::Unknown);
                assert_eq!(found, expect, "{asked}: {result}");
            };
        let passed = "....\n64 passed in 0.41s";
        check(ToolKind::Shell, "pytest -q", passed, false, (FINE, Some("64 passed in 0.41s")));
        let failed = "F...\nE  AssertionError: 3\n1 failed, 63 passed";
        check(ToolKind::Shell, "pytest -q | tail", failed, false, (FAILED, Some("E  AssertionError: 3")));
        check(ToolKind::Shell, "git push", "Exit code 1\nfatal: no remote", true, (FAILED, Some("fatal: no remote")));
        check(ToolKind::Shell, "rm a", "", false, (None, None));
        check(ToolKind::Shell, "make", "cc a.c\n<job 1 completed with exit code 0>", false, (FINE, Some("cc a.c")));
        // The only line is the answer.
        check(ToolKind::Shell, "wc -l a.md", "42 a.md\n", false, (None, Some("42 a.md")));
        check(ToolKind::Shell, "wc -l a.md b.md", "42 a.md\n7 b.md\n49 total", false, (None, None));
        check(ToolKind::Edit, "a.rs", "The file a.rs has been updated.", false, (FINE, None));
        // What is shown is no ending: the document speaks of one.
        check(ToolKind::Shell, "cat a.md", "# Notes\nexit code: 2\n1 failed", false, (None, None));
        check(
            ToolKind::Shell,
            "cat b.md",
            "Exit code 1\ncat: b.md: No such file",
            true,
            (FAILED, Some("cat: b.md: No such file")),
        );
        let nothing = (Some(Ending::Empty), None);
        check(ToolKind::Shell, "grep -rn token src", "Exit code 1", true, nothing);
        check(ToolKind::Shell, "rg token", "Wall time: 0.1 s\nProcess exited with code 1\nOutput:\n", false, nothing);
        check(ToolKind::Shell, "cat a | grep token", "<returncode>1</returncode>\n<output>\n</output>", false, nothing);
        check(ToolKind::Search, "token", "No matches found", false, nothing);
        check(ToolKind::Search, "token", "a.rs\nb.rs", false, (None, None));
        let unread = "Exit code 2\ngrep: srx: No such file or directory";
        let line = "grep: srx: No such file or directory";
        check(ToolKind::Shell, "grep -rn token srx", unread, true, (FAILED, Some(line)));
        check(ToolKind::Shell, "cargo test", "Exit code 1", true, (FAILED, None));
        check(ToolKind::Read, "a.rs", "fn error() {}", false, (None, None));
        check(ToolKind::Read, "b.rs", "File does not exist.", true, (FAILED, Some("File does not exist.")));
        let missing = missing_result(Language::English);
        check(ToolKind::Shell, "make deploy", missing, true, (None, None));
        assert_eq!(ending(ToolKind::Other, "order=3", missing, true, Flags::Set), (None, None));
        check(ToolKind::Shell, "make", &format!("error: {}", "x".repeat(400)), true, (FAILED, None));
    }

    /// Without a flag and without an exit code, the result's own words count; where they tell nothing, there is no mark.
    #[test]
    fn endings_in_words() {
        let check = |kind: ToolKind, asked: &str, result: &str, expect: Option<Ending>| {
            assert_eq!(ending(kind, asked, result, false, Flags::Unknown).0, expect, "{asked}: {result}");
            // A flag that is not set says that the call succeeded, unless the words tell of a failure.
            let expect = expect.or(FINE);
            assert_eq!(ending(kind, asked, result, false, Flags::Set).0, expect, "{asked}: {result}");
        };
        let shell = ToolKind::Shell;
        check(shell, "foo", "bash: foo: command not found", FAILED);
        check(shell, "git status", "fatal: not a git repository", FAILED);
        check(shell, "ls x", "ls: cannot access 'x': No such file or directory", FAILED);
        check(shell, "ssh host", "Permission denied (publickey).", FAILED);
        check(shell, "npm install x", "npm ERR! code E404\nnpm ERR! 404 Not Found", FAILED);
        check(shell, "./a", "start\nSegmentation fault (core dumped)", FAILED);
        check(shell, "./wait", "timed out after 30s", FAILED);
        check(shell, "./load", "connection timed out\nagain\n64 rows done", FINE);
        check(shell, "./load", "64 rows\nmore", None);
        check(shell, "ls", "error.rs\nfailures.rs", None);
        check(shell, "cat log", "Permission denied (publickey).", None);
        check(shell, "grep -rn error src", "src/a.rs:1: bash: foo: command not found", None);
        check(shell, "rm a", "(Bash completed with no output)", FINE);
        check(shell, "git commit -m x", "[main 1a2b3c4] Mend it\n 2 files changed, 1 insertion(+)", FINE);
        check(ToolKind::Web, "https://h", "HTTP 404 Not Found", FAILED);
        check(ToolKind::Other, "order=3", r#"{"status": 500, "message": "internal"}"#, FAILED);
        check(ToolKind::Other, "order=3", "Invalid API key", FAILED);
        check(ToolKind::Other, "order=3", "rejected: insufficient funds", FAILED);
        check(ToolKind::Other, "order=3", "false", None);
        check(ToolKind::Lookup, "row=1", "ERROR: deadlock detected", FAILED);
        check(ToolKind::Lookup, "row=1", "错误：文件不存在", FAILED);
        check(ToolKind::Lookup, "row=1", "id | name\n1 | error\n2 | b\n3 | failed", None);
        check(ToolKind::Lookup, "state='failed'", "id,state\n1,failed\n2,failed", None);
        check(ToolKind::Read, "a.rs", "fn a() {}\n// Permission denied", None);
        check(ToolKind::Read, "a.rs", "Error: ENOENT: no such file or directory", FAILED);
        check(ToolKind::Edit, "a.rs", "The file a.rs has been updated.", FINE);
    }
}
