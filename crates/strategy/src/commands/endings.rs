//! What a line, or an answer in JSON, says of how something ended.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Match};
use serde_json::Value;

use super::results::is_commit;
use crate::lists::LISTS;

/// What programs, shells and services print of a failure, in lower case. What ends in a space opens the line; the rest may
/// stand anywhere, as words of its own. Source: git, npm, apt, Go, Rust, gcc, curl, PostgreSQL, the messages of POSIX's error
/// numbers and signals, shells, and HTTP's names of status codes.
static FAILURES: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("failures"));
/// Finds all of them in one pass. Its tables take longer to build than most sessions to search, so the kind is one that is
/// built quickly.
static FAILURE_SEARCH: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(&*FAILURES).ok());

/// Words of tools that succeeded, in lower case; in Chinese, which has no borders of words, parts of a line.
static SUCCESS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("success"));
/// Words that turn one of them around.
static NEGATIONS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("negations"));

/// Bytes of the longest line that is read for what it says of the ending: a longer one is content.
const LONGEST: usize = 300;

/// Whether a line says plainly that something failed. Logs mention errors that were handled, so only plain words count: `0
/// failed`, `xfailed` and the subject of a commit (`1a2b3c4 fix: a failed export`) are none. Linear in the line.
pub fn is_failure(line: &str) -> bool {
    let line = line.trim();
    if line.len() > LONGEST || is_subject(line) {
        return false;
    }
    let lower = line.to_ascii_lowercase();
    // All that a shell says of a command that a signal ended.
    matches!(lower.trim_end_matches('.'), "killed" | "aborted" | "terminated" | "timeout" | "not found")
        || FAILURE_SEARCH
            .as_ref()
            .is_some_and(|search| search.find_overlapping_iter(&lower).any(|it| is_said(&lower, &it)))
        || counts_failures(&lower)
        || names_status(&lower).is_some_and(|status| status >= 400)
        || names_exception(line)
}

/// Whether a line says plainly that something succeeded. Linear in the line.
pub fn is_success(line: &str) -> bool {
    let line = line.trim();
    if line.len() > LONGEST || is_failure(line) {
        return false;
    }
    let lower = line.to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_negated = |at: usize| at > 0 && NEGATIONS.contains(&words[at - 1]);
    let mut found = (0..words.len()).filter(|at| SUCCESS.contains(&words[*at])).peekable();
    let says_so = match found.peek() {
        Some(_) => found.all(|at| !is_negated(at)),
        None => is_chinese_success(line),
    };
    // git's report of a commit counts its files.
    says_so && !words.contains(&"warning") || lower.contains(" file changed,") || lower.contains(" files changed,")
}

fn is_chinese_success(line: &str) -> bool {
    SUCCESS.iter().any(|word| !word.is_ascii() && line.contains(word))
        && !["未", "没有", "不"].iter().any(|word| line.contains(word))
}

/// Whether a line (in lower case) counts failures or names one: the word stands alone, and not beside a zero.
fn counts_failures(line: &str) -> bool {
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

/// Whether a line is the subject of a commit, behind its hash or its branch.
fn is_subject(line: &str) -> bool {
    let is_hash = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit(line) || line.split_once(' ').is_some_and(|(first, _)| is_hash(first))
}

/// Returns whether an object of JSON says that what was asked for succeeded; `None` where it says neither.
pub fn verdict(text: &str) -> Option<bool> {
    const LARGEST: usize = 20_000;
    let text = text.trim();
    if !text.starts_with('{') || text.len() > LARGEST {
        return None;
    }
    let json: Value = text.parse().ok()?;
    let number = |key: &str| json.get(key).or_else(|| json.get("metadata")?.get(key))?.as_i64();
    if let Some(code) = ["exit_code", "exitCode", "returncode", "return_code"].iter().find_map(|key| number(key)) {
        return Some(code == 0);
    }
    let truth = |key: &str| json.get(key)?.as_bool();
    if let Some(fine) = ["success", "ok", "succeeded"].iter().find_map(|key| truth(key)) {
        return Some(fine);
    }
    if let Some(failed) = ["is_error", "isError", "error", "failed"].iter().find_map(|key| truth(key)) {
        return Some(!failed);
    }
    let says = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty()) || value.is_object();
    if json.get("error").is_some_and(says) {
        return Some(false);
    }
    if let Some(status) = ["status", "statusCode", "status_code"].iter().find_map(|key| number(key)) {
        return (200..600).contains(&status).then_some(status < 400);
    }
    match json.get("status")?.as_str()?.to_ascii_lowercase().as_str() {
        "ok" | "success" | "succeeded" => Some(true),
        "error" | "failed" | "failure" => Some(false),
        _ => None,
    }
}

