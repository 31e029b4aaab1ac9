//! The block's parts, and its words in both languages.

use epitome_strategy::{Language, Tokens, View};

/// Tokens of the line that names the source of a group of lines.
pub(crate) const HEADER_TOKENS: f32 = 5.0;

/// The block's parts, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    /// Demands of the user, word for word.
    Requests,
    /// The task list.
    Tasks,
    /// Files changed and read.
    Files,
    /// Decisions and conclusions of the model, word for word.
    Decisions,
    /// Questions that the model asked or left open, without an answer.
    Questions,
    /// Exact lines, in the order of the session.
    Details,
}

impl Section {
    pub(crate) const ALL: [Self; 6] =
        [Self::Requests, Self::Tasks, Self::Files, Self::Decisions, Self::Questions, Self::Details];

    pub(crate) fn heading(self, language: Language) -> &'static str {
        match self {
            Self::Requests => worded(language, "## What the user demanded", "## 用户的要求"),
            Self::Tasks => worded(language, "## Task list", "## 任务清单"),
            Self::Files => worded(language, "## Files", "## 文件"),
            Self::Decisions => worded(language, "## Decisions", "## 决定"),
            Self::Questions => worded(language, "## Open questions", "## 未决问题"),
            Self::Details => worded(language, "## Exact lines, oldest first", "## 原文摘录（从旧到新）"),
        }
    }

    /// Returns the section that a line opens.
    pub(crate) fn of_heading(line: &str) -> Option<Self> {
        let opens =
            |section: &Self| [Language::English, Language::Chinese].iter().any(|it| section.heading(*it) == line);
        Self::ALL.into_iter().find(opens)
    }
}

/// Returns the tokens of all headings.
pub(crate) fn headings(view: &View<'_>, language: Language) -> Tokens {
    Section::ALL.iter().map(|section| view.count(section.heading(language)) + 2).sum::<Tokens>() + 8
}

/// Returns a word of the block in the session's language.
pub(crate) fn worded(language: Language, english: &'static str, chinese: &'static str) -> &'static str {
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}
