//! The calls of a session with what they printed.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Arguments, Content, Message, Origin, Role};
use epitome_strategy::commands::{exit_code, first_error, is_failure, is_looking, outcome, script_of};
use epitome_strategy::cut::is_error_line;
use epitome_strategy::tools::{self, ToolKind};
use epitome_strategy::{BlockRef, Call, FileAccess, Value, files_of};

/// A call with what it printed.
#[derive(Debug)]
pub(super) struct CallStep<'m> {
    pub(super) call: Call<'m>,
    /// The arguments, where they are JSON.
    pub(super) json: Option<Value>,
    /// The call's output; `None` where it is not recorded.
    pub(super) output: Option<&'m str>,
    /// The script, where it runs one.
    pub(super) script: Option<String>,
    /// Whether the call failed: by its exit code where the output has one.
    pub(super) failed: bool,
    /// Files that it changed; none where it failed.
    pub(super) changed: Vec<String>,
}

impl CallStep<'_> {
    /// The position of the message that calls.
    pub(super) fn message(&self) -> usize {
        self.call.at.message as usize
    }

    /// The folder in which its script runs, where the call says so.
    pub(super) fn place(&self) -> Option<&str> {
        let given = || {
            let json = self.json.as_ref()?;
            ["workdir", "cwd", "working_directory"].iter().find_map(|key| json.get(*key)?.as_str())
        };
        let changed_to = || {
            let (first, _) = self.script.as_deref()?.trim_start().strip_prefix("cd ")?.split_once("&&")?;
            Some(first.trim().trim_matches(['"', '\'']))
        };
        changed_to()
            .or_else(given)
            .filter(|place| place.starts_with(['/', '~']) && place.len() > 1 && !place.contains([';', '$', '\n']))
    }

    /// The line of the output that shows how the call failed or ended.
    pub(super) fn ending(&self) -> Option<&str> {
        let output = self.output?;
        let lines = || output.lines().map(str::trim).filter(|line| tells_what(line));
        // A test runner's message about a failed assertion comes behind the error of a compiler or program.
        let named = || lines().find(|line| NAMED.iter().any(|part| line.contains(part)) || line.starts_with("E  "));
        let telling = || named().or_else(|| lines().find(|line| is_error_line(line)));
        if self.failed {
            telling().or_else(|| first_error(output)).or_else(|| outcome(output))
        } else {
            outcome(output)
        }
    }
}

/// Parts of lines in which a program names its error.
const NAMED: &[&str] = &[
    "error:",
    "Error:",
    "error[",
    "ERROR:",
    "FAILED ",
    "--- FAIL",
    "FAIL:",
    "panicked at",
    "fatal:",
    "undefined:",
    "error TS",
];

/// The beginnings of results of calls that a person refused or interrupted.
const REFUSALS: &[&str] = &[
    "The user",
    "[Request interrupted",
    "Request interrupted",
    "Permission",
    "Tool call rejected",
    "User rejected",
    "User denied",
    "[Operation",
];

/// The calls of a session, in order. Linear in the messages.
pub(super) fn steps(messages: &[Arc<Message>]) -> Vec<CallStep<'_>> {
    let mut calls: Vec<(Call<'_>, Option<(&str, bool)>)> = Vec::new();
    let mut open: HashMap<&str, usize> = HashMap::new(); // by id, the newest one
    let mut open_in_text: Option<usize> = None;
    for (position, message) in messages.iter().enumerate() {
        for (block, content) in message.blocks.iter().map(|block| &block.content).enumerate() {
            let at = BlockRef { message: position as u32, block: block as u32 };
            match content {
                Content::ToolCall(call) => {
                    open.insert(&call.id, calls.len());
                    let is_json = matches!(call.arguments, Arguments::Json(_));
                    calls.push((call_of(at, &call.name, call.arguments.text(), is_json), None));
                }
                Content::ToolResult(result) => {
                    if let Some(index) = open.remove(&*result.call_id) {
                        calls[index].1 = Some((&result.text, result.is_error));
                    }
                }
                Content::Text { text } if message.origin == Origin::ToolOutput => {
                    if let Some(index) = open_in_text.take() {
                        calls[index].1 = Some((text, false));
                    }
                }
                Content::Text { .. }
                | Content::Thinking(_)
                | Content::Media(_)
                | Content::Opaque(_)
                | Content::Gone => {}
            }
        }
        if message.role == Role::Assistant {
            for call in &message.text_calls {
                let block = message.blocks.get(call.block as usize).map(|block| &block.content);
                let Some(Content::Text { text }) = block else { continue };
                let Some(arguments) = text.get(call.start as usize..call.end as usize) else { continue };
                let at = BlockRef { message: position as u32, block: call.block };
                open_in_text = Some(calls.len());
                let is_json = arguments.trim_start().starts_with('{');
                calls.push((call_of(at, &call.name, arguments, is_json), None));
            }
        }
    }
    let mut shown = None;
    calls.into_iter().map(|(call, printed)| step(call, printed, &mut shown)).collect()
}

