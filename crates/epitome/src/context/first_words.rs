//! The first words of a message, by which a person knows it again.

use epitome_session::{Content, Message};

/// The most characters of first words. Source: a line of a terminal or of the console.
const MOST: usize = 120;

/// The first words of a message on one line, without control characters: of its text, else of a result, of a call's
/// arguments, or of its reasoning. Linear in the words that are returned.
pub fn first_words(message: &Message) -> String {
    let contents = || message.blocks.iter().map(|block| &block.content);
    let said = message.texts().find_map(|text| line(text));
    let printed = || {
        contents().find_map(|content| match content {
            Content::ToolResult(result) => line(&result.text),
            Content::ToolCall(call) => line(&format!("{} {}", call.name, beginning(call.arguments.text()))),
            _ => None,
        })
    };
    let thought = || {
        contents().find_map(|content| match content {
            Content::Thinking(thinking) => line(&thinking.text),
            _ => None,
        })
    };
    said.or_else(printed).or_else(thought).unwrap_or_default()
}

/// The beginning of a text, long enough for [`line`].
fn beginning(text: &str) -> &str {
    // Of four bytes a character, and as much white space again.
    let end = text.len().min(MOST * 8);
    &text[..text.floor_char_boundary(end)]
}

/// A text's first words on one line; `None` where it has none.
pub(super) fn line(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut count = 0;
    for word in beginning(text).split_whitespace() {
        let gap = usize::from(!out.is_empty());
        let printable = || word.chars().filter(|char| !char.is_control());
        let length = printable().count();
        if count + gap + length > MOST {
            let room = MOST.saturating_sub(count + gap + 1);
            if gap == 1 && room > 0 {
                out.push(' ');
            }
            out.extend(printable().take(room));
            out.push('…');
            return Some(out);
        }
        if gap == 1 {
            out.push(' ');
        }
        out.extend(printable());
        count += gap + length;
    }
    (!out.is_empty()).then_some(out)
}
