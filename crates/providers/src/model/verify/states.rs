//! Lines of a summary that state what the session's log decides: `- path: changed`, `- command: passed`.
//!
//! The prompt asks for the state in these forms, so that it can be held against the log exactly. Whatever else a summary
//! says of a state is the model's own and is not judged.

use std::collections::HashMap;

use epitome_reading::{FileWork, command_of, file_work};
use epitome_strategy::commands::{has_failed, script_of};
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{Language, View};

use super::key;

/// A state that a line gives its file or command, with the word for it in English and Chinese, as the prompts have it.
const STATES: [(LineState, [&str; 2]); 4] = [
    (LineState::Changed, ["changed", "已修改"]),
    (LineState::Deleted, ["deleted", "已删除"]),
    (LineState::Passed, ["passed", "通过"]),
    (LineState::Failed, ["failed", "失败"]),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    Changed,
    Deleted,
    Passed,
    Failed,
}

/// The newest states of files and commands, as calls and their results tell them.
#[derive(Debug, Default)]
pub(super) struct LogStates {
    files: Vec<FileWork>,
    /// Commands, by their [`key`], with whether their newest run failed.
    failed: HashMap<String, bool>,
}

impl LogStates {
    /// Reads the calls of a session. Linear.
    pub(super) fn read(view: &View<'_>) -> Self {
        let facts = view.facts();
        let runs = facts.outputs().iter().filter_map(|output| {
            let call = facts.calls().get(output.call? as usize).filter(|call| call.kind == ToolKind::Shell)?;
            Some((key(&command_of(call)?), has_failed(output.text, output.is_error, script_of(call).as_deref())?))
        });
        Self { files: file_work(facts, |_| true), failed: runs.collect() }
    }

    /// Gives a line the state that the log has, or `mark` where the log shows nothing of a deletion that the line states;
    /// returns the line as the model had written it. `None` where it states nothing, or nothing else than the log. Linear in
    /// the files.
    pub(super) fn correct(&self, line: &mut String, language: Language, mark: &str) -> Option<String> {
        let (subject, stated, word) = read_line(line)?;
        let known = match stated {
            LineState::Changed | LineState::Deleted => self.file_state(subject)?,
            LineState::Passed | LineState::Failed => match self.failed.get(&key(subject))? {
                true => LineState::Failed,
                false => LineState::Passed,
            },
        };
        if known == stated {
            return None;
        }
        let written = line.clone();
        // A file may leave in ways that no call tells of: then the log does not know better.
        if stated == LineState::Deleted {
            line.insert_str(word.end, &format!(" {mark}"));
        } else {
            line.replace_range(word, word_of(known, language));
        }
        Some(written)
    }

    /// The newest state of the one file that is spelt so.
    fn file_state(&self, spelt: &str) -> Option<LineState> {
        let is_end =
            |whole: &str, end: &str| whole.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        let mut named = self.files.iter().filter(|file| is_end(&file.path, spelt) || is_end(spelt, &file.path));
        let (file, None) = (named.next()?, named.next()) else { return None };
        match (file.is_deleted, file.is_changed) {
            (true, _) => Some(LineState::Deleted),
            (false, true) => Some(LineState::Changed),
            (false, false) => None,
        }
    }
}

/// Returns the word for the state of a changed file, as the prompts have it.
pub(in crate::model) fn state_of(file: &FileWork, language: Language) -> &'static str {
    word_of(if file.is_deleted { LineState::Deleted } else { LineState::Changed }, language)
}

fn word_of(state: LineState, language: Language) -> &'static str {
    let words = STATES.iter().find(|(other, _)| *other == state).map_or([""; 2], |(_, words)| *words);
    language.pick(words[0], words[1])
}

/// The subject of a line, its state, and the place of the state's word in the line; `None` for any other line. A subject
/// stands between backquotes, or is all that stands before the last colon.
fn read_line(line: &str) -> Option<(&str, LineState, std::ops::Range<usize>)> {
    let text = line.trim_start().strip_prefix(['-', '*'])?.trim_start();
    let (subject, statement) = match text.strip_prefix('`') {
        Some(quoted) => {
            let (subject, behind) = quoted.split_once('`')?;
            (subject, behind.trim_start().strip_prefix([':', '：'])?)
        }
        None => text.rsplit_once([':', '：'])?,
    };
    let statement = statement.trim_start();
    let (state, word) = STATES
        .iter()
        .flat_map(|(state, words)| words.map(|word| (*state, word)))
        .find(|(_, word)| statement.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))?;
    let at = line.len() - statement.len();
    Some((subject.trim(), state, at..at + word.len()))
}
