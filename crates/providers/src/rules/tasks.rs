//! The state of the task list, where the agent keeps one.

use epitome_strategy::View;
use epitome_strategy::tools::ToolKind;
use serde_json::Value;

use super::collector::Collector;
use super::lines::{SummarySection, clip};

/// Collects the items of the newest task list that a call wrote: open ones as open, finished ones as done. Returns whether
/// there is a list.
pub(crate) fn collect(view: &View<'_>, collector: &mut Collector) -> bool {
    let Some((at, items)) = newest(view) else { return false };
    for (text, status) in items {
        let Some(text) = clip(&text, 200) else { continue };
        let (section, value, mark) = match status.as_str() {
            "completed" | "done" | "complete" => {
                (SummarySection::Actions, 3.0, collector.language.pick("finished: ", "已完成："))
            }
            "in_progress" | "active" => {
                (SummarySection::Open, 7.5, collector.language.pick("in progress: ", "进行中："))
            }
            "cancelled" | "canceled" | "skipped" => continue,
            _ => (SummarySection::Open, 6.5, ""),
        };
        collector.lines.add(section, format!("{mark}{text}"), value, at);
    }
    true
}

/// The newest task list that a call wrote: its message, and its items with their states. Linear in the calls.
pub(crate) fn newest(view: &View<'_>) -> Option<(u32, Vec<(String, String)>)> {
    let calls = view.facts().calls().iter().rev().filter(|call| call.kind == ToolKind::Plan);
    calls.filter_map(|call| Some((call.at.message, items(&call.json()?)))).find(|(_, items)| !items.is_empty())
}

/// The items of a list under one of the keys that agents use, with their states.
fn items(arguments: &Value) -> Vec<(String, String)> {
    let list = ["todos", "plan", "items", "tasks", "todo_list"].iter().find_map(|key| arguments.get(*key)?.as_array());
    let field = |item: &Value, keys: &[&str]| keys.iter().find_map(|key| item.get(*key)?.as_str().map(str::to_owned));
    list.into_iter()
        .flatten()
        .filter_map(|item| {
            let text = field(item, &["content", "step", "title", "description", "text", "subject"])?;
            let status = field(item, &["status", "state"]).unwrap_or_default();
            Some((text, status.to_ascii_lowercase().replace([' ', '-'], "_")))
        })
        .collect()
}
