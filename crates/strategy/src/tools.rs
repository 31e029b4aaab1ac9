//! The tools of today's agents, by name: one table.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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

/// Names in lower case without `_` and `-`. Source: the tools in the recorded sessions of twelve agents and the names
/// of the seed designs (`edit_file`, `read_code`, `execute_script`, `retrieve_memory`).
const NAMES: &[(ToolKind, &[&str])] = &[
    (
        ToolKind::Read,
        &[
            "read",
            "readfile",
            "readcode",
            "view",
            "viewfile",
            "cat",
            "open",
            "openfile",
            "readmanyfiles",
            "readfiles",
            "listdir",
            "listdirectory",
            "ls",
            "notebookread",
            "viewimage",
            "getfilecontents",
            "readfolder",
            "listfiles",
            "goto",
        ],
    ),
    (
        ToolKind::Edit,
        &[
            "edit",
            "editfile",
            "multiedit",
            "applypatch",
            "replace",
            "strreplace",
            "strreplaceeditor",
            "patch",
            "searchreplace",
            "notebookedit",
            "replaceinfile",
            "strreplacebasededittool",
            "insert",
            "applydiff",
            "editor",
            "texteditorcodeexecution",
        ],
    ),
    (ToolKind::Write, &["write", "writefile", "createfile", "create", "writetofile", "savefile"]),
    (
        ToolKind::Search,
        &[
            "grep",
            "glob",
            "rg",
            "fd",
            "find",
            "search",
            "searchfiles",
            "filesearch",
            "codebasesearch",
            "grepsearch",
            "searchfilecontent",
            "searchdir",
            "searchfile",
            "findfile",
            "toolsearch",
            "codesearch",
            "lsp",
        ],
    ),
    (
        ToolKind::Shell,
        &[
            "bash",
            "shell",
            "execcommand",
            "run",
            "runcommand",
            "executecommand",
            "executescript",
            "runshellcommand",
            "terminal",
            "runinterminal",
            "executebash",
            "localshell",
            "localshellcall",
            "shellcommand",
            "runcommands",
            "runterminalcmd",
            "pythonrepltool",
            "codeinterpreter",
            "action",
            "runipython",
            "executeipythoncell",
            "python",
            "pythonrepl",
            "powershell",
            "bashoutput",
            "killshell",
            "writestdin",
            "readbash",
            "stopbash",
            "writebash",
            "computerterminal",
            "runtests",
            "test",
            "submit",
            "console",
            "codeexecution",
            "bashcodeexecution",
        ],
    ),
    (
        ToolKind::Web,
        &[
            "websearch",
            "webfetch",
            "fetch",
            "websearchcall",
            "googlewebsearch",
            "browse",
            "browser",
            "visit",
            "crawl",
            "crawltool",
            "websurfer",
            "imagesearch",
            "webcrawl",
            "tavilysearch",
            "fetchurl",
            "webpage",
            "computer",
        ],
    ),
    (
        ToolKind::Plan,
        &[
            "todowrite",
            "todoread",
            "updateplan",
            "plan",
            "exitplanmode",
            "enterplanmode",
            "askuserquestion",
            "askuser",
            "askfollowupquestion",
            "think",
            "taskcreate",
            "taskupdate",
            "tasklist",
            "taskget",
            "updatetodo",
            "reportintent",
            "skill",
            "question",
            "writetodos",
            "askclarification",
            "finish",
            "exit",
            "requestuserinput",
        ],
    ),
    (
        ToolKind::Delegate,
        &["task", "agent", "subagent", "spawnagent", "delegate", "assistant", "waitagent", "taskoutput", "sendmessage"],
    ),
    (
        ToolKind::Lookup,
        &[
            "retrievememory",
            "memory",
            "searchmemory",
            "sql",
            "query",
            "executesql",
            "executesnowflakesql",
            "localsearchtool",
            "filesurfer",
        ],
    ),
];

/// Returns the kind of a tool by its name: the whole name, or for names of the form `server__tool` and `server.tool`
/// its last part. Constant time for practical purposes.
pub fn kind(name: &str) -> ToolKind {
    let last = name.rsplit("__").next().unwrap_or(name);
    let last = last.rsplit('.').next().unwrap_or(last);
    let plain: String =
        last.chars().filter(|char| !matches!(char, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect();
    let known = NAMES.iter().find(|(_, names)| names.contains(&plain.as_str()));
    match known {
        Some((kind, _)) => *kind,
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

    #[test]
    fn no_name_stands_twice() {
        let mut names: Vec<&str> = NAMES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        names.sort_unstable();
        let twice: Vec<&[&str]> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
