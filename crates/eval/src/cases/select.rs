//! The filter for cases.

use epitome::strategy::TaskKind;

use crate::cases::case::{Case, CaseId};
use crate::cases::left_out::{Exclusion, LeftOutReason};

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

    /// Returns why a session of that format and name is left out, and what it is; `None` where it is taken.
    pub(crate) fn refuses_session(&self, format: &str, id: &CaseId) -> Option<Exclusion> {
        if self.format.as_deref().is_some_and(|wanted| wanted != format) {
            return Some((LeftOutReason::OtherFormat, format.to_owned()));
        }
        let pattern = self.only.as_ref()?;
        let both = format!("{}/{}", id.file, id.session);
        let is_wanted =
            [id.file.as_str(), id.session.as_str(), both.as_str()].into_iter().any(|name| fits(pattern, name));
        (!is_wanted).then(|| (LeftOutReason::OtherName, String::new()))
    }

    /// The same for the kind of task of a case.
    pub(crate) fn refuses_task(&self, case: &Case) -> Option<Exclusion> {
        let is_other = self.task.is_some_and(|wanted| case.task != wanted);
        is_other.then(|| (LeftOutReason::OtherTask, case.task.as_str().to_owned()))
    }

    /// The same for the size of a case and its kind of task.
    pub(crate) fn refuses(&self, case: &Case) -> Option<Exclusion> {
        let sizes = [
            (LeftOutReason::FewTokens, case.session_tokens, self.min_tokens, "tokens"),
            (LeftOutReason::FewCalls, case.future_calls, self.min_calls, "calls"),
            (LeftOutReason::FewNeeded, case.needed().len() as u32, self.min_needed, "strings"),
        ];
        let too_small = sizes.into_iter().find(|(_, has, least, _)| has < least);
        let refusal = too_small.map(|(reason, has, least, what)| (reason, format!("{has} {what} of at least {least}")));
        refusal.or_else(|| self.refuses_task(case))
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
