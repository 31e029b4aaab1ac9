//! Exact-quote survival and the artefact trail: what later edits must match, and which files were written.

use std::collections::HashSet;

use epitome::session::{Content, Message};
use serde_json::Value;

use crate::cases::text::leaves;

/// The fewest characters of a line that is worth matching.
const LEAST_LINE_CHARACTERS: usize = 12;

/// Names of the arguments that an edit must match earlier text with, lower case, without `_`.
const OLD_TEXT: &[&str] = &["oldstring", "oldstr", "oldtext", "search", "oldcontent", "originaltext", "target"];
/// Names of the arguments that name a file.
const FILE: &[&str] = &["filepath", "path", "file", "filename", "notebookpath", "targetfile", "absolutepath"];
/// Parts of the names of tools that write or change files.
const WRITES: &[&str] = &["edit", "write", "replace", "patch", "insert", "createfile", "savefile", "applydiff"];

/// Calls `visit` with each call's tool, the arguments as JSON where they are, and their text.
fn each_call(message: &Message, visit: &mut impl FnMut(&str, Option<&Value>, &str)) {
    for (_, call) in message.calls() {
        visit(&call.name, call.arguments.json().as_ref(), call.arguments.text());
    }
    for call in &message.text_calls {
        if let Some(Content::Text { text }) = message.blocks.get(call.block as usize).map(|block| &block.content)
            && let Some(arguments) = text.get(call.start as usize..call.end as usize)
        {
            visit(&call.name, None, arguments);
        }
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Returns the lines that the edits of a message must find in the files: of old strings, and of the kept and removed
/// lines of patches. Lines of fewer than 12 characters are left out, and so is white space at the end.
pub(crate) fn quoted_lines(message: &Message, lines: &mut Vec<String>) {
    each_call(message, &mut |_, value, text| match value {
        Some(value) => leaves(value, "", &mut |key, leaf| {
            if OLD_TEXT.contains(&plain(key).as_str()) && is_edit(value) {
                add_lines(leaf.lines(), lines);
            } else {
                add_lines(patch_lines(leaf), lines);
            }
        }),
        None => add_lines(patch_lines(text), lines),
    });
}

/// Whether the arguments have a new text beside the old one: a search has an old text only.
fn is_edit(value: &Value) -> bool {
    let mut found = false;
    leaves(value, "", &mut |key, _| {
        let key = plain(key);
        found |= key.starts_with("new") || key == "replace" || key == "replacement" || key == "replacewith";
    });
    found
}

fn add_lines<'a>(found: impl Iterator<Item = &'a str>, lines: &mut Vec<String>) {
    let long = |line: &&str| line.trim().chars().count() >= LEAST_LINE_CHARACTERS;
    lines.extend(found.map(str::trim_end).filter(long).map(str::to_owned));
}

/// Returns the context and the removed lines of every patch and every search-and-replace block in `text`.
fn patch_lines(text: &str) -> impl Iterator<Item = &str> {
    #[derive(Clone, Copy, PartialEq)]
    enum DiffState {
        Nothing,
        Patch,
        Search,
    }
    let mut state = DiffState::Nothing;
    text.lines().filter_map(move |line| {
        let next = match (state, line) {
            (_, line) if line.starts_with("*** Update File:") || line.starts_with("@@") => Some(DiffState::Patch),
            (_, line) if line.starts_with("*** ") || line.starts_with("diff --git") => Some(DiffState::Nothing),
            (_, line) if line.starts_with("<<<<<<< SEARCH") || line.starts_with("------- SEARCH") => {
                Some(DiffState::Search)
            }
            (DiffState::Search, line) if line.starts_with("=======") => Some(DiffState::Nothing),
            (DiffState::Patch, line) if line.starts_with("--- ") || line.starts_with("+++ ") => Some(DiffState::Patch),
            _ => None,
        };
        if let Some(next) = next {
            state = next;
            return None;
        }
        match state {
            DiffState::Search => Some(line),
            DiffState::Patch => line.strip_prefix(' ').or_else(|| line.strip_prefix('-')),
            DiffState::Nothing => None,
        }
    })
}

/// Returns the files that a message's calls write or change, as they are named there.
pub fn written_files(message: &Message, files: &mut Vec<String>) {
    each_call(message, &mut |tool, value, text| {
        let tool = plain(tool);
        let views = value.is_some_and(|value| value["command"] == "view" || value["command"] == "undo_edit");
        let writes = WRITES.iter().any(|part| tool.contains(part)) || tool == "create" || tool.ends_with("editor");
        if let Some(Value::Object(fields)) = value.filter(|_| writes && !views) {
            let named = fields.iter().filter(|(name, _)| FILE.contains(&plain(name).as_str()));
            files.extend(named.filter_map(|(_, file)| Some(file.as_str()?.to_owned())));
        }
        match value {
            Some(value) => leaves(value, "", &mut |key, leaf| {
                patched_files(leaf, files);
                if matches!(plain(key).as_str(), "command" | "cmd" | "script") && !views {
                    redirected_files(leaf, files);
                }
            }),
            None => {
                patched_files(text, files);
                redirected_files(text, files);
            }
        }
    });
}

fn patched_files(text: &str, files: &mut Vec<String>) {
    const HEADERS: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Move to: "];
    let names = text.lines().filter_map(|line| HEADERS.iter().find_map(|header| line.strip_prefix(header)));
    files.extend(names.map(|name| name.trim().to_owned()));
}

/// Returns the files that a shell command writes: behind `>`, `>>` and `tee`, and the last word of `sed -i`.
fn redirected_files(command: &str, files: &mut Vec<String>) {
    // The body of a here-document is content.
    let head = command
        .split_once("<<")
        .map_or(command, |(head, rest)| if head.contains('>') { head } else { rest.lines().next().unwrap_or(head) });
    for line in head.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            let target = match *word {
                ">" | ">>" | "tee" => words.get(at + 1).copied(),
                word => word.strip_prefix(">>").or_else(|| word.strip_prefix('>')),
            };
            let is_file = |name: &&str| {
                name.contains(['.', '/']) && !name.starts_with(['&', '-', '$', '(', '=']) && !name.starts_with("/dev/")
            };
            let name = target.map(|name| name.trim_matches(['"', '\'', ';', ')', '`']));
            files.extend(name.filter(is_file).map(str::to_owned));
        }
        if let Some(at) = words.iter().position(|word| *word == "sed")
            && words[at..].iter().any(|word| word.starts_with("-i"))
        {
            let end = words[at..].iter().position(|word| matches!(*word, "&&" | "|" | ";" | "||"));
            let last = words[at..end.map_or(words.len(), |end| at + end)].last();
            let name = last.map(|name| name.trim_matches(['"', '\'', ';', ')', '`']));
            files.extend(
                name.filter(|name| name.contains(['.', '/']) && !name.contains(['*', '$', '{'])).map(str::to_owned),
            );
        }
    }
}

/// Returns the text by which a result names a file: its last two parts, or its name where it has one part.
pub fn short_name(file: &str) -> String {
    let file = file.trim_end_matches(['/', '\\']);
    let separators: Vec<usize> = file.rmatch_indices(['/', '\\']).map(|(at, _)| at).collect();
    let start = separators.get(1).map_or(0, |at| at + 1);
    let name = &file[start..];
    name.trim_start_matches(['/', '\\']).trim_start_matches("./").to_owned()
}

/// Returns `items` without repetitions, in order.
pub(crate) fn unique(items: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    items.into_iter().filter(|item| !item.is_empty() && seen.insert(item.clone())).collect()
}
