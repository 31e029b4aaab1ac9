//! The block's text.

use std::collections::HashSet;
use std::fmt::Write as _;

use epitome_strategy::{FileAccess, Goal, Language, Tokens, View};

use crate::choose::Choice;
use crate::snippets::Kind;
use crate::worded;

/// What naming the source of a group of lines costs.
pub(crate) const HEADER_TOKENS: f32 = 8.0;

/// The block's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// What the user demanded, word for word.
    Requests,
    /// The task list.
    Tasks,
    /// Files changed and read.
    Files,
    /// Exact lines, in the order of the session.
    Details,
}

impl Section {
    const ALL: [Self; 4] = [Self::Requests, Self::Tasks, Self::Files, Self::Details];

    fn heading(self, language: Language) -> &'static str {
        match self {
            Self::Requests => worded(language, "## What the user demanded", "## 用户的要求"),
            Self::Tasks => worded(language, "## Task list", "## 任务清单"),
            Self::Files => worded(language, "## Files", "## 文件"),
            Self::Details => worded(language, "## Exact lines, oldest first", "## 原文摘录（从旧到新）"),
        }
    }

    /// The section that a line opens.
    pub(crate) fn of_heading(line: &str) -> Option<Self> {
        let opens =
            |section: &Self| [Language::English, Language::Chinese].iter().any(|it| section.heading(*it) == line);
        Self::ALL.into_iter().find(opens)
    }
}

/// Tokens of all headings.
pub(crate) fn headings(view: &View<'_>, language: Language) -> Tokens {
    Section::ALL.iter().map(|section| view.count(section.heading(language)) + 2).sum::<Tokens>() + 8
}

/// The files that old calls named, newest first.
#[derive(Debug, Default)]
pub(crate) struct Files {
    changed: Vec<String>,
    read: Vec<String>,
}

impl Files {
    /// As many as `budget` tokens hold, changed ones first.
    pub(crate) fn of(view: &View<'_>, is_old: &HashSet<usize>, budget: Tokens) -> Self {
        let mut files = Self::default();
        let mut seen: HashSet<&str> = HashSet::new();
        let mut left = budget;
        let events = view.facts().file_events();
        for wants_change in [true, false] {
            for event in events.iter().rev().filter(|event| !event.failed) {
                let is_change = matches!(event.access, FileAccess::Edit | FileAccess::Write);
                let unit = view.facts().calls()[event.call as usize].unit as usize;
                if is_change != wants_change || !is_old.contains(&unit) || !seen.insert(&event.path) {
                    continue;
                }
                let tokens = view.count(&event.path) + 2;
                if tokens > left {
                    break;
                }
                if !is_change && files.read.len() >= 12 {
                    break;
                }
                left -= tokens;
                let into = if is_change { &mut files.changed } else { &mut files.read };
                into.push(event.path.clone());
            }
        }
        files
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.changed.iter().chain(&self.read).map(String::as_str)
    }

    pub(crate) fn tokens(&self, view: &View<'_>) -> Tokens {
        self.paths().map(|path| view.count(path) + 2).sum()
    }
}

/// A choice on its way to a text.
pub(crate) struct Block<'c, 'v, 'a> {
    view: &'v View<'a>,
    choice: &'c Choice<'a>,
}

impl<'c, 'v, 'a> Block<'c, 'v, 'a> {
    pub(crate) fn new(view: &'v View<'a>, _goal: &Goal, choice: &'c Choice<'a>) -> Self {
        Self { view, choice }
    }

    /// The text, of at most `budget` tokens; empty when there is nothing to say.
    pub(crate) fn write(&self, language: Language, budget: Tokens) -> String {
        let mut text = self.text(language, self.choice.chosen.len());
        // Counts of lines add up to a little more or less than the count of the whole: the last lines leave.
        let mut lines = self.choice.chosen.len();
        while self.view.count(&text) > budget && lines > 0 {
            lines = lines * 15 / 16;
            text = self.text(language, lines);
        }
        text
    }

    fn text(&self, language: Language, newest: usize) -> String {
        let Choice { chosen, tasks, files, .. } = self.choice;
        let chosen = &chosen[chosen.len() - newest..];
        let mut text = String::new();
        let section = |text: &mut String, section: Section, lines: &str| {
            if !lines.is_empty() {
                let _ = write!(text, "{}\n{}\n", section.heading(language), lines.trim_end());
            }
        };
        let demands: String =
            chosen.iter().filter(|it| it.section == Section::Requests).map(|it| format!("- {}\n", it.text)).collect();
        section(&mut text, Section::Requests, &demands);
        section(&mut text, Section::Tasks, &tasks.join("\n"));
        let named = |label: &str, paths: &[String]| match paths.is_empty() {
            true => String::new(),
            false => format!("{label}: {}\n", paths.join(" ")),
        };
        let changed = named(worded(language, "changed", "已修改"), &files.changed);
        let read = named(worded(language, "read", "已读取"), &files.read);
        section(&mut text, Section::Files, &(changed + &read));
        let mut details = String::new();
        let mut group = None;
        for snippet in chosen.iter().filter(|it| it.section == Section::Details) {
            let here = (snippet.message, snippet.call);
            let own_call = snippet.call.map(|call| &self.view.facts().calls()[call as usize]);
            let same_call = |(_, call): (usize, Option<u32>)| call.is_some() && call == snippet.call;
            if group != Some(here) && !group.is_some_and(same_call) {
                let who = match (snippet.kind, own_call) {
                    (_, Some(call)) => call.name,
                    (Kind::Typed, None) => worded(language, "user", "用户"),
                    (Kind::Model, None) => worded(language, "assistant", "助手"),
                    (Kind::Call | Kind::Written | Kind::Output, None) => worded(language, "seen", "所见"),
                };
                let _ = writeln!(details, "[{who}]");
            }
            group = Some(here);
            details.push_str(&snippet.text);
            details.push('\n');
        }
        section(&mut text, Section::Details, &details);
        text
    }
}
