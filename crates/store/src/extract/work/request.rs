//! A request in a sentence or two that a reader understands who saw nothing else.

use epitome_strategy::speech;
use epitome_strategy::text::{clip, is_cjk};

use super::super::alone::Sentence;
use super::super::facts::without_leads;
use super::super::model::names_something;

/// Columns of a request in a memory.
const LONGEST: usize = 190;

/// A text with more bytes is a document: it is known by its title.
const DOCUMENT: usize = 900;

/// The beginnings of requests that answer the model's question, or only continue.
const ANSWERING: &[&str] = &[
    "yes", "yeah", "yep", "yup", "ok", "okay", "no", "sure", "thanks", "thank", "great", "good", "go", "continue",
    "perfect", "hi", "hello", "hey", "done", "next", "nope", "cool", "nice", "commit", "push", "retry", "again",
    "right", "exactly", "both", "好", "好的", "谢谢", "是的", "继续", "可以",
];

/// The headings of the part of a prompt that states the task.
const ELEMENTS: &[&str] = &[
    "pr_description",
    "issue_description",
    "problem_statement",
    "task_description",
    "user_query",
    "issue",
    "task",
    "question",
];

/// The labels in front of a title.
const TITLES: &[&str] = &["ISSUE:", "Issue:", "Task:", "TASK:", "Question:", "Title:", "# Task", "# Issue"];

/// The beginnings of requests about the agent's way of working, or about earlier text.
const ABOUT_THE_AGENT: &[&str] = &[
    "why aren't you",
    "why didn't you",
    "why are you",
    "why did you",
    "are you sure",
    "did you",
    "have you",
    "do you think",
    "i told you",
    "you also said",
    "you said",
    "you didn't",
    "you are right",
    "you're right",
    "you are absolutely right",
    "the one ",
    "the first one",
    "the second one",
    "let's go",
    "proceed",
    "let's go with",
    "go with ",
    "please continue",
    "please proceed",
    "i meant",
    "pick up where",
    "i'm not ",
    "my user id",
    "my reservation id",
    "i have my user id",
    "sure, my",
    "well, my",
    "i think it ",
    "i believe it ",
    "give me the list",
    "i believe we have",
    "i mean",
];

/// The beginnings of prompts that state the model's role.
const ROLES: &[&str] = &["you are a ", "you are an ", "you are the ", "you're a ", "act as "];

/// Words that only lead to a title.
const LEADING: &[&str] = &[
    "consider the following",
    "we're currently solving",
    "here's the issue",
    "implement the following plan",
    "you are given",
];

/// The request of a typed text; `None` where it asks for nothing, or for what only who saw the session knows. Linear.
pub(super) fn request(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.split_once("\n\nIf you need specific details from before").map_or(text, |(text, _)| text);
    if text.starts_with('/') && !text.contains(' ') {
        return None;
    }
    let titled = LEADING.iter().any(|start| text.to_lowercase().starts_with(start));
    if text.len() > DOCUMENT || titled || text.starts_with('<') {
        // A prompt that ends in a question asks that, whatever comes before.
        return question_at_the_end(text)
            .or_else(|| title(text))
            .or_else(|| (text.len() < 3 * DOCUMENT).then(|| requests_in(text)).flatten());
    }
    requests_in(text)
}

/// The question that a long prompt ends with.
fn question_at_the_end(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let marked = ["User:", "Question:", "Task:"].iter().find_map(|mark| line.strip_prefix(mark));
    let is_asked = marked.is_some() || line.ends_with(['?', '？']) && line.len() < DOCUMENT;
    is_asked.then(|| requests_in(marked.unwrap_or(line).trim())).flatten()
}

/// The first sentences that ask for something.
fn requests_in(text: &str) -> Option<String> {
    let mut request = String::new();
    for range in speech::sentences(text) {
        let sentence = text[range].trim();
        let lower = sentence.to_lowercase().replace('’', "'");
        let leads = ROLES.iter().chain(LEADING).any(|start| lower.starts_with(start));
        if request.is_empty() && leads {
            continue;
        }
        if request.is_empty() && ABOUT_THE_AGENT.iter().any(|start| lower.starts_with(start)) {
            return None;
        }
        if request.is_empty() && (!says_something(sentence) || !is_named(sentence)) {
            if is_a_word_in_front(sentence) {
                continue;
            }
            return None;
        }
        if columns(&request) + columns(sentence) > LONGEST {
            if request.is_empty() {
                request = clip(sentence, LONGEST)?;
            }
            break;
        }
        if !request.is_empty() {
            request.push(' ');
        }
        request.push_str(&clip(sentence, LONGEST)?);
    }
    (!request.is_empty() && is_balanced(&request)).then_some(request)
}

