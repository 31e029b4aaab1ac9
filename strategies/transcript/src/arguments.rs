//! The arguments of a call, as one line and the longer texts below it.

use epitome_strategy::Value;
use epitome_strategy::text;

/// The most bytes of arguments in the line of the call.
const HEAD_BYTES: usize = 200;

/// The keys whose values are the most informative about a call, best first.
/// Source: the tools of the recorded agents.
const TELLING_KEYS: &[&str] = &[
    "command",
    "cmd",
    "input",
    "file_path",
    "path",
    "filePath",
    "filename",
    "pattern",
    "query",
    "url",
    "subject",
    "skill",
    "taskId",
    "task_id",
    "status",
    "subagent_type",
    "description",
];

/// Keys of numbers that say where a call looked.
const PLACES: &[&str] = &["offset", "limit", "line", "start", "end", "view_range"];
/// Keys that say how the tool was run, and nothing of its effect. Source: as above.
const OF_THE_RUN: &[&str] = &["timeout", "timeout_ms", "timeoutMs", "yield_time_ms", "max_output_tokens", "max_chars"];
/// The folder that a call works in; shown where it differs from that of the call before.
const FOLDERS: &[&str] = &["workdir", "cwd", "working_directory", "workingDirectory", "dir_path"];

/// The kind of a line of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sign {
    /// Text that a change removes, or must match.
    Old,
    /// Text that a change puts in.
    New,
    /// Any other longer argument.
    Plain,
}

/// The arguments of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CallText {
    /// Short ones, the most informative first.
    pub(crate) head: String,
    /// The lines of longer ones.
    pub(crate) lines: Vec<(Sign, String)>,
    /// Whether they list tasks, each with its status.
    pub(crate) lists_tasks: bool,
}

/// Returns a call's arguments: of `json` where they are JSON, else their text. `folder` is the one that the call before
/// worked in. Linear.
pub(crate) fn tell(json: Option<&Value>, arguments: &str, folder: &mut String) -> CallText {
    let mut leaves = Vec::new();
    let mut told = CallText::default();
    match json {
        Some(json) => {
            let tasks = tasks(json);
            told.lists_tasks = !tasks.is_empty();
            told.lines.extend(tasks.iter().map(|task| (Sign::Plain, row(task))));
            read_leaves(json, "", &mut leaves);
        }
        None => leaves.push((String::new(), arguments.to_owned())),
    }
    leaves.retain(|(key, value)| {
        let is_same_folder = FOLDERS.contains(&key.as_str()) && folder == value;
        !OF_THE_RUN.contains(&key.as_str()) && !is_same_folder
    });
    if let Some((_, other)) = leaves.iter().find(|(key, _)| FOLDERS.contains(&key.as_str())) {
        other.clone_into(folder);
    }
    leaves.sort_by_key(|(key, _)| TELLING_KEYS.iter().position(|known| known == key).unwrap_or(TELLING_KEYS.len()));
    for (key, value) in leaves {
        tell_leaf(&mut told, &key, &value);
    }
    told
}

fn tell_leaf(told: &mut CallText, key: &str, value: &str) {
    let sign = sign_of(key);
    // A description repeats in words what the command says.
    if value.trim().is_empty() || (key == "description" && !told.head.is_empty()) {
        return;
    }
    if is_patch(value) {
        let mut lines = value.lines().filter(|line| !line.starts_with("*** Begin") && !line.starts_with("*** End"));
        if told.head.is_empty() {
            told.head = lines.next().unwrap_or_default().trim_start_matches("*** ").to_owned();
        }
        told.lines.extend(lines.map(patch_line));
        return;
    }
    let mut lines = value.lines();
    if sign == Sign::Plain {
        let first = lines.clone().next().unwrap_or_default().trim();
        if told.head.len() + first.len() <= HEAD_BYTES {
            lines.next();
            if !first.is_empty() {
                if !told.head.is_empty() {
                    told.head.push_str(" | ");
                }
                told.head.push_str(first);
            }
        } else if told.head.is_empty() {
            let cut = text::ceil_boundary(first, text::sentence_end(first, HEAD_BYTES).max(1));
            told.head.push_str(first[..cut].trim_end());
            told.head.push_str(if text::is_in_name(first, cut) { "…" } else { " …" });
        }
    }
    told.lines.extend(lines.filter(|line| !line.trim().is_empty()).map(|line| (sign, line.to_owned())));
}

fn sign_of(key: &str) -> Sign {
    let key = key.to_ascii_lowercase();
    match key.trim_end_matches(|char: char| char.is_ascii_digit()) {
        "old_string" | "oldstring" | "old_str" | "oldstr" | "old_text" | "oldtext" | "search" => Sign::Old,
        "new_string" | "newstring" | "new_str" | "newstr" | "new_text" | "newtext" | "replace" | "content"
        | "file_text" | "filetext" | "new_content" | "newcontent" | "contents" => Sign::New,
        _ => Sign::Plain,
    }
}

