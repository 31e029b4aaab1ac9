//! The plan that a person allowed to be carried out.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::calls::CallWithResult;
use crate::levels::in_one_line;

/// How these tools answer where the person agreed: Claude Code 2.1.332, OpenCode, and Gemini CLI. Another answer is no approval.
static AGREED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:User (?:has )?approved|Plan approved)\b").ok());

/// Where the plan lies, in the same answers.
static FILE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?m)(?:saved to|stored at): (\S.*?)\s*$").ok());

/// Returns what names the newest plan that a person approved: its file, or else its first line; nothing where the newest was
/// refused or none was shown; and the message of its call. Linear in the calls behind it.
pub(super) fn newest(calls: &[CallWithResult<'_>]) -> Option<(String, usize)> {
    let call = calls.iter().rev().find(|call| asks_for_leave(call.name) && call.result.is_some())?;
    let answer = call.result.filter(|result| !result.is_error).map(|result| &*result.text)?;
    AGREED.as_ref().filter(|agreed| agreed.is_match(answer))?;
    let file = FILE.as_ref().and_then(|file| Some(file.captures(answer)?[1].to_owned()));
    file.or_else(|| title(call)).map(|name| (in_one_line(&name).into_owned(), call.message))
}

/// Whether a tool is the one by which agents ask for leave to carry out a plan: of Claude Code (`ExitPlanMode`), Gemini CLI
/// (`exit_plan_mode`), or OpenCode (`plan_exit`).
fn asks_for_leave(tool: &str) -> bool {
    matches!(tool.replace('_', "").to_ascii_lowercase().as_str(), "exitplanmode" | "planexit")
}

/// Returns the file that the call names, or else the first line of its plan.
fn title(call: &CallWithResult<'_>) -> Option<String> {
    let arguments: Value = serde_json::from_str(call.arguments.text()).ok()?;
    let value = |keys: &[&str]| keys.iter().find_map(|key| arguments.get(*key)?.as_str().map(str::to_owned));
    let first = |plan: String| plan.lines().find(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned());
    value(&["plan_path", "planFilePath", "plan_filename"]).or_else(|| value(&["plan", "summary"]).and_then(first))
}
