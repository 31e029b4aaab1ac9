//! The files that were edited, since the newest commit where there is one.

use super::calls::CallWithResult;
use crate::block::BlockRef;
use crate::commands::{moved_by_script, script_in};
use crate::facts::{Call, FileAccess, files_of};
use crate::tools::ToolKind;

/// The files that were edited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditedFiles {
    /// The files, each once, in the order of their newest edits.
    pub files: Vec<String>,
    /// Whether calls commit or look at the state of a repository: the files are then those since the newest commit.
    pub since_commit: bool,
}

/// Returns the files that calls edited behind the newest commit: by tools, and by scripts that edit in place or write a text of
/// their own. Linear in the calls.
pub(super) fn read(calls: &[CallWithResult<'_>]) -> EditedFiles {
    let scripts: Vec<Option<String>> = calls.iter().map(script).collect();
    let git = |at: usize| scripts[at].as_ref().filter(|script| script.contains("git "));
    let is_fine = |at: usize| calls[at].result.is_some_and(|result| !result.is_error);
    let commit = (0..calls.len()).rev().find(|at| is_fine(*at) && git(*at).is_some_and(|script| commits(script)));
    let since_commit = commit.is_some() || (0..calls.len()).any(|at| git(at).is_some());
    let mut files: Vec<String> = Vec::new();
    for at in commit.map_or(0, |at| at + 1)..calls.len() {
        if !is_fine(at) {
            continue;
        }
        for path in edited_by(&calls[at], scripts[at].as_deref()) {
            files.retain(|known| *known != path);
            files.push(path);
        }
        let moved = scripts[at].as_deref().map(moved_by_script).unwrap_or_default();
        for (gone, _) in moved.into_iter().filter(|(_, is_gone)| *is_gone) {
            files.retain(|known| !is_or_in(known, gone));
        }
    }
    EditedFiles { files, since_commit }
}

/// Whether a file is what another path names, from any folder on, or in a folder of that path.
fn is_or_in(file: &str, path: &str) -> bool {
    let inner = format!("/{}/", path.trim_start_matches("./").trim_matches('/'));
    format!("/{}/", file.trim_matches('/')).contains(&inner)
}

fn script(call: &CallWithResult<'_>) -> Option<String> {
    match call.kind {
        ToolKind::Shell => script_in(&serde_json::from_str(call.arguments.text()).ok()?),
        _ => None,
    }
}

/// Returns the files that a call edits. What a command's output is sent to is no edit.
fn edited_by(call: &CallWithResult<'_>, script: Option<&str>) -> Vec<String> {
    let arguments = match (call.kind, script) {
        (ToolKind::Edit | ToolKind::Write, _) => call.arguments.text(),
        (ToolKind::Shell, Some(script)) => script,
        _ => return Vec::new(),
    };
    let has_own_text = call.kind != ToolKind::Shell || arguments.contains("<<");
    let is_json = call.kind != ToolKind::Shell && serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok();
    let at = BlockRef { message: call.message as u32, block: 0 };
    let called = Call { at, unit: 0, name: call.name, kind: call.kind, arguments, is_json, output: None, failed: None };
    let is_edit = |access: FileAccess| match access {
        FileAccess::Edit => true,
        FileAccess::Write => has_own_text,
        FileAccess::ReadWhole | FileAccess::ReadPart => false,
    };
    let named = files_of(&called, &mut None).into_iter();
    named.filter(|(_, access, _)| is_edit(*access)).map(|(path, _, _)| path).collect()
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
