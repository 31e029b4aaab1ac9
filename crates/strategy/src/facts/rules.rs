//! The outputs in which an agent read rules that its host would load by itself.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use epitome_session::speaker::{rules_folder, rules_names};
use epitome_session::{Entry, units};

use super::call::Call;
use super::files::FileAccess;
use super::{Facts, script_of};
use crate::block::{BlockRef, EntryTokens};
use crate::lexicon::Lexicon;
use crate::lists::LISTS;
use crate::tools::ToolKind;

/// Finds calls that may name a file of rules: without one there is nothing to look for.
static NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::new(rules_names()).unwrap_or_else(|error| unreachable!("a handful of names: {error}"))
});

/// Programs that print a file.
static PRINTING: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("printing"));

/// A file of rules that a call read.
struct Reading {
    path: String,
    /// What of it was read, in the words of the call; empty for all of it.
    part: String,
    call: usize,
}

/// Returns the outputs of calls that read nothing but rules which the host of the session would load by itself: files of such
/// names, in the working directory or above a file that is worked on. Of each file that is the newest reading of all of it, and
/// where there is none, the newest of each part. In order of the calls. Linear in the calls.
pub fn rules_read(entries: &[Entry]) -> Vec<BlockRef> {
    let may_name = |entry: &Entry| match entry.message.text_calls.is_empty() {
        true => entry.message.calls().any(|(_, call)| NAMES.is_match(&**call.arguments.text())),
        false => entry.message.texts().any(|text| NAMES.is_match(&**text)),
    };
    if !entries.iter().any(may_name) {
        return Vec::new();
    }
    let uncounted = |entry: &Entry| EntryTokens { total: 0, blocks: vec![0; entry.message.blocks.len()] };
    let tokens: Vec<EntryTokens> = entries.iter().map(uncounted).collect();
    let units = units(entries);
    Facts::build(entries, &units, &tokens, Lexicon::shipped()).rules_read()
}

impl Facts<'_> {
    fn rules_read(&self) -> Vec<BlockRef> {
        let has_succeeded = |call: &usize| self.calls()[*call].failed == Some(false);
        let readings = (0..self.calls().len()).filter(has_succeeded).flat_map(|call| self.rules_of(call));
        let mut newest: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for Reading { path, part, call } in readings.filter(|reading| self.is_loaded(&reading.path)) {
            newest.entry(path).or_default().insert(part, call);
        }
        let of_file = |parts: BTreeMap<String, usize>| match parts.get("") {
            Some(whole) => vec![*whole],
            None => parts.into_values().collect(),
        };
        let mut calls: Vec<usize> = newest.into_values().flat_map(of_file).collect();
        calls.sort_unstable();
        calls.dedup();
        calls.into_iter().filter_map(|call| self.calls()[call].output).collect()
    }

    /// Returns the rules that a call read; none where it read something else too, or may have printed anything.
    fn rules_of(&self, index: usize) -> Vec<Reading> {
        let call = &self.calls()[index];
        // A server's tool is not the agent's own.
        if !NAMES.is_match(call.arguments) || call.name.contains("__") {
            return Vec::new();
        }
        if call.kind == ToolKind::Shell {
            let script = script_of(call).unwrap_or_default();
            let printed = printed_files(&script);
            let is_rules = |(path, _): &(String, String)| rules_folder(path).is_some();
            let only_rules = printed.iter().all(is_rules);
            let readings = printed.into_iter().map(|(path, part)| Reading { path, part, call: index });
            return if only_rules { readings.collect() } else { Vec::new() };
        }
        let events = self.file_events();
        let first = events.partition_point(|event| (event.call as usize) < index);
        let own = events[first..].iter().take_while(|event| event.call as usize == index);
        let read = own.filter(|event| matches!(event.access, FileAccess::ReadWhole | FileAccess::ReadPart));
        let rules = read.filter(|event| rules_folder(&event.path).is_some());
        rules.map(|event| Reading { path: event.path.clone(), part: event.part.clone(), call: index }).collect()
    }

    /// Whether the host would load a file of rules by itself: it is in the working directory, or above a file that is worked on.
    fn is_loaded(&self, path: &str) -> bool {
        let Some(folder) = rules_folder(path) else { return false };
        // The agent's own folder in the person's: `~/.claude/CLAUDE.md`.
        let is_person_s = folder.rsplit('/').next().is_some_and(|name| name.starts_with('.') && name.len() > 1);
        let is_above = |call: &Call<'_>| {
            call.arguments.match_indices(folder).any(|(at, _)| {
                let (before, after) = (&call.arguments[..at], &call.arguments[at + folder.len()..]);
                let named = after.strip_prefix('/').filter(|_| !before.ends_with(|char: char| char.is_alphanumeric()));
                named.is_some_and(|file| {
                    file.starts_with(|char: char| char.is_alphanumeric()) && !names_only_rules(folder, file)
                })
            })
        };
        // Paths that begin at the working directory say nothing of where that is.
        let is_relative = |path: &str| !path.starts_with('/') && !path.contains(':');
        let is_elsewhere =
            || self.file_events().iter().any(|event| !is_relative(&event.path) && rules_folder(&event.path).is_none());
        folder.is_empty() || is_person_s || self.calls().iter().any(is_above) || !is_relative(folder) && !is_elsewhere()
    }
}

