//! The session that a summary is held against: its words, the newest states of files and commands, what a person said.

mod states;
mod strings;
mod typed;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use epitome_reading::{FileWork, file_work};
use epitome_strategy::{Arguments, Content, Message, Origin, SummaryTask, Value};

use super::answer::heading_name;
use super::source;
use super::wording::{MARKS, is_plan, mark_of};
use states::LogStates;
pub(super) use states::state_of;
use strings::KnownStrings;
pub(super) use typed::TypedSentence;
use typed::{missing_sentences, sentences_to_keep};

/// The facts of a session that its summaries are held against.
#[derive(Debug, Default)]
pub(super) struct SessionRecord {
    strings: KnownStrings,
    states: LogStates,
    /// What a person said in the summarised messages that the summary must hold, the oldest first.
    said: Vec<TypedSentence>,
    /// The files that calls changed in the summarised messages, the newest last.
    changed: Vec<FileWork>,
}

/// The results of holding a summary against the session.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The number of strings that were looked up.
    pub strings: u32,
    /// Those that the session does not hold, each once.
    pub unknown: Vec<String>,
    /// The lines of state that were corrected or marked, as they had been written.
    pub corrected: Vec<String>,
}

impl SessionRecord {
    /// Reads the session. Linear in it.
    pub(super) fn read(task: &SummaryTask<'_>) -> Self {
        let log = match task.session {
            Some(session) => session.standing_log(),
            None => Cow::Borrowed(task.messages),
        };
        let messages = summarized_messages(task, &log);
        let changed = source::with_messages(messages.iter().copied(), task, |view| file_work(view.facts(), |_| true));
        Self {
            strings: known_strings(task, &log),
            states: source::with_messages(log.iter(), task, LogStates::read),
            said: sentences_to_keep(&messages, &log),
            changed: changed.into_iter().filter(|file| file.is_changed).collect(),
        }
    }

    /// The exact strings of what a person said, the newest first, at most `most`: the summary has to hold them.
    pub(super) fn strings_to_keep(&self, most: usize) -> Vec<String> {
        let mut kept: Vec<String> = Vec::new();
        for string in self.said.iter().rev().flat_map(TypedSentence::strings) {
            // The file's name is in its path, a part is in the whole.
            if kept.len() < most && !kept.iter().any(|known| known.contains(string)) {
                kept.push(string.to_owned());
            }
        }
        kept
    }

    /// A text with the lines of state corrected, and the strings marked that the session does not hold; not in sections that
    /// plan, because what is planned is not in the session yet. Linear in the text.
    pub(super) fn verify(&self, text: &str, task: &SummaryTask<'_>) -> (String, Findings) {
        let mut findings = Findings::default();
        let mut seen = HashSet::new();
        let mark = mark_of(task.language);
        let mut is_told = true;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for line in &mut lines {
            if let Some(name) = heading_name(line) {
                is_told = !is_plan(name);
                continue;
            }
            if is_told {
                findings.corrected.extend(self.states.correct(line, task.language, mark));
                self.strings.mark(line, mark, |string, is_held| {
                    if seen.insert(string.to_owned()) {
                        findings.strings += 1;
                        findings.unknown.extend((!is_held).then(|| string.to_owned()));
                    }
                });
            }
        }
        (lines.join("\n"), findings)
    }

    /// The number of demands in the summarised messages.
    pub(super) fn demands(&self) -> u32 {
        self.said.iter().filter(|said| said.is_demand).count() as u32
    }

    /// What a person said and a text does not tell, the oldest first.
    pub(super) fn missing_sentences(&self, text: &str) -> Vec<&TypedSentence> {
        missing_sentences(&self.said, text)
    }

    /// The files that calls changed in the summarised messages, the newest first; whether a text names each.
    pub(super) fn files(&self, text: &str) -> impl Iterator<Item = (&FileWork, bool)> {
        let text = key(text);
        self.changed.iter().rev().map(move |file| (file, is_named(&text, &file.path)))
    }
}

/// Returns the part of a text that identifies it: its letters and digits, in lower case.
fn key(text: &str) -> String {
    text.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a text, as its [`key`], names a file: by its path, or by the end of it. A name alone is enough: who reads the summary
/// knows the folder, or looks it up.
fn is_named(text: &str, path: &str) -> bool {
    let name = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next();
    text.contains(&key(name.unwrap_or(path)))
}

/// The messages that the summary covers. A hand-off covers the whole session but for the messages that stay beside it:
/// also those behind earlier summaries.
fn summarized_messages<'a>(task: &SummaryTask<'a>, log: &'a [Arc<Message>]) -> Vec<&'a Arc<Message>> {
    let Some(session) = task.session.filter(|_| task.request.is_handoff()) else {
        return task.messages.iter().collect();
    };
    let own: HashSet<*const Message> = task.messages.iter().map(Arc::as_ptr).collect();
    let staying: HashSet<*const Message> = session
        .view()
        .iter()
        .map(|entry| Arc::as_ptr(&entry.original))
        .filter(|message| !own.contains(message))
        .collect();
    log.iter().filter(|message| !staying.contains(&Arc::as_ptr(message))).collect()
}

/// The words of every text of the session.
fn known_strings(task: &SummaryTask<'_>, log: &[Arc<Message>]) -> KnownStrings {
    let mut known = KnownStrings::default();
    let mut add = |text: &str| known.add(text);
    let in_log: HashSet<*const Message> = log.iter().map(Arc::as_ptr).collect();
    let others = task.messages.iter().filter(|message| !in_log.contains(&Arc::as_ptr(message)));
    for message in log.iter().chain(others) {
        for block in &message.blocks {
            match &block.content {
                // A string that an earlier check did not find is not in the session because a summary has it.
                Content::Text { text } if message.origin == Origin::Summary => {
                    text.lines().filter(|line| !MARKS.iter().any(|mark| line.contains(mark))).for_each(&mut add);
                }
                Content::Text { text } => add(text),
                Content::Thinking(thinking) => add(&thinking.text),
                Content::ToolCall(call) => {
                    add(&call.name);
                    add_arguments(&call.arguments, &mut add);
                }
                Content::ToolResult(result) => add(&result.text),
                Content::Opaque(opaque) => add(&opaque.json),
                Content::Media(_) | Content::Gone => {}
            }
        }
    }
    task.request.focus.iter().for_each(|focus| add(focus));
    task.session.and_then(|session| session.tools.as_deref()).into_iter().for_each(&mut add);
    known
}

/// The strings of arguments as they are meant, without JSON's escapes, each by itself.
fn add_arguments(arguments: &Arguments, add: &mut impl FnMut(&str)) {
    let Some(json) = arguments.json() else { return add(arguments.text()) };
    let mut values = vec![json];
    while let Some(value) = values.pop() {
        match value {
            Value::String(text) => add(&text),
            Value::Array(items) => values.extend(items),
            Value::Object(fields) => values.extend(fields.into_iter().map(|(key, value)| {
                add(&key);
                value
            })),
            other => add(&other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
