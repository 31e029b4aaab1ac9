//! The facts of the session that a summary is checked against: its texts, the user's demands, the files that calls
//! changed, the newest task list.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use epitome_strategy::speech::{demands, sentences, typed_texts};
use epitome_strategy::text::is_cjk;
use epitome_strategy::{Arguments, Content, Lexicon, Message, Origin, SummaryTask, Value};

use super::answer::{AnswerSection, Body};
use super::changed::{ChangedFile, changed_files};
use super::claims::{claims, fold_for_lookup};
use super::runs::failed_runs;
use super::shorten::one_line;
use super::source;
use super::state::{Task, task_list};
use super::state_lines::LogState;
use super::wording::{proposes, unverified_marks};

/// Between two texts of the corpus: in no text, so that no string is found across them.
const PARTED: char = '\u{1}';
/// Characters of the longest demand that rules add; of a longer one the beginning.
const LONGEST_DEMAND: usize = 400;
/// Share of a demand's words that a line of the summary must have to count as stating the demand.
const TOLD: f64 = 0.6;

/// The facts of the session.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// All texts, folded.
    corpus: String,
    /// The user's demands in the summarised messages, the oldest first, each once.
    demands: Vec<TypedDemand>,
    /// The files that calls changed in it, the newest last.
    files: Vec<ChangedFile>,
    /// The files that calls changed anywhere in the session.
    newest: Vec<ChangedFile>,
    /// The newest task list.
    tasks: Vec<Task>,
    /// Commands whose newest run failed.
    failed: Vec<String>,
}

/// A demand of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TypedDemand {
    /// Word for word.
    pub text: String,
    /// The newest later sentence of the user about the same ([`related_sentence`]): it may take the demand back, or narrow
    /// it, which is for the reader to see.
    pub later: Option<String>,
}

impl Evidence {
    /// Reads the session. Linear in it.
    pub(super) fn read(task: &SummaryTask<'_>) -> Self {
        let log = match task.session {
            Some(session) => session.standing_log(),
            None => Cow::Borrowed(task.messages),
        };
        let messages = summarized_messages(task);
        let mut evidence = Self { corpus: corpus(task, &log), ..Self::default() };
        evidence.demands = typed_demands(&messages, &log);
        evidence.files = source::with_messages(messages.iter().copied(), task, changed_files);
        (evidence.newest, evidence.tasks, evidence.failed) = source::with_messages(log.iter(), task, |view| {
            (changed_files(view), task_list(view, task.language), failed_runs(view))
        });
        evidence
    }

    /// The strings of a summary that the session does not hold, and how many were looked up. Linear in the session.
    pub(super) fn unknown(&self, text: &str) -> (Vec<String>, u32) {
        let claims = claims(text);
        let count = claims.len() as u32;
        let patterns: Vec<&String> = claims.iter().flat_map(|claim| claim.ways.iter().flatten()).collect();
        let Ok(search) = AhoCorasick::new(&patterns) else { return (Vec::new(), 0) };
        let bytes = self.corpus.as_bytes();
        let mut found: HashSet<&str> = HashSet::new();
        for hit in search.find_overlapping_iter(&self.corpus) {
            let joined = |at: Option<&u8>, edge: Option<&u8>| {
                at.zip(edge).is_some_and(|(at, edge)| at.is_ascii_alphanumeric() && edge.is_ascii_alphanumeric())
            };
            let byte = |at: usize, back: usize| at.checked_sub(back).and_then(|at| bytes.get(at));
            // `85` is not what `0.85` says.
            let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
            let (start, end) = (hit.start(), hit.end());
            let goes_on = |dot: Option<&u8>, digit: Option<&u8>, edge: Option<&u8>| {
                matches!(dot, Some(b'.' | b',')) && is_digit(digit) && is_digit(edge)
            };
            let is_part = joined(byte(start, 1), bytes.get(start))
                || joined(bytes.get(end), byte(end, 1))
                || goes_on(byte(start, 1), byte(start, 2), bytes.get(start))
                || goes_on(bytes.get(end), bytes.get(end + 1), byte(end, 1));
            if !is_part {
                found.insert(patterns[hit.pattern().as_usize()]);
            }
        }
        let holds = |way: &Vec<String>| way.iter().all(|string| found.contains(string.as_str()));
        let unknown = claims.iter().filter(|claim| !claim.ways.iter().any(holds)).map(|claim| claim.text.clone());
        (unknown.collect(), count)
    }

