//! What a call can be known by: the files and commands in its arguments.

use epitome::session::{Arguments, Content, Message};
use epitome_eval::{is_plumbing, leaves, short_name, written_files};
use serde_json::Value;

use super::line::plain;

/// Characters of an argument that is a name and no content.
const MOST_NAME: usize = 300;
/// Characters that a name has at least.
const LEAST_NAME: usize = 4;
/// Characters of a command by which it is known: labels may cut it.
const COMMAND: usize = 40;

/// The names of each call of a message, in order; calls in plain text come behind the others.
pub(super) fn calls_of(message: &Message) -> Vec<(Option<&str>, Vec<String>)> {
    let mut written = Vec::new();
    written_files(message, &mut written);
    let mut calls: Vec<(Option<&str>, Vec<String>)> = Vec::new();
    for (_, call) in message.calls() {
        let mut names = Vec::new();
        let value = match &call.arguments {
            Arguments::Json(json) => serde_json::from_str::<Value>(json).ok(),
            Arguments::Text(_) => None,
        };
        match value {
            Some(value) => leaves(&value, "", &mut |key, leaf| {
                if !is_plumbing(key) {
                    add(leaf, &mut names);
                }
            }),
            None => add(call.arguments.text(), &mut names),
        }
        calls.push((Some(&call.id), names));
    }
    for call in &message.text_calls {
        let mut names = Vec::new();
        if let Some(Content::Text { text }) = message.blocks.get(call.block as usize).map(|block| &block.content)
            && let Some(arguments) = text.get(call.start as usize..call.end as usize)
        {
            add(arguments.trim().lines().next().unwrap_or_default(), &mut names);
        }
        calls.push((None, names));
    }
    // A patch names its files within.
    for (_, names) in &mut calls {
        written.iter().for_each(|file| add(file, names));
        names.sort();
        names.dedup();
    }
    calls
}

/// The names in an argument: a path also by its last parts, a command by its beginning.
fn add(argument: &str, names: &mut Vec<String>) {
    if argument.chars().count() > MOST_NAME && !argument.contains('\n') {
        return;
    }
    let line = plain(argument.trim().lines().next().unwrap_or_default());
    let is_path = !line.contains(' ') && line.contains(['/', '.']);
    let short = short_name(&line);
    let mut keep = |name: &str| {
        if name.chars().count() >= LEAST_NAME && name.chars().any(char::is_alphabetic) {
            names.push(name.to_owned());
        }
    };
    if is_path {
        keep(&short);
        keep(short.rsplit('/').next().unwrap_or_default());
    } else {
        keep(whole_words(&line, COMMAND));
    }
}

/// The beginning of a text, at most that many characters, no word of it cut.
fn whole_words(text: &str, most: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(most) else { return text };
    let cut = if text[end..].starts_with(' ') { end } else { text[..end].rfind(' ').unwrap_or(end) };
    &text[..cut]
}
