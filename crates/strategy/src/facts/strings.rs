//! ExactStrings: exact strings that an agent may need again, with the places where each was introduced and used.

use std::collections::HashMap;
use std::ops::Range;

use epitome_session::{Arguments, Content, Entry, Origin, Role};

use super::scan::scan;
use crate::block::BlockRef;

/// The kind of an exact string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StringKind {
    /// A path or a file's name.
    Path,
    /// An address.
    Url,
    /// A number of four digits or more.
    Number,
    /// A name that does not occur in prose: `snake_case`, `camelCase`, `a1b2c3d`, `module::item`.
    Identifier,
    /// A phrase between backquotes.
    Quoted,
}

/// The kind of text that contains a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StringPlace {
    /// The system prompt.
    Instructions,
    /// Text that a person typed.
    Typed,
    /// Text that the harness put on the user's side, a summary or a notice.
    Injected,
    /// Text of the model.
    Model,
    /// A call's short arguments: they name what the call is about.
    Arguments,
    /// A long text in a call's arguments: a written file, the new side of an edit, a long prompt.
    Written,
    /// Text that a tool printed.
    Output,
}

impl StringPlace {
    const COUNT: usize = Self::Output as usize + 1;
}

/// One occurrence of an string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// The string, as a position in [`ExactStrings::all`].
    pub string: u32,
    /// The block that contains it.
    pub at: BlockRef,
    /// Its start in the block's text, in bytes.
    pub start: u32,
    /// The kind of text that contains it.
    pub place: StringPlace,
}

/// An exact string of a view.
#[derive(Debug, Clone)]
pub struct ExactString<'a> {
    /// The string.
    pub text: &'a str,
    /// Its kind.
    pub kind: StringKind,
    /// The message that introduced it.
    pub first_message: u32,
    /// The kind of text that introduced it.
    pub introduced: StringPlace,
    /// The newest message that contains it.
    pub last_message: u32,
    /// The newest message whose typed text or call arguments contain it: such a message asks for it and does not only
    /// show it.
    pub last_asked: Option<u32>,
    /// How many messages contain it.
    pub messages: u32,
    counts: [u32; StringPlace::COUNT],
    /// For each kind of text, one more than the newest message that contains it there; 0 for none.
    newest: [u32; StringPlace::COUNT],
}

impl ExactString<'_> {
    /// Returns how many messages contain it in such a text.
    pub fn count(&self, place: StringPlace) -> u32 {
        self.counts[place as usize]
    }

    /// Whether a person or a call's arguments named it.
    pub fn was_asked_for(&self) -> bool {
        self.last_asked.is_some()
    }
}

/// The exact strings of a view.
#[derive(Debug, Default)]
pub struct ExactStrings<'a> {
    strings: Vec<ExactString<'a>>,
    occurrences: Vec<Occurrence>,
    by_text: HashMap<&'a str, u32>,
}

impl<'a> ExactStrings<'a> {
    /// Reads every text, argument and output of the view, and returns their exact strings. Linear.
    pub(super) fn new(entries: &'a [Entry]) -> Self {
        Self::read(entries, |_| true)
    }

    /// Returns the exact strings that were typed or that a call's arguments name, and their places. Other texts are not
    /// read, which makes this much cheaper. Linear in the texts that are read.
    pub fn asked_for(entries: &'a [Entry]) -> Self {
        Self::read(entries, |place| matches!(place, StringPlace::Typed | StringPlace::Arguments))
    }

    fn read(entries: &'a [Entry], wanted: impl Fn(StringPlace) -> bool) -> Self {
        let mut strings = Self::default();
        for (message, entry) in entries.iter().enumerate() {
            // In the order of the text. They are valid only while the text is as it was recorded.
            let text_calls = entry.message.text_calls.iter().filter(|_| !entry.is_edited());
            let mut text_calls: Vec<(u32, Range<u32>)> =
                text_calls.map(|call| (call.block, call.start..call.end)).collect();
            text_calls.sort_unstable_by_key(|(block, call)| (*block, call.start));
            let mut text_calls = text_calls.into_iter().peekable();
            for (block, content) in entry.message.blocks.iter().map(|block| &block.content).enumerate() {
                let (text, place, is_json): (&str, StringPlace, bool) = match content {
                    Content::Text { text } => (text, place(entry), false),
                    Content::ToolCall(call) => {
                        (call.arguments.text(), StringPlace::Arguments, matches!(call.arguments, Arguments::Json(_)))
                    }
                    Content::ToolResult(result) => (&result.text, StringPlace::Output, false),
                    Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => continue,
                };
                // A call in plain text is part of the model's text.
                if !wanted(place) && (entry.message.text_calls.is_empty() || !wanted(StringPlace::Arguments)) {
                    continue;
                }
                let at = BlockRef { message: message as u32, block: block as u32 };
                let mut of_text_call = |start: usize| {
                    let start = (at.block, start as u32);
                    while text_calls.next_if(|(block, call)| (*block, call.end) <= start).is_some() {}
                    text_calls.peek().is_some_and(|(block, call)| *block == at.block && call.contains(&start.1))
                };
                let long = if place == StringPlace::Arguments { long_strings(text, is_json) } else { Vec::new() };
                let mut long = long.into_iter().peekable();
                scan(text, is_json, |found| {
                    while long.next_if(|range| range.end <= found.start).is_some() {}
                    let place = match place {
                        StringPlace::Model if of_text_call(found.start) => StringPlace::Arguments,
                        StringPlace::Arguments if long.peek().is_some_and(|range| range.contains(&found.start)) => {
                            StringPlace::Written
                        }
                        place => place,
                    };
                    if wanted(place) {
                        strings.add(&text[found.start..found.end], found.kind, at, found.start as u32, place);
                    }
                });
            }
        }
        strings
    }

