//! The arguments of a call, as one line and the longer texts below it.

use std::collections::HashSet;
use std::sync::LazyLock;

use epitome_strategy::Value;
use epitome_strategy::state::writes_task;
use epitome_strategy::text;
use epitome_strategy::transcript::Sign;

use crate::lists::LISTS;

/// The most bytes of arguments in the line of the call.
const HEAD_BYTES: usize = 200;

/// The keys whose values are the most informative about a call, best first.
/// Source: the tools of the recorded agents.
static INFORMATIVE_KEYS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("informative keys"));

/// Keys whose values say themselves what they are, beside those above. Source: as above.
static PLAIN_KEYS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("plain keys"));
/// Bytes of the longest string that stands behind its key.
const LONGEST_KEYED: usize = 60;
/// Keys that say how the tool was run or how it prints, and nothing of its effect. Source: as above.
static OF_THE_RUN: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("of the run"));
/// Keys of switches that are off nearly always, and are shown where they are on. Source: as above.
static SWITCHES: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("switches"));
/// The folder that a call works in; shown where it differs from that of the call before.
static FOLDERS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("folders"));

/// The arguments of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CallText {
    /// Short ones, the most informative first.
    pub(crate) head: String,
    /// The lines of longer ones.
    pub(crate) lines: Vec<(Sign, String)>,
    /// Whether they list tasks, each with its status.
    pub(crate) lists_tasks: bool,
    /// Whether they write or change one task of a plan.
    pub(crate) writes_task: bool,
}

/// Returns a call's arguments: of `json` where they are JSON, else their text. `folder` is the one that the call before
/// worked in, and `is_plan` whether rows with a status are tasks. Linear.
pub(crate) fn call_text(json: Option<&Value>, arguments: &str, is_plan: bool, folder: &mut String) -> CallText {
    let mut leaves = Vec::new();
    let mut text = CallText::default();
    match json {
        Some(json) => {
            let tasks = if is_plan { tasks(json) } else { Vec::new() };
            text.lists_tasks = !tasks.is_empty();
            text.writes_task = writes_task(json);
            text.lines.extend(tasks.iter().map(|task| (Sign::Plain, row(task))));
            read_leaves(json, "", if is_plan { 0 } else { NESTED }, &mut leaves);
            text.head = number_of_tasks(&tasks);
        }
        None => leaves.push(Leaf { key: String::new(), text: arguments.to_owned(), is_keyed: false }),
    }
    leaves.retain(|Leaf { key, text, .. }| {
        let is_same_folder = FOLDERS.contains(&key.as_str()) && folder == text;
        !OF_THE_RUN.contains(&key.as_str()) && !is_same_folder
    });
    if let Some(other) = leaves.iter().find(|leaf| FOLDERS.contains(&leaf.key.as_str())) {
        other.text.clone_into(folder);
    }
    leaves.sort_by_key(|leaf| {
        INFORMATIVE_KEYS.iter().position(|known| *known == leaf.key).unwrap_or(INFORMATIVE_KEYS.len())
    });
    let mut is_behind_key = false;
    for leaf in &leaves {
        add_leaf(&mut text, leaf, &mut is_behind_key);
    }
    text.lines = without_unchanged(text.lines);
    text
}

/// Takes out the lines that a change finds and puts back: they show where it is, and neither what came nor what went. Where
/// nothing else is there, all stay: lines may have changed places. Linear.
fn without_unchanged(lines: Vec<(Sign, String)>) -> Vec<(Sign, String)> {
    let texts = |sign: Sign| lines.iter().filter(move |it| it.0 == sign).map(|it| it.1.trim()).collect::<HashSet<_>>();
    let (old, new) = (texts(Sign::Old), texts(Sign::New));
    let is_changed = |(sign, line): &(Sign, String)| match sign {
        Sign::Old => !new.contains(line.trim()),
        Sign::New => !old.contains(line.trim()),
        Sign::Plain => true,
    };
    if !lines.iter().any(|line| line.0 != Sign::Plain && is_changed(line)) {
        return lines;
    }
    let changed: Vec<bool> = lines.iter().map(is_changed).collect();
    lines.into_iter().zip(changed).filter(|(_, is_changed)| *is_changed).map(|(line, _)| line).collect()
}

/// A value of the arguments that is no list and no object, or a row.
struct Leaf {
    key: String,
    text: String,
    /// Whether the text means nothing without its key.
    is_keyed: bool,
}

impl Leaf {
    fn new(key: &str, text: impl Into<String>, is_keyed: bool) -> Self {
        Self { key: key.to_owned(), text: text.into(), is_keyed }
    }
}

