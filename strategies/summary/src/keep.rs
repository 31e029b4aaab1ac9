//! Steps that stay whole in front of the tail: the task list's state and the newest diff statistics.

use epitome_strategy::commands::is_diff_total;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{Tokens, View};

/// Tools that write or show the whole task list. A tool that changes one task of it does not show its state.
const TASK_LIST_TOOLS: &[&str] = &["TodoWrite", "TodoRead", "update_plan", "write_todos", "TaskList"];

/// The steps that stay, oldest first, and the kind of each.
pub(crate) struct KeptSteps(Vec<(u32, &'static str)>);

impl KeptSteps {
    /// Returns the newest step with a task list and the newest one with diff statistics, as far as both take no more
    /// than `most` tokens. Linear in the view.
    pub(crate) fn find(view: &View<'_>, most: Tokens) -> Self {
        let mut kept = Vec::new();
        let mut left = most;
        let found = [(task_list(view), "the task list"), (diff_stat(view), "diff statistics")];
        for (unit, what) in found {
            let Some(unit) = unit.filter(|unit| view.protection(*unit as usize).may_leave()) else { continue };
            let tokens = if kept.iter().any(|(kept, _)| *kept == unit) { 0 } else { view.unit_tokens(unit as usize) };
            // A step whose list is beside a giant result is not kept for the list's sake.
            if tokens <= left {
                left -= tokens;
                kept.push((unit, what));
            }
        }
        kept.sort_unstable();
        Self(kept)
    }

    /// Whether a unit stays.
    pub(crate) fn holds(&self, unit: u32) -> bool {
        self.0.iter().any(|(kept, _)| *kept == unit)
    }

    /// Returns the kept steps in words for a person; empty for none.
    pub(crate) fn note(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|(_, what)| *what).collect();
        if names.is_empty() { String::new() } else { format!("; {} kept", names.join(" and ")) }
    }
}

/// Returns the step whose call has the newest task list that a tool accepted.
fn task_list(view: &View<'_>) -> Option<u32> {
    let tools: Vec<String> = TASK_LIST_TOOLS.iter().map(|tool| plain(tool)).collect();
    let facts = view.facts();
    let mut failed: Vec<u32> =
        facts.outputs().iter().filter(|output| output.is_error).filter_map(|output| output.call).collect();
    failed.sort_unstable();
    let holds_list = |(index, _): &(usize, _)| {
        let call = &facts.calls()[*index];
        tools.contains(&plain(call.name)) && failed.binary_search(&(*index as u32)).is_err()
    };
    facts.calls().iter().enumerate().rev().find(holds_list).map(|(_, call)| call.unit)
}

/// Returns the step in which git last reported how much changed.
fn diff_stat(view: &View<'_>) -> Option<u32> {
    let facts = view.facts();
    let tells = |output: &&epitome_strategy::ToolOutput<'_>| {
        let call = output.call.map(|call| &facts.calls()[call as usize]);
        call.is_some_and(|call| call.kind == ToolKind::Shell && call.arguments.contains("git"))
            && output.text.lines().any(is_diff_total)
    };
    facts.outputs().iter().rev().find(tells).map(|output| output.unit)
}

/// Returns a name in lower case without `_` and `-`, behind a server's name.
fn plain(name: &str) -> String {
    let last = name.rsplit("__").next().unwrap_or(name);
    last.chars().filter(|char| !matches!(char, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(plain("mcp__plan__todo_write"), "todowrite");
        assert_eq!(plain("TodoWrite"), "todowrite");
    }
}
