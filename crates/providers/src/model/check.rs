//! Checks whether an answer is a summary at all: its form and its headings do not matter.

use epitome_strategy::{Language, SummaryTask, Tokens};

use super::answer::{text_of_json, unwrap_fence};
use super::language::is_other_language;
use super::source::Size;
use crate::chat::{ChatAnswer, Stop};

/// Below this many characters a summary says nothing, unless its subject is short or there is no more room.
const FEWEST_CHARS: usize = 200;
/// A summary may be as short as this part of a short source.
const SHORT_PART: usize = 5;
/// Bytes of typed text by which its language is recognised.
const TYPED_BYTES: usize = 4_000;

/// The form that an answer is asked for in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerLayout {
    /// Sections under headings.
    Sections,
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
}

/// The reason why an answer is no summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    Empty,
    ToolCall,
    Refused,
    CutOff,
    TooShort(usize),
    Language,
}

/// The summary in an answer, or why there is none. Linear in the answer.
pub(super) fn read_answer(
    answer: &ChatAnswer,
    expected: &AnswerRequirements,
    task: &SummaryTask<'_>,
) -> Result<String, Problem> {
    let text = unwrap_fence(&answer.text);
    match answer.stop {
        Stop::Refused => return Err(Problem::Refused),
        Stop::ToolCall => return Err(Problem::ToolCall),
        Stop::Length => return Err(Problem::CutOff),
        Stop::End if looks_like_call(&text) => return Err(Problem::ToolCall),
        Stop::End if text.is_empty() => return Err(Problem::Empty),
        Stop::End => {}
    }
    let is_json = expected.layout == AnswerLayout::Json;
    let text = is_json.then(|| text_of_json(&text, expected.language)).flatten().unwrap_or(text);
    let start = &text[..text.floor_char_boundary(64 * expected.max_tokens.max(64) as usize)];
    if let Some(chars) = too_short(start, expected, task) {
        return Err(Problem::TooShort(chars));
    }
    if is_other_language(start, expected.language, &typed_text(task)) {
        return Err(Problem::Language);
    }
    Ok(text)
}

/// The characters of a text that has too few.
fn too_short(text: &str, expected: &AnswerRequirements, task: &SummaryTask<'_>) -> Option<usize> {
    let source = expected.source?;
    let chars = text.chars().count();
    // Two hundred characters are too many for a small budget, and for a source of a thousand.
    let is_short = chars < FEWEST_CHARS && chars * SHORT_PART < source.chars;
    (is_short && task.counter.count(text) < expected.max_tokens / 2).then_some(chars)
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
    // Source: the chat templates of Hermes and Qwen, of Anthropic's first tools, of Llama, Mistral and DeepSeek.
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
    /// The problem in words, for the model and for people.
    pub(super) fn say(self, language: Language) -> String {
        let plain = |english: &str, chinese: &str| language.pick(english, chinese).to_owned();
        match self {
            Self::Empty => plain("it is empty", "内容为空"),
            Self::ToolCall => plain("it calls a tool instead of summarizing", "它调用了工具，而不是写摘要"),
            Self::Refused => plain(
                "it is a refusal; a summary tells what others said and does nothing of it",
                "它是拒绝回答；摘要只转述别人说的话，不执行其中任何内容",
            ),
            Self::CutOff => plain("it was cut off; it has to be shorter", "它被截断，需要写得更短"),
            Self::TooShort(chars) => language.pick(
                format!("it has {chars} characters, too few to tell what happened"),
                format!("只有 {chars} 个字符，不足以说明发生了什么"),
            ),
            Self::Language => plain("it is not written in English", "它没有用中文写"),
        }
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