    /// Returns every string, in the order in which they were introduced.
    pub fn all(&self) -> &[ExactString<'a>] {
        &self.strings
    }

    /// Returns every occurrence of an string, in the order of the view.
    pub fn occurrences(&self) -> &[Occurrence] {
        &self.occurrences
    }

    /// Returns the occurrences in one block, in order. Logarithmic.
    pub fn in_block(&self, at: BlockRef) -> &[Occurrence] {
        let start = self.occurrences.partition_point(|it| it.at < at);
        let length = self.occurrences[start..].partition_point(|it| it.at == at);
        &self.occurrences[start..start + length]
    }

    /// Returns the view's strings that occur in any text, as positions in [`all`](Self::all), in the order of the text.
    /// Linear in the text.
    pub fn in_text(&self, text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        scan(text, false, |it| found.extend(self.by_text.get(&text[it.start..it.end])));
        found
    }

    fn add(&mut self, text: &'a str, kind: StringKind, at: BlockRef, start: u32, place: StringPlace) {
        let strings = &mut self.strings;
        let index = *self.by_text.entry(text).or_insert_with(|| {
            strings.push(ExactString {
                text,
                kind,
                first_message: at.message,
                introduced: place,
                last_message: at.message,
                last_asked: None,
                messages: 0,
                counts: [0; StringPlace::COUNT],
                newest: [0; StringPlace::COUNT],
            });
            strings.len() as u32 - 1
        });
        let string = &mut strings[index as usize];
        if string.messages == 0 || string.last_message != at.message {
            string.messages += 1;
            string.last_message = at.message;
        }
        if std::mem::replace(&mut string.newest[place as usize], at.message + 1) != at.message + 1 {
            string.counts[place as usize] += 1;
        }
        if matches!(place, StringPlace::Typed | StringPlace::Arguments) {
            string.last_asked = Some(at.message);
        }
        self.occurrences.push(Occurrence { string: index, at, start, place });
    }
}

/// A longer string in arguments, in bytes, is a text and does not name what the call is about.
const LONGEST_NAME: usize = 300;

/// Returns the ranges of long strings in arguments; the whole of long arguments that are not JSON. Linear.
fn long_strings(arguments: &str, is_json: bool) -> Vec<Range<usize>> {
    if arguments.len() <= LONGEST_NAME {
        return Vec::new();
    }
    if !is_json {
        return vec![0..arguments.len()];
    }
    let bytes = arguments.as_bytes();
    let mut long = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let start = at + 1;
        at = start;
        while at < bytes.len() && bytes[at] != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        let end = at.min(bytes.len());
        if end - start > LONGEST_NAME {
            long.push(start..end);
        }
        at += 1;
    }
    long
}

fn place(entry: &Entry) -> StringPlace {
    match (entry.message.role, entry.message.origin) {
        (Role::System, Origin::Summary | Origin::Notice) => StringPlace::Injected,
        (Role::System, _) | (_, Origin::Instructions | Origin::Developer | Origin::Configuration) => {
            StringPlace::Instructions
        }
        (_, Origin::Typed) => StringPlace::Typed,
        (_, Origin::Model) => StringPlace::Model,
        (_, Origin::Tool | Origin::ToolOutput) => StringPlace::Output,
        (_, Origin::Injected | Origin::Summary | Origin::Notice | Origin::Answer) => StringPlace::Injected,
    }
}

#[cfg(test)]
#[path = "strings_tests.rs"]
mod tests;
