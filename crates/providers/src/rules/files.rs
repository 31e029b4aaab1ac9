//! Which files were read and changed, and how.

use std::collections::{HashMap, HashSet};

use epitome_strategy::code::definition;
use epitome_strategy::commands::script_of;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{Facts, FileAccess, Language};

use super::collector::Collector;
use super::command_line::{command_of, moved_by_script, read_by_command, written_by_command};
use super::lines::SummarySection;
use super::wording::FILE_VERBS;

/// The most names that edits defined, of one file.
const MOST_DETAILS: usize = 4;

/// The kinds of work, as positions in [`FILE_VERBS`].
const WRITTEN: usize = 0;
const EDITED: usize = 1;
const READ: usize = 2;
const DELETED: usize = 3;

/// The work on one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileWork {
    /// The path, as the first call spells it.
    pub(crate) path: String,
    /// Times of each kind of work, as [`FILE_VERBS`] has them; 1 for deleted where nothing wrote the file since.
    times: [u32; 4],
    /// The names that edits defined.
    details: Vec<String>,
    /// The newest message with work on it.
    last: u32,
}

impl FileWork {
    /// Whether calls wrote, edited or deleted it.
    pub(crate) fn is_changed(&self) -> bool {
        self.times[WRITTEN] + self.times[EDITED] + self.times[DELETED] > 0
    }

    /// Whether the newest call that changed it deleted it or moved it away.
    pub(crate) fn is_deleted(&self) -> bool {
        self.times[DELETED] > 0
    }

    /// The line that says what was done to it.
    pub(crate) fn line(&self, language: Language) -> String {
        let done =
            FILE_VERBS.iter().zip(self.times).filter(|(_, times)| *times > 0).map(|((english, chinese), times)| {
                let verb = language.pick(*english, *chinese);
                if times == 1 { verb.to_owned() } else { format!("{verb} {times}×") }
            });
        let done = done.collect::<Vec<_>>().join(", ");
        let details = if self.details.is_empty() { String::new() } else { format!(" ({})", self.details.join(", ")) };
        format!("{}: {done}{details}", self.path)
    }
}

/// Files by path, in order of their first appearance.
#[derive(Debug, Default)]
struct FileList {
    files: Vec<FileWork>,
    known: HashMap<String, usize>,
}

impl FileList {
    fn file(&mut self, path: &str) -> &mut FileWork {
        let next = self.files.len();
        let index = *self.known.entry(path.trim_start_matches("./").to_owned()).or_insert(next);
        if index == next {
            self.files.push(FileWork { path: path.to_owned(), ..FileWork::default() });
        }
        &mut self.files[index]
    }

    fn note(&mut self, path: &str, kind: usize, message: u32) {
        if kind == DELETED {
            // Of a folder all files leave.
            let folder = format!("/{}/", path.trim_matches('/'));
            let inside = |file: &&mut FileWork| format!("/{}", file.path).contains(&folder);
            self.files.iter_mut().filter(inside).for_each(|file| file.times[DELETED] = 1);
        }
        let file = self.file(path);
        file.last = message;
        match kind {
            DELETED => file.times[DELETED] = 1,
            READ => file.times[READ] += 1,
            kind => {
                file.times[kind] += 1;
                file.times[DELETED] = 0;
            }
        }
    }
}

/// Returns the work of calls on files, behind that of `earlier` summaries, in the order in which each file was last worked
/// on. Calls that failed did nothing. Linear in the calls.
pub(crate) fn file_work(facts: &Facts<'_>, earlier: Vec<(String, [u32; 4], Vec<String>)>) -> Vec<FileWork> {
    let mut list = FileList::default();
    for (path, times, details) in earlier {
        let file = list.file(&path);
        (file.times, file.details) = (times, details);
    }
    let failed: HashSet<u32> = facts.outputs().iter().filter(|it| it.is_error).filter_map(|it| it.call).collect();
    let mut events = facts.file_events().iter().filter(|event| !event.failed).peekable();
    for (number, call) in (0..).zip(facts.calls()) {
        let message = call.at.message;
        while let Some(event) = events.next_if(|event| event.call <= number) {
            let kind = match event.access {
                FileAccess::Write => WRITTEN,
                FileAccess::Edit => EDITED,
                FileAccess::ReadWhole | FileAccess::ReadPart => READ,
            };
            list.note(&event.path, kind, message);
            if kind != READ {
                let details = &mut list.file(&event.path).details;
                let new: Vec<String> =
                    defined_names(call.arguments).into_iter().filter(|name| !details.contains(name)).collect();
                details.extend(new);
                details.truncate(MOST_DETAILS);
            }
        }
        if call.kind != ToolKind::Shell || failed.contains(&number) {
            continue;
        }
        if let Some(command) = command_of(call) {
            // A file written by a script in plain text is listed among the events.
            let written = written_by_command(&command).filter(|_| call.is_json);
            if let Some((path, kind)) = written.or_else(|| Some((read_by_command(&command)?, READ))) {
                list.note(path, kind, message);
            }
        }
        let script = script_of(call).unwrap_or_default();
        moved_by_script(&script).into_iter().for_each(|(path, is_gone)| {
            list.note(path, if is_gone { DELETED } else { WRITTEN }, message);
        });
    }
    list.files.sort_by_key(|file| file.last); // stable
    list.files
}

/// Adds a line for every file that was changed, and lines for those that were read.
pub(crate) fn files(facts: &Facts<'_>, collector: &mut Collector) {
    let earlier = std::mem::take(&mut collector.earlier.files);
    let (changed, read): (Vec<FileWork>, Vec<FileWork>) =
        file_work(facts, earlier).into_iter().partition(FileWork::is_changed);
    for file in changed {
        let text = file.line(collector.language);
        collector.lines.add(SummarySection::Files, text, 5.5 + collector.recency(file.last), file.last);
    }
    // Files that were only read share lines: each is worth little more than its name.
    for group in read.chunks(4) {
        let last = group.last().map_or(0, |file| file.last);
        let paths: Vec<&str> = group.iter().map(|file| file.path.as_str()).collect();
        let text = format!("{}{}", collector.language.pick("read: ", "读取："), paths.join(", "));
        collector.lines.add(SummarySection::Files, text, 3.5 + collector.recency(last), last);
    }
}

/// The names that the lines of a call's arguments define; in JSON line feeds are `\n`.
fn defined_names(arguments: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in arguments.split("\\n").flat_map(str::lines).take(400) {
        let line = line.rsplit("\":\"").next().unwrap_or(line).trim_start_matches(['+', ' ', '\t', '"']);
        if let Some(name) = definition(line).map(str::to_owned).filter(|name| names.len() < 8 && !names.contains(name))
        {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_edits_define() {
        let check = |arguments: &str, expect: &[&str]| assert_eq!(defined_names(arguments), expect);
        check(r#"{"new_string":"pub fn parse() {\n    let x;\n}\nstruct Lexer {"}"#, &["fn parse", "struct Lexer"]);
        check("*** Begin Patch\n+def run(self):\n+    # a function that\n", &["def run"]);
    }
}
