//! The pieces of a message: stretches of one speaker, with their tool and file.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::{Arguments, Block, Content, Message, OpenCalls, Origin, Role};
use epitome_strategy::levels::in_one_line;
use epitome_strategy::{speech, tools};
use serde_json::Value;

use crate::lookups::is_lookup;
use crate::query::Source;

/// The speaker of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The system prompt.
    System,
    /// A person.
    User,
    /// The user's side, but not a person: text of a harness.
    Harness,
    /// The model, speaking to the user.
    Assistant,
    /// The model, in its reasoning.
    Thoughts,
    /// The model, in a call of a tool.
    Call,
    /// A tool.
    Output,
}

/// A stretch of a message.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The message's number in the log.
    pub(crate) message: u32,
    /// The block's number in the message.
    pub(crate) block: u32,
    pub(crate) speaker: Speaker,
    pub(crate) body: Body,
    pub(crate) call: Option<Arc<ToolUse>>,
}

/// The place of a piece's text.
#[derive(Debug)]
pub(crate) enum Body {
    /// In the block, in these bytes of its text.
    Recorded(Range<u32>),
    /// In the piece itself: the arguments of a call, as lines `key: value`.
    Arguments(Box<str>),
}

/// A call of a tool, as passages name it.
#[derive(Debug)]
pub(crate) struct ToolUse {
    pub(crate) tool: Arc<str>,
    pub(crate) file: Option<Arc<str>>,
}

impl Piece {
    /// Whether its speaker is among the sources; every one is, where no source is named.
    pub(crate) fn is_from(&self, sources: &[Source]) -> bool {
        let is_of_file = || self.call.as_ref().is_some_and(|call| call.file.is_some());
        sources.is_empty()
            || sources.iter().any(|source| match (source, self.speaker) {
                (Source::User, Speaker::User)
                | (Source::Assistant, Speaker::Assistant | Speaker::Thoughts)
                | (Source::Tool, Speaker::Call | Speaker::Output) => true,
                (Source::File, Speaker::Call | Speaker::Output) => is_of_file(),
                _ => false,
            })
    }

    /// Returns the line that names it in a passage.
    pub(crate) fn heading(&self) -> String {
        let number = self.message;
        let tool = self.call.as_ref().map_or("tool", |call| &call.tool);
        match self.speaker {
            Speaker::System => format!("#{number} system:"),
            Speaker::User => format!("#{number} user:"),
            Speaker::Harness => format!("#{number} to the model:"),
            Speaker::Assistant => format!("#{number} assistant:"),
            Speaker::Thoughts => format!("#{number} thinks:"),
            Speaker::Call => format!("#{number} calls {}:", in_one_line(tool)),
            Speaker::Output => format!("#{number} {} →", in_one_line(tool)),
        }
    }
}

/// Whether words would be read as the line that names a piece ([`Piece::heading`]), or as the one above a passage in an
/// answer (`--- #37 · tool`).
pub(crate) fn is_heading(words: &str) -> bool {
    let numbered = words.trim_start_matches(['-', ' ']).strip_prefix('#');
    numbered.is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()))
        && (words.starts_with('-') || words.trim_end().ends_with([':', '→']))
}

/// Returns the text of a block in which a piece may be.
pub(crate) fn text_of(message: &Message, block: u32) -> &str {
    message.blocks.get(block as usize).and_then(Block::recorded_text).map_or("", |text| text)
}

/// Reads messages in order; it keeps the calls that are still to be answered.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    open: OpenCalls<Arc<ToolUse>>,
    /// Calls in plain text, which have no ids, the oldest last.
    in_text: Vec<Arc<ToolUse>>,
}

