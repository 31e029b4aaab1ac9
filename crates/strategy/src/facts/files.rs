//! The files that calls read and change.

use serde_json::Value;

use super::call::Call;
use super::scripts;
use crate::commands::{script_of, simple_commands};
use crate::tools::{self, ToolKind};

/// The action of a call on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAccess {
    /// It read the whole file.
    ReadWhole,
    /// It read a part of the file.
    ReadPart,
    /// It changed a part of the file.
    Edit,
    /// It wrote the whole file.
    Write,
}

/// A call that names one file.
#[derive(Debug, Clone)]
pub struct FileEvent {
    /// The path as the call spells it.
    pub path: String,
    /// The action on the file.
    pub access: FileAccess,
    /// The part that was read, as the call spells it; empty for a whole file.
    pub part: String,
    /// The call, as a position in [`Facts::calls`](crate::Facts::calls).
    pub call: u32,
    /// Whether the tool reported an error.
    pub failed: bool,
}

/// Returns the files that a call names, with the action on each and the part of it that is read (empty for all of it).
/// `open` is the file that an editor in plain text shows; it is `None` at the start and carried from call to call.
/// Linear in the arguments.
pub fn files_of(call: &Call<'_>, open: &mut Option<String>) -> Vec<(String, FileAccess, String)> {
    if !call.is_json && matches!(call.kind, ToolKind::Read | ToolKind::Edit | ToolKind::Write | ToolKind::Shell) {
        let patched = tools::patch_paths(call.arguments).map(|path| (path.to_owned(), FileAccess::Edit));
        let patched: Vec<(String, FileAccess)> = patched.collect();
        let named = if patched.is_empty() { scripts::file_events(call.arguments, open) } else { patched };
        return named.into_iter().map(|(path, access)| (path, access, String::new())).collect();
    }
    if call.kind == ToolKind::Shell {
        let script = script_of(call).unwrap_or_default();
        let mut files: Vec<(String, FileAccess)> =
            tools::patch_paths(&script).map(|path| (path.to_owned(), FileAccess::Edit)).collect();
        files.extend(simple_commands(&script).flat_map(scripts::edited_by));
        return files.into_iter().map(|(path, access)| (path, access, String::new())).collect();
    }
    let access = match call.kind {
        ToolKind::Read => FileAccess::ReadWhole,
        ToolKind::Edit => FileAccess::Edit,
        ToolKind::Write => FileAccess::Write,
        ToolKind::Search
        | ToolKind::Shell
        | ToolKind::Web
        | ToolKind::Plan
        | ToolKind::Delegate
        | ToolKind::Lookup
        | ToolKind::Other => return Vec::new(),
    };
    let Some(json) = call.json() else { return Vec::new() };
    if let Some(patch) = tools::patch_in(&json) {
        return tools::patch_paths(patch).map(|path| (path.to_owned(), FileAccess::Edit, String::new())).collect();
    }
    let Some(path) = tools::path_argument(&json) else { return Vec::new() };
    // In some agents one tool with sub-commands reads and writes.
    let access = match json.get("command").and_then(Value::as_str) {
        Some("view") => FileAccess::ReadWhole,
        Some("create") => FileAccess::Write,
        _ => access,
    };
    let part: String = ["offset", "limit", "start_line", "end_line", "view_range", "pages"]
        .iter()
        .filter_map(|key| Some(format!("{key}={} ", json.get(key).filter(|value| !value.is_null())?)))
        .collect();
    let access = if access == FileAccess::ReadWhole && !part.is_empty() { FileAccess::ReadPart } else { access };
    vec![(path.to_owned(), access, part)]
}
