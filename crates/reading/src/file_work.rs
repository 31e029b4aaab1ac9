//! Which files calls read, changed and deleted: by tools for files, and by commands.

use std::collections::HashMap;

use epitome_strategy::commands::{FileMove, file_moves, patch_moves, script_of};
use epitome_strategy::tools::{ToolKind, patch_in};
use epitome_strategy::{Call, Facts, FileAccess};

use crate::command_line::{command_of, read_by_command};

/// What calls did to one file.
#[derive(Debug, Clone, Default)]
pub struct FileWork {
    /// The path, as the first call spells it.
    pub path: String,
    /// Whether calls wrote, edited or deleted it.
    pub is_changed: bool,
    /// Whether the newest call that changed it deleted it or moved it away.
    pub is_deleted: bool,
    /// The newest call that worked on it.
    last: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Work {
    Read,
    Change,
    Deletion,
}

/// Files by path, in order of their first appearance.
#[derive(Debug, Default)]
struct FileList {
    files: Vec<FileWork>,
    known: HashMap<String, usize>,
}

impl FileList {
    fn note(&mut self, path: &str, work: Work, call: u32) {
        if work == Work::Deletion {
            // Of a folder all files leave.
            let folder = format!("/{}/", path.trim_matches('/'));
            let inside = |file: &&mut FileWork| format!("/{}", file.path).contains(&folder);
            self.files.iter_mut().filter(inside).for_each(|file| file.delete());
        }
        let next = self.files.len();
        let index = *self.known.entry(path.trim_start_matches("./").to_owned()).or_insert(next);
        if index == next {
            self.files.push(FileWork { path: path.to_owned(), ..FileWork::default() });
        }
        let file = &mut self.files[index];
        file.last = call;
        match work {
            Work::Read => {}
            Work::Change => (file.is_changed, file.is_deleted) = (true, false),
            Work::Deletion => file.delete(),
        }
    }
}

impl FileWork {
    fn delete(&mut self) {
        (self.is_changed, self.is_deleted) = (true, true);
    }
}

/// Returns what the calls for which `counts` holds did to files, in the order in which each file was last worked on.
/// Calls that failed did nothing. Linear in the calls.
pub fn file_work(facts: &Facts<'_>, counts: impl Fn(&Call<'_>) -> bool) -> Vec<FileWork> {
    let mut list = FileList::default();
    let mut events = facts.file_events().iter().filter(|event| !event.failed).peekable();
    for (number, call) in (0..).zip(facts.calls()) {
        let is_counted = counts(call);
        while let Some(event) = events.next_if(|event| event.call <= number) {
            let work = match event.access {
                FileAccess::Write | FileAccess::Edit => Work::Change,
                FileAccess::ReadWhole | FileAccess::ReadPart => Work::Read,
            };
            if is_counted {
                list.note(&event.path, work, number);
            }
        }
        if !is_counted || call.failed == Some(true) {
            continue;
        }
        let script = if call.kind == ToolKind::Shell { script_of(call).unwrap_or_default() } else { String::new() };
        if let Some(path) = read_by_command(&command_of(call).filter(|_| !script.is_empty()).unwrap_or_default()) {
            list.note(path, Work::Read, number);
        }
        let json = if call.kind == ToolKind::Edit { call.json() } else { None };
        let patch = json.as_ref().and_then(patch_in).unwrap_or_default();
        for FileMove { from, to } in file_moves(&script).into_iter().chain(patch_moves(patch)) {
            // A name alone may be a folder's.
            let from = from.filter(|path| path.contains(['.', '/']));
            from.into_iter().for_each(|path| list.note(path, Work::Deletion, number));
            to.iter().for_each(|path| list.note(path, Work::Change, number));
        }
    }
    list.files.sort_by_key(|file| file.last); // stable
    list.files
}
