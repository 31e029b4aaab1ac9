//! Requests and their outcomes.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::{Message, Origin, Role};
use epitome_strategy::speech::{self, typed_texts};
use epitome_strategy::text::{clip, is_cjk};
use epitome_strategy::tools::{self, ToolKind};

use super::super::alone::Sentence;
use super::super::binding::is_identifier;
use super::super::model::names_something;
use super::ComposedMemory;
use super::conclusion::{LONGEST, REPORTED, changes_of_files, conclusion, is_result, report};
use super::names::Names;
use super::records::query_of;
use super::request::request;
use super::steps::CallStep;
use crate::memory::MemoryKind;

/// The worth of a request with its outcome: where files were changed, where something was looked up or run, and where
/// only words were exchanged.
const CHANGED: f64 = 2.4;
const WORKED: f64 = 2.15;
const TALKED: f64 = 1.8;
/// The worth of a request without an outcome that names its subject.
const WISHED: f64 = 1.95;
/// The additional worth of a session's first request: it states the session's subject.
const FIRST: f64 = 0.3;

/// The largest number of requests that are remembered, those worth most and then the newest: of a long session the rest
/// is steps on the way.
const MOST: usize = 8;

/// Tools whose argument is what the model concludes with.
const FINISHING: &[&str] = &["finish", "attempt_completion", "final_answer", "complete_task"];

struct Round {
    asked: usize,
    request: Option<String>,
    /// The message that concludes, and what it says.
    answer: Option<(usize, String)>,
    steps: Range<usize>,
    /// Files that an agent without tools says it changed.
    applied: Vec<String>,
    /// Whether the answer are sentences of a report beside a call.
    is_report: bool,
}