    /// What the log says of files, commands and tasks.
    pub(super) fn log_state(&self) -> LogState<'_> {
        LogState { files: &self.newest, failed: &self.failed, tasks: &self.tasks }
    }

    /// The number of demands, and those that a text does not state.
    pub(super) fn untold_demands(&self, text: &str) -> (usize, Vec<&TypedDemand>) {
        let whole = fold_for_lookup(text);
        let lines: Vec<HashSet<String>> = text.lines().map(words).collect();
        // A demand of several sentences may be stated in several places.
        let is_sentence_told = |sentence: &str| {
            let own = words(sentence);
            let held = |line: &HashSet<String>| own.intersection(line).count() as f64 >= own.len() as f64 * TOLD;
            own.is_empty() || whole.contains(&fold_for_lookup(sentence)) || lines.iter().any(held)
        };
        let is_told = |demand: &&TypedDemand| {
            sentences(&demand.text).into_iter().all(|sentence| is_sentence_told(&demand.text[sentence]))
        };
        (self.demands.len(), self.demands.iter().filter(|demand| !is_told(demand)).collect())
    }

    /// The files that calls changed in the summarised messages, the newest first; whether a text names each.
    pub(super) fn files(&self, text: &str) -> impl Iterator<Item = (&ChangedFile, bool)> {
        let text = fold_for_lookup(text);
        self.files.iter().rev().map(move |file| (file, is_named(&text, &file.path)))
    }
}

/// Whether a folded text names a file: by its path, or by the end of it.
fn is_named(text: &str, path: &str) -> bool {
    let path = fold_for_lookup(path);
    let mut rest = path.as_str();
    loop {
        if text.contains(rest) {
            return true;
        }
        match rest.split_once('/') {
            // A name alone is enough: who reads the summary knows the folder, or looks it up.
            Some((_, shorter)) if !shorter.is_empty() => rest = shorter,
            _ => return false,
        }
    }
}

/// The words of a text that say something, each by its beginning, so that forms of a word are one; of Chinese each pair of
/// signs.
fn words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    for word in text.to_lowercase().split(|char: char| !(char.is_alphanumeric() || char == '_')) {
        let cjk: Vec<char> = word.chars().filter(|char| is_cjk(*char)).collect();
        if cjk.is_empty() {
            if word.chars().count() >= 3 {
                words.insert(word.chars().take(5).collect());
            }
        } else {
            words.extend(cjk.windows(2).map(|pair| pair.iter().collect::<String>()));
        }
    }
    words
}

/// The messages that the summary covers. A hand-off covers the whole session but for the messages that stay beside it:
/// also those behind earlier summaries.
fn summarized_messages<'a>(task: &SummaryTask<'a>) -> Vec<&'a Arc<Message>> {
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
    let taken_back = session.taken_back();
    let said = session.log().iter().zip(0..).filter(|(_, number)| !taken_back.contains(number));
    said.map(|(message, _)| message).filter(|message| !staying.contains(&Arc::as_ptr(message))).collect()
}

