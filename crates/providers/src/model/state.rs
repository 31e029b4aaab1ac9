//! The state that messages hold and a model need not retell: the task list, and git's count of the changes.

use epitome_strategy::commands::is_diff_total;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{Language, View};

use super::shorten::one_line;
use crate::rules::tasks;

/// Files of a count of changes that are shown; the newest counts of large changes have hundreds.
const MOST_FILES: usize = 12;

/// A task of the newest list that a call wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    /// The task's text.
    pub text: String,
    /// The line for it: a box, and what it is.
    pub line: String,
    /// Whether the task is finished.
    pub is_done: bool,
}

/// The tasks of the newest list that a call wrote, in their order; cancelled ones are left out. Linear in the calls.
pub(super) fn task_list(view: &View<'_>, language: Language) -> Vec<Task> {
    let Some((_, items)) = tasks::newest(view) else { return Vec::new() };
    let task = |(text, status): (String, String)| {
        let text = one_line(&text, 200);
        let (line, is_done) = match status.as_str() {
            "completed" | "done" | "complete" => (format!("- [x] {text}"), true),
            "cancelled" | "canceled" | "skipped" => return None,
            "in_progress" | "active" => {
                (format!("- [ ] {text}{}", language.pick(" (in progress)", "（进行中）")), false)
            }
            _ => (format!("- [ ] {text}"), false),
        };
        Some(Task { text, line, is_done })
    };
    items.into_iter().filter_map(task).collect()
}

/// The lines of the newest count of changes that git printed, the total last. Linear in the outputs.
pub(super) fn changes(view: &View<'_>) -> Vec<String> {
    let facts = view.facts();
    let by_git = |call: u32| {
        let call = facts.calls().get(call as usize);
        call.is_some_and(|call| call.kind == ToolKind::Shell && call.arguments.contains("git"))
    };
    let newest = facts.outputs().iter().rev().filter(|output| output.call.is_some_and(by_git)).find_map(|output| {
        let lines: Vec<&str> = output.text.lines().collect();
        let total = lines.iter().rposition(|line| is_diff_total(line))?;
        let files = lines[..total].iter().rev().take_while(|line| is_file(line)).count();
        Some(lines[total - files..=total].iter().map(|line| one_line(line, 200)).collect::<Vec<_>>())
    });
    let mut lines = newest.unwrap_or_default();
    if lines.len() > MOST_FILES + 1 {
        lines.drain(MOST_FILES..lines.len() - 1);
    }
    lines.into_iter().map(|line| format!("- {line}")).collect()
}

/// ` src/a.rs | 12 ++--`, ` a.png | Bin 0 -> 12 bytes`.
fn is_file(line: &str) -> bool {
    line.rsplit_once(" | ").is_some_and(|(path, count)| {
        let count = count.trim_start();
        !path.trim().is_empty() && (count.starts_with("Bin") || count.starts_with(|char: char| char.is_ascii_digit()))
    })
}
