//! Gathers the snippets of old units.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use epitome_strategy::session::heading::without_memories;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{BlockRef, Content, Origin, View, text};

use crate::files::Files;
use crate::section::Section;
use crate::snippets::{Kind, Snippet, SnippetOrigin, leaves, lines, sentences, surroundings};

/// Arguments of at most this many bytes stay whole, as the agent wrote them.
const SHORT_ARGUMENTS: usize = 300;

/// The longest line that stays whole, in bytes; of a longer one the surroundings of its exact strings stay. Chosen by hand, not
/// measured: two lines of a terminal of 100 columns; a longer one was hardly written to be read as a line.
const LONGEST_LINE: usize = 200;

/// A sentence that a person typed stays whole up to this many bytes: half a demand may say the opposite.
const LONGEST_TYPED: usize = 800;

/// The gathered snippets, in the order of the view.
pub(crate) struct SnippetCollector<'v, 'a> {
    view: &'v View<'a>,
    /// The calls by their blocks, as positions in the facts' calls.
    calls: HashMap<BlockRef, u32>,
    pub snippets: Vec<Snippet<'a>>,
    /// The lists of earlier blocks, each with its message.
    earlier: Vec<(usize, EarlierLists)>,
}

/// The content of an earlier block beside its lines.
#[derive(Debug, Default)]
pub(crate) struct EarlierLists {
    /// Its files.
    pub files: Files,
    /// Its task list.
    pub tasks: Vec<String>,
}

impl<'v, 'a> SnippetCollector<'v, 'a> {
    /// Returns a collector without snippets. Linear in the view's calls.
    pub(crate) fn new(view: &'v View<'a>) -> Self {
        let calls = view.facts().calls().iter().zip(0..).map(|(call, index)| (call.at, index)).collect();
        Self { view, calls, snippets: Vec::new(), earlier: Vec::new() }
    }

    /// Adds the snippets of a unit behind those of all units in front of it. Linear in its texts and its calls.
    pub(crate) fn unit(&mut self, unit: usize) {
        for message in self.view.units()[unit].entries.clone() {
            let blocks = self.view.entries()[message].message.blocks.len();
            for block in 0..blocks {
                self.block(BlockRef { message: message as u32, block: block as u32 });
            }
        }
    }

    /// Returns the snippets of these messages. Logarithmic.
    pub(crate) fn snippets_in(&self, messages: &Range<usize>) -> &[Snippet<'a>] {
        let at = |message: usize| self.snippets.partition_point(|snippet| snippet.from.message < message);
        &self.snippets[at(messages.start)..at(messages.end)]
    }

    /// Returns the lists of the earlier blocks among these messages: all their files, and the tasks of the newest that
    /// has any.
    pub(crate) fn listed_in(&self, messages: &Range<usize>) -> EarlierLists {
        let mut all = EarlierLists::default();
        let at = |message: usize| self.earlier.partition_point(|(earlier, _)| *earlier < message);
        for (_, listed) in &self.earlier[at(messages.start)..at(messages.end)] {
            all.files.append(&listed.files);
            if !listed.tasks.is_empty() {
                all.tasks.clone_from(&listed.tasks);
            }
        }
        all
    }

    fn block(&mut self, at: BlockRef) {
        let message = at.message as usize;
        let said = &self.view.entries()[message].message;
        let from = |kind, call: Option<u32>| SnippetOrigin { kind, message, call };
        let outputs = self.view.facts().outputs();
        let answered = || outputs.binary_search_by_key(&at, |it| it.at).ok().and_then(|output| outputs[output].call);
        match &said.blocks[at.block as usize].content {
            Content::Text { text } => match said.origin {
                Origin::Typed => self.lines(text, from(Kind::Typed, None)),
                Origin::Model => self.lines(text, from(Kind::Model, None)),
                Origin::ToolOutput => self.lines(text, from(Kind::Output, answered())),
                Origin::Injected => self.lines(text, from(Kind::Output, None)),
                Origin::Summary => self.earlier(without_memories(text), message),
                Origin::Instructions
                | Origin::Developer
                | Origin::Configuration
                | Origin::Tool
                | Origin::Notice
                | Origin::Answer => {}
            },
            Content::ToolCall(_) => {
                if let Some(call) = self.calls.get(&at).copied() {
                    self.call(call, from(Kind::Call, Some(call)));
                }
            }
            Content::ToolResult(result) => self.lines(&result.text, from(Kind::Output, answered())),
            Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => {}
        }
    }