/// Adds a leaf to what is told. `is_behind_key` says whether the leaf before stands in the head with its key, and then whether
/// this one does.
fn add_leaf(told: &mut CallText, Leaf { key, text: value, is_keyed }: &Leaf, is_behind_key: &mut bool) {
    let sign = sign_of(key);
    if *is_keyed && sign == Sign::Plain {
        let value = format!("{key}={value}");
        if told.head.len() + value.len() > HEAD_BYTES {
            told.lines.push((sign, value));
            return;
        }
        if !told.head.is_empty() {
            // Two words with their keys need no border between them.
            told.head.push_str(if *is_behind_key && !value.contains(' ') { " " } else { " | " });
        }
        *is_behind_key = !value.contains(' ');
        told.head.push_str(&value);
        return;
    }
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
                *is_behind_key = false;
            }
        } else if told.head.is_empty() {
            let cut = first.ceil_char_boundary(text::sentence_end(first, HEAD_BYTES).max(1));
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

/// The depth of what stands in a list of the arguments themselves, and one behind it.
const LIST: u32 = 1;
const NESTED: u32 = 2;

/// Reads the values of a JSON value with their keys, the objects of a list each as one line. Tasks in a list of the
/// arguments themselves are told as such.
fn read_leaves(value: &Value, key: &str, depth: u32, leaves: &mut Vec<Leaf>) {
    let is_scalar = |value: &Value| matches!(value, Value::Number(_) | Value::Bool(_));
    match value {
        Value::String(text) => leaves.push(Leaf::new(key, text.as_str(), needs_key(key, text))),
        Value::Bool(false) if SWITCHES.contains(&key) => {}
        Value::Number(_) | Value::Bool(_) => leaves.push(Leaf::new(key, value.to_string(), true)),
        Value::Array(items) if !items.is_empty() && items.iter().all(is_scalar) => {
            leaves.push(Leaf::new(key, value.to_string(), true));
        }
        Value::Array(items) => items.iter().for_each(|item| match item {
            Value::String(text) => leaves.push(Leaf::new(key, text.as_str(), false)),
            Value::Object(_) if depth == LIST && is_task(item) => {}
            Value::Object(_) if is_row(item) => leaves.push(Leaf::new("", row(item), false)),
            _ => read_leaves(item, key, depth + 1, leaves),
        }),
        Value::Object(fields) => fields.iter().for_each(|(key, item)| read_leaves(item, key, depth + 1, leaves)),
        Value::Null => {}
    }
}

/// Whether a text says what it is only with its key: a short one, of a key that is not known to speak for itself.
fn needs_key(key: &str, text: &str) -> bool {
    let is_known = [&INFORMATIVE_KEYS, &PLAIN_KEYS, &FOLDERS].iter().any(|keys| keys.contains(&key));
    let text = text.trim();
    !key.is_empty() && !is_known && !text.is_empty() && text.len() <= LONGEST_KEYED && !text.contains('\n')
}

/// Returns how many tasks there are; nothing without tasks.
fn number_of_tasks(tasks: &[&Value]) -> String {
    match tasks.len() {
        0 => String::new(),
        1 => "1 task".to_owned(),
        more => format!("{more} tasks"),
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

/// Returns a row as one line; of a task without values that only a program reads.
fn row(value: &Value) -> String {
    let is_of_program = |key: &str| matches!(key, "activeForm" | "id" | "priority") && is_task(value);
    let shown = fields(value).filter(|(key, _)| !is_of_program(key));
    let texts: Vec<String> = shown
        .filter_map(|(key, value)| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(format!("{key}={value}")),
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
            let told = call_text(json.as_ref(), arguments, true, &mut "/w".to_owned());
            let told_lines: Vec<(Sign, &str)> = told.lines.iter().map(|(sign, line)| (*sign, line.as_str())).collect();
            assert_eq!((told.head.as_str(), told_lines.as_slice()), (head, lines), "{arguments}");
        };
        check(r#"{"description":"List","command":"ls -l","timeout":5}"#, "ls -l", &[]);
        check(
            r#"{"file_path":"a.rs","old_string":"one\ntwo","new_string":"three"}"#,
            "a.rs",
            &[(Sign::Old, "one"), (Sign::Old, "two"), (Sign::New, "three")],
        );
        check(
            r#"{"file_path":"a.rs","old_string":"fn a() {\n  one();\n}","new_string":"fn a() {\n  two();\n    one();\n}"}"#,
            "a.rs",
            &[(Sign::New, "  two();")],
        );
        check(
            r#"{"file_path":"a.rs","old_string":"one\ntwo","new_string":"two\none"}"#,
            "a.rs",
            &[(Sign::Old, "one"), (Sign::Old, "two"), (Sign::New, "two"), (Sign::New, "one")],
        );
        check(r#"{"path":"a.rs","offset":20,"limit":5}"#, "a.rs | offset=20 limit=5", &[]);
        check(
            r#"{"todos":[{"content":"write","status":"done","id":"1"},{"subject":"test","status":"open"}]}"#,
            "2 tasks",
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
        check(r#"{"row": 9}"#, "row=9", &[]);
        check(r#"{"deep": true, "amount": 1.5}"#, "deep=true amount=1.5", &[]);
        check(r#"{"account": 30, "page": 90}"#, "account=30 page=90", &[]);
        check(r#"{"filter": {"id": "ID-0", "from": "2024-01-01"}}"#, "id=ID-0 from=2024-01-01", &[]);
        check(r#"{"path": "/src/f0.py", "page": 0}"#, "/src/f0.py | page=0", &[]);
        check(r#"{"order": {"id": "7", "status": "sent"}}"#, "sent | id=7", &[]);
        check(r#"{"guest": "Ann Lee", "from": "Bonn", "ids": [1, 2]}"#, "guest=Ann Lee | from=Bonn ids=[1,2]", &[]);
        check(r#"{"edits": [{"line": 9, "id": "b"}]}"#, "line=9 | b", &[]);
        check(r#"{"path": "a.rs", "replace_all": false, "none": null}"#, "a.rs", &[]);
        check(r#"{"pattern": "fn", "path": "src", "output_mode": "content", "-A": 3}"#, "src | fn", &[]);
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