impl Reader {
    /// Returns the pieces of a message, number `number` of the log, in order. Linear in the message.
    ///
    /// The results of the model's own look-ups in this log have none: a search finds the originals, not the copies that
    /// earlier searches made of them.
    pub(crate) fn pieces(&mut self, message: &Message, number: u32) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (block, content) in message.blocks.iter().map(|block| &block.content).enumerate() {
            let mut add = |speaker: Speaker, body: Body, call: Option<Arc<ToolUse>>| {
                if !call.as_ref().is_some_and(|call| is_lookup(&call.tool)) {
                    pieces.push(Piece { message: number, block: block as u32, speaker, body, call });
                }
            };
            match content {
                Content::Text { text } => self.read_text(message, block, text, &mut add),
                Content::Thinking(thinking) if !thinking.redacted => {
                    add(Speaker::Thoughts, whole(&thinking.text), None)
                }
                Content::ToolCall(call) => {
                    let (called, lines) = read_call(&call.name, &call.arguments);
                    let called = Arc::new(called);
                    self.open.open(number as usize, call, Arc::clone(&called));
                    add(Speaker::Call, Body::Arguments(lines.into()), Some(called));
                }
                Content::ToolResult(result) => {
                    let called = self.open.answer(result).map(|(_, called)| called);
                    let named = || Some(Arc::new(ToolUse { tool: Arc::clone(result.name.as_ref()?), file: None }));
                    self.read_output((message, block), &result.text, called.or_else(named), &mut add);
                }
                Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => {}
            }
        }
        pieces
    }

    fn read_text(
        &mut self,
        message: &Message,
        block: usize,
        text: &str,
        add: &mut impl FnMut(Speaker, Body, Option<Arc<ToolUse>>),
    ) {
        let speaker = match (message.role, message.origin) {
            (_, Origin::ToolOutput) => {
                let named = || Some(Arc::new(ToolUse { tool: Arc::clone(message.name.as_ref()?), file: None }));
                let called = self.in_text.pop().or_else(named);
                return self.read_output((message, block), text, called, add);
            }
            (Role::User, Origin::Typed) => {
                return split(text, speech::typed_ranges(message, block), |range, is_typed| {
                    add(if is_typed { Speaker::User } else { Speaker::Harness }, Body::Recorded(range), None);
                });
            }
            (Role::Assistant, _) => return self.read_answer(message, block, text, add),
            (Role::System, _) => Speaker::System,
            (Role::User, _) => Speaker::Harness,
            (Role::Tool, _) => Speaker::Output,
        };
        add(speaker, whole(text), None);
    }

    /// Adds the model's text, with the calls that it wrote in plain text.
    fn read_answer(
        &mut self,
        message: &Message,
        block: usize,
        text: &str,
        add: &mut impl FnMut(Speaker, Body, Option<Arc<ToolUse>>),
    ) {
        let calls: Vec<_> = message.text_calls.iter().filter(|call| call.block as usize == block).collect();
        let ranges = calls.iter().map(|call| call.start as usize..call.end as usize);
        let mut called = calls.iter().map(|call| {
            let arguments = text.get(call.start as usize..call.end as usize).unwrap_or_default();
            Arc::new(read_call(&call.name, &Arguments::Text(arguments.into())).0)
        });
        let mut made = Vec::new();
        split(text, ranges, |range, is_call| {
            let call = if is_call { called.next() } else { None };
            made.extend(call.clone());
            let speaker = if is_call { Speaker::Call } else { Speaker::Assistant };
            add(speaker, Body::Recorded(range), call);
        });
        if !made.is_empty() {
            made.reverse();
            self.in_text = made;
        }
    }

    /// Adds a tool's output: a person's words, where the person answered through the tool.
    fn read_output(
        &self,
        (message, block): (&Message, usize),
        text: &str,
        called: Option<Arc<ToolUse>>,
        add: &mut impl FnMut(Speaker, Body, Option<Arc<ToolUse>>),
    ) {
        split(text, speech::typed_ranges(message, block), |range, is_spoken| {
            let speaker = if is_spoken { Speaker::User } else { Speaker::Output };
            add(speaker, Body::Recorded(range), called.clone());
        });
    }
}

fn whole(text: &str) -> Body {
    Body::Recorded(0..text.len() as u32)
}

/// Calls back with the stretches of a text, those in `ranges` and those between them, in order; blank ones between them
/// are left out.
fn split(text: &str, ranges: impl IntoIterator<Item = Range<usize>>, mut tell: impl FnMut(Range<u32>, bool)) {
    let mut at = 0;
    let between = |range: Range<usize>, tell: &mut dyn FnMut(Range<u32>, bool)| {
        if text.get(range.clone()).is_some_and(|text| !text.trim().is_empty()) {
            tell(range.start as u32..range.end as u32, false);
        }
    };
    for range in ranges {
        if range.start < at || text.get(range.clone()).is_none() {
            continue; // a recording's ranges may be wrong: the text is read all the same
        }
        between(at..range.start, &mut tell);
        tell(range.start as u32..range.end as u32, true);
        at = range.end;
    }
    between(at..text.len(), &mut tell);
}

/// Returns a call's tool and file, and its arguments as lines `key: value`; arguments that are not JSON unchanged.
/// Linear.
fn read_call(name: &Arc<str>, arguments: &Arguments) -> (ToolUse, String) {
    let text = arguments.text();
    let json: Option<Value> = serde_json::from_str(text).ok();
    let file = match &json {
        Some(json) => tools::path_argument(json).map(Arc::from),
        None => tools::patch_paths(text).next().map(Arc::from),
    };
    let mut lines = name.to_string();
    match json {
        Some(json) => write_value(&json, &mut lines),
        None => {
            lines.push('\n');
            lines.push_str(text);
        }
    }
    (ToolUse { tool: Arc::clone(name), file }, lines)
}

fn write_value(value: &Value, lines: &mut String) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                lines.push('\n');
                lines.push_str(key);
                lines.push(':');
                write_value(value, lines);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| write_value(item, lines)),
        Value::String(text) => {
            lines.push(' ');
            lines.push_str(text);
        }
        Value::Null => {}
        other => {
            lines.push(' ');
            lines.push_str(&other.to_string());
        }
    }
}
