//! Lines of a summary that state what the session's log decides: `- path: changed`, `- command: passed`, `- [x] task`.
//!
//! The prompt asks for the state in these forms, so that it can be held against the log exactly: prose about it is the
//! model's own and is not judged. A line whose state the log contradicts gets the log's.

use epitome_strategy::Language;

use super::answer::Body;
use super::changed::ChangedFile;
use super::claims::fold_for_lookup;
use super::state::Task;
use super::wording::{SAID, proposes};

/// A state that a line gives its file or command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    Changed,
    Deleted,
    Passed,
    Failed,
}

impl LineState {
    const ALL: [Self; 4] = [Self::Changed, Self::Deleted, Self::Passed, Self::Failed];

    /// The word for it, as the prompts have it.
    fn word(self, language: Language) -> &'static str {
        match self {
            Self::Changed => language.pick("changed", "已修改"),
            Self::Deleted => language.pick("deleted", "已删除"),
            Self::Passed => language.pick("passed", "通过"),
            Self::Failed => language.pick("failed", "失败"),
        }
    }
}

/// What the log says of files, commands and tasks.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogState<'e> {
    /// The files that calls changed anywhere in the session.
    pub files: &'e [ChangedFile],
    /// Commands whose newest run failed.
    pub failed: &'e [String],
    /// The newest task list.
    pub tasks: &'e [Task],
}

/// Gives lines of a summary the state that the log has, and returns these lines as the model had written them. Linear in
/// the summary for each file, command and task.
pub(super) fn correct(body: &mut Body, log: LogState<'_>, language: Language) -> Vec<String> {
    let mut corrected = Vec::new();
    for section in &mut body.sections {
        let heading = section.heading.as_deref().unwrap_or_default();
        // A plan is not a state yet, and a person's words stay theirs.
        if proposes(heading) || SAID.contains(&heading) {
            continue;
        }
        for line in &mut section.lines {
            if let Some(right) = corrected_line(line, log, language) {
                corrected.push(std::mem::replace(line, right));
            }
        }
    }
    corrected
}

/// A line with the log's state in place of its own; `None` where it states nothing, or the log does not know better.
fn corrected_line(line: &str, log: LogState<'_>, language: Language) -> Option<String> {
    let text = line.trim_start().trim_start_matches(['-', '*']).trim_start();
    if let Some(task) = text.strip_prefix("[x]") {
        let item = fold_for_lookup(task);
        let is_open = log.tasks.iter().any(|task| !task.is_done && fold_for_lookup(&task.text) == item.trim());
        return is_open.then(|| line.replacen("[x]", "[ ]", 1));
    }
    let (subject, state, at) = stated(line, text)?;
    let right = match state {
        LineState::Changed | LineState::Deleted => file_state(subject, log.files)?,
        LineState::Passed | LineState::Failed => {
            let command = fold_for_lookup(subject);
            log.failed.iter().any(|failed| fold_for_lookup(failed) == command).then_some(LineState::Failed)?
        }
    };
    let (word, rest) = (right.word(language), &line[at..]);
    let behind = LineState::ALL.iter().flat_map(|state| words(*state)).find_map(|word| rest.strip_prefix(word))?;
    (right != state).then(|| format!("{}{word}{behind}", &line[..at]))
}

/// The subject of a line, its state, and where the state's word begins in the line; `None` for any other line. A subject
/// stands between backquotes, or is all that stands before the colon.
fn stated<'l>(line: &'l str, text: &'l str) -> Option<(&'l str, LineState, usize)> {
    let (subject, behind) = match text.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`')?,
        None => text.split_at(text.find([':', '：'])?),
    };
    let told = behind.trim_start().strip_prefix([':', '：'])?.trim_start();
    let is_whole = |word: &&str| told.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    let state = LineState::ALL.into_iter().find(|state| words(*state).iter().any(is_whole))?;
    Some((subject, state, line.len() - told.len()))
}

fn words(state: LineState) -> [&'static str; 2] {
    [Language::English, Language::Chinese].map(|language| state.word(language))
}

/// The newest state of the one file that is spelt so, where calls tell it for certain.
fn file_state(spelt: &str, files: &[ChangedFile]) -> Option<LineState> {
    let is_end =
        |whole: &str, end: &str| whole.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let mut named = files.iter().filter(|file| is_end(&file.path, spelt) || is_end(spelt, &file.path));
    let (file, other) = (named.next()?, named.next());
    if other.is_some() || file.may_be_reverted {
        return None;
    }
    Some(if file.is_there { LineState::Changed } else { LineState::Deleted })
}