/// Whether the sentence names its subject; "which" at the start of a question refers to nothing.
fn is_named(sentence: &str) -> bool {
    let which = sentence.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("which "));
    let whole = Sentence::new(if which { &sentence[6..] } else { sentence });
    if whole.is_chinese() {
        // "Do this on another branch"
        let refers = ["这个", "那个", "这家", "这两", "这几", "那家", "上面", "它", "刚才"]
            .iter()
            .any(|word| sentence.contains(word));
        return whole.stands_alone() && (!refers || names_something(&whole));
    }
    let first = first_word(sentence);
    let refers =
        matches!(first.as_str(), "it" | "this" | "that" | "these" | "those" | "they" | "and" | "but" | "so" | "then");
    // A long sentence with names in it says enough even where it refers to something too.
    whole.stands_alone() || !refers && whole.words().count() >= 14 && names_something(&whole)
}

/// A greeting or a word of thanks in front of the request.
fn is_a_word_in_front(sentence: &str) -> bool {
    let first = first_word(sentence);
    let is_short =
        sentence.split_whitespace().count() <= 6 && sentence.chars().filter(|char| is_cjk(*char)).count() <= 6;
    is_short && (ANSWERING.contains(&first.as_str()) || sentence.chars().count() < 8 || sentence.starts_with("你好"))
}

fn first_word(sentence: &str) -> String {
    let end = sentence.find(|char: char| !(char.is_alphanumeric() || char == '\'')).unwrap_or(sentence.len());
    sentence[..end].to_lowercase()
}

/// Whether a sentence asks for something by name.
fn says_something(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let rest = without_leads(&lower);
    let words = rest.split_whitespace().count();
    let chinese = rest.chars().filter(|char| is_cjk(*char)).count();
    let answers = ANSWERING.contains(&first_word(rest).as_str());
    // "Yes, do that": the proposal is elsewhere, unless it is named again.
    let is_led = rest.len() < lower.len() && ANSWERING.contains(&first_word(&lower).as_str())
        || lower.starts_with("let's ")
        || lower.starts_with("skip ");
    if is_led && !names_something(&Sentence::new(sentence)) {
        return false;
    }
    let asks_only = speech::asks(sentence) && rest == lower && !names_something(&Sentence::new(sentence));
    (words
        >= if answers {
            9
        } else if asks_only {
            6
        } else {
            4
        })
        || chinese >= if answers { 14 } else { 8 }
}

/// The title of a document: of the part with the task, or its first heading.
fn title(text: &str) -> Option<String> {
    let part = ELEMENTS.iter().find_map(|name| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>")).map_or(rest, |(part, _)| part))
    });
    let behind = || {
        TITLES
            .iter()
            .filter_map(|mark| text.find(mark).map(|at| (at, at + mark.len())))
            .min()
            .map(|(_, end)| &text[end..])
    };
    let is_leading = |line: &&str| !LEADING.iter().any(|start| line.to_lowercase().starts_with(start));
    let found = match part.or_else(behind) {
        Some(part) => part.lines().map(str::trim).filter(|line| !line.is_empty()).find(is_leading),
        None => text.lines().map(str::trim).find(|line| line.starts_with("# ") && is_leading(line)),
    }?;
    let line = found.trim_start_matches(['#', ' ', '*']).trim_end_matches(['*', ' ']);
    let words = line.split_whitespace().count();
    let chinese = line.chars().filter(|char| is_cjk(*char)).count();
    (words >= 3 || chinese >= 5).then(|| clip(line, LONGEST)).flatten().filter(|line| is_balanced(line))
}

fn columns(text: &str) -> usize {
    text.chars().map(|char| 1 + usize::from(is_cjk(char))).sum()
}

fn is_balanced(text: &str) -> bool {
    text.matches('`').count().is_multiple_of(2) && !text.contains("```")
}
