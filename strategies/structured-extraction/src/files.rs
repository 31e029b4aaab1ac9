//! The files that old calls named.

use std::collections::HashSet;
use std::fmt::Write as _;

use epitome_strategy::{FileAccess, Language, Tokens, View};

/// The most files in the list that were only read: the lines name older ones where they matter.
const MOST_READ: usize = 12;
/// The separator of two paths.
const BETWEEN: &str = ", ";

/// The files that old calls named, newest first.
#[derive(Debug, Default)]
pub(crate) struct Files {
    changed: Vec<String>,
    read: Vec<String>,
}

impl Files {
    /// Returns as many as fit into `budget` tokens of the files that calls of a run's units named, changed ones first; those
    /// in an `earlier` block's list come last, and those that are `told` elsewhere are left out. Linear.
    pub(crate) fn new(
        view: &View<'_>,
        is_of_run: impl Fn(u32) -> bool,
        earlier: &Self,
        told: &Self,
        budget: Tokens,
    ) -> Self {
        let mut files = Self::default();
        let mut seen: HashSet<&str> = told.paths().collect();
        let mut left = budget;
        let events = view.facts().file_events();
        for wants_change in [true, false] {
            let of_calls = events.iter().rev().filter(|event| {
                let is_change = matches!(event.access, FileAccess::Edit | FileAccess::Write);
                let unit = view.facts().calls()[event.call as usize].unit;
                !event.failed && is_change == wants_change && is_of_run(unit)
            });
            let (into, known) =
                if wants_change { (&mut files.changed, &earlier.changed) } else { (&mut files.read, &earlier.read) };
            for path in of_calls.map(|event| &event.path).chain(known) {
                if !wants_change && into.len() == MOST_READ {
                    break;
                }
                let tokens = view.count(path) + 2;
                if tokens > left || !seen.insert(path) {
                    continue;
                }
                left -= tokens;
                into.push(path.clone());
            }
        }
        files
    }

    /// Adds the files of another list.
    pub(crate) fn append(&mut self, other: &Self) {
        self.changed.extend_from_slice(&other.changed);
        self.read.extend_from_slice(&other.read);
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.changed.iter().chain(&self.read).map(String::as_str)
    }

    /// Returns the tokens of the list, rather too many than too few.
    pub(crate) fn tokens(&self, view: &View<'_>) -> Tokens {
        self.paths().map(|path| view.count(path) + 2).sum()
    }

    /// Returns the list, one line for each way in which files were used.
    pub(crate) fn write(&self, language: Language) -> String {
        let mut text = String::new();
        for (label, paths) in [(changed_label(language), &self.changed), (read_label(language), &self.read)] {
            if !paths.is_empty() {
                let _ = writeln!(text, "{label}{}", paths.join(BETWEEN));
            }
        }
        text
    }

    /// Adds the files in a line of an earlier block's list; other lines have none.
    pub(crate) fn read_line(&mut self, line: &str) {
        for language in [Language::English, Language::Chinese] {
            for (label, paths) in [(changed_label(language), &mut self.changed), (read_label(language), &mut self.read)]
            {
                if let Some(listed) = line.strip_prefix(label) {
                    paths.extend(listed.split(BETWEEN).map(str::to_owned));
                    return;
                }
            }
        }
    }
}

fn changed_label(language: Language) -> &'static str {
    language.pick("changed: ", "已修改: ")
}

fn read_label(language: Language) -> &'static str {
    language.pick("read: ", "已读取: ")
}