/// Whether what is named behind a folder is a file of rules of that folder itself.
fn names_only_rules(folder: &str, file: &str) -> bool {
    let end = file.find(|char: char| !(char.is_alphanumeric() || matches!(char, '.' | '_' | '-' | '/')));
    rules_folder(&format!("{folder}/{}", &file[..end.unwrap_or(file.len())])) == Some(folder)
}

/// Returns the files that a script prints, each with the command where that prints a part of it; a change of folder at the
/// script's beginning is a part of their paths.
fn printed_files(script: &str) -> Vec<(String, String)> {
    let (folder, script) = match script.trim().strip_prefix("cd ").and_then(|rest| rest.split_once("&&")) {
        Some((folder, rest)) => (unquoted(folder.trim()), rest),
        None => ("", script),
    };
    let mut files = Vec::new();
    for command in script.split(['\n', ';', '|', '&']).map(str::trim) {
        let mut words = command.split_whitespace().map(unquoted);
        let program = words.next().unwrap_or_default();
        if !PRINTING.contains(&program) {
            continue;
        }
        let is_file = |word: &&str| word.contains(['.', '/']) && !word.starts_with('-') && !word.contains(',');
        let is_whole = program == "cat" || !command.contains(|char: char| char.is_ascii_digit());
        for file in words.filter(is_file) {
            let path = match folder {
                "" => file.to_owned(),
                _ if file.starts_with('/') => file.to_owned(),
                folder => format!("{}/{file}", folder.trim_end_matches('/')),
            };
            files.push((path, if is_whole { String::new() } else { command.to_owned() }));
        }
    }
    files
}

fn unquoted(word: &str) -> &str {
    word.trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use epitome_session::{Arguments, Block, Content, Message, Origin, Role, Session, ToolCall, ToolResult};

    use super::*;

    #[test]
    fn rules_that_were_read() {
        // Each call is `tool arguments`; the numbers of those whose outputs hold rules.
        let check = |calls: &[&str], expect: &[u32]| {
            let mut session = Session::new();
            for (number, call) in calls.iter().enumerate() {
                let (name, arguments) = call.split_once(' ').unwrap_or_default();
                let (id, arguments) = (Arc::from(format!("c{number}")), Arguments::Json(arguments.into()));
                let call = Content::ToolCall(ToolCall { id: Arc::clone(&id), name: name.into(), arguments });
                session.push(Message::new("", Role::Assistant, Origin::Model, vec![Block::new(call)]));
                let (text, attachments) = ("x".into(), Vec::new());
                session.push(Message::result(
                    "",
                    ToolResult { call_id: id, name: None, text, attachments, is_error: false },
                ));
            }
            let found: Vec<u32> = rules_read(session.view()).iter().map(|at| at.message / 2).collect();
            assert_eq!(found, expect, "{calls:?}");
        };
        let read = |path: &str| format!("Read {{\"file_path\":\"{path}\"}}");
        check(&[&read("AGENTS.md"), &read("src/a.rs")], &[0]);
        check(&[&read("/w/CLAUDE.md"), &read("/w/src/a.rs"), &read("/w/CLAUDE.md")], &[2]);
        check(&[&read("/w/CLAUDE.md"), "Read {\"file_path\":\"/w/CLAUDE.md\",\"offset\":9}", &read("/w/a.rs")], &[0]);
        check(&["Read {\"file_path\":\"/w/CLAUDE.md\",\"offset\":9}", &read("/w/a.rs")], &[0]);
        check(&[&read("web/AGENTS.md"), &read("web/src/a.ts")], &[0]);
        check(&[&read("web/AGENTS.md"), &read("core/a.rs")], &[]);
        check(&[&read("/tmp/clone/AGENTS.md"), &read("/w/a.rs")], &[]);
        check(&[&read("/w/node_modules/x/CLAUDE.md"), &read("/w/a.rs")], &[]);
        check(&[&read("/home/a/.claude/CLAUDE.md"), &read("/w/a.rs")], &[0]);
        check(&[&read("docs/agents.md"), "Grep {\"pattern\":\"AGENTS.md\"}"], &[]);
        check(&["mcp__pages__read_file {\"path\":\"AGENTS.md\"}"], &[]);
        check(&["exec_command {\"cmd\":\"cat AGENTS.md\"}"], &[0]);
        check(&["shell {\"command\":[\"bash\",\"-lc\",\"cd /w && sed -n '1,200p' AGENTS.md\"]}"], &[0]);
        check(&["exec_command {\"cmd\":\"cat AGENTS.md src/a.rs\"}"], &[]);
        check(&["exec_command {\"cmd\":\"rg tabs AGENTS.md\"}", "exec_command {\"cmd\":\"ls AGENTS.md\"}"], &[]);
        check(
            &["exec_command {\"cmd\":\"cat AGENTS.md\"}", "apply_patch {\"input\":\"*** Update File: AGENTS.md\"}"],
            &[0],
        );
    }
}
