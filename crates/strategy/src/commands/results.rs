//! The lasting results of commands: commits, and requests to merge them. A script of many commands is shown by its
//! first line; its lasting results are found in every line.

/// The lasting results that a script may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LastingResults {
    commits: bool,
    merge_requests: bool,
}

impl LastingResults {
    /// Returns the lasting results that a script may have. Linear.
    pub fn of(script: &str) -> Self {
        let has = |commands: &[&str]| commands.iter().any(|command| script.contains(command));
        Self {
            commits: has(&["commit", "merge", "cherry-pick"]),
            merge_requests: has(&["pr create", "mr create", "pr merge", "mr merge"]),
        }
    }

    /// Whether a line of the script's output reports one. Linear in the line.
    pub fn is_reported_by(self, line: &str) -> bool {
        let line = line.trim();
        self.commits && is_commit(line) || self.merge_requests && is_merge_request(line)
    }
}

/// Whether a line is git's total of a diff: `3 files changed, 10 insertions(+)`, or the same in Chinese. Linear in the line.
pub fn is_diff_total(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
    rest.len() < line.len() && [" file changed", " files changed", " 个文件被"].iter().any(|it| rest.starts_with(it))
}

/// Whether a line is git's report of a commit: `[main 1a2b3c4] Fix the parser`.
pub(super) fn is_commit(line: &str) -> bool {
    let Some((head, subject)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) else { return false };
    let hash = head.split_whitespace().next_back().unwrap_or_default();
    let has_branch = head.split_whitespace().count() > 1;
    has_branch
        && !subject.is_empty()
        && (7..=40).contains(&hash.len())
        && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a line has the address of a pull or merge request.
fn is_merge_request(line: &str) -> bool {
    ["/pull/", "/merge_requests/"].iter().any(|part| {
        line.contains("://")
            && line.split_once(part).is_some_and(|(_, rest)| rest.starts_with(|char: char| char.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_diffs() {
        let check = |line: &str, expect: bool| assert_eq!(is_diff_total(line), expect, "{line}");
        check(" 3 files changed, 10 insertions(+), 2 deletions(-)", true);
        check(" 1 file changed, 1 insertion(+)", true);
        check(" 3 个文件被修改，插入 10 行(+)", true);
        check("no files changed", false);
        check("3 files were read", false);
    }

    #[test]
    fn what_lasts_is_found() {
        let check = |script: &str, output: &str, expect: &[&str]| {
            let results = LastingResults::of(script);
            let told: Vec<&str> = output.lines().map(str::trim).filter(|line| results.is_reported_by(line)).collect();
            assert_eq!(told, expect, "{script}");
        };
        let commit = "[feat/parser 1a2b3c4] Fix the parser\n 2 files changed, 10 insertions(+)";
        check("git add -A\ngit commit -m x", commit, &["[feat/parser 1a2b3c4] Fix the parser"]);
        check("git commit", "[main (root-commit) 1a2b3c4d5e] Begin", &["[main (root-commit) 1a2b3c4d5e] Begin"]);
        check("cargo build", commit, &[]);
        check("git commit -m x", "[INFO 12] not a hash\n[main] nothing", &[]);
        let url = "https://git.example/owner/repo/pull/17";
        check("git push && gh pr create --fill", &format!("Creating pull request\n\n{url}\n"), &[url]);
        check("gh pr list", url, &[]);
        check("glab mr create", "!4 x\n https://h/a/-/merge_requests/4", &["https://h/a/-/merge_requests/4"]);
    }
}
