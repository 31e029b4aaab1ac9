//! The speaker of each line of a session, and the calls that printed it.

use std::collections::HashMap;

use epitome::session::{CallId, Content, Entry, Message, Origin, Role};
use epitome_eval::EvalError;

use super::label::{Speakers, Vocabulary};
use super::line::plain;
use super::names::calls_of;

/// The origin of a line.
#[derive(Debug, Clone, Default)]
pub(super) struct LineOrigin {
    /// Its speakers.
    pub(super) said: Speakers,
    /// Whether the model wrote it into the arguments of a call: it may stand under the model and under the tool.
    pub(super) in_call: bool,
    /// The calls that printed it or wrote it, in order.
    pub(super) calls: Vec<u32>,
}

impl LineOrigin {
    /// Whether only tools printed it, so that it has a file or command to stand under.
    pub(super) fn is_printed(&self) -> bool {
        self.said == Speakers::TOOL
    }

    /// Whether it may stand under what names `speakers`.
    pub(super) fn fits(&self, speakers: Speakers) -> bool {
        let written = if self.in_call { Speakers::MODEL.with(Speakers::TOOL) } else { Speakers::NONE };
        self.said.with(written).meets(speakers)
    }
}

/// Every line of a session with where it comes from.
#[derive(Debug)]
pub(super) struct Origins {
    lines: HashMap<String, LineOrigin>,
    pub(super) vocabulary: Vocabulary,
}

impl Origins {
    /// Linear in the view.
    pub(super) fn new(before: &[Entry]) -> Result<Self, EvalError> {
        let mut reading = OriginReader::default();
        for message in before.iter().map(|entry| &*entry.message).filter(|message| !message.is_system_prompt()) {
            reading.take(message);
        }
        let vocabulary = Vocabulary::new(&reading.names, &reading.tools)?;
        Ok(Self { lines: reading.lines, vocabulary })
    }

    /// Where a line comes from, white space as one blank; `None` where the session does not have it.
    pub(super) fn source(&self, line: &str) -> Option<&LineOrigin> {
        self.lines.get(line)
    }
}

/// A session being read.
#[derive(Debug, Default)]
struct OriginReader {
    lines: HashMap<String, LineOrigin>,
    /// The names of each call.
    names: Vec<Vec<String>>,
    tools: Vec<String>,
    by_id: HashMap<CallId, u32>,
    /// The newest call in plain text, which what the user's side prints next answers.
    in_text: Option<u32>,
}

impl OriginReader {
    fn take(&mut self, message: &Message) {
        let speaker = match (message.origin, message.role) {
            (Origin::Summary, _) => Speakers::ANY,
            (Origin::Tool | Origin::ToolOutput, _) | (_, Role::Tool) => Speakers::TOOL,
            (Origin::Model, _) | (_, Role::Assistant) => Speakers::MODEL,
            (_, _) => Speakers::USER,
        };
        let first = self.names.len() as u32;
        for (id, names) in calls_of(message) {
            let number = self.names.len() as u32;
            match id {
                Some(id) => drop(self.by_id.insert(id.into(), number)),
                None => self.in_text = Some(number),
            }
            self.names.push(names);
        }
        let mut call = first;
        for block in &message.blocks {
            match &block.content {
                Content::Text { text } => {
                    let printed = self.in_text.filter(|_| message.origin == Origin::ToolOutput);
                    self.add(text, speaker, false, printed);
                }
                Content::ToolResult(result) => {
                    let printed = self.by_id.get(&result.call_id).copied();
                    self.add(&result.text, Speakers::TOOL, false, printed);
                }
                Content::ToolCall(known) => {
                    self.tools.push(known.name.to_string());
                    let mut text = String::new();
                    epitome_eval::append_arguments(&known.arguments, &mut text);
                    self.add(&text, Speakers::NONE, true, Some(call));
                    call += 1;
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, text: &str, said: Speakers, in_call: bool, call: Option<u32>) {
        for line in text.lines().map(plain).filter(|line| !line.is_empty()) {
            let source = self.lines.entry(line).or_default();
            source.said = source.said.with(said);
            source.in_call |= in_call;
            source.calls.extend(call.filter(|call| source.calls.last() != Some(call)));
        }
    }
}
