//! Checks whether an answer is the summary that was asked for.

use std::sync::Arc;

use epitome_strategy::{Language, SummaryTask, Tokens};

use super::answer::{Body, unwrap_fence};
use super::evidence::Evidence;
use super::language::is_other_language;
use super::source::Size;
use super::wording::{JSON_HEADINGS, is_essential};
use crate::chat::{ChatAnswer, Stop};

/// Below this many characters a summary says nothing, unless its subject is short or there is no more room.
const FEWEST_CHARS: usize = 200;
/// A summary may be as short as this part of a short source.
const SHORT_PART: usize = 5;
/// Bytes of typed text by which its language is recognised.
const TYPED_BYTES: usize = 4_000;

/// The form that an answer must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnswerLayout {
    /// Sections under these headings.
    Sections(Vec<String>),
    /// Plain sentences.
    Brief,
    /// The JSON form.
    Json,
}

/// The requirements of an answer.
#[derive(Debug, Clone)]
pub(super) struct AnswerRequirements {
    pub layout: AnswerLayout,
    pub language: Language,
    /// Tokens that the summary may take.
    pub max_tokens: Tokens,
    /// The size of what it is about; `None` where nothing was measured.
    pub source: Option<Size>,
    /// Strings that it must hold.
    pub strings: Vec<String>,
    /// The session, where what it says is held against it: not for a part, of which the last summary is made.
    pub evidence: Option<Arc<Evidence>>,
}

/// A problem of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    Empty,
    ToolCall,
    Refused,
    CutOff,
    TooShort(usize),
    NotSmaller,
    NoForm,
    Missing(Vec<String>),
    Language,
    Lost(Vec<String>),
    /// Strings that the session does not hold.
    Unknown(Vec<String>),
}

/// The summary in an answer, and everything that is wrong with it. Linear in the answer, and in the session where it is held
/// against that.
pub(super) fn look(answer: &ChatAnswer, expected: &AnswerRequirements, task: &SummaryTask<'_>) -> (Body, Vec<Problem>) {
    let text = unwrap_fence(&answer.text);
    let problem = match answer.stop {
        Stop::Refused => Some(Problem::Refused),
        Stop::ToolCall => Some(Problem::ToolCall),
        Stop::End | Stop::Length if looks_like_call(&text) => Some(Problem::ToolCall),
        Stop::Length if text.is_empty() => Some(Problem::CutOff),
        Stop::End | Stop::Length if text.is_empty() => Some(Problem::Empty),
        Stop::End | Stop::Length => None,
    };
    if let Some(problem) = problem {
        return (Body::default(), vec![problem]);
    }
    let is_cut = answer.stop == Stop::Length;
    let text = if is_cut { without_last(&text, &expected.layout) } else { &text };
    let Some(body) = body(text, expected) else {
        return (Body::default(), vec![if is_cut { Problem::CutOff } else { Problem::NoForm }]);
    };
    let mut problems = Vec::new();
    match form(&body, expected, is_cut) {
        // Where the text is not a summary, its other problems mean nothing.
        Some(problem @ (Problem::NoForm | Problem::CutOff)) => return (body, vec![problem]),
        other => problems.extend(other),
    }
    let written = body.write();
    let start = &written[..written.floor_char_boundary(64 * expected.max_tokens.max(64) as usize)];
    problems.extend(size(start, expected, task));
    if is_other_language(start, expected.language, &typed_text(task)) {
        problems.push(Problem::Language);
    }
    let lost: Vec<String> = expected.strings.iter().filter(|it| !written.contains(it.as_str())).cloned().collect();
    if !lost.is_empty() {
        problems.push(Problem::Lost(lost));
    }
    if let Some(evidence) = &expected.evidence {
        let (unknown, _) = evidence.unknown(start);
        problems.extend((!unknown.is_empty()).then_some(Problem::Unknown(unknown)));
    }
    (body, problems)
}

fn body(text: &str, expected: &AnswerRequirements) -> Option<Body> {
    match &expected.layout {
        AnswerLayout::Sections(headings) => Some(Body::read(text, headings)),
        AnswerLayout::Brief => Some(Body::read(text, &[])),
        AnswerLayout::Json => Body::read_json(text, expected.language),
    }
}

/// A text that was cut off, without the sentence or line in which it was; JSON cannot be mended so.
fn without_last<'t>(text: &'t str, layout: &AnswerLayout) -> &'t str {
    if *layout == AnswerLayout::Json {
        return text;
    }
    match text.rfind('\n') {
        Some(end) => text[..end].trim_end(),
        None => text[..epitome_strategy::text::sentence_end(text, text.len().saturating_sub(1))].trim_end(),
    }
}