/// Requests with their outcomes, at most eight, and what the last report says of each file. Linear in the messages.
pub(super) fn compose(messages: &[Arc<Message>], steps: &[CallStep<'_>], names: &Names) -> Vec<ComposedMemory> {
    let rounds = rounds(messages, steps);
    // The first that says something says what the session was about. Of the others the best are read, the newest first.
    let first = rounds.iter().enumerate().find_map(|(at, round)| Some((at, outcome_of(round, steps, names)?)));
    let (first_at, mut told) = match first {
        Some((at, (position, text, (kind, worth)))) => (at, vec![(position, text, (kind, worth + FIRST))]),
        None => return Vec::new(),
    };
    let mut others: Vec<(u8, &Round)> =
        rounds[first_at + 1..].iter().rev().map(|round| (round.rank(steps), round)).collect();
    others.sort_by_key(|(rank, _)| *rank); // stable: the newest stay first
    for (_, round) in others {
        if told.len() >= MOST {
            break;
        }
        told.extend(outcome_of(round, steps, names));
    }
    let reports = rounds.iter().rev().filter(|round| round.is_report).filter_map(|round| round.answer.as_ref());
    let changes = reports.take(1).flat_map(|(at, text)| changes_of_files(text).into_iter().map(|text| (*at, text)));
    told.extend(changes.map(|(at, text)| (at, text, (MemoryKind::Fact, REPORTED))));
    told.sort_by_key(|(at, ..)| *at);
    told
}

impl Round {
    /// 0 where files were changed, 1 where something was done, 2 where only words were exchanged.
    fn rank(&self, steps: &[CallStep<'_>]) -> u8 {
        let done = &steps[self.steps.clone()];
        match (done.iter().any(|step| !step.changed.is_empty()) || !self.applied.is_empty(), done.is_empty()) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        }
    }
}

fn rounds(messages: &[Arc<Message>], steps: &[CallStep<'_>]) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    let mut next = 0; // the first step of the round
    for (position, message) in messages.iter().enumerate() {
        while next < steps.len() && steps[next].message() < position {
            next += 1;
        }
        // Two who are named talk to each other, and ask for no work.
        if message.is_typed() {
            let text: String = typed_texts(message)
                .flat_map(|(_, text, ranges)| ranges.into_iter().map(move |range| &text[range]))
                .collect::<Vec<_>>()
                .join("\n");
            if text.trim().is_empty() {
                continue;
            }
            let request = if message.name.is_some() { None } else { request(&text) };
            rounds.push(Round {
                asked: position,
                request,
                answer: None,
                steps: next..next,
                applied: Vec::new(),
                is_report: false,
            });
            continue;
        }
        let Some(round) = rounds.last_mut() else { continue };
        while next < steps.len() && steps[next].message() <= position {
            next += 1;
        }
        round.steps.end = next;
        if message.origin == Origin::ToolOutput {
            let text = message.plain_text();
            let applied = text.lines().filter_map(|line| line.trim().strip_prefix("Applied edit to "));
            round.applied.extend(applied.map(str::to_owned));
        }
        // Where other agents are asked, the last answer of one of them is the known state.
        let answers = message.origin == Origin::ToolOutput && message.name.as_deref().is_some_and(is_agent);
        if answers && round.answer.as_ref().is_none_or(|(at, _)| messages[*at].origin == Origin::ToolOutput) {
            let text = message.plain_text();
            if text.len() < REPLY && conclusion(&text, "", true, LONGEST).is_some() {
                round.answer = Some((position, text));
            }
        }
        if message.role == Role::Assistant && message.origin == Origin::Model {
            let calls = message.calls().next().is_some() || !message.text_calls.is_empty();
            let text = message.plain_text();
            let finished = message.calls().find(|(_, call)| FINISHING.contains(&&*call.name)).and_then(|(_, call)| {
                let json: serde_json::Value = serde_json::from_str(call.arguments.text()).ok()?;
                let keys = ["message", "result", "answer", "summary", "output"];
                keys.iter().find_map(|key| json.get(*key)?.as_str().map(str::to_owned))
            });
            let ends = !calls && !text.trim().is_empty() || text.contains("FINAL ANSWER");
            let is_report = finished.is_none() && !ends;
            let concluded = || {
                if ends { Some(text.clone()) } else { report(&text) }
            };
            if let Some(text) = finished.or_else(concluded) {
                // A statement of the problem on the way does not replace the report of the action.
                let is_matter = calls
                    && ["the issue is", "the problem is", "the bug is", "this happens"]
                        .iter()
                        .any(|start| text.to_lowercase().starts_with(start));
                if !(is_matter && round.answer.is_some()) {
                    round.is_report = is_report;
                    round.answer = Some((position, text));
                }
            }
        }
    }
    rounds
}

/// A request with its outcome; `None` where one of them says nothing.
fn outcome_of(round: &Round, steps: &[CallStep<'_>], names: &Names) -> Option<ComposedMemory> {
    let done = &steps[round.steps.clone()];
    let files = names.list(done.iter().flat_map(|step| &step.changed).chain(&round.applied));
    let done_nothing = done.is_empty() && round.applied.is_empty();
    let answer = round.answer.as_ref().map(|(_, text)| text.as_str());
    let Some(request) = round.request.as_deref() else { return change(round, &files?, answer?) };
    // An answer that ends in a question while nothing was changed is not an outcome yet.
    let is_open =
        files.is_none() && answer.is_some_and(|text| text.trim_end().ends_with(['?', '？']) && text.len() < OPEN);
    let conclusion = answer
        .filter(|_| !is_open)
        .and_then(|text| conclusion(text, request, done_nothing, if files.is_some() { LONGEST - 50 } else { LONGEST }));
    let looked_up = || done.iter().rev().take(6).filter(|_| answer.is_none()).find_map(last_query);
    let handed_in = || {
        let script = done.last()?.script.as_deref()?.trim();
        let given = script.strip_prefix("submit ")?.trim_matches(['"', '\'']);
        (!given.is_empty() && !given.contains('\n')).then(|| (format!("`{given}` was submitted."), String::new()))
    };
    let conclusion = handed_in().or(conclusion).or_else(looked_up);
    let at = round.answer.as_ref().map_or_else(|| done.last().map_or(round.asked, CallStep::message), |(at, _)| *at);
    if conclusion.is_none() && files.is_none() && is_wish(request) {
        let text =
            if is_chinese(request) { format!("问：“{request}”") } else { format!("Asked: “{request}”") };
        return Some((at, text, (MemoryKind::Fact, WISHED)));
    }
    if done_nothing && (conclusion.is_none() || !asks_for_facts(request)) {
        return None;
    }

    let (asked, answered, changed) = match (is_chinese(request), files.is_none() && is_question(request)) {
        (true, _) => (format!("问：“{request}”"), "答：", "改动的文件："),
        (false, true) => (format!("Asked: “{request}”"), "Answer: ", "Files changed: "),
        (false, false) => (format!("Asked: “{request}”"), "Outcome: ", "Files changed: "),
    };
    let worth = match (&files, done_nothing) {
        (Some(_), _) => CHANGED,
        (None, false) => WORKED,
        (None, true) => TALKED,
    };
    let files = files.map(|files| format!(" {changed}{files}.")).unwrap_or_default();
    // Of an outcome in two sentences the second makes room for the files.
    let (first, second) = conclusion.unwrap_or_default();
    let whole = [&first, " ", &second].concat();
    let fits = |outcome: &str| {
        let label = if outcome.is_empty() { String::new() } else { format!(" {answered}") };
        let text = format!("{asked}{label}{outcome}{files}");
        (text.chars().count() <= super::LONGEST_MEMORY).then_some(text)
    };
    // A long request makes room for the outcome and the files.
    let mark = if is_chinese(request) { "问：" } else { "Asked: " };
    let brief = |files: &str| {
        let text = format!("{mark}“{}” {answered}{first}{files}", clip(request, 100)?);
        (!first.is_empty() && text.chars().count() <= super::LONGEST_MEMORY).then_some(text)
    };
    let text = fits(whole.trim())
        .or_else(|| fits(&first))
        .or_else(|| brief(&files))
        .or_else(|| fits("").filter(|_| !files.is_empty()))
        .or_else(|| brief(""))?;
    (!first.is_empty() || !files.is_empty()).then_some((at, text, (MemoryKind::Fact, worth)))
}

fn is_chinese(text: &str) -> bool {
    text.chars().filter(|char| is_cjk(*char)).count() * 3 >= text.chars().count()
}

/// Whether a request is a wish that names its subject: it is worth knowing without an outcome too.
fn is_wish(request: &str) -> bool {
    let lower = request.to_lowercase().replace('’', "'");
    let names = request
        .split_whitespace()
        .skip(1)
        .any(|word| word.contains(|char: char| char.is_ascii_digit()) || is_identifier(word))
        || names_something(&Sentence::new(request));
    WISHES.iter().any(|start| lower.starts_with(start)) && names
}

/// The change for a request that says nothing alone ("yes, do that"), where the model describes it in a sentence that
/// stands alone.
fn change(round: &Round, files: &str, answer: &str) -> Option<ComposedMemory> {
    let (first, _) = conclusion(answer, "", true, LONGEST)?;
    let sentence = Sentence::new(&first);
    let end = if first.ends_with(['.', '!']) { "" } else { "." };
    let text = format!("{first}{end} Files changed: {files}.");
    let at = round.answer.as_ref().map_or(round.asked, |(at, _)| *at);
    let tells = is_result(&sentence.lower);
    (tells && sentence.stands_alone() && !sentence.is_chinese() && text.chars().count() <= super::LONGEST_MEMORY)
        .then_some((at, text, (MemoryKind::Fact, WORKED)))
}

/// Bytes of what another agent answers in words; more is a page that it shows.
const REPLY: usize = 1_500;

/// Whether a name belongs to another agent, and not to a tool that prints what it read or ran.
fn is_agent(name: &str) -> bool {
    !matches!(tools::kind(name), ToolKind::Shell | ToolKind::Edit | ToolKind::Write | ToolKind::Read | ToolKind::Search)
}

/// Bytes of an answer that may be nothing but a question back.
const OPEN: usize = 800;

fn is_question(request: &str) -> bool {
    let first = request.split_whitespace().next().unwrap_or_default().to_lowercase();
    request.contains(['?', '？'])
        || matches!(
            first.as_str(),
            "what" | "what's" | "how" | "why" | "which" | "who" | "when" | "where" | "is" | "are" | "does" | "do"
        )
}

/// Phrases that ask for the model's own views, or for advice to the person.
const OF_THE_TWO: &[&str] = &[
    "do you like",
    "do you think",
    "are you",
    "have you",
    "did you",
    "your ",
    "you think",
    "you feel",
    "you know a lot",
    "can you speak",
    "any advice",
    "any suggestions",
    "any tips",
    "你觉得",
    "你认为",
    "你喜欢",
    "你能给",
    "建议",
];

/// The beginnings of wishes.
const WISHES: &[&str] = &[
    "i want",
    "i'd like",
    "i would like",
    "i also want",
    "i also need",
    "i need",
    "i wish",
    "we need",
    "we want",
    "can you",
    "could you",
    "please",
    "我想",
    "帮我",
    "请帮",
];

/// Whether a question has a lasting answer, rather than asking for advice on a feeling.
fn asks_for_facts(request: &str) -> bool {
    let lower = request.to_lowercase();
    let first = speech::sentences(request).into_iter().next().map(|range| &request[range]).unwrap_or_default();
    speech::asks(first)
        && !OF_THE_TWO.iter().any(|part| lower.contains(part))
        && !request.contains('我')
        && !Sentence::new(request).words().next().is_some_and(|word| matches!(word, "i" | "i'm" | "i've" | "my"))
}

/// A query with what it gave, where an agent ends with it.
fn last_query(step: &CallStep<'_>) -> Option<(String, String)> {
    let output = step.output.filter(|_| !step.failed && step.call.kind == ToolKind::Lookup)?.trim();
    let is_short =
        (3..=120).contains(&output.chars().count()) && !output.contains('\n') && !output.starts_with("Error");
    let query = clip(query_of(step)?, 200).filter(|query| !query.ends_with('…'))?;
    let lower = query.to_lowercase();
    if !(lower.starts_with("select") || lower.starts_with("with")) || lower.contains("information_schema") {
        return None;
    }
    is_short.then(|| (format!("{output}, by `{}`", query.replace('`', "'")), String::new()))
}
