//! The state of the task list, as the newest call that wrote it has it.

use std::collections::HashSet;

use epitome_strategy::tools::ToolKind;
use epitome_strategy::{Value, View};

/// Keys under which task lists stand in arguments.
const LISTS: &[&str] = &["todos", "plan", "tasks", "items", "todo_list"];
/// Keys under which one task says what it is.
const TEXTS: &[&str] = &["content", "step", "title", "subject", "description", "text", "task"];

/// The tasks, one line each with its state; none where the newest list still stands in what stays, or there is none.
pub(crate) fn tasks(view: &View<'_>, is_old: &HashSet<usize>) -> Vec<String> {
    let calls = view.facts().calls().iter().rev().filter(|call| call.kind == ToolKind::Plan);
    for call in calls {
        let tasks = call.json().map(|json| listed(&json)).unwrap_or_default();
        if !tasks.is_empty() {
            return if is_old.contains(&(call.unit as usize)) { tasks } else { Vec::new() };
        }
    }
    Vec::new()
}

fn listed(arguments: &Value) -> Vec<String> {
    let list = LISTS.iter().find_map(|key| arguments.get(key)?.as_array());
    let line = |task: &Value| {
        let text = TEXTS.iter().find_map(|key| task.get(key)?.as_str()).or_else(|| task.as_str())?;
        let state = task.get("status").or_else(|| task.get("state")).and_then(Value::as_str).unwrap_or("pending");
        let mark = match state {
            "completed" | "done" | "complete" => "x",
            "in_progress" | "in-progress" | "active" | "doing" => "~",
            "cancelled" | "canceled" => "-",
            _ => " ",
        };
        Some(format!("- [{mark}] {}", text.lines().next().unwrap_or_default()))
    };
    list.map(|list| list.iter().filter_map(line).collect()).unwrap_or_default()
}
