//! The newest plan, where the agent keeps one.

use serde_json::Value;

use super::called::Called;
use crate::tools::ToolKind;

/// How far an item of a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Not begun.
    Open,
    /// Under way.
    Begun,
    /// Done.
    Done,
}

/// An item of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanItem {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub progress: Progress,
}

/// Returns the items of the newest plan; none where all of them are done. Linear in the calls from the end to it.
pub(super) fn newest(calls: &[Called<'_>]) -> Vec<PlanItem> {
    let written = calls.iter().rev().filter(|call| call.kind == ToolKind::Plan);
    let plans = written.filter_map(|call| Some(plan_items(&serde_json::from_str(call.arguments.text()).ok()?)));
    let newest = { plans }.find(|items| !items.is_empty()).unwrap_or_default();
    if newest.iter().all(|item| item.progress == Progress::Done) { Vec::new() } else { newest }
}

/// Returns the items of a plan in a call's arguments, under one of the keys that agents use; what was given up is left out.
pub fn plan_items(arguments: &Value) -> Vec<PlanItem> {
    let list = ["todos", "plan", "items", "tasks", "todo_list"].iter().find_map(|key| arguments.get(*key)?.as_array());
    let field = |item: &Value, keys: &[&str]| keys.iter().find_map(|key| item.get(*key)?.as_str().map(str::to_owned));
    let item = |item: &Value| {
        let text = field(item, &["content", "step", "title", "description", "text", "subject"])?;
        let status = field(item, &["status", "state"]).unwrap_or_default().to_ascii_lowercase();
        let progress = match status.replace([' ', '-'], "_").as_str() {
            "completed" | "done" | "complete" => Progress::Done,
            "in_progress" | "active" => Progress::Begun,
            "cancelled" | "canceled" | "skipped" => return None,
            _ => Progress::Open,
        };
        Some(PlanItem { text, progress })
    };
    list.into_iter().flatten().filter_map(item).collect()
}
