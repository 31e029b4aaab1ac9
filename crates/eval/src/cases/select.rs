//! The filter for cases.

use epitome::strategy::TaskKind;

use crate::cases::case::{Case, CaseId};

/// The filter for cases. The default takes long sessions with something to measure, as the tables of
/// `docs/evaluation.md` do.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// The fewest tokens of a session.
    pub min_tokens: u32,
    /// The fewest tool calls behind the cut.
    pub min_calls: u32,
    /// The fewest needed strings.
    pub min_needed: u32,
    /// The kind of task.
    pub task: Option<TaskKind>,
    /// The format.
    pub format: Option<String>,
    /// A pattern with `*` and `?` for the file's name, the session's, or `file/session`.
    pub only: Option<String>,
}

impl Default for Filter {
    fn default() -> Self {
        Self { min_tokens: 20_000, min_calls: 5, min_needed: 5, task: None, format: None, only: None }
    }
}

impl Filter {
    /// The filter that admits every case.
    pub const NONE: Self = Self { min_tokens: 0, min_calls: 0, min_needed: 0, task: None, format: None, only: None };

    pub(crate) fn admits_format(&self, format: &str) -> bool {
        self.format.as_deref().is_none_or(|wanted| wanted == format)
    }

    pub(crate) fn admits_session(&self, id: &CaseId) -> bool {
        let Some(pattern) = &self.only else { return true };
        let both = format!("{}/{}", id.file, id.session);
        [id.file.as_str(), id.session.as_str(), both.as_str()].into_iter().any(|name| fits(pattern, name))
    }

    pub(crate) fn admits_task(&self, case: &Case) -> bool {
        self.task.is_none_or(|wanted| case.task == wanted)
    }

    pub(crate) fn admits(&self, case: &Case) -> bool {
        case.session_tokens >= self.min_tokens
            && case.future_calls >= self.min_calls
            && case.needed().len() as u32 >= self.min_needed
            && self.admits_task(case)
    }
}

/// Whether `name` fits a pattern in which `*` matches any text and `?` any character.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let pattern = regex::escape(pattern).replace(r"\*", ".*").replace(r"\?", ".");
    regex::Regex::new(&format!("(?s)^{pattern}$")).is_ok_and(|pattern| pattern.is_match(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        fn check(pattern: &str, name: &str, expect: bool) {
            assert_eq!(fits(pattern, name), expect, "{pattern} {name}");
        }
        check("*", "", true);
        check("claude_code/*", "claude_code/a.jsonl.gz", true);
        check("*b*c", "abcabc", true);
        check("a?c", "abc", true);
        check("a?c", "ac", false);
        check("abc", "abcd", false);
    }
}
