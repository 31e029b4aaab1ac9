//! Sessions as readable text, and a token counter with a simple rate.
//!
//! One line starts one part of the conversation; lines indented by two spaces continue its text:
//!
//! ```text
//! system: You are a coding agent.
//! user: fix the parser
//! thinking signed: the loop never ends
//! assistant: I look at the file first.
//! call Read c1 {"file_path":"a.rs"}
//! result c1: fn main() {
//!     loop {}
//!   }
//! call Bash c2 {"command":"cargo test"}
//! result c2 error:
//!   running {n} … x300 lines
//!   error[E0308]: mismatched types
//! user(injected): <reminder>be brief</reminder>
//! assistant: word … x50
//! ```
//!
//! | line | meaning |
//! |---|---|
//! | `system:` | the system prompt |
//! | `user:` | a typed message; in brackets, separated by commas: `injected`, `output` (a tool's output), `summary`, `pinned`, `at=MILLISECONDS`, `name=NAME` |
//! | `assistant:` | a model's message; the same brackets |
//! | `text:` | one more text block of the same message |
//! | `thinking:`, `thinking signed:` | reasoning, in front of the text or call that follows |
//! | `call NAME ID ARGUMENTS` | a call in the current assistant message; arguments that are not JSON are free text |
//! | `textcall NAME: ARGUMENTS` | a call in plain text, as a fenced block |
//! | `result ID:`, `result ID error:` | a tool's result |
//! | `image` | a picture in the current message |
//!
//! A text that ends in ` … xN` is repeated N times, joined by spaces; one that ends in ` … xN lines` is repeated N
//! times, one a line. `{n}` in it counts from 1. Lines that start with `#` in the first column are comments.

use std::sync::Arc;

use epitome_session::{
    Arguments, Block, Content, Media, MediaSource, Message, Origin, Role, Session, TextCall, Thinking, ToolCall,
    ToolResult,
};
use epitome_strategy::{TokenCounter, Tokens, Value};
use thiserror::Error;

/// A line that is not valid in a fixture.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line} of the fixture, `{text}`: {problem}")]
pub struct FixtureError {
    /// Its number, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What is wrong.
    pub problem: &'static str,
}

/// Counts one token for every four bytes or part of them: `count("12345")` is 2.
#[derive(Debug, Clone, Copy, Default)]
pub struct FakeCounter;

impl TokenCounter for FakeCounter {
    fn name(&self) -> &str {
        "fake-quarters"
    }

    fn count(&self, text: &str) -> Tokens {
        text.len().div_ceil(4) as Tokens
    }

    fn is_exact(&self) -> bool {
        true
    }
}

/// Returns the session of a fixture. Panics on an invalid one; see [`parse`].
#[expect(clippy::panic, reason = "a broken fixture is a bug in a test")]
pub fn session(fixture: &str) -> Session {
    parse(fixture).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the session of a fixture, or the first line that is wrong.
pub fn parse(fixture: &str) -> Result<Session, FixtureError> {
    let mut builder = Builder::default();
    let mut lines = fixture.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let error = |problem| FixtureError { line: index + 1, text: line.to_owned(), problem };
        if line.starts_with(' ') {
            return Err(error("continues nothing"));
        }
        let mut body: Vec<String> = Vec::new();
        let mut blank = 0;
        // Blank lines belong to the text when an indented line comes after them.
        while let Some((_, next)) = lines.next_if(|(_, next)| next.starts_with("  ") || next.trim().is_empty()) {
            if next.trim().is_empty() {
                blank += 1;
                continue;
            }
            body.extend((0..std::mem::take(&mut blank)).map(|_| String::new()));
            body.push(repeated(&next[2..]));
        }
        builder.line(line, body).map_err(error)?;
    }
    builder.flush();
    Ok(builder.session)
}

/// Returns `words … x3` as `words words words`, `line {n} … x3 lines` as three lines; any other text unchanged.
fn repeated(text: &str) -> String {
    let Some((unit, count)) = text.rsplit_once(" … x") else { return text.to_owned() };
    let (count, joint) = count.strip_suffix(" lines").map_or((count, " "), |count| (count, "\n"));
    let Ok(count) = count.parse::<usize>() else { return text.to_owned() };
    let copies: Vec<String> = (1..=count).map(|number| unit.replace("{n}", &number.to_string())).collect();
    copies.join(joint)
}

#[derive(Default)]
struct Builder {
    session: Session,
    /// The message under construction: an assistant's collects text, reasoning and calls.
    open: Option<Message>,
}

