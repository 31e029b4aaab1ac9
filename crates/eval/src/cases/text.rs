//! Sessions as one text: what a model reads, arguments decoded, and where words stand in it.

use epitome::session::{Arguments, Block, Content, Entry, Message};
use serde_json::Value;

/// Returns the text of `messages` that are not system prompts, one after the other, a line break between two. Linear.
pub(crate) fn conversation<'a>(messages: impl IntoIterator<Item = &'a Message>) -> String {
    let mut text = String::new();
    for message in messages.into_iter().filter(|message| !message.is_system_prompt()) {
        append(message, &mut text);
    }
    text
}

/// Returns the text of the system messages.
pub(crate) fn system<'a>(messages: impl IntoIterator<Item = &'a Message>) -> String {
    let mut text = String::new();
    for message in messages.into_iter().filter(|message| message.is_system_prompt()) {
        append(message, &mut text);
    }
    text
}

/// Returns each of some names once, in the order of their first place. Quadratic in those that differ.
pub(crate) fn distinct<T: PartialEq>(names: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Returns the messages of a view as they are shown.
pub(crate) fn shown_messages(entries: &[Entry]) -> impl Iterator<Item = &Message> {
    entries.iter().map(|entry| &*entry.message)
}

/// Adds the text of `message` for a model, with a line break behind each block.
pub fn append(message: &Message, text: &mut String) {
    for block in &message.blocks {
        append_block(block, text);
    }
}

fn append_block(block: &Block, text: &mut String) {
    match &block.content {
        Content::Text { text: said } => text.push_str(said),
        Content::Thinking(thinking) => text.push_str(&thinking.text),
        Content::ToolCall(call) => {
            text.push_str(&call.name);
            text.push('\n');
            append_arguments(&call.arguments, text);
        }
        Content::ToolResult(result) => text.push_str(&result.text),
        Content::Opaque(opaque) => text.push_str(&opaque.json),
        Content::Media(_) | Content::Gone => return,
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Returns arguments decoded, `name: value` on a line of its own for each value: escapes of JSON would stick to the
/// strings behind them.
pub fn append_arguments(arguments: &Arguments, text: &mut String) {
    match arguments.json() {
        Some(value) => leaves(&value, "", &mut |key, value| {
            if !key.is_empty() {
                text.push_str(key);
                text.push_str(": ");
            }
            text.push_str(value);
            text.push('\n');
        }),
        None => text.push_str(arguments.text()),
    }
}

/// Calls back with every string and number in `value`, with the name of the nearest field that contains it.
pub fn leaves(value: &Value, key: &str, visit: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => visit(key, text),
        Value::Number(number) => visit(key, &number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, key, visit)),
        Value::Object(fields) => fields.iter().for_each(|(name, field)| leaves(field, name, visit)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// A character of the scripts that are written without blanks between words.
pub(crate) fn is_cjk(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ac00}'..='\u{d7af}')
}

/// A word and its byte range: three letters or more, or an unbroken run of CJK characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The fewest letters of a word.
const LEAST_LETTERS: usize = 3;

/// Returns the words of `text`, in order. Linear.
pub(crate) fn words(text: &str) -> Vec<Word> {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Letters,
        Cjk,
    }
    let mut words = Vec::new();
    let mut run: Option<(Kind, usize, usize)> = None;
    let mut close = |run: Option<(Kind, usize, usize)>, end: usize| {
        if let Some((kind, start, count)) = run
            && (kind == Kind::Cjk || count >= LEAST_LETTERS)
        {
            words.push(Word { start, end });
        }
    };
    for (at, char) in text.char_indices() {
        let kind = match char {
            char if is_cjk(char) => Some(Kind::Cjk),
            char if char.is_alphabetic() => Some(Kind::Letters),
            _ => None,
        };
        run = match (run, kind) {
            (Some((old, start, count)), Some(kind)) if old == kind => Some((old, start, count + 1)),
            (old, kind) => {
                close(old, at);
                kind.map(|kind| (kind, at, 1))
            }
        };
    }
    close(run, text.len());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_letters_or_cjk_runs() {
        let of = |text: &'static str| -> Vec<&str> { words(text).iter().map(|it| &text[it.start..it.end]).collect() };
        assert_eq!(of("file_path: /a/src/main.rs 12 of été"), ["file", "path", "src", "main", "été"]);
        assert_eq!(of("修改main文件，好"), ["修改", "main", "文件", "好"]);
    }
}
