//! The purpose of calls: which calls ask for the same thing, which read, which report a state.

use std::collections::HashMap;

use epitome_strategy::commands::{Action as Effect, action as effect, is_looking, is_prefix, simple_commands};
use epitome_strategy::keys::key_of;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::transcript::Ending;

use crate::passage::Action;
use crate::source::Source;

/// Returns the request of a call: its line without the tool's name, and without a change of the folder in front.
pub(crate) fn request_of<'s>(source: &'s Source, action: &Action) -> &'s str {
    let asked = source.request(action);
    match asked.strip_prefix("cd ").and_then(|rest| rest.split_once(" && ")) {
        Some((_, command)) => command.trim_start(),
        None => asked,
    }
}

/// Returns the signature of a call: calls with the same one ask for the same thing. A command's is its first two words,
/// or the whole command where it begins with a path.
pub(crate) fn signature(source: &Source, action: &Action) -> u64 {
    let asked = request_of(source, action);
    let asked = asked.split(" | ").next().unwrap_or(asked);
    let mut words = asked.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (first, second) = if first.contains(['/', '\\']) { (asked, "") } else { (first, second) };
    key_of(action.name.bytes().chain([0]).chain(first.bytes()).chain([0]).chain(second.bytes()))
}

/// Returns the line of the newest call of each signature. Linear in the calls.
pub(crate) fn newest_of_same(source: &Source) -> HashMap<u64, u32> {
    source.actions.iter().map(|action| (signature(source, action), action.head)).collect()
}

impl Action {
    /// Whether it does something, as far as is known, and does not only look.
    pub(crate) fn acts(&self) -> bool {
        match self.kind {
            ToolKind::Shell => !self.looks,
            kind => matches!(kind, ToolKind::Edit | ToolKind::Write | ToolKind::Other | ToolKind::Delegate),
        }
    }

    /// Tells what the call is there for, by the script that it runs.
    pub(crate) fn read_script(&mut self, script: &str) {
        self.looks = is_looking(script);
        let mut programs = simple_commands(script).map(|command| command.split_whitespace().next().unwrap_or_default());
        let program = programs.find(|program| *program != "cd");
        let is_of_repository = matches!(program, Some("git" | "gh"));
        self.reports_state = is_of_repository || matches!(effect(script), Effect::Run | Effect::Commit);
    }

    /// Whether it is known to have failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.ending == Some(Ending::Failed)
    }

    /// Whether it only shows content.
    pub(crate) fn is_reading(&self) -> bool {
        matches!(self.kind, ToolKind::Read | ToolKind::Search | ToolKind::Web)
            || self.kind == ToolKind::Shell && self.looks
    }
}

impl Source {
    /// Returns what a call is told by where nothing of it is shown: the name of the file that it read or changed, the program that
    /// it ran with its sub-command or file, or the tool by which something was done. `None` for other calls.
    pub(crate) fn short_name(&self, action: &Action) -> Option<String> {
        match action.kind {
            ToolKind::Read | ToolKind::Edit | ToolKind::Write => {
                self.request(action).split(" | ").next().and_then(file_name).map(str::to_owned)
            }
            ToolKind::Shell => program_of(request_of(self, action)),
            ToolKind::Other => Some(action.name.to_string()),
            _ => None,
        }
    }
}

/// Returns the last part of a path; `None` where it has none.
fn file_name(path: &str) -> Option<&str> {
    path.trim_end_matches(['/', '\\', '"', '\'']).rsplit(['/', '\\', '"', '\'']).next().filter(|name| !name.is_empty())
}

/// Returns the program of a command's first line with its sub-command, or else with the first file that the line names.
fn program_of(command: &str) -> Option<String> {
    let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let mut words = command.lines().next()?.split_whitespace().skip_while(|word| is_prefix(word));
    let program = file_name(words.next()?).filter(|program| program.bytes().all(is_of_program))?;
    let mut words = words.peekable();
    let sub_command = words.next_if(|word| word.len() > 1 && is_word(word) && !word.starts_with('-'));
    let is_file = |name: &&str| name.trim_matches('.').contains('.') && name.bytes().all(is_of_program);
    // A pattern in quotes stands in front of the file that is searched or edited.
    let own = || words.take_while(|word| !matches!(*word, "|" | "&&" | ";" | "||"));
    let named = || own().filter(|word| !word.starts_with(['-', '"', '\''])).filter_map(file_name);
    Some(match sub_command.or_else(|| named().filter(is_file).last()) {
        Some(second) => format!("{program} {second}"),
        None => program.to_owned(),
    })
}

fn is_of_program(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+')
}

/// Returns the file that a call reads or changes, by its name without folders.
pub(crate) fn file_of(source: &Source, action: &Action) -> Option<u64> {
    let asked = request_of(source, action);
    let name = match action.kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Write => asked.split(" | ").find(|part| part.contains('.'))?,
        ToolKind::Shell => asked.split_whitespace().rfind(|word| word.contains('.') && !word.starts_with('-'))?,
        _ => return None,
    };
    let name = name.trim_matches(|char: char| matches!(char, '"' | '\'' | '`' | ')' | ';'));
    let name = name.rsplit(['/', '\\', ' ']).next().unwrap_or(name);
    (!name.is_empty()).then(|| key_of(name.bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_is_told_by() {
        let check =
            |command: &str, expect: Option<&str>| assert_eq!(program_of(command).as_deref(), expect, "{command}");
        check("git log -5 --oneline", Some("git log"));
        check("/usr/bin/cargo test -p a", Some("cargo test"));
        check("sed -n '1,9p' src/a/b.rs | head -3", Some("sed b.rs"));
        check("grep -rn 'self.lines' src/a.rs", Some("grep a.rs"));
        check("cat <<'EOF' > notes/plan.md\ntext\nEOF", Some("cat plan.md"));
        check("ls -la", Some("ls"));
        check("RUST_LOG=debug timeout 60 cargo test", Some("cargo test"));
        check("(eval) x", None);
        check("", None);
    }
}