/// Whether a text is a patch in the form that names its files.
pub(crate) fn is_patch(text: &str) -> bool {
    text.trim_start().starts_with("*** Begin Patch")
}

fn patch_line(line: &str) -> (Sign, String) {
    match line.as_bytes().first() {
        Some(b'-') => (Sign::Old, line[1..].to_owned()),
        Some(b'+') => (Sign::New, line[1..].to_owned()),
        _ => (Sign::Plain, line.to_owned()),
    }
}

/// Returns the strings of a JSON value with their keys, the objects of a list each as one line, and the numbers that
/// name places.
fn read_leaves(value: &Value, key: &str, leaves: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => leaves.push((key.to_owned(), text.clone())),
        Value::Number(number) if PLACES.contains(&key) || number.as_f64().is_some_and(|number| number >= 1000.0) => {
            leaves.push((key.to_owned(), format!("{key}={number}")));
        }
        Value::Array(items) => items.iter().for_each(|item| read_leaves(item, key, leaves)),
        Value::Object(_) if !key.is_empty() && is_task(value) => {}
        Value::Object(_) if !key.is_empty() && is_row(value) => leaves.push((String::new(), row(value))),
        Value::Object(fields) => fields.iter().for_each(|(key, item)| read_leaves(item, key, leaves)),
        Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// Returns the fields of an object.
fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// Whether an object is one row of a list, such as a task of a plan: it has plain values only, and no text that a
/// change removes or puts in.
fn is_row(value: &Value) -> bool {
    fields(value).all(|(key, value)| {
        !value.is_object() && !value.is_array() && (key == "content" || sign_of(key) == Sign::Plain)
    })
}

/// Returns the tasks that a call lists, each with its status.
fn tasks(arguments: &Value) -> Vec<&Value> {
    let lists = fields(arguments).filter_map(|(_, value)| value.as_array());
    lists.flatten().filter(|item| is_task(item)).collect()
}

/// Whether an object is a task of a list: a row with its status.
fn is_task(value: &Value) -> bool {
    is_row(value) && fields(value).any(|(key, _)| key == "status") && fields(value).nth(1).is_some()
}

/// Returns a row as one line, without values that only a program reads.
fn row(value: &Value) -> String {
    let shown = fields(value).filter(|(key, _)| !matches!(key.as_str(), "activeForm" | "id" | "priority"));
    let texts: Vec<String> = shown
        .filter_map(|(_, value)| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
        .collect();
    texts.join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told() {
        let check = |arguments: &str, head: &str, lines: &[(Sign, &str)]| {
            let json: Option<Value> = arguments.parse().ok();
            let told = tell(json.as_ref(), arguments, &mut "/w".to_owned());
            let told_lines: Vec<(Sign, &str)> = told.lines.iter().map(|(sign, line)| (*sign, line.as_str())).collect();
            assert_eq!((told.head.as_str(), told_lines.as_slice()), (head, lines), "{arguments}");
        };
        check(r#"{"description":"List","command":"ls -l","timeout":5}"#, "ls -l", &[]);
        check(
            r#"{"file_path":"a.rs","old_string":"one\ntwo","new_string":"three"}"#,
            "a.rs",
            &[(Sign::Old, "one"), (Sign::Old, "two"), (Sign::New, "three")],
        );
        check(r#"{"path":"a.rs","offset":20,"limit":5}"#, "a.rs | offset=20 | limit=5", &[]);
        check(
            r#"{"todos":[{"content":"write","status":"done","id":"1"},{"subject":"test","status":"open"}]}"#,
            "",
            &[(Sign::Plain, "write | done"), (Sign::Plain, "test | open")],
        );
        check(r#"{"taskId":"4","status":"completed"}"#, "4 | completed", &[]);
        check(r#"{"rows":[{"city":"Bonn","zip":"53"},{"city":"Ulm"}]}"#, "Bonn | 53 | Ulm", &[]);
        check(
            "*** Begin Patch\n*** Update File: a.rs\n-x\n+y\n z\n*** End Patch",
            "Update File: a.rs",
            &[(Sign::Old, "x"), (Sign::New, "y"), (Sign::Plain, " z")],
        );
        check(r#"{"command":"ls","workdir":"/w","timeout":120000}"#, "ls", &[]);
        check(r#"{"command":"ls","workdir":"/v"}"#, "ls | /v", &[]);
        // A head that was cut says so, and directly at a name of which a part is missing.
        let long = format!("cat {}", "a/long/path/".repeat(20));
        let json = format!(r#"{{"command":"{long}"}}"#);
        check(&json, &format!("{}…", &long[..200]), &[(Sign::Plain, long.as_str())]);
        let words = "word ".repeat(60);
        let json = format!(r#"{{"command":"{}"}}"#, words.trim_end());
        check(&json, &format!("{} …", words[..200].trim_end()), &[(Sign::Plain, words.trim_end())]);
        check("", "", &[]);
    }
}
