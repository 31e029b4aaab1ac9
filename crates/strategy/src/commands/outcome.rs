//! The outcome of a command, by the output of a tool.

use super::endings::{is_failure, is_success};
use super::shell::hides_failures;
use crate::cut::is_error_line;

/// Whether a line replaces text that left the context: an elision mark, or another agent's placeholder.
fn is_mark(line: &str) -> bool {
    line.starts_with("[… ") || line.starts_with("[Old tool result")
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

/// Returns the last line of an output, of its last 20, that reports how the command ended.
pub fn outcome(text: &str) -> Option<&str> {
    let lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty() && !is_mark(line)).take(20);
    lines.clone().find(|line| !line.starts_with('(') && (is_failure(line) || is_success(line)))
}

/// Whether a command failed, by the exit code that its output names, the tool's own mark, or the last line that says how it
/// ended; `None` where nothing tells. A code of 0 is that of the last command of `script`: where another one may have failed, a
/// line that says so counts. Linear in the output.
pub fn has_failed(output: &str, is_error: bool, script: Option<&str>) -> Option<bool> {
    let said = || outcome(output).map(is_failure);
    match exit_code(output) {
        Some(0) => Some(script.is_some_and(hides_failures) && said() == Some(true)),
        Some(_) => Some(true),
        None => is_error.then_some(true).or_else(said),
    }
}

/// Returns the exit code that one of the first lines of an output names at its beginning, where a tool puts it: what a command
/// shows may speak of others.
pub fn first_exit_code(output: &str) -> Option<i32> {
    const STARTS: [&str; 3] = ["Exit code", "Process exited with code", "<returncode>"];
    let names = |line: &&str| STARTS.iter().any(|start| line.trim_start().starts_with(start));
    output.lines().take(4).find(names).and_then(exit_code)
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
        check(" 1290 pass\n 0 fail\n", None, Some("1290 pass"));
    }

    #[test]
    fn what_failed() {
        let check = |script: &str, output: &str, expect: Option<bool>| {
            assert_eq!(has_failed(output, false, Some(script)), expect, "{script}: {output}");
        };
        let red = "Process exited with code 0\nOutput:\ntest result: FAILED. 3 passed; 1 failed";
        check("cargo test 2>&1 | tail -5", red, Some(true));
        check("cargo test || true", red, Some(true));
        // Without a pipe the code is that of what was run.
        check("cd a && ./retry.sh", red, Some(false));
        check("cargo test", "Exit code: 101\nok", Some(true));
        check("cargo test", "1 failed", Some(true));
        check("ls", "a.rs", None);
    }

    #[test]
    fn errors_of_outputs() {
        let check = |text: &str, expect: &str| assert_eq!(first_error(text), Some(expect));
        check("x\nTraceback (most recent call last):\n  File a\n    x()\nValueError: bad\n", "ValueError: bad");
        check("   Compiling\nerror[E1]: no\n  --> a.rs:1\n", "error[E1]: no");
        check("usage: x\n\nuse it well", "use it well");
    }
}