/// Every text of the session, folded.
fn corpus(task: &SummaryTask<'_>, log: &[Arc<Message>]) -> String {
    let mut corpus = String::new();
    let mut add = |text: &str| {
        corpus.push_str(&fold_for_lookup(text));
        corpus.push(PARTED);
    };
    let in_log: HashSet<*const Message> = log.iter().map(Arc::as_ptr).collect();
    let others = task.messages.iter().filter(|message| !in_log.contains(&Arc::as_ptr(message)));
    for message in log.iter().chain(others) {
        let is_summary = message.origin == Origin::Summary;
        for block in &message.blocks {
            match &block.content {
                // A string that an earlier check did not find is not in the session because a summary has it.
                Content::Text { text } if is_summary => {
                    text.lines()
                        .filter(|line| !unverified_marks().iter().any(|mark| line.contains(mark)))
                        .for_each(&mut add);
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
    corpus
}

/// The strings of arguments as they are meant, without JSON's escapes, each by itself.
fn add_arguments(arguments: &Arguments, add: &mut impl FnMut(&str)) {
    fn leaves(value: &Value, add: &mut impl FnMut(&str)) {
        match value {
            Value::String(text) => add(text),
            Value::Number(number) => add(&number.to_string()),
            Value::Array(items) => items.iter().for_each(|item| leaves(item, add)),
            Value::Object(fields) => fields.iter().for_each(|(key, item)| {
                add(key);
                leaves(item, add);
            }),
            Value::Null | Value::Bool(_) => {}
        }
    }
    match arguments.json() {
        Some(json) => leaves(&json, add),
        None => add(arguments.text()),
    }
}

/// Bytes of the longest text whose demands have to be there word for word: a longer text was pasted, or is the template
/// of a command, and a model decides which part of it binds. About two thirds of a page.
const LONGEST_TYPED: usize = 2_000;

/// The least probability that a sentence binds, of those that a model's text has to hold: it may leave out what only may.
const SURE: f32 = 0.8;

/// The demands of a person, each once.
fn typed_demands(messages: &[&Arc<Message>], log: &[Arc<Message>]) -> Vec<TypedDemand> {
    let lexicon = Lexicon::standard();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let typed: Vec<(*const Message, String)> = log
        .iter()
        .filter(|message| message.is_typed())
        .map(|message| (Arc::as_ptr(message), message.plain_text()))
        .collect();
    for message in messages {
        let place = typed.iter().position(|(typed, _)| *typed == Arc::as_ptr(message));
        let later = place.map_or(&[][..], |place| &typed[place + 1..]);
        for (_, text, ranges) in typed_texts(message) {
            for typed in ranges.into_iter().map(|range| &text[range]).filter(|typed| typed.len() <= LONGEST_TYPED) {
                for demand in demands(&lexicon, typed).into_iter().filter(|demand| demand.binding >= SURE) {
                    let text = one_line(&typed[demand.range], LONGEST_DEMAND);
                    if !text.is_empty() && seen.insert(fold_for_lookup(&text)) {
                        let later = later.iter().rev().find_map(|(_, said)| related_sentence(&text, said));
                        found.push(TypedDemand { text, later });
                    }
                }
            }
        }
    }
    found
}

/// The last sentence of a later text that shares at least half of a demand's words, and two of them, or one word with a
/// digit, which is a name; not one that says the same.
fn related_sentence(demand: &str, later: &str) -> Option<String> {
    let own = words(demand);
    let is_related = |sentence: &&str| {
        let said = words(sentence);
        let shared: Vec<&String> = own.intersection(&said).collect();
        let is_of_its_name = shared.iter().any(|word| word.contains(|char: char| char.is_ascii_digit()));
        let is_of_its_words = shared.len() >= 2 && shared.len() * 2 >= own.len();
        (is_of_its_name || is_of_its_words) && fold_for_lookup(sentence) != fold_for_lookup(demand)
    };
    let said: Vec<&str> = sentences(later).into_iter().map(|range| &later[range]).collect();
    said.into_iter().rev().find(is_related).map(|sentence| one_line(sentence, LONGEST_DEMAND))
}

/// Marks every one of `unknown` in a body as unverified, where it is not marked yet and its place states a fact. Linear
/// in the body for each.
pub(super) fn mark(body: &mut Body, unknown: &[String], mark: &str) {
    let is_told = |section: &&mut AnswerSection| !section.heading.as_deref().is_some_and(proposes);
    let lines = body.sections.iter_mut().filter(is_told).flat_map(|section: &mut AnswerSection| &mut section.lines);
    for line in lines {
        for string in unknown {
            let Some(at) = line.find(string.as_str()) else { continue };
            let mut end = at + string.len();
            // Behind the quotation mark that closes it.
            if let Some(close) = line[end..].chars().next().filter(|char| matches!(char, '`' | '"' | '”' | '」' | '』'))
            {
                end += close.len_utf8();
            }
            if !line[end..].trim_start().starts_with(mark) {
                line.insert_str(end, &format!(" {mark}"));
            }
        }
    }
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
