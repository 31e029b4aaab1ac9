//! The files that calls changed, and the newest state of each.

use std::collections::HashMap;

use epitome_strategy::commands::script_of;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{FileAccess, Language, View};

/// A file that calls changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ChangedFile {
    /// The path as the newest call spells it.
    pub path: String,
    /// Whether the file exists after the newest call that changed it.
    pub is_there: bool,
    /// Whether a call ever deleted the file or moved it away.
    pub was_deleted: bool,
    /// Whether the file was deleted and certainly written again since.
    pub is_back: bool,
    /// Whether a later command may have reverted the changes.
    pub may_be_reverted: bool,
    writes: u32,
    edits: u32,
}

/// What a call did to a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Gone,
    Written,
    Edited,
}

impl ChangedFile {
    /// The file's state, in a few words.
    pub(super) fn state(&self, language: Language) -> String {
        if !self.is_there {
            return language.pick("deleted or moved away", "已删除或移走").to_owned();
        }
        let times = |count: u32| match count {
            1 => String::new(),
            count => language.pick(format!(" {count} times"), format!(" {count} 次")),
        };
        let mut parts = Vec::new();
        if self.writes > 0 {
            parts.push(format!("{}{}", language.pick("written", "写入"), times(self.writes)));
        }
        if self.edits > 0 {
            parts.push(format!("{}{}", language.pick("edited", "修改"), times(self.edits)));
        }
        if self.may_be_reverted {
            parts.push(language.pick("git may have taken it back since", "之后可能被 git 撤销").to_owned());
        }
        parts.join(language.pick(", ", "，"))
    }
}

/// The files that calls changed, in the order of their newest change. Calls that failed changed nothing. Linear in the
/// calls.
pub(super) fn changed_files(view: &View<'_>) -> Vec<ChangedFile> {
    let facts = view.facts();
    let mut files: HashMap<String, (u32, ChangedFile)> = HashMap::new();
    let mut change = |path: &str, call: u32, how: Change| {
        let new = || ChangedFile { path: path.to_owned(), is_there: true, ..ChangedFile::default() };
        let (newest, file) = files.entry(path.to_owned()).or_insert_with(|| (call, new()));
        *newest = call;
        if how == Change::Gone {
            (file.is_there, file.was_deleted, file.is_back) = (false, true, false);
            return;
        }
        file.is_back |= !file.is_there;
        file.is_there = true;
        file.edits += u32::from(how == Change::Edited);
        file.writes += u32::from(how == Change::Written);
    };
    let failed: Vec<u32> = facts.outputs().iter().filter(|it| it.is_error).filter_map(|it| it.call).collect();
    let mut events = facts.file_events().iter().filter(|event| !event.failed).peekable();
    let mut reverts = Vec::new();
    for (number, call) in facts.calls().iter().enumerate() {
        let number = number as u32;
        while let Some(event) = events.next_if(|event| event.call <= number) {
            match event.access {
                FileAccess::Edit => change(&event.path, number, Change::Edited),
                FileAccess::Write => change(&event.path, number, Change::Written),
                FileAccess::ReadWhole | FileAccess::ReadPart => {}
            }
        }
        if call.kind != ToolKind::Shell || failed.contains(&number) {
            continue;
        }
        let command = script_of(call).unwrap_or_else(|| call.arguments.to_owned());
        for (path, how) in steps(&command) {
            change(&path, number, how);
        }
        if takes_back(&command) {
            reverts.push(number);
        }
    }
    let mut files: Vec<(u32, ChangedFile)> = files.into_values().collect();
    // A deletion is often spelt from another folder than the edits before it.
    let gone: Vec<(u32, String)> = files
        .iter()
        .filter(|(_, file)| !file.is_there)
        .map(|(call, file)| (*call, format!("/{}", file.path)))
        .collect();
    for (call, file) in &mut files {
        let mut same = gone.iter().filter(|(_, gone)| file.path.ends_with(gone.as_str())).peekable();
        file.was_deleted |= same.peek().is_some();
        file.is_back &= same.all(|(deleted, _)| deleted < call);
        file.may_be_reverted = reverts.iter().any(|revert| revert > call);
    }
    // A file that was only deleted was never changed here, but it is gone.
    files.sort_by(|left, right| left.0.cmp(&right.0).then_with(|| left.1.path.cmp(&right.1.path)));
    files.into_iter().map(|(_, file)| file).collect()
}

