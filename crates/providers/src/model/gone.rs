//! Whether a clause says that a file itself was deleted: a summary often says so of a part of a file.

use epitome_strategy::text::is_cjk;

/// Words between a file and its fate.
const BETWEEN: &[&str] = &["was", "is", "are", "were", "has", "have", "been", "already", "now", "since", "later"];
/// Words in front of a file that is the subject of a sentence, or that was deleted.
const FRONT: &[&str] = &["the", "file", "files", "both"];
/// Words in front of the part of a sentence that begins with the file.
const JOINING: &[&str] = &["and", "or", "but", "that", "because", "so", "where", "while", "then"];
/// Words behind `deleted a.rs` with which nothing of the file is meant.
const BEHIND: &[&str] = &["and", "as", "because", "since", "with", "in", "too", "entirely", "but", "again"];
/// Words that give a clause another meaning.
const NOT: &[&str] = &[
    " not ",
    "n't",
    "never",
    " to be ",
    "should",
    "would",
    "will ",
    " if ",
    " when ",
    " from ",
    "没有",
    "不要",
    "未删除",
];

/// Whether a clause says that the file at `path`, whose name is `name`, was deleted: not that it is to be, or was not, or
/// that something in it was. Linear in the clause for each place of the name.
pub(super) fn deletes(clause: &str, path: &str, name: &str) -> bool {
    let lower = format!(" {} ", clause.to_lowercase());
    if name.is_empty() || NOT.iter().any(|word| lower.contains(word)) {
        return false;
    }
    clause.match_indices(name).any(|(at, _)| {
        let is_path =
            |char: char| !is_cjk(char) && (char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '/' | '~'));
        let start = clause[..at].trim_end_matches(is_path).len();
        let end = at + name.len();
        let spelt = &clause[start..end];
        let is_it = spelt == path || path.ends_with(&format!("/{spelt}")) || spelt.ends_with(&format!("/{path}"));
        let behind = clause[end..].trim_end_matches(['.', '。']);
        // `a.rs:12` and `a.rs's` are parts of it.
        let part = |rest: &str| {
            rest.starts_with(|char: char| is_path(char) || matches!(char, '\'' | '’'))
                || rest.strip_prefix(':').is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()))
        };
        is_it && !part(behind) && {
            let front = clause[..start].trim_end_matches(['`', '"', '“', '*']).to_lowercase();
            let behind = behind.trim_start_matches(['`', '"', '”', '*']).to_lowercase();
            is_subject(&front) && is_gone(&behind) || is_deleted(&front) && ends(&behind)
        }
    })
}

/// Whether a file behind these words is the subject of the words behind it.
fn is_subject(front: &str) -> bool {
    let mut front = front.trim_end();
    loop {
        let Some(last) = front.chars().next_back() else { return true };
        if is_cjk(last) {
            return !["在", "从", "对", "于", "的"].iter().any(|word| front.ends_with(word));
        }
        if !last.is_alphanumeric() {
            return true;
        }
        let word = front.rsplit(char::is_whitespace).next().unwrap_or_default();
        front = front[..front.len() - word.len()].trim_end();
        if JOINING.contains(&word) {
            // In `in a.rs and b.rs` the first one decides.
            let before = front.rsplit(char::is_whitespace).next().unwrap_or_default();
            if !before.contains(['.', '/']) {
                return true;
            }
            front = front[..front.len() - before.len()].trim_end();
        } else if !FRONT.contains(&word) {
            return false;
        }
    }
}

/// Whether the words behind a file say that it is gone.
fn is_gone(behind: &str) -> bool {
    let rest = behind.trim_start();
    if rest.starts_with("no longer exists") {
        return true;
    }
    let chinese =
        ["已被删除", "已经删除", "已删除", "被删除", "删除", "已被移除", "已移除", "被移除", "移除", "不再存在"];
    let bare = rest.trim_start_matches([':', '：', '-', '–', '—', '(', '（', ' ', '文', '件']);
    if let Some(rest) = chinese.iter().find_map(|word| bare.strip_prefix(word)) {
        return !rest.trim_start_matches('了').starts_with(is_cjk);
    }
    let bare = rest.trim_start_matches([':', '-', '–', '—', '(', ' ']);
    let mut is_sentence = false;
    let mut left = bare;
    loop {
        let word = left.split(|char: char| !char.is_alphanumeric()).next().unwrap_or_default();
        left = left[word.len()..].trim_start();
        match word {
            // `a.rs: removed the field` is about something else.
            "deleted" | "removed" => return is_sentence || left.trim_matches([')', ' ']).is_empty(),
            word if BETWEEN.contains(&word) => is_sentence = true,
            _ => return false,
        }
    }
}

/// Whether the file behind these words was deleted by them.
fn is_deleted(front: &str) -> bool {
    let mut front = front.trim_end();
    for word in ["文件", "了"] {
        front = front.strip_suffix(word).unwrap_or(front).trim_end();
    }
    if ["删除", "移除"].iter().any(|word| front.ends_with(word)) {
        return true;
    }
    loop {
        let word = front.rsplit(|char: char| !char.is_alphanumeric()).next().unwrap_or_default();
        match word {
            "deleted" | "removed" => return true,
            word if FRONT.contains(&word) => front = front[..front.len() - word.len()].trim_end(),
            _ => return false,
        }
    }
}

/// Whether the words behind `deleted a.rs` leave the file as the deleted thing.
fn ends(behind: &str) -> bool {
    let rest = behind.trim_start();
    let rest = rest.strip_prefix("文件").unwrap_or(rest);
    let Some(first) = rest.chars().next() else { return true };
    if is_cjk(first) {
        return ["和", "以及", "并", "因为"].iter().any(|word| rest.starts_with(word));
    }
    let word = rest.split(|char: char| !char.is_alphanumeric()).next().unwrap_or_default();
    word.is_empty() || BEHIND.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_itself() {
        let check =
            |clause: &str, expect: bool| assert_eq!(deletes(clause, "sts/sts.go", "sts.go"), expect, "{clause}");
        for clause in [
            "- sts/sts.go was deleted.",
            "- The file `sts/sts.go` has been removed",
            "- sts.go is already deleted",
            "- sts.go: deleted",
            "- sts.go (removed)",
            "- the tests pass and sts.go was removed in the end",
            "- The agent deleted /repo/sts/sts.go",
            "- removed the file `sts.go` and its test",
            "- sts.go no longer exists",
            "- `sts/sts.go` 已删除。",
            "- 文件 sts.go 已被移除",
            "- 删除了 sts/sts.go",
            "- 已删除文件 `sts.go`",
        ] {
            check(clause, true);
        }
        for clause in [
            "- sts/sts.go: the field cachedClient was removed.",
            "- In sts/sts.go one field was removed.",
            "- the field in sts/sts.go was removed",
            "- the fields in a.go and sts.go were removed",
            "- sts.go: removed the field cachedClient",
            "- deleted sts.go:12-20",
            "- removed sts.go's cache",
            "- removed sts.go references",
            "- sts.go is to be deleted",
            "- sts.go was not deleted",
            "- old/sts.go was deleted",
            "- all_sts.go was deleted",
            "- the cache was deleted; sts.go builds",
            "- sts.go 中的字段已删除",
            "- 删除了 sts.go 中的字段",
            "- sts.go 已删除字段 cachedClient",
        ] {
            check(clause, false);
        }
    }
}
