//! The newest plan, where the agent keeps one.

use serde_json::Value;

use super::calls::CallWithResult;
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

/// Returns the items of the plan as it stands behind some calls; none where all of them are done; `told` is
/// what an earlier compaction told. A list replaces what stood
/// before it; Claude Code's tasks are written and changed one by one. Linear in the calls that write plans.
pub(super) fn newest(calls: &[CallWithResult<'_>], told: Vec<PlanItem>) -> Vec<PlanItem> {
    // A task is named with its number.
    let numbered = |item: PlanItem| match item.text.strip_prefix('#').and_then(|text| text.split_once(' ')) {
        Some((id, text)) => (Some(id.to_owned()), PlanItem { text: text.to_owned(), ..item }),
        None => (None, item),
    };
    let mut plan: Vec<(Option<String>, PlanItem)> = told.into_iter().map(numbered).collect();
    for call in calls.iter().filter(|call| call.kind == ToolKind::Plan) {
        let Ok(arguments) = serde_json::from_str::<Value>(call.arguments.text()) else { continue };
        if let Some(list) = plan_list(&arguments).filter(|_| succeeded(call)) {
            plan = list.iter().filter_map(item).map(|item| (None, item)).collect();
        } else if let Some(id) = call.result.and_then(|result| created(&result.text)) {
            plan.extend(item(&arguments).map(|item| (Some(id), item)));
        } else if let Some(id) = arguments.get("taskId").and_then(Value::as_str).filter(|_| succeeded(call)) {
            change(&mut plan, id, &arguments);
        }
    }
    let is_open = plan.iter().any(|(_, item)| item.progress != Progress::Done);
    // A task is changed by its number.
    let named = |(id, item): (Option<String>, PlanItem)| match id {
        Some(id) => PlanItem { text: format!("#{id} {}", item.text), ..item },
        None => item,
    };
    if is_open { plan.into_iter().map(named).collect() } else { Vec::new() }
}

/// Returns the id of the task that was written, as Claude Code 2.1.332 answers.
fn created(answer: &str) -> Option<String> {
    let id = answer.strip_prefix("Task #")?.split_once(" created successfully")?.0;
    (!id.contains(char::is_whitespace)).then(|| id.to_owned())
}

fn succeeded(call: &CallWithResult<'_>) -> bool {
    call.result.is_some_and(|result| !result.is_error)
}

/// Changes a task as a call asks: its words, how far it is, or whether it is there at all.
fn change(plan: &mut Vec<(Option<String>, PlanItem)>, id: &str, arguments: &Value) {
    let Some(at) = plan.iter().position(|(known, _)| known.as_deref() == Some(id)) else { return };
    if field(arguments, STATUS).is_some() {
        let Some(progress) = progress(arguments) else {
            plan.remove(at);
            return;
        };
        plan[at].1.progress = progress;
    }
    if let Some(text) = arguments.get("subject").and_then(Value::as_str) {
        text.clone_into(&mut plan[at].1.text);
    }
}

/// Returns the items of a plan in a call's arguments, under one of the keys that agents use; what was given up is left out.
pub fn plan_items(arguments: &Value) -> Vec<PlanItem> {
    plan_list(arguments).into_iter().flatten().filter_map(item).collect()
}

/// Returns the list in which a call writes a whole plan; an empty one takes the plan back.
fn plan_list(arguments: &Value) -> Option<&Vec<Value>> {
    ["todos", "plan", "items", "tasks", "todo_list"].iter().find_map(|key| arguments.get(*key)?.as_array())
}

/// Whether a plan's call writes or changes one task, as Claude Code's do.
pub fn writes_task(arguments: &Value) -> bool {
    arguments.get("taskId").is_some() || arguments.get("subject").is_some()
}

/// Whether a plan's call reports one task as done.
pub(super) fn is_done(arguments: &Value) -> bool {
    arguments.get("taskId").is_some() && progress(arguments) == Some(Progress::Done)
}

/// The keys of an item's words, and of how far it is.
const TEXT: &[&str] = &["content", "step", "title", "subject", "description", "text"];
const STATUS: &[&str] = &["status", "state"];

fn field(item: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| item.get(*key)?.as_str().map(str::to_owned))
}

fn item(item: &Value) -> Option<PlanItem> {
    Some(PlanItem { text: field(item, TEXT)?, progress: progress(item)? })
}

/// Returns how far an item is; nothing where it was given up.
fn progress(item: &Value) -> Option<Progress> {
    let status = field(item, STATUS).unwrap_or_default().to_ascii_lowercase();
    match status.replace([' ', '-'], "_").as_str() {
        "completed" | "done" | "complete" => Some(Progress::Done),
        "in_progress" | "active" => Some(Progress::Begun),
        "cancelled" | "canceled" | "skipped" | "deleted" => None,
        _ => Some(Progress::Open),
    }
}