impl Builder {
    fn line(&mut self, line: &str, body: Vec<String>) -> Result<(), &'static str> {
        let keyword = line.split([' ', ':', '(']).next().unwrap_or_default();
        match keyword {
            "system" | "user" | "assistant" => self.speech(keyword, &line[keyword.len()..], body),
            "text" | "thinking" => {
                let (head, text) = split_head(&line[keyword.len()..], body)?;
                let block = match (keyword, head) {
                    ("text", "") => Block::text(text),
                    ("thinking", "") => thinking(text, None),
                    ("thinking", "signed") => thinking(text, Some("c2lnbmF0dXJl")),
                    _ => return Err("knows `text:`, `thinking:` and `thinking signed:`"),
                };
                let starts = keyword == "thinking" && self.has_other_than_thinking();
                self.assistant(starts).blocks.push(block);
                Ok(())
            }
            "call" => {
                let mut parts = line.splitn(4, ' ').skip(1);
                let (Some(name), Some(id)) = (parts.next(), parts.next()) else {
                    return Err("a call is `call NAME ID ARGUMENTS`");
                };
                let mut text = parts.next().map(repeated).unwrap_or_default();
                for more in body {
                    text.push('\n');
                    text.push_str(&more);
                }
                let arguments = match text.parse::<Value>() {
                    Ok(_) => Arguments::Json(text.into()),
                    Err(_) => Arguments::Text(text.into()),
                };
                let call = ToolCall { id: id.into(), name: name.into(), arguments };
                self.assistant(false).blocks.push(Block::new(Content::ToolCall(call)));
                Ok(())
            }
            "textcall" => {
                let (name, arguments) = split_head(&line[keyword.len()..], body)?;
                let text = format!("```{name}\n{arguments}\n```");
                let start = (name.len() + 4) as u32;
                let message = self.assistant(false);
                let block = message.blocks.len() as u32;
                let end = start + arguments.len() as u32;
                message.text_calls.push(TextCall { name: name.into(), block, start, end });
                message.blocks.push(Block::text(text));
                Ok(())
            }
            "result" => {
                let (head, text) = split_head(&line[keyword.len()..], body)?;
                let (id, is_error) = head.strip_suffix(" error").map_or((head, false), |id| (id, true));
                let result =
                    ToolResult { call_id: id.into(), name: None, text: text.into(), attachments: vec![], is_error };
                self.flush();
                self.session.push(Message::result("", result));
                Ok(())
            }
            "image" => {
                let message = self.open.as_mut().ok_or("stands in no message")?;
                let source = MediaSource::Base64("iVBORw0KGgo=".into());
                message.blocks.push(Block::new(Content::Media(Media {
                    mime: "image/png".into(),
                    source,
                    ..Media::default()
                })));
                Ok(())
            }
            _ => Err("starts with no known word"),
        }
    }

    fn speech(&mut self, keyword: &str, rest: &str, body: Vec<String>) -> Result<(), &'static str> {
        let (head, text) = split_head(rest, body)?;
        let (role, mut origin) = match keyword {
            "system" => (Role::System, Origin::Instructions),
            "user" => (Role::User, Origin::Typed),
            _ => (Role::Assistant, Origin::Model),
        };
        let (mut pinned, mut timestamp, mut name) = (false, None, None);
        let marks = head.strip_prefix('(').and_then(|head| head.strip_suffix(')')).unwrap_or(head);
        for mark in marks.split(',').map(str::trim).filter(|mark| !mark.is_empty()) {
            match (mark, mark.split_once('=')) {
                ("injected", _) => origin = Origin::Injected,
                ("output", _) => origin = Origin::ToolOutput,
                ("summary", _) => origin = Origin::Summary,
                ("pinned", _) => pinned = true,
                (_, Some(("at", at))) => timestamp = Some(at.parse().map_err(|_| "`at=` takes milliseconds")?),
                (_, Some(("name", given))) => name = Some(Arc::from(given)),
                _ => return Err("an unknown word in brackets"),
            }
        }
        // Reasoning in front of a text belongs to the same message.
        let joins = role == Role::Assistant && self.open.is_some() && !self.has_other_than_thinking();
        if !joins {
            self.flush();
        }
        let message = self.open.get_or_insert_with(|| Message::new("", role, origin, Vec::new()));
        message.blocks.push(Block::text(text));
        (message.pinned, message.timestamp, message.name) = (pinned, timestamp, name);
        Ok(())
    }

    fn has_other_than_thinking(&self) -> bool {
        self.open.as_ref().is_some_and(|message| {
            message.role != Role::Assistant
                || message.blocks.iter().any(|block| !matches!(block.content, Content::Thinking(_)))
        })
    }

    /// Returns the assistant's message under construction, or a new one.
    fn assistant(&mut self, starts: bool) -> &mut Message {
        if starts || self.open.as_ref().is_some_and(|message| message.role != Role::Assistant) {
            self.flush();
        }
        self.open.get_or_insert_with(|| Message::new("", Role::Assistant, Origin::Model, Vec::new()))
    }

    fn flush(&mut self) {
        if let Some(message) = self.open.take() {
            self.session.push(message);
        }
    }
}

fn thinking(text: String, signature: Option<&str>) -> Block {
    Block::new(Content::Thinking(Thinking { text: text.into(), signature: signature.map(Arc::from), redacted: false }))
}

/// Returns the part before the colon, and the text behind it with the lines that continue it.
fn split_head(rest: &str, body: Vec<String>) -> Result<(&str, String), &'static str> {
    let (head, text) = rest.split_once(':').ok_or("has no colon")?;
    let mut lines = body;
    let first = text.strip_prefix(' ').unwrap_or(text);
    if !first.is_empty() {
        lines.insert(0, repeated(first));
    }
    Ok((head.trim(), lines.join("\n")))
}

#[cfg(test)]
#[path = "fixture_tests.rs"]
mod tests;