fn call_of<'m>(at: BlockRef, name: &'m str, arguments: &'m str, is_json: bool) -> Call<'m> {
    Call { at, unit: at.message, name, kind: tools::kind(name), arguments, is_json, output: None }
}

fn step<'m>(call: Call<'m>, printed: Option<(&'m str, bool)>, shown: &mut Option<String>) -> CallStep<'m> {
    // No rule reads the arguments of searches and plans.
    let is_read = !matches!(call.kind, ToolKind::Search | ToolKind::Web | ToolKind::Plan | ToolKind::Delegate);
    let json = is_read.then(|| call.json()).flatten();
    let script = (call.kind == ToolKind::Shell).then(|| script_of(&call)).flatten();
    // A refused call did not run.
    let is_refused = printed
        .is_some_and(|(text, is_error)| is_error && REFUSALS.iter().any(|start| text.trim_start().starts_with(start)));
    let failed = is_refused
        || printed.is_some_and(|(text, is_error)| match exit_code(text) {
            Some(code) => code != 0,
            None => {
                let looks = script.as_deref().is_some_and(is_looking);
                is_error || (script.is_some() && !looks && outcome(text).is_some_and(is_failure))
            }
        });
    let changes = |access: FileAccess| matches!(access, FileAccess::Edit | FileAccess::Write);
    let mut changed: Vec<String> = match &script {
        // A script is what it says, however the call wraps it.
        Some(script) => {
            let inner = Call { arguments: script, is_json: false, ..call.clone() };
            files_of(&inner, shown)
                .into_iter()
                .filter(|(_, access, _)| changes(*access))
                .map(|(path, ..)| path)
                .collect()
        }
        None => {
            let path = json.as_ref().and_then(tools::path_argument);
            // An editor that shows a file changes that one where the call names none.
            let mut named = files_of(&call, &mut None);
            match path {
                Some(path) if matches!(call.kind, ToolKind::Read | ToolKind::Write | ToolKind::Edit) => {
                    *shown = Some(path.to_owned());
                }
                None if call.kind == ToolKind::Edit && call.is_json && named.is_empty() => {
                    named.extend(shown.clone().map(|path| (path, FileAccess::Edit, String::new())));
                }
                _ => {}
            }
            named.into_iter().filter(|(_, access, _)| changes(*access)).map(|(path, ..)| path).collect()
        }
    };
    if failed {
        changed.clear();
    }
    CallStep { json, output: printed.filter(|_| !is_refused).map(|(text, _)| text), script, failed, changed, call }
}

/// Messages of runners that a program which they ran has failed.
const GENERIC: &[&str] = &[
    "task failed",
    "exited with code",
    "exit status",
    "error: script",
    "elifecycle",
    "failed with exit code",
    "command failed",
    "make: ***",
    "returncode",
];

/// Whether a line names the error, and not only its existence.
pub(super) fn tells_what(line: &str) -> bool {
    let words = line.split(|char: char| !char.is_alphanumeric()).filter(|word| word.len() > 1).count();
    let lower = line.to_lowercase();
    words >= 3
        && !line.starts_with(['$', '>', '#'])
        && !GENERIC.iter().any(|part| lower.contains(part))
        && !lower.starts_with("exit code")
        && !lower.starts_with("error: command failed")
        && !lower.starts_with("process exited")
}
