//! Snippets: the lines of old messages, each with the exact strings that it binds.

use std::borrow::Cow;

use epitome_strategy::tools::ToolKind;
use epitome_strategy::{Call, Content, Cue, Entry, Origin, Tokens, Value, View, text};

use crate::block::Section;

/// A line with fewer words than this binds its exact strings to nothing: its neighbours come with it.
const FEWEST_WORDS: usize = 3;

/// Arguments of at most this many bytes stay whole, as the agent wrote them.
const SHORT_ARGUMENTS: usize = 300;

/// Bytes on each side of an exact string that stay of a long line.
const AROUND: usize = 70;

/// Where a snippet comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A person typed it.
    Typed,
    /// The model said it.
    Model,
    /// The arguments of a call.
    Call,
    /// A line of a long argument: a text that was written, an edit.
    Written,
    /// A line that a tool printed.
    Output,
}

/// A piece of an old message that may go into the block, word for word.
#[derive(Debug, Clone)]
pub(crate) struct Snippet<'a> {
    pub text: Cow<'a, str>,
    pub kind: Kind,
    /// Where it goes.
    pub section: Section,
    /// The message.
    pub message: usize,
    /// The call that it belongs to, as a position in the facts' calls.
    pub call: Option<u32>,
    /// The exact strings in it.
    pub atoms: Vec<u32>,
    /// Its tokens.
    pub tokens: Tokens,
    /// What its words tell.
    pub is_demand: bool,
    pub is_decision: bool,
    pub is_error: bool,
}

/// Gathers the snippets of units.
pub(crate) struct Gather<'v, 'a> {
    view: &'v View<'a>,
    longest_line: usize,
    pub snippets: Vec<Snippet<'a>>,
}

/// What the snippets of one text have in common.
#[derive(Clone, Copy)]
struct From {
    kind: Kind,
    section: Section,
    message: usize,
    call: Option<u32>,
}

impl<'v, 'a> Gather<'v, 'a> {
    pub(crate) fn new(view: &'v View<'a>, longest_line: u32) -> Self {
        Self { view, longest_line: longest_line as usize, snippets: Vec::new() }
    }

