//! Which files were read and changed, and how.

use std::collections::HashMap;

use epitome_strategy::code::definition;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{Facts, FileAccess};

use super::collector::Collector;
use super::command_line::{command_of, read_by_command, written_by_command};
use super::lines::SummarySection;
use super::wording::FILE_VERBS;

/// The work on one file.
#[derive(Debug, Default)]
struct FileWork {
    path: String,
    /// Times it was written, edited, read, as [`FILE_VERBS`] has them.
    times: [u32; 3],
    /// The names that edits defined.
    details: Vec<String>,
    last: u32,
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
}

/// Adds a line for every file that was changed, and lines for those that were read.
pub(crate) fn files(facts: &Facts<'_>, collector: &mut Collector) {
    let mut list = FileList::default();
    for (path, times, details) in std::mem::take(&mut collector.earlier.files) {
        let file = list.file(&path);
        file.details = details;
        file.times = times;
    }
    for event in facts.file_events().iter().filter(|event| !event.failed) {
        let call = &facts.calls()[event.call as usize];
        let file = list.file(&event.path);
        let verb = match event.access {
            FileAccess::Write => 0,
            FileAccess::Edit => 1,
            FileAccess::ReadWhole | FileAccess::ReadPart => 2,
        };
        file.times[verb] += 1;
        file.last = call.at.message;
        if verb < 2 {
            for name in defined_names(call.arguments) {
                if file.details.len() < 4 && !file.details.contains(&name) {
                    file.details.push(name);
                }
            }
        }
    }
    for call in facts.calls().iter().filter(|call| call.kind == ToolKind::Shell) {
        let Some(command) = command_of(call) else { continue };
        // A file written by a script in plain text is listed among the events.
        let written = written_by_command(&command).filter(|_| call.is_json);
        let event = written.or_else(|| Some((read_by_command(&command)?, 2)));
        if let Some((path, verb)) = event {
            let file = list.file(path);
            file.times[verb] += 1;
            file.last = call.at.message;
        }
    }
    file_lines(list.files, collector);
}

fn file_lines(work: Vec<FileWork>, collector: &mut Collector) {
    let (changed, mut read): (Vec<FileWork>, Vec<FileWork>) =
        work.into_iter().partition(|file| file.times[0] + file.times[1] > 0);
    for file in changed {
        let mut done: Vec<String> = Vec::new();
        for ((english, chinese), times) in FILE_VERBS.into_iter().zip(file.times).filter(|(_, times)| *times > 0) {
            let verb = collector.language.pick(english, chinese);
            done.push(if times == 1 { verb.to_owned() } else { format!("{verb} {times}×") });
        }
        let details = if file.details.is_empty() { String::new() } else { format!(" ({})", file.details.join(", ")) };
        let text = format!("{}: {}{details}", file.path, done.join(", "));
        collector.lines.add(SummarySection::Files, text, 5.5 + collector.recency(file.last), file.last);
    }
    // Files that were only read share lines: each is worth little more than its name.
    read.sort_by_key(|file| file.last);
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
