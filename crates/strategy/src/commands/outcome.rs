//! The outcome of a command, by the output of a tool.

use crate::cut::is_error_line;

/// Whether a line replaces text that left the context: an elision mark, or another agent's placeholder.
fn is_mark(line: &str) -> bool {
    line.starts_with("[… ") || line.starts_with("[Old tool result")
}

/// Returns the first informative line.
pub fn telling_line(text: &str) -> Option<&str> {
    let lines = text.lines().take(30).map(str::trim).filter(|line| !is_mark(line));
    lines.into_iter().find(|line| line.chars().filter(|char| char.is_alphanumeric()).count() >= 4)
}

/// Returns the first line that reports an error; without one, the last of the first 20 lines with a letter or a digit.
pub fn first_error(text: &str) -> Option<&str> {
    let lines = || text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    if let Some((_, trace)) = text.split_once("Traceback (most recent call last):") {
        // The exception follows the indented frames.
        let is_frame = |line: &&str| line.starts_with(' ') || line.trim().is_empty();
        if let Some(exception) = trace.lines().skip(1).find(|line| !is_frame(line)) {
            return Some(exception.trim());
        }
    }
    lines().find(|line| is_error_line(line) && line.len() > 8).or_else(|| lines().take(20).last())
}

/// Words of lines that report how a command ended.
const OUTCOME: &[&str] = &[
    "passed",
    " pass",
    "failed",
    " fail",
    "failure",
    " ok",
    "ok.",
    "error",
    "success",
    "finished",
    "completed",
    "built",
    "warning",
    "done",
    "created",
    "up to date",
    "changed,",
    "通过",
    "失败",
    "成功",
    "完成",
];

/// Returns the last line of an output, of its last 20, that reports how the command ended.
pub fn outcome(text: &str) -> Option<&str> {
    let lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty() && !is_mark(line)).take(20);
    let tells = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        line.len() <= 300 && !line.starts_with('(') && OUTCOME.iter().any(|word| lower.contains(word))
    };
    lines.clone().find(tells)
}

/// Whether an outcome is a failure: only plain words count, since logs mention errors that were handled. `0 failed`, `xfailed`
/// and the subject of a commit (`fix: a failed export`) are none.
pub fn is_failure(line: &str) -> bool {
    if is_subject(line) {
        return false;
    }
    let lower = line.to_ascii_lowercase();
    let tells = ["error:", "error[", "fatal", "panicked", "失败"].iter().any(|word| lower.contains(word));
    (tells && is_error_line(line)) || tells_of_failures(&lower)
}

/// Whether a line (in lower case) says that something failed: the word stands alone, and not behind or in front of a zero.
fn tells_of_failures(line: &str) -> bool {
    let mut words = line.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    let mut before = "";
    while let Some(word) = words.next() {
        if matches!(word, "fail" | "failed" | "failure" | "failures")
            && !matches!(before, "0" | "no" | "without")
            && words.peek() != Some(&"0")
        {
            return true;
        }
        before = word;
    }
    false
}

/// Kinds of commits, as the subjects of many projects begin.
const COMMITS: &[&str] = &["fix", "feat", "docs", "test", "tests", "chore", "refactor", "style", "perf", "build", "ci"];

/// Whether a line is the subject of a commit: `fix(parser): …`, also behind the commit's hash or branch.
fn is_subject(line: &str) -> bool {
    let line = line.trim_start();
    let is_hash = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let rest = match line.split_once(' ') {
        Some((first, rest)) if is_hash(first) => return !rest.is_empty(),
        _ if line.starts_with('[') => line.split_once("] ").map_or(line, |(_, rest)| rest),
        _ => line,
    };
    let Some((kind, _)) = rest.split_once(": ") else { return false };
    COMMITS.contains(&kind.split('(').next().unwrap_or(kind).trim_end_matches('!'))
}

/// Returns the exit code that an output names: `Exit code: 1`, `exited with code 1`, `<returncode>1`.
pub fn exit_code(text: &str) -> Option<i32> {
    let ends =
        [&text[..text.floor_char_boundary(400)], &text[text.ceil_char_boundary(text.len().saturating_sub(200))..]];
    ends.into_iter().find_map(|part| {
        let lower = part.to_ascii_lowercase();
        ["exit code: ", "exit code ", "exited with code ", "exit status ", "<returncode>", "exit_code: "]
            .iter()
            .find_map(|mark| {
                let rest = &lower[lower.find(mark)? + mark.len()..];
                let digits =
                    rest.len() - rest.trim_start_matches(|char: char| char.is_ascii_digit() || char == '-').len();
                rest[..digits].parse().ok()
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_commands_ended() {
        let check = |text: &str, exit: Option<i32>, expect: Option<&str>| {
            assert_eq!((exit_code(text), outcome(text)), (exit, expect), "{text}");
        };
        check("a\ntest result: ok. 3 passed; 0 failed\n", None, Some("test result: ok. 3 passed; 0 failed"));
        check("Exit code: 101\nOutput:\nerror: no", Some(101), Some("error: no"));
        check("Process exited with code 0\nhello", Some(0), None);
        check("x <returncode>-1</returncode>", Some(-1), None);
        check(" 1290 pass\n 0 fail\n", None, Some("0 fail"));
        let check = |line: &str, expect: bool| assert_eq!(is_failure(line), expect, "{line}");
        check("test result: ok. 3 passed; 0 failed", false);
        check("test result: FAILED. 3 passed; 1 failed", true);
        check("10 passed, 2 xfailed", false);
        check("--- PASS: TestFailed (0.00s)", false);
        check("--- FAIL: TestFine (0.00s)", true);
        check("0 fail", false);
        check("3 fail", true);
        check("failures: 0", false);
        check("a1b2c3d fix: report a failed export", false);
        check("[main a1b2c3d] fix(export): a failed export is told", false);
        check("error: could not compile", true);
    }

    #[test]
    fn errors_of_outputs() {
        let check = |text: &str, expect: &str| assert_eq!(first_error(text), Some(expect));
        check("x\nTraceback (most recent call last):\n  File a\n    x()\nValueError: bad\n", "ValueError: bad");
        check("   Compiling\nerror[E1]: no\n  --> a.rs:1\n", "error[E1]: no");
        check("usage: x\n\nuse it well", "use it well");
    }
}