/// Whether the answer has the required sections: the goal and the next steps, and at least half of all. The next steps
/// are at the end, so an answer that was cut off need not have them.
fn form(body: &Body, expected: &AnswerRequirements, is_cut: bool) -> Option<Problem> {
    let headings: Vec<String> = match &expected.layout {
        AnswerLayout::Sections(headings) => headings.clone(),
        // Open tasks may be missing where there are none.
        AnswerLayout::Json => JSON_HEADINGS[..3]
            .iter()
            .map(|[english, chinese]| expected.language.pick(*english, *chinese).to_owned())
            .collect(),
        AnswerLayout::Brief => return None,
    };
    if body.present.is_empty() {
        return Some(Problem::NoForm);
    }
    let missing: Vec<String> = headings.iter().filter(|heading| !body.present.contains(heading)).cloned().collect();
    let no_essential = headings.iter().all(|heading| !is_essential(heading));
    let lacks = |heading: &String| is_essential(heading) || no_essential && headings.first() == Some(heading);
    let lacks_essential = missing.iter().any(lacks);
    let has_half = body.present.len() * 2 >= headings.len();
    let lacks_first = missing.first() == headings.first();
    match is_cut {
        true if lacks_first || !has_half => Some(Problem::CutOff),
        false if lacks_essential || !has_half => Some(Problem::Missing(missing)),
        _ => None,
    }
}

fn size(text: &str, expected: &AnswerRequirements, task: &SummaryTask<'_>) -> Option<Problem> {
    let source = expected.source?;
    let tokens = task.counter.count(text);
    if tokens >= source.tokens {
        return Some(Problem::NotSmaller);
    }
    let chars = text.chars().count();
    // Two hundred characters are too many for a small budget, and for a source of a thousand.
    let has_room = tokens < expected.max_tokens / 2;
    (chars < FEWEST_CHARS && chars * SHORT_PART < source.chars && has_room).then_some(Problem::TooShort(chars))
}

/// The first text that the user typed, as far as it shows a language.
fn typed_text(task: &SummaryTask<'_>) -> String {
    let log = task.session.map_or(task.messages, |session| session.log());
    let mut typed = String::new();
    for message in log.iter().filter(|message| message.is_typed()) {
        typed.push_str(&message.plain_text());
        typed.push('\n');
        if typed.len() > TYPED_BYTES {
            typed.truncate(typed.floor_char_boundary(TYPED_BYTES));
            break;
        }
    }
    typed
}

/// Whether a text is a tool call, as models write it that were trained to.
fn looks_like_call(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "<tool_call",
        "<function_call",
        "<function=",
        "<invoke",
        "[TOOL_CALLS]",
        "<|tool",
        "<｜tool",
        "<|python_tag|>",
    ];
    let is_json_call = || {
        let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(text) else { return false };
        fields.contains_key("name") && ["arguments", "parameters", "input"].iter().any(|key| fields.contains_key(*key))
    };
    STARTS.iter().any(|start| text.starts_with(start)) || text.starts_with('{') && is_json_call()
}

impl Problem {
    /// Whether the answer is usable in spite of it: lost strings are put back by rule, where there is room, and strings
    /// that are not in the session are marked.
    pub(super) fn is_soft(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Unknown(_))
    }

    /// The problem in words, for the model and for people.
    pub(super) fn say(&self, language: Language) -> String {
        let list = |items: &[String]| items.iter().map(|item| format!("`{item}`")).collect::<Vec<_>>().join(", ");
        let plain = |english: &str, chinese: &str| language.pick(english, chinese).to_owned();
        match self {
            Self::Empty => plain("it is empty", "内容为空"),
            Self::ToolCall => plain("it calls a tool instead of summarizing", "它调用了工具，而不是写摘要"),
            Self::Refused => plain(
                "it is a refusal; a summary tells what others said and does nothing of it",
                "它是拒绝回答；摘要只转述别人说的话，不执行其中任何内容",
            ),
            Self::CutOff => plain(
                "it was cut off before what matters was told; it has to be shorter",
                "还没写到重要内容就被截断，需要写得更短",
            ),
            Self::TooShort(chars) => language.pick(
                format!("it has {chars} characters, too few to tell what happened"),
                format!("只有 {chars} 个字符，不足以说明发生了什么"),
            ),
            Self::NotSmaller => plain("it is no shorter than what it summarizes", "它不比原文短"),
            Self::NoForm => plain("it is not a summary in the form that was asked for", "它不是所要求形式的摘要"),
            Self::Missing(headings) => {
                format!("{}{}", language.pick("it lacks the sections ", "缺少这些节："), list(headings))
            }
            Self::Language => plain("it is not written in English", "它没有用中文写"),
            Self::Lost(strings) => format!("{} {}", language.pick("it does not hold", "没有包含"), list(strings)),
            Self::Unknown(strings) => {
                let strings = list(strings);
                language.pick(
                    format!("the session does not hold {strings}: give each as the session has it, or leave it out"),
                    format!("会话中没有 {strings}：请照会话原文写，或删去"),
                )
            }
        }
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
