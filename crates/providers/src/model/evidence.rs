//! The facts of the session that a summary is checked against: its texts, the user's demands, the files that calls
//! changed, the newest task list.

use std::collections::HashSet;
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use epitome_strategy::speech::{demands, sentences, typed_texts};
use epitome_strategy::text::is_cjk;
use epitome_strategy::{Arguments, Content, Lexicon, Message, Origin, SummaryTask, Value};

use super::answer::{AnswerSection, Body};
use super::changed::{ChangedFile, changed_files};
use super::claims::{claims, exact_strings, fold_for_lookup};
use super::gone::deletes;
use super::revoked::is_taken_back;
use super::runs::{FailedRun, failed_runs};
use super::shorten::one_line;
use super::source;
use super::state::{Task, task_list};
use super::wording::{
    SectionTopic, deletion_problem, failed_run_problem, open_task_problem, proposes, says_back, says_done,
    says_untouched, untouched_problem, unverified_marks,
};

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
    /// The user's demands in the summarised messages, the oldest first, each once, word for word.
    demands: Vec<String>,
    /// The files that calls changed in it, the newest last.
    files: Vec<ChangedFile>,
    /// The files that calls changed anywhere in the session.
    newest: Vec<ChangedFile>,
    /// The newest task list.
    tasks: Vec<Task>,
    /// Commands whose newest run failed.
    failed: Vec<FailedRun>,
}