    /// Adds the content of an earlier block by its sections; of any other summary, its lines.
    ///
    /// Sections are read in their order only: a line of a tool's output that looks like a heading is not a demand.
    fn earlier(&mut self, text: &'a str, message: usize) {
        let mut section: Option<Section> = None;
        let mut listed = EarlierLists::default();
        for range in text::lines(text) {
            let line = text[range].trim_end();
            if let Some(opened) = Section::of_heading(line).filter(|opened| section.is_none_or(|now| now < *opened)) {
                section = Some(opened);
                continue;
            }
            let from = |kind| SnippetOrigin { kind, message, call: None };
            match section {
                Some(Section::Requests) => self.line(line.strip_prefix("- ").unwrap_or(line), from(Kind::Typed)),
                Some(Section::Decisions | Section::Questions) => {
                    self.line(line.strip_prefix("- ").unwrap_or(line), from(Kind::Model));
                }
                Some(Section::Tasks) => listed.tasks.push(line.to_owned()),
                Some(Section::Files) if listed.files.read_line(line) => {}
                Some(Section::Files | Section::Details) | None => self.line(line, from(Kind::Output)),
            }
        }
        self.earlier.push((message, listed));
    }

    /// Adds the arguments of a call, decoded: short ones together as `key: value`, long ones by their lines.
    fn call(&mut self, index: u32, from: SnippetOrigin) {
        let call = &self.view.facts().calls()[index as usize];
        if call.kind == ToolKind::Plan {
            return; // the task list has its own section
        }
        let is_short = call.arguments.len() <= SHORT_ARGUMENTS;
        let written = SnippetOrigin { kind: Kind::Written, ..from };
        let Some(json) = call.json() else {
            match is_short {
                true => self.push(call.arguments.trim(), from),
                false => self.lines(call.arguments, written),
            }
            return;
        };
        let mut short = Vec::new();
        let mut long = Vec::new();
        leaves(&json, "", &mut |key, text| match text.len() <= SHORT_ARGUMENTS && (is_short || !text.contains('\n')) {
            true => short.push(format!("{key}: {text}")),
            false => long.push(text.to_owned()),
        });
        let mut joined = short.join(", ");
        joined.truncate(text::cut_before(&joined, SHORT_ARGUMENTS));
        self.push(joined, from);
        let longest = LONGEST_LINE;
        for text in long {
            for line in text.lines().map(str::trim_end).filter(|line| line.len() <= longest) {
                self.push(line.to_owned(), written);
            }
        }
    }

    fn lines(&mut self, text: &'a str, from: SnippetOrigin) {
        for line in lines(text, LONGEST_LINE) {
            self.line(line, from);
        }
    }

    /// Adds one line: whole, by sentences where a person or the model speaks, or the surroundings of its exact strings.
    fn line(&mut self, line: &'a str, from: SnippetOrigin) {
        let longest = LONGEST_LINE;
        let pieces = match from.kind {
            _ if line.len() <= longest => vec![line],
            Kind::Typed => sentences(line, LONGEST_TYPED.max(longest)),
            Kind::Model => sentences(line, longest),
            Kind::Call | Kind::Written | Kind::Output => surroundings(self.view.facts().atoms(), line, longest),
        };
        for piece in pieces {
            self.push(piece, from);
        }
    }

    fn push(&mut self, text: impl Into<Cow<'a, str>>, from: SnippetOrigin) {
        self.snippets.extend(Snippet::new(self.view, text.into(), from));
    }
}