    /// The snippets of a unit. Linear in its texts.
    pub(crate) fn unit(&mut self, unit: usize) {
        let calls = self.view.facts().calls();
        let first_call = calls.partition_point(|call| (call.unit as usize) < unit);
        let of_unit = calls[first_call..].iter().take_while(|call| call.unit as usize == unit).count();
        let calls = first_call..first_call + of_unit;
        for message in self.view.units()[unit].entries.clone() {
            let entry: &'a Entry = &self.view.entries()[message];
            for (block, content) in entry.message.blocks.iter().map(|block| &block.content).enumerate() {
                let at = |call: &Call<'_>| call.at.message as usize == message && call.at.block as usize == block;
                let answered = |call: &Call<'_>| {
                    call.output.is_some_and(|it| it.message as usize == message && it.block as usize == block)
                };
                let facts = self.view.facts();
                let answer = calls.clone().find(|call| answered(&facts.calls()[*call])).map(|call| call as u32);
                let from = |kind, section, call| From { kind, section, message, call };
                match content {
                    Content::Text { text } => match entry.message.origin {
                        Origin::Typed => self.lines(text, from(Kind::Typed, Section::Details, None)),
                        Origin::Model => self.lines(text, from(Kind::Model, Section::Details, None)),
                        Origin::ToolOutput => self.lines(text, from(Kind::Output, Section::Details, answer)),
                        Origin::Summary => self.earlier(text, message),
                        Origin::Injected => self.lines(text, from(Kind::Output, Section::Details, None)),
                        Origin::Instructions | Origin::Tool | Origin::Notice | Origin::Answer => {}
                    },
                    Content::ToolCall(_) => {
                        if let Some(call) = calls.clone().find(|call| at(&facts.calls()[*call])) {
                            self.call(call as u32, from(Kind::Call, Section::Details, Some(call as u32)));
                        }
                    }
                    Content::ToolResult(result) => {
                        self.lines(&result.text, from(Kind::Output, Section::Details, answer));
                    }
                    Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => {}
                }
            }
        }
    }

    /// The lines of an earlier block, each with the section that it stood in; of any other summary, its lines.
    fn earlier(&mut self, text: &'a str, message: usize) {
        let mut section = Section::Details;
        for range in text::lines(text) {
            let line = text[range].trim_end();
            if let Some(heading) = Section::of_heading(line) {
                section = heading;
                continue;
            }
            let (kind, line) = match section {
                Section::Requests => (Kind::Typed, line.strip_prefix("- ").unwrap_or(line)),
                Section::Files | Section::Tasks => continue,
                Section::Details => (Kind::Output, line),
            };
            self.line(line, From { kind, section: Section::Details, message, call: None });
        }
    }

    fn call(&mut self, index: u32, from: From) {
        let call = &self.view.facts().calls()[index as usize];
        if matches!(call.kind, ToolKind::Plan) {
            return;
        }
        let arguments = call.arguments;
        if arguments.len() <= SHORT_ARGUMENTS {
            if arguments.len() > 2 {
                self.push(Cow::Borrowed(arguments), from);
            }
            return;
        }
        let Some(json) = call.json() else {
            self.lines(arguments, From { kind: Kind::Written, ..from });
            return;
        };
        let mut short = Vec::new();
        let mut long = Vec::new();
        leaves(&json, "", &mut |key, text| match text.len() <= SHORT_ARGUMENTS && !text.contains('\n') {
            true => short.push(format!("{key}: {text}")),
            false => long.push(text.to_owned()),
        });
        if !short.is_empty() {
            let joined = short.join(", ");
            let end = text::floor_boundary(&joined, SHORT_ARGUMENTS);
            self.push(Cow::Owned(joined[..end].to_owned()), from);
        }
        for text in long {
            for range in text::lines(&text) {
                let line = text[range].trim_end();
                if line.len() <= self.longest_line {
                    self.push(Cow::Owned(line.to_owned()), From { kind: Kind::Written, ..from });
                }
            }
        }
    }

    fn lines(&mut self, text: &'a str, from: From) {
        let mut held: Option<(usize, usize)> = None; // a run of lines with few words
        for range in text::lines(text) {
            let line = text[range.clone()].trim_end();
            let few = words(line) < FEWEST_WORDS && line.len() < 120;
            match held {
                Some((start, lines)) if few && lines < 3 && range.end - start <= self.longest_line => {
                    held = Some((start, lines + 1));
                }
                _ => {
                    if let Some((start, _)) = held.take() {
                        self.push(Cow::Borrowed(text[start..range.start].trim_end()), from);
                    }
                    if few {
                        held = Some((range.start, 1));
                    } else {
                        self.line(line, from);
                    }
                }
            }
        }
        if let Some((start, _)) = held {
            self.push(Cow::Borrowed(text[start..].trim_end()), from);
        }
    }

    /// One line: whole, by sentences where a person or the model speaks, or the surroundings of its exact strings.
    fn line(&mut self, line: &'a str, from: From) {
        if line.len() <= self.longest_line {
            return self.push(Cow::Borrowed(line), from);
        }
        if matches!(from.kind, Kind::Typed | Kind::Model) {
            let mut at = 0;
            while at < line.len() {
                let end = at + text::sentence_end(&line[at..], self.longest_line).max(1);
                let end = text::ceil_boundary(line, end);
                self.push(Cow::Borrowed(line[at..end].trim()), from);
                at = end;
            }
            return;
        }
        let mut window: Option<(usize, usize)> = None;
        let mut windows = Vec::new();
        for atom in self.view.facts().atoms().in_text(line) {
            let text = self.view.facts().atoms().all()[atom as usize].text;
            let from = window.map_or(0, |(_, end): (usize, usize)| end.saturating_sub(AROUND));
            let Some(start) =
                line[text::floor_boundary(line, from)..].find(text).map(|at| at + text::floor_boundary(line, from))
            else {
                continue;
            };
            let (left, right) = (start.saturating_sub(AROUND), (start + text.len() + AROUND).min(line.len()));
            window = match window {
                Some((first, end)) if left <= end && right - first <= self.longest_line => {
                    Some((first, right.max(end)))
                }
                Some(done) => {
                    windows.push(done);
                    Some((left.max(done.1), right.max(done.1)))
                }
                None => Some((left, right)),
            };
        }
        windows.extend(window);
        for (start, end) in windows {
            let (start, end) = (text::floor_boundary(line, start), text::ceil_boundary(line, end));
            self.push(Cow::Borrowed(line[start..end].trim()), from);
        }
    }

    fn push(&mut self, text: Cow<'a, str>, from: From) {
        if text.trim().len() < 3 {
            return;
        }
        let atoms = self.view.facts().atoms().in_text(&text);
        let cues = self.view.lexicon().counts(&text);
        let says = matches!(from.kind, Kind::Typed | Kind::Model);
        let is_demand = from.kind == Kind::Typed && cues.has(Cue::Instruction);
        let is_decision = says && cues.has(Cue::Decision);
        if atoms.is_empty() && !says && from.kind != Kind::Written {
            return;
        }
        let tokens = self.view.count(&text) + 1;
        self.snippets.push(Snippet {
            kind: from.kind,
            section: if is_demand { Section::Requests } else { from.section },
            message: from.message,
            call: from.call,
            atoms,
            tokens,
            is_demand,
            is_decision,
            is_error: cues.has(Cue::Error),
            text,
        });
    }
}

/// The words of three letters or more in a line, and its runs of Chinese characters.
fn words(line: &str) -> usize {
    let mut words = 0;
    let (mut letters, mut in_cjk) = (0, false);
    for char in line.chars() {
        if text::is_cjk(char) {
            words += usize::from(!in_cjk);
            (letters, in_cjk) = (0, true);
        } else if char.is_alphabetic() {
            letters += 1;
            in_cjk = false;
            words += usize::from(letters == 3);
        } else {
            (letters, in_cjk) = (0, false);
        }
    }
    words
}

/// Calls `leaf` with every string and number of a JSON value and the key that it stands under.
fn leaves(value: &Value, key: &str, leaf: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => leaf(key, text),
        Value::Number(number) => leaf(key, &number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, key, leaf)),
        Value::Object(fields) => fields.iter().for_each(|(key, item)| leaves(item, key, leaf)),
        Value::Null | Value::Bool(_) => {}
    }
}
