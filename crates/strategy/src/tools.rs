//! The tools of today's agents, by name: one table.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lists::LISTS;

/// The kind of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    /// Reads a file or a directory.
    Read,
    /// Changes part of a file.
    Edit,
    /// Writes a whole file.
    Write,
    /// Searches files.
    Search,
    /// Runs a command.
    Shell,
    /// Searches or reads the web, or drives a browser.
    Web,
    /// Keeps a plan or a task list, or asks the user.
    Plan,
    /// Hands work to another agent.
    Delegate,
    /// Looks things up in memories, databases, services.
    Lookup,
    /// Unknown.
    Other,
}

/// The tools by their names in lower case without `_` and `-`.
static NAMES: LazyLock<HashMap<&str, ToolKind>> = LazyLock::new(|| LISTS.table("tools"));

/// Returns the kind of a tool by its name: the whole name, or for names of the form `server__tool` and `server.tool`
/// its last part. Constant time for practical purposes.
pub fn kind(name: &str) -> ToolKind {
    let last = name.rsplit("__").next().unwrap_or(name);
    let last = last.rsplit('.').next().unwrap_or(last);
    let plain: String =
        last.chars().filter(|char| !matches!(char, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect();
    match NAMES.get(plain.as_str()) {
        Some(kind) => *kind,
        None if plain.starts_with("browser") || plain.contains("websearch") || is_of_browser(name) => ToolKind::Web,
        None => ToolKind::Other,
    }
}

/// Whether a name of the form `server__tool` is one of a browser's: their tools are called `navigate`, `computer` and
/// the like.
fn is_of_browser(name: &str) -> bool {
    name.rsplit_once("__").is_some_and(|(server, _)| {
        ["browser", "playwright", "puppeteer"].iter().any(|word| server.to_ascii_lowercase().contains(word))
    })
}

/// The argument keys under which agents pass a file's path, most specific first.
const PATH_KEYS: &[&str] =
    &["file_path", "filePath", "absolute_path", "target_file", "notebook_path", "path", "filename", "file"];

/// Returns the path in a call's JSON arguments, where they name one file.
pub fn path_argument(arguments: &Value) -> Option<&str> {
    PATH_KEYS.iter().find_map(|key| arguments.get(key)?.as_str()).filter(|path| !path.is_empty())
}

/// Returns the patch in a call's JSON arguments, where they name no file beside it.
pub fn patch_in(arguments: &Value) -> Option<&str> {
    let patch = arguments.get("patch").or_else(|| arguments.get("input"))?.as_str()?;
    path_argument(arguments).is_none().then_some(patch)
}

/// Returns the files that a patch in the `*** Update File: path` form names.
pub fn patch_paths(patch: &str) -> impl Iterator<Item = &str> {
    patch.lines().filter_map(|line| {
        ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
            .iter()
            .find_map(|prefix| line.strip_prefix(prefix))
            .map(str::trim)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_names() {
        let check = |name: &str, expect: ToolKind| assert_eq!(kind(name), expect, "{name}");
        check("Read", ToolKind::Read);
        check("str_replace_editor", ToolKind::Edit);
        check("mcp__files__read_file", ToolKind::Read);
        check("functions.shell", ToolKind::Shell);
        check("mcp__playwright__browser_click", ToolKind::Web);
        check("mcp__Claude_Browser__navigate", ToolKind::Web);
        check("shell_command", ToolKind::Shell);
        check("execute_snowflake_sql", ToolKind::Lookup);
        check("book_reservation", ToolKind::Other);
    }
}
