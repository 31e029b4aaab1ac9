//! The block's parts, and which of them a line belongs to.

use std::collections::HashSet;

use epitome_strategy::{Cue, Cues, Language, View};

use crate::passage::{Line, PassageKind};
use crate::source::Source;

/// The block's parts, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
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
    /// What the block is about, in figures.
    Context,
}

impl Section {
    pub(super) const ALL: [Self; 7] =
        [Self::Requests, Self::Tasks, Self::Files, Self::Decisions, Self::Questions, Self::Details, Self::Context];

    pub(super) fn heading(self, language: Language) -> &'static str {
        match self {
            Self::Requests => language.pick("## What the user demanded", "## 用户的要求"),
            Self::Tasks => language.pick("## Task list", "## 任务清单"),
            Self::Files => language.pick("## Files", "## 文件"),
            Self::Decisions => language.pick("## Decisions", "## 决定"),
            Self::Questions => language.pick("## Open questions", "## 未决问题"),
            Self::Details => language.pick("## Exact lines, oldest first", "## 原文摘录（从旧到新）"),
            Self::Context => language.pick("## Covered messages", "## 涵盖的消息"),
        }
    }

    /// Returns the section that a line opens.
    pub(super) fn of_heading(line: &str) -> Option<Self> {
        let opens =
            |section: &Self| [Language::English, Language::Chinese].iter().any(|it| section.heading(*it) == line);
        Self::ALL.into_iter().find(opens)
    }

    /// Returns the section of each line of a session. Of lists of tasks the newest is in its own. Linear.
    pub(super) fn of_lines(view: &View<'_>, source: &Source) -> Vec<Self> {
        let decides = view.lexicon().search(Cues::new([Cue::Decision]));
        let asks = view.lexicon().search(Cues::new([Cue::Question]));
        // A typed message answers what the model said before it.
        let typed = source.passages.windows(2).filter(|pair| pair[1].kind == PassageKind::Typed);
        let answered: HashSet<u32> = typed.map(|pair| pair[0].message).collect();
        let section = |line: &Line| {
            let passage = &source.passages[line.passage as usize];
            match passage.kind {
                PassageKind::Typed | PassageKind::SpokenThroughTool if line.demand > 0.0 => Self::Requests,
                PassageKind::Argument
                    if passage.action.is_some_and(|action| source.actions[action as usize].lists_tasks) =>
                {
                    Self::Tasks
                }
                PassageKind::Commentary | PassageKind::Answer if decides.has(line.text()) => Self::Decisions,
                PassageKind::Commentary | PassageKind::Answer
                    if asks.has(line.text()) && !answered.contains(&passage.message) =>
                {
                    Self::Questions
                }
                _ => Self::Details,
            }
        };
        source.lines.iter().map(section).collect()
    }
}
