//! What a model reads in answer to a call.

use std::sync::Arc;

use epitome::recall::{Page, Passage, Query};
use epitome::session::heading::grouped;
use epitome::session::{Content, Message};
use epitome::strategy::Archived;

use crate::tools::LAST_PAGE;

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// It as text, for a model.
    pub text: String,
    /// Whether something was wrong with the call.
    pub is_refusal: bool,
}

impl Answer {
    /// The answer to a call that was right.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_refusal: false }
    }

    /// The answer to a call that cannot be taken: what is wrong, as a sentence.
    pub fn refusal(problem: impl Into<String>) -> Self {
        Self { text: problem.into(), is_refusal: true }
    }
}

/// A page of found passages. Linear in its texts.
pub(crate) fn of_page(query: &Query, page: &Page) -> Answer {
    let asked: Vec<String> = query.words.iter().map(|words| format!("`{words}`")).collect();
    let asked = if asked.is_empty() { "the newest".to_owned() } else { asked.join(", ") };
    let mut text = match (page.passages.len(), query.page) {
        (0, 0) => format!(
            "Nothing in the history matches {asked}. Try other words: an identifier, a file's name, part of an error message."
        ),
        (0, _) => format!("There is nothing more for {asked}."),
        (1, _) => format!("1 passage for {asked}."),
        (count, _) => format!("{count} passages for {asked}, the best first."),
    };
    for passage in &page.passages {
        text.push_str("\n\n");
        text.push_str(&heading_of(passage));
        text.push('\n');
        text.push_str(passage.text.trim_end());
    }
    if page.more {
        let next = query.page.saturating_add(1);
        let how = if next > LAST_PAGE { "ask with other words".to_owned() } else { format!("page {next}") };
        text.push_str(&format!("\n\nThere are more: {how}."));
    }
    Answer::new(text)
}

/// Where a passage stands: `--- #37 · tool · Bash · src/main.rs · left the context · recall 0a1b2c3d`.
fn heading_of(passage: &Passage) -> String {
    let mut heading = format!("--- #{} · {}", passage.number, passage.role.as_str());
    for part in [&passage.tool, &passage.file].into_iter().flatten() {
        heading.push_str(" · ");
        heading.push_str(part);
    }
    match passage.in_context {
        Some(true) => heading.push_str(" · still in the context"),
        Some(false) => heading.push_str(" · left the context"),
        None => {}
    }
    if let Some(handle) = &passage.handle {
        heading.push_str(" · recall ");
        heading.push_str(handle);
    }
    heading
}

/// A part of what is recalled. Linear in all of it.
pub(crate) fn of_recalled(handle: &str, item: &Archived, offset: usize, limit: usize) -> Answer {
    let whole = text_of(item);
    let characters = whole.chars().count();
    if offset >= characters && offset > 0 {
        return Answer::refusal(format!("`{handle}` has {characters} characters: `offset` is behind its end"));
    }
    let mut text: String = whole.chars().skip(offset).take(limit).collect();
    let end = (offset + limit).min(characters);
    let more = end < characters;
    if offset > 0 || more {
        let [from, to, all] = [offset, end, characters].map(|it| grouped(it as u64));
        let next = if more { format!("; go on with offset {end}") } else { String::new() };
        text.push_str(&format!("\n[characters {from} to {to} of {all}{next}]"));
    }
    Answer::new(text)
}

/// What was archived as text: whole messages under their roles.
pub fn text_of(item: &Archived) -> String {
    match item {
        Archived::Text(text) => text.to_string(),
        Archived::Messages(messages) => {
            let texts: Vec<String> = messages.iter().map(message_text).collect();
            texts.join("\n\n")
        }
    }
}

fn message_text(message: &Arc<Message>) -> String {
    let mut text = format!("{}:", message.role.as_str());
    for block in &message.blocks {
        let part = match &block.content {
            Content::Text { text } => text.to_string(),
            Content::Thinking(thinking) => thinking.text.to_string(),
            Content::ToolCall(call) => format!("{} {}", call.name, call.arguments.text()),
            Content::ToolResult(result) => result.text.to_string(),
            Content::Opaque(opaque) => opaque.json.to_string(),
            Content::Media(media) => format!("[{}]", media.mime),
            Content::Gone => continue,
        };
        text.push('\n');
        text.push_str(&part);
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use epitome::session::{Origin, Role};

    use super::*;

    #[test]
    fn long_texts_come_in_parts() {
        let check = |offset, limit, expect: &str| {
            let answer = of_recalled("0a1b", &Archived::Text("zwölf Boxkämpfer".into()), offset, limit);
            assert_eq!(answer.text, expect);
        };
        check(0, 100, "zwölf Boxkämpfer");
        check(0, 5, "zwölf\n[characters 0 to 5 of 16; go on with offset 5]");
        check(6, 100, "Boxkämpfer\n[characters 6 to 16 of 16]");
        check(16, 5, "`0a1b` has 16 characters: `offset` is behind its end");
        let said = |text: &str| Arc::new(Message::text("", Role::User, Origin::Typed, text));
        let answer = of_recalled("0a1b", &Archived::Messages(vec![said("one"), said("two")]), 0, 100);
        assert_eq!(answer.text, "user:\none\n\nuser:\ntwo");
    }

    #[test]
    fn nothing_found_says_what_to_do() {
        let answer = of_page(&Query::new("pears"), &Page::default());
        assert!(answer.text.starts_with("Nothing in the history matches `pears`. Try other words"), "{}", answer.text);
        assert!(!answer.is_refusal);
        assert!(!of_page(&Query { page: 1, ..Query::new("pears") }, &Page::default()).text.contains("Try"));
    }
}
