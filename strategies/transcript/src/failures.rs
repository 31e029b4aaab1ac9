//! What tools say of their own success and failure, where no exit code and no flag does.

use epitome_strategy::Value;

/// How the lines of programs begin that report their failure, in lower case.
/// Source: the programs themselves (git, npm, apt, Go, Rust, cargo, gcc, curl, PostgreSQL), HTTP's status lines, and the
/// tools of the recorded agents.
const STARTS: &[&str] = &[
    "error:",
    "error[",
    "error ",
    "fatal:",
    "fatal error",
    "npm err!",
    "npm error",
    "e: ",
    "panic:",
    "exception:",
    "uncaught ",
    "unhandled ",
    "curl: (",
    "failed:",
    "failed to ",
    "failure:",
    "rejected:",
    "denied:",
    "invalid ",
    "cannot ",
    "could not ",
    "couldn't ",
    "unable to ",
    "unauthorized",
    "forbidden",
    "no such ",
    "enoent",
    "eacces",
    "错误：",
    "错误:",
    "失败：",
    "失败:",
    "异常：",
    "异常:",
    "无法",
    "找不到",
];

/// What programs and systems say of a failure anywhere in a line, as whole words, in lower case.
/// Source: the messages of POSIX's error numbers and signals, of shells, of databases, and HTTP's names of status codes.
const PHRASES: &[&str] = &[
    "command not found",
    "is not recognized as an internal or external command",
    "is not recognized as the name of a cmdlet",
    "no such file or directory",
    "permission denied",
    "access denied",
    "operation not permitted",
    "connection refused",
    "connection reset by peer",
    "could not resolve host",
    "name or service not known",
    "no space left on device",
    "read-only file system",
    "cannot allocate memory",
    "out of memory",
    "segmentation fault",
    "core dumped",
    "bus error",
    "timed out",
    "deadlock detected",
    "authentication failed",
    "invalid api key",
    "rate limit exceeded",
    "internal server error",
    "bad gateway",
    "service unavailable",
    "gateway timeout",
    "too many requests",
    "does not exist",
    "文件不存在",
    "没有那个文件或目录",
    "权限不够",
    "权限不足",
    "拒绝访问",
    "连接被拒绝",
    "连接超时",
    "请求超时",
    "命令未找到",
    "未找到命令",
];

/// Lines that are all that a shell says of a command that a signal ended. Source: bash and dash.
const LINES: &[&str] = &["killed", "aborted", "terminated", "timeout", "not found"];

/// Words of tools that succeeded, in lower case.
const SUCCESS: &[&str] = &[
    "passed",
    "pass",
    "ok",
    "success",
    "successful",
    "successfully",
    "succeeded",
    "finished",
    "completed",
    "built",
    "created",
    "updated",
    "done",
];
/// The same in Chinese, which has no borders of words.
const SUCCESS_CHINESE: &[&str] = &["通过", "成功", "完成"];
/// Words that turn one of them around.
const NEGATIONS: &[&str] = &[
    "not", "no", "0", "never", "without", "cannot", "t", "un", "isn", "wasn", "failed", "fail", "error", "until", "if",
    "when",
];

/// Bytes of the longest line that is read for what it says of the ending: a longer one is content.
const LONGEST: usize = 300;

/// Whether a line says plainly that what was asked for failed. Linear in the line.
pub(crate) fn tells_of_failure(line: &str) -> bool {
    let line = line.trim();
    if line.len() > LONGEST {
        return false;
    }
    let lower = line.to_ascii_lowercase();
    STARTS.iter().any(|start| lower.starts_with(start))
        || LINES.contains(&lower.trim_end_matches('.'))
        || PHRASES.iter().any(|phrase| has_words(&lower, phrase))
        || names_status(&lower).is_some_and(|status| status >= 400)
        || names_exception(line)
}

/// Whether a line says plainly that what was asked for succeeded. Linear in the line.
pub(crate) fn tells_of_success(line: &str) -> bool {
    let line = line.trim();
    if line.len() > LONGEST || tells_of_failure(line) {
        return false;
    }
    if SUCCESS_CHINESE.iter().any(|word| line.contains(word)) {
        return !["未", "没有", "不", "失败"].iter().any(|word| line.contains(word));
    }
    let lower = line.to_ascii_lowercase();
    // git's report of a commit.
    if lower.contains(" file changed,") || lower.contains(" files changed,") {
        return true;
    }
    let words = || lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_negated = |(before, word): (&str, &str)| NEGATIONS.contains(&before) && SUCCESS.contains(&word);
    words().any(|word| SUCCESS.contains(&word))
        && !words().zip(words().skip(1)).any(is_negated)
        && !["error", "failed", "warning", "fail"]
            .iter()
            .any(|word| words().any(|other| other == *word) && !has_none_of(&lower, word))
}

/// Whether a line counts none of `word`: `0 failed`, `no errors`, `failed: 0`.
fn has_none_of(line: &str, word: &str) -> bool {
    ["0 ", "no ", "without "].iter().any(|none| has_words(line, &format!("{none}{word}")))
        || has_words(line, &format!("{word}: 0"))
}

/// Returns whether an object of JSON says that what was asked for succeeded; `None` where it says neither.
pub(crate) fn verdict(text: &str) -> Option<bool> {
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

/// Whether a line has words, of which no other letter or digit is a neighbour; Chinese has no borders of words.
fn has_words(line: &str, words: &str) -> bool {
    line.match_indices(words).any(|(at, found)| {
        let is_free = |char: Option<char>| char.is_none_or(|char| !char.is_ascii_alphanumeric() && char != '_');
        is_free(line[..at].chars().next_back()) && is_free(line[at + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words() {
        let check = |line: &str, expect: Option<bool>| {
            let found = match (tells_of_failure(line), tells_of_success(line)) {
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