/// The files that a script deletes, moves or copies, in order: the words behind `rm` and `git rm`; of `mv` all but the last
/// one are gone, and of `mv` and `cp` the last one is there, also where it was gone before. What is worked out while it runs
/// is left out. Linear.
fn steps(script: &str) -> Vec<(String, Change)> {
    let mut found = Vec::new();
    for command in script.split(['\n', ';', '|', '&']) {
        let mut words = command.split_whitespace();
        let mut first = words.next();
        while matches!(first, Some("sudo" | "git" | "command")) {
            first = words.next();
        }
        let paths = words.filter(|word| !word.starts_with('-')).map(|word| word.trim_matches(['"', '\'']));
        let is_path = |path: &&str| is_plain(path);
        let gone = |path: &str| (path.to_owned(), Change::Gone);
        match first {
            Some("rm" | "unlink") => found.extend(paths.filter(is_path).map(gone)),
            Some(name @ ("mv" | "cp")) => {
                let paths: Vec<&str> = paths.collect();
                let Some((target, sources)) = paths.split_last() else { continue };
                if name == "mv" {
                    found.extend(sources.iter().copied().filter(is_path).map(gone));
                }
                found.extend(sources.iter().filter(|path| is_path(path)).filter_map(|from| moved_file(from, target)));
            }
            _ => {}
        }
    }
    found.retain(|(path, _)| is_plain(path));
    found
}

/// Whether a word is a path without variables and patterns.
fn is_plain(path: &str) -> bool {
    path.contains(['.', '/']) && !path.contains(['*', '$', '>', '<', '`', '(', '{'])
}

/// Where a file is that was moved or copied from one path to another; `None` where the other may be a folder, of which the
/// script does not tell.
fn moved_file(from: &str, to: &str) -> Option<(String, Change)> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    if let Some(folder) = to.strip_suffix('/') {
        return Some((format!("{folder}/{}", name(from)), Change::Written));
    }
    let is_file = name(to).trim_matches('.').contains('.');
    is_file.then(|| (to.to_owned(), Change::Written))
}

/// Whether a script may revert changes of files.
fn takes_back(script: &str) -> bool {
    ["git checkout", "git restore", "git reset", "git stash", "git revert", "git clean"]
        .iter()
        .any(|command| script.contains(command))
}

#[cfg(test)]
mod tests {
    use super::*;
    use epitome_strategy::NoTokens;
    use epitome_strategy::SummaryTask;

    fn files(fixture: &str) -> Vec<(String, String)> {
        let session = epitome_testkit::session(fixture);
        let request = epitome_strategy::SummaryRequest::new(500, None);
        let task = SummaryTask {
            messages: session.log(),
            session: None,
            request: &request,
            language: Language::English,
            counter: &NoTokens,
        };
        let found = super::super::source::with_messages(session.log().iter(), &task, changed_files);
        found.into_iter().map(|file| (file.path.clone(), file.state(Language::English))).collect()
    }

    #[test]
    fn newest_states() {
        let check = |fixture: &str, expect: &[(&str, &str)]| {
            let found = files(fixture);
            let found: Vec<(&str, &str)> = found.iter().map(|(path, state)| (path.as_str(), state.as_str())).collect();
            assert_eq!(found, expect, "{fixture}");
        };
        let edit = |id: &str, path: &str| {
            format!(
                "call Edit {id} {{\"file_path\":\"{path}\",\"old_string\":\"a\",\"new_string\":\"b\"}}\nresult {id}: ok\n"
            )
        };
        let shell =
            |id: &str, command: &str| format!("call Bash {id} {{\"command\":\"{command}\"}}\nresult {id}: ok\n");
        check(
            &format!("user: go\n{}{}{}", edit("a", "a.rs"), edit("b", "b.rs"), edit("c", "a.rs")),
            &[("b.rs", "edited"), ("a.rs", "edited 2 times")],
        );
        check(
            &format!("user: go\n{}{}", edit("a", "a.rs"), shell("b", "rm -f a.rs && ls")),
            &[("a.rs", "deleted or moved away")],
        );
        check(
            &format!("user: go\n{}{}", edit("a", "a.rs"), shell("b", "git checkout -- .")),
            &[("a.rs", "edited, git may have taken it back since")],
        );
        check(
            &format!("user: go\n{}", shell("b", "mv old.rs new.rs")),
            &[("new.rs", "written"), ("old.rs", "deleted or moved away")],
        );
        check(
            &format!("user: go\n{}{}", shell("a", "mv a.rs b.rs"), shell("b", "cargo test; mv b.rs a.rs")),
            &[("a.rs", "written"), ("b.rs", "deleted or moved away")],
        );
        check(
            &format!("user: go\n{}", shell("a", "cp a.rs /tmp/ && rm a.rs && cp /tmp/a.rs a.rs")),
            &[("/tmp/a.rs", "written"), ("a.rs", "written")],
        );
        check(&format!("user: go\n{}", shell("a", "mv a.rs src")), &[("a.rs", "deleted or moved away")]);
        check("user: go\ncall Edit a {\"file_path\":\"a.rs\"}\nresult a error: no\n", &[]);
    }
}