impl Evidence {
    /// Reads the session. Linear in it.
    pub(super) fn read(task: &SummaryTask<'_>) -> Self {
        let log = match task.session {
            Some(session) => session.log(),
            None => task.messages,
        };
        let messages = summarized_messages(task);
        let mut evidence = Self { corpus: corpus(task, log), ..Self::default() };
        evidence.demands = typed_demands(&messages, log);
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

    /// The statements of a summary that contradict the newest state of a file or of the task list, for the model and
    /// for people.
    pub(super) fn contradictions(&self, body: &Body, task: &SummaryTask<'_>) -> Vec<String> {
        // Text far beyond the budget is cut off before it is read.
        let mut left = 64 * task.request.max_tokens.max(64) as usize;
        let mut lines: Vec<(&str, SectionTopic)> = Vec::new();
        for section in &body.sections {
            let tells = SectionTopic::of_heading(section.heading.as_deref());
            for line in &section.lines {
                if let Some(rest) = left.checked_sub(line.len()) {
                    left = rest;
                    lines.push((line, tells));
                }
            }
        }
        let mut found = Vec::new();
        for (line, tells) in lines.iter().filter(|(_, tells)| *tells != SectionTopic::Plan) {
            for clause in clauses(line) {
                for file in &self.newest {
                    found.extend(self.file_problem(file, clause, line, *tells, task));
                }
                let is_newest = matches!(tells, SectionTopic::State | SectionTopic::Done);
                let denied = self.failed.iter().filter(|run| is_newest && run.is_denied_by(clause));
                found.extend(denied.map(|run| failed_run_problem(task.language, &run.command)));
            }
        }
        for open in self.tasks.iter().filter(|item| !item.is_done) {
            let item = fold_for_lookup(&open.text);
            if item.chars().count() >= 6 && lines.iter().any(|(line, tells)| is_called_done(line, *tells, &item)) {
                found.push(open_task_problem(task.language, &open.text));
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// The contradiction between a clause of a line and the newest state of a file.
    fn file_problem(
        &self,
        file: &ChangedFile,
        clause: &str,
        line: &str,
        tells: SectionTopic,
        task: &SummaryTask<'_>,
    ) -> Option<String> {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if !names(clause, &file.path, name, &self.newest) {
            return None;
        }
        // The deletion of a file that is back may be reported as an event, but not as the present state.
        let is_told_so = !file.was_deleted || tells == SectionTopic::State && file.is_back && !says_back(line);
        if file.is_there && is_told_so && deletes(clause, &file.path, name) {
            return Some(deletion_problem(task.language, &file.path));
        }
        let is_denied = !file.may_be_reverted && says_untouched(clause);
        is_denied.then(|| untouched_problem(task.language, &file.path))
    }

    /// The number of demands, and those that a text does not state.
    pub(super) fn untold_demands(&self, text: &str) -> (usize, Vec<String>) {
        let whole = fold_for_lookup(text);
        let lines: Vec<HashSet<String>> = text.lines().map(words).collect();
        // A demand of several sentences may be stated in several places.
        let is_sentence_told = |sentence: &str| {
            let own = words(sentence);
            let held = |line: &HashSet<String>| own.intersection(line).count() as f64 >= own.len() as f64 * TOLD;
            own.is_empty() || whole.contains(&fold_for_lookup(sentence)) || lines.iter().any(held)
        };
        let is_told =
            |demand: &&String| sentences(demand).into_iter().all(|sentence| is_sentence_told(&demand[sentence]));
        (self.demands.len(), self.demands.iter().filter(|demand| !is_told(demand)).cloned().collect())
    }

    /// The files that calls changed in the summarised messages, the newest first; whether a text names each.
    pub(super) fn files(&self, text: &str) -> impl Iterator<Item = (&ChangedFile, bool)> {
        let text = fold_for_lookup(text);
        self.files.iter().rev().map(move |file| (file, is_named(&text, &file.path)))
    }
}

/// Whether a line says that the task `item`, folded, is done: in the clause that names it, or as the whole of a line
/// about finished work.
fn is_called_done(line: &str, tells: SectionTopic, item: &str) -> bool {
    let whole = fold_for_lookup(line);
    let bare = whole.trim_start_matches(['-', '*', ' ']).trim_end_matches(['.', '。']);
    if tells == SectionTopic::Done && bare == item {
        return true;
    }
    let said: Vec<String> =
        clauses(line).into_iter().map(fold_for_lookup).filter(|clause| clause.contains(item)).collect();
    // A task that has several clauses is in none of them.
    let said = if said.is_empty() && whole.contains(item) { vec![whole] } else { said };
    said.iter().any(|clause| says_done(&clause.replace(item, " … ")))
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

/// Whether a clause is about that file: it has the path, or a name that no other changed file has.
fn names(clause: &str, path: &str, name: &str, all: &[ChangedFile]) -> bool {
    if clause.contains(path) {
        return true;
    }
    let same = all.iter().filter(|other| other.path.rsplit('/').next() == Some(name)).count();
    name.contains('.') && same == 1 && clause.contains(name)
}

/// The parts of a line that say one thing each. A stop ends one only where white space follows: paths hold stops.
fn clauses(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, char) in line.char_indices() {
        let end = at + char.len_utf8();
        let is_end = matches!(char, ';' | '；' | '。' | '，')
            || matches!(char, '.' | ',') && line[end..].starts_with(char::is_whitespace);
        if is_end {
            parts.push(&line[start..at]);
            start = end;
        }
    }
    parts.push(&line[start..]);
    parts
}

/// The words of a text that say something, each by its beginning, so that forms of a word are one; of Chinese each pair of
/// signs.
pub(super) fn words(text: &str) -> HashSet<String> {
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
    session.log().iter().filter(|message| !staying.contains(&Arc::as_ptr(message))).collect()
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
    let json = match arguments {
        Arguments::Json(json) => serde_json::from_str(json).ok(),
        Arguments::Text(_) => None,
    };
    match json {
        Some(json) => leaves(&json, add),
        None => add(arguments.text()),
    }
}

/// Bytes of the longest text whose demands have to be there word for word: a longer text was pasted, or is the template
/// of a command, and a model decides which part of it binds. About two thirds of a page.
const LONGEST_TYPED: usize = 2_000;

/// The least probability that a sentence binds, of those that a model's text has to hold: it may leave out what only may.
const SURE: f32 = 0.8;

/// The demands of a person, word for word, each once; without those that were taken back later, anywhere in the log.
fn typed_demands(messages: &[&Arc<Message>], log: &[Arc<Message>]) -> Vec<String> {
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
        let later: Vec<&str> =
            place.map_or(&[][..], |place| &typed[place + 1..]).iter().map(|(_, text)| text.as_str()).collect();
        for (_, text, ranges) in typed_texts(message) {
            for typed in ranges.into_iter().map(|range| &text[range]).filter(|typed| typed.len() <= LONGEST_TYPED) {
                for demand in demands(&lexicon, typed).into_iter().filter(|demand| demand.binding >= SURE) {
                    let demand = one_line(&typed[demand.range], LONGEST_DEMAND);
                    let strings = exact_strings(&demand);
                    let strings: Vec<&str> = strings.iter().map(String::as_str).collect();
                    if !demand.is_empty()
                        && !is_taken_back(&demand, &strings, &later)
                        && seen.insert(fold_for_lookup(&demand))
                    {
                        found.push(demand);
                    }
                }
            }
        }
    }
    found
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