/// Returns the status code of HTTP that a line begins with: `HTTP 404 Not Found`, `HTTP/1.1 500`, `HTTP error 403`.
fn names_status(line: &str) -> Option<u32> {
    let rest = line.strip_prefix("http")?;
    let rest = rest
        .strip_prefix('/')
        .map_or(rest, |version| version.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.'));
    let rest = rest.strip_prefix(" error").unwrap_or(rest).trim_start_matches([' ', ':']);
    let digits = rest.len() - rest.trim_start_matches(|char: char| char.is_ascii_digit()).len();
    (digits == 3).then(|| rest[..3].parse().ok()).flatten()
}

/// Whether a line begins with the name of an exception and a colon, as Python, JavaScript and Java print one.
fn names_exception(line: &str) -> bool {
    let Some((name, _)) = line.split_once(':') else { return false };
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
    is_name && (name.ends_with("Error") || name.ends_with("Exception"))
}

/// Whether what was found of [`FAILURES`] opens the line where it has to, and else stands as words of its own.
fn is_said(line: &str, found: &Match) -> bool {
    if FAILURES[found.pattern().as_usize()].ends_with(' ') {
        return found.start() == 0;
    }
    let is_free = |char: Option<char>| char.is_none_or(|char| !char.is_ascii_alphanumeric() && char != '_');
    is_free(line[..found.start()].chars().next_back()) && is_free(line[found.end()..].chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_plainly() {
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
    fn plain_words() {
        let check = |line: &str, expect: Option<bool>| {
            let found = match (is_failure(line), is_success(line)) {
                (false, false) => None,
                (failed, fine) => {
                    assert!(failed != fine, "both: {line}");
                    Some(fine)
                }
            };
            assert_eq!(found, expect, "{line}");
        };
        for line in [
            "bash: foo: command not found",
            "fatal: not a git repository (or any of the parent directories): .git",
            "ls: cannot access 'x': No such file or directory",
            "Permission denied (publickey).",
            "npm ERR! code E404",
            "Segmentation fault (core dumped)",
            "timed out after 30s",
            "HTTP 404 Not Found",
            "HTTP/1.1 500",
            "Invalid API key",
            "rejected: insufficient funds",
            "ERROR:  deadlock detected",
            "psycopg2.errors.Error: x",
            "ValueError: bad",
            "Killed",
            "错误：文件不存在",
            "连接超时",
        ] {
            check(line, Some(false));
        }
        for line in [
            "64 passed in 0.41s",
            "test result: ok. 3 passed; 0 failed",
            "File created successfully at: /tmp/compare.py",
            "The file a.rs has been updated.",
            "全部测试通过",
        ] {
            check(line, Some(true));
        }
        for line in [
            "fn error() {}",
            "src/error.rs",
            "errors.py",
            "the order was not completed",
            "0 passed",
            "unsuccessful",
            "HTTP 200",
            "https://host/404",
            "killed processes are listed below",
            "false",
            "plain words",
            "未完成",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn verdicts() {
        let check = |text: &str, expect: Option<bool>| assert_eq!(verdict(text), expect, "{text}");
        check(r#"{"status": 500, "message": "internal"}"#, Some(false));
        check(r#"{"status": 200, "rows": []}"#, Some(true));
        check(r#"{"output":"x","metadata":{"exit_code":1}}"#, Some(false));
        check(r#"{"exit_code":0}"#, Some(true));
        check(r#"{"success":false}"#, Some(false));
        check(r#"{"error":"no such user"}"#, Some(false));
        check(r#"{"error":null,"ok":true}"#, Some(true));
        check(r#"{"status":"shipped"}"#, None);
        check(r#"{"status": 3}"#, None);
        check("[1]", None);
    }
}
