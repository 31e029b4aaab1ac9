//! The files that were edited since the newest commit.

use super::calls::CallWithResult;
use crate::block::BlockRef;
use crate::commands::script_in;
use crate::facts::{Call, FileAccess, files_of};
use crate::tools::ToolKind;

/// Returns the files that calls edited behind the newest commit, each once, in order; none where no call commits or looks at
/// the state of a repository. Linear in the calls.
pub(super) fn read(calls: &[CallWithResult<'_>]) -> Vec<String> {
    let script = |call: &CallWithResult<'_>| match call.kind {
        ToolKind::Shell => script_in(&serde_json::from_str(call.arguments.text()).ok()?),
        _ => None,
    };
    let git = |call: &CallWithResult<'_>| script(call).filter(|script| script.contains("git "));
    let has_committed = |call: &CallWithResult<'_>| call.result.is_some_and(|result| !result.is_error);
    let commit = calls.iter().rposition(|call| has_committed(call) && git(call).is_some_and(|script| commits(&script)));
    if commit.is_none() && !calls.iter().any(|call| git(call).is_some()) {
        return Vec::new();
    }
    let mut files: Vec<String> = Vec::new();
    for call in &calls[commit.map_or(0, |at| at + 1)..] {
        let failed = call.result.is_none_or(|result| result.is_error);
        if failed || !matches!(call.kind, ToolKind::Edit | ToolKind::Write) {
            continue;
        }
        let (at, arguments) = (BlockRef { message: call.message as u32, block: 0 }, call.arguments.text());
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok();
        let called =
            Call { at, unit: 0, name: call.name, kind: call.kind, arguments, is_json, output: None, failed: None };
        let edited = files_of(&called, &mut None).into_iter();
        for (path, _, _) in edited.filter(|(_, access, _)| matches!(access, FileAccess::Edit | FileAccess::Write)) {
            files.retain(|known| *known != path);
            files.push(path);
        }
    }
    files
}

/// Whether a script has `git commit`, with options before the command or without. Linear.
pub(super) fn commits(script: &str) -> bool {
    let mut words = script.split([' ', '\n', ';', '&', '|', '(']).filter(|word| !word.is_empty());
    while words.any(|word| word == "git") {
        // `-C path` and `-c name=value` are options with an argument.
        let mut takes_argument = false;
        let command = words.by_ref().find(|word| {
            let is_option = std::mem::take(&mut takes_argument) || word.starts_with('-');
            takes_argument = matches!(*word, "-C" | "-c");
            !is_option
        });
        if command == Some("commit") {
            return true;
        }
    }
    false
}
