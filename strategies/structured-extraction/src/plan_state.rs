//! The state of the task list, from the newest call that wrote it.

use std::ops::Range;

use epitome_strategy::tools::ToolKind;
use epitome_strategy::{Value, View};

/// Keys of task lists in arguments.
const LISTS: &[&str] = &["todos", "plan", "tasks", "items", "todo_list"];
/// Keys of one task's text.
const TEXTS: &[&str] = &["content", "step", "title", "subject", "description", "text", "task"];

/// Returns the tasks, one line each with its state; no line where the newest list is not in `units`. `None` where no
/// call wrote a list.
pub(crate) fn tasks(view: &View<'_>, units: &Range<usize>) -> Option<Vec<String>> {
    let calls = view.facts().calls().iter().rev().filter(|call| call.kind == ToolKind::Plan);
    for call in calls {
        let tasks = call.json().map(|json| plan_items(&json)).unwrap_or_default();
        if !tasks.is_empty() {
            return Some(if units.contains(&(call.unit as usize)) { tasks } else { Vec::new() });
        }
    }
    None
}

/// Returns one line for each task. The state is in the words of the call, which later calls use again.
fn plan_items(arguments: &Value) -> Vec<String> {
    let list = LISTS.iter().find_map(|key| arguments.get(key)?.as_array());
    let line = |task: &Value| {
        let text = TEXTS.iter().find_map(|key| task.get(key)?.as_str()).or_else(|| task.as_str())?;
        let state = task.get("status").or_else(|| task.get("state")).and_then(Value::as_str).unwrap_or("pending");
        Some(format!("- {} (status: {state})", text.lines().next().unwrap_or_default()))
    };
    list.map(|list| list.iter().filter_map(line).collect()).unwrap_or_default()
}
