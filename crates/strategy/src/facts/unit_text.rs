//! A unit in a few hundred characters.

use epitome_session::{Content, Entry, Origin};

/// Bytes of the messages' texts: their beginning and their end.
const SAID: (usize, usize) = (900, 300);
/// Bytes of a call's arguments.
const ARGUMENTS: usize = 160;
/// Bytes of a tool's output.
const OUTPUT: usize = 240;
/// Bytes in all: the first of fifty calls in a step are typical of it.
const TOTAL: usize = 2_400;

pub(super) fn unit_text(entries: &[Entry]) -> String {
    let mut text = String::new();
    for message in entries.iter().map(|entry| &entry.message) {
        for block in &message.blocks {
            if text.len() >= TOTAL {
                return text;
            }
            match &block.content {
                Content::Text { text: said } if message.origin == Origin::ToolOutput => {
                    push(&mut text, said, (OUTPUT, 0))
                }
                Content::Text { text: said } => push(&mut text, said, SAID),
                Content::ToolCall(call) => {
                    text.push_str(&call.name);
                    text.push(' ');
                    push(&mut text, call.arguments.text(), (ARGUMENTS, 0));
                }
                Content::ToolResult(result) => push(&mut text, &result.text, (OUTPUT, 0)),
                Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => {}
            }
        }
    }
    text
}

fn push(into: &mut String, said: &str, (head, tail): (usize, usize)) {
    if said.len() <= head + tail {
        into.push_str(said);
    } else {
        into.push_str(&said[..said.floor_char_boundary(head)]);
        into.push(' ');
        into.push_str(&said[said.ceil_char_boundary(said.len() - tail)..]);
    }
    into.push('\n');
}
