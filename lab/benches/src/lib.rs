//! Sessions of any size for measurements: the shipped example, over and over, never twice the same.

pub mod hostile;

use std::sync::Arc;

use epitome::session::{Arguments, Block, Content, Message, Role, Session, ToolCall, ToolResult};

/// The shipped example session.
pub const EXAMPLE: &str = include_str!("../../../examples/session.jsonl");

/// Messages of a coding session that come to about `tokens` tokens: rounds of the example, each time with other paths,
/// ids and numbers, so that no round repeats another. About 450 tokens a message.
pub fn messages(tokens: usize, count: impl Fn(&Message) -> usize) -> Vec<Message> {
    let options = epitome::formats::ReadOptions::default();
    let Ok(mut loaded) = epitome::formats::read(EXAMPLE.as_bytes().to_vec(), options) else { return Vec::new() };
    let example = loaded.sessions.swap_remove(0).session;
    let mut made = Vec::new();
    let mut total = 0;
    for round in 0.. {
        for message in example.log() {
            if round > 0 && message.role == Role::System {
                continue;
            }
            // Not in the middle of a step.
            if total >= tokens && message.role != Role::Tool {
                return made;
            }
            let message = varied(message, round);
            total += count(&message);
            made.push(message);
        }
        if example.log().is_empty() {
            break;
        }
    }
    made
}

/// A session of about `tokens` tokens.
pub fn session(tokens: usize, count: impl Fn(&Message) -> usize) -> Session {
    let mut session = Session::new();
    for message in messages(tokens, count) {
        session.push(message);
    }
    session
}

/// The message as it would stand in another round of the same kind of work: every word with a digit changes.
fn varied(message: &Message, round: usize) -> Message {
    let mut varied = message.clone();
    varied.records.clear();
    varied.id = epitome::session::MessageId::new(format!("{}-{round}", message.id));
    for block in &mut varied.blocks {
        let content = match &block.content {
            Content::Text { text } => Content::Text { text: vary(text, round) },
            Content::ToolCall(call) => Content::ToolCall(ToolCall {
                id: Arc::from(format!("{}-{round}", call.id)),
                name: Arc::clone(&call.name),
                arguments: Arguments::Json(vary(call.arguments.text(), round)),
            }),
            Content::ToolResult(result) => Content::ToolResult(ToolResult {
                call_id: Arc::from(format!("{}-{round}", result.call_id)),
                text: vary(&result.text, round),
                ..result.clone()
            }),
            other => other.clone(),
        };
        *block = Block::new(content);
    }
    varied
}

/// A text with `_r<round>` behind every tenth identifier, which keeps JSON valid.
fn vary(text: &str, round: usize) -> Arc<str> {
    if round == 0 {
        return Arc::from(text);
    }
    let mut varied = String::with_capacity(text.len() + text.len() / 8);
    let mut words = 0;
    let mut previous = ' ';
    for char in text.chars() {
        if previous.is_ascii_lowercase() && char == ' ' {
            words += 1;
            if words % 10 == 0 {
                varied.push_str(&format!("_r{round}"));
            }
        }
        varied.push(char);
        previous = char;
    }
    Arc::from(varied)
}
