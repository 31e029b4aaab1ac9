//! Facts: properties of a view that several strategies need, computed once.

mod atoms;
mod calls;
mod files;
mod references;
mod scan;
mod scripts;
mod unit_text;

use std::collections::HashMap;
use std::sync::OnceLock;

use epitome_session::{Content, Entry, Unit};
use serde_json::Value;

pub use atoms::{Atom, AtomKind, AtomPlace, Atoms, Occurrence};
pub use references::References;

use crate::lexicon::{CueCounts, Lexicon};
use crate::services::Tokens;
use crate::tools::ToolKind;
use crate::view::{BlockRef, EntryTokens};
pub use files::files_of;

/// A tool call of a view.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The block that contains it.
    pub at: BlockRef,
    /// The position of its unit.
    pub unit: u32,
    /// The tool's name.
    pub name: &'a str,
    /// The kind of the tool.
    pub kind: ToolKind,
    /// The arguments as text.
    pub arguments: &'a str,
    /// Whether the arguments are recorded as JSON.
    pub is_json: bool,
    /// Its result, or for a call in plain text the output that followed.
    pub output: Option<BlockRef>,
}

impl Call<'_> {
    /// Returns the arguments as JSON, where they are. Linear in the arguments, parsed anew each time.
    pub fn json(&self) -> Option<Value> {
        self.is_json.then(|| serde_json::from_str(self.arguments).ok()).flatten()
    }
}

/// A tool's output: a tool result, or a user-role message that carries one.
#[derive(Debug, Clone)]
pub struct ToolOutput<'a> {
    /// The block that contains it.
    pub at: BlockRef,
    /// The position of its unit.
    pub unit: u32,
    /// The call that it answers, as a position in [`Facts::calls`].
    pub call: Option<u32>,
    /// The tool's name; empty when unknown.
    pub tool: &'a str,
    /// The text as the model sees it.
    pub text: &'a str,
    /// Its tokens.
    pub tokens: Tokens,
    /// Whether the tool reported an error.
    pub is_error: bool,
    /// Whether an earlier edit has excerpted it already.
    pub is_excerpted: bool,
    /// How many units with tool output come after its own: 0 for the newest.
    pub newer_tool_units: u32,
}

/// The action of a call on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAccess {
    /// It read the whole file.
    ReadWhole,
    /// It read a part of the file.
    ReadPart,
    /// It changed a part of the file.
    Edit,
    /// It wrote the whole file.
    Write,
}

/// A call that names one file.
#[derive(Debug, Clone)]
pub struct FileEvent {
    /// The path as the call spells it.
    pub path: String,
    /// The action on the file.
    pub access: FileAccess,
    /// The part that was read, as the call spells it; empty for a whole file.
    pub part: String,
    /// The call, as a position in [`Facts::calls`].
    pub call: u32,
    /// Whether the tool reported an error.
    pub failed: bool,
}

/// Properties of a view that several strategies need. Each is computed on first use, in time linear in the view.
#[derive(Debug)]
pub struct Facts<'a> {
    entries: &'a [Entry],
    units: &'a [Unit],
    lexicon: &'a Lexicon,
    calls: Vec<Call<'a>>,
    outputs: Vec<ToolOutput<'a>>,
    /// For each message; only messages that are asked for are read.
    cues: Vec<OnceLock<CueCounts>>,
    atoms: OnceLock<Atoms<'a>>,
    references: OnceLock<References>,
    file_events: OnceLock<Vec<FileEvent>>,
    repeats: OnceLock<Vec<(u32, u32)>>,
}

impl<'a> Facts<'a> {
    pub(crate) fn build(
        entries: &'a [Entry],
        units: &'a [Unit],
        tokens: &'a [EntryTokens],
        lexicon: &'a Lexicon,
    ) -> Self {
        let mut facts = Self {
            entries,
            units,
            lexicon,
            calls: Vec::new(),
            outputs: Vec::new(),
            cues: entries.iter().map(|_| OnceLock::new()).collect(),
            atoms: OnceLock::new(),
            references: OnceLock::new(),
            file_events: OnceLock::new(),
            repeats: OnceLock::new(),
        };
        for (index, unit) in units.iter().enumerate() {
            facts.read_unit(index as u32, unit, tokens);
        }
        facts.count_newer();
        facts
    }

    /// Returns every tool call, in order.
    pub fn calls(&self) -> &[Call<'a>] {
        &self.calls
    }

    /// Returns every output of a tool, in order.
    pub fn outputs(&self) -> &[ToolOutput<'a>] {
        &self.outputs
    }

    /// Returns the cue words in a message's own texts and tool outputs, not those in reasoning and arguments. Linear in
    /// the message on first use.
    pub fn cues(&self, message: usize) -> CueCounts {
        let (Some(entry), Some(counted)) = (self.entries.get(message), self.cues.get(message)) else {
            return CueCounts::default();
        };
        *counted.get_or_init(|| {
            let mut counts = CueCounts::default();
            for block in &entry.message.blocks {
                match &block.content {
                    Content::Text { text } => counts.add(&self.lexicon.counts(text)),
                    Content::ToolResult(result) => counts.add(&self.lexicon.counts(&result.text)),
                    _ => {}
                }
            }
            counts
        })
    }

    /// Returns the exact strings of the view that may be needed again, with the places where each was introduced and
    /// used.
    pub fn atoms(&self) -> &Atoms<'a> {
        self.atoms.get_or_init(|| Atoms::new(self.entries))
    }

    /// Returns which units use exact strings that others introduced.
    pub fn references(&self) -> &References {
        self.references.get_or_init(|| References::new(self.atoms(), self.units))
    }

    /// Returns the content of a unit in a few hundred characters: the beginnings of what was said, called and printed.
    /// The unit's vector is made of this text. Bounded, whatever the unit's size; empty for a position that does not
    /// exist.
    pub fn unit_text(&self, unit: usize) -> String {
        self.units.get(unit).map_or_else(String::new, |unit| unit_text::unit_text(&self.entries[unit.entries.clone()]))
    }

    /// Returns the calls that read, change or write one file, in order.
    pub fn file_events(&self) -> &[FileEvent] {
        self.file_events.get_or_init(|| {
            let failed: HashMap<u32, bool> =
                self.outputs.iter().filter_map(|output| Some((output.call?, output.is_error))).collect();
            // The file that an agent's editor in plain text shows, updated call by call.
            let mut open = None;
            let event = |(index, call): (usize, &Call<'a>)| {
                let index = index as u32;
                let named = files_of(call, &mut open);
                named.into_iter().map(move |(path, access, part)| (path, access, part, index))
            };
            self.calls
                .iter()
                .enumerate()
                .flat_map(event)
                .map(|(path, access, part, call)| {
                    let failed = failed.get(&call).copied().unwrap_or(false);
                    FileEvent { path, access, part, call, failed }
                })
                .collect()
        })
    }

    /// Returns the tool outputs whose text occurs again, byte for byte, in a later output: pairs of positions in
    /// [`outputs`](Self::outputs), first the earlier one, second the newest one with the same text.
    pub fn repeats(&self) -> &[(u32, u32)] {
        self.repeats.get_or_init(|| {
            let mut newest: HashMap<&str, u32> = HashMap::new();
            let mut pairs = Vec::new();
            for (index, output) in self.outputs.iter().enumerate().rev() {
                match newest.get(output.text) {
                    Some(later) => pairs.push((index as u32, *later)),
                    None => {
                        newest.insert(output.text, index as u32);
                    }
                }
            }
            pairs.reverse();
            pairs
        })
    }
}
