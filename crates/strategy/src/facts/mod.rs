//! Facts: properties of a view that several strategies need, computed once.

mod call;
mod calls;
mod files;
mod references;
mod rules;
mod scan;
mod scripts;
mod strings;
mod unit_text;

use std::collections::HashMap;
use std::sync::OnceLock;

use epitome_session::{Content, Entry, Unit};

pub use call::{Call, ToolOutput};
pub use files::{FileAccess, FileEvent};
pub use references::References;
pub use scan::exact_strings;
pub use strings::{ExactString, ExactStrings, Occurrence, StringKind, StringPlace};

use crate::block::EntryTokens;
use crate::commands::script_of;
use crate::lexicon::{CueCounts, Lexicon};
pub use files::files_of;
pub use rules::rules_read;
pub(crate) use scripts::edited_by;

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
    strings: OnceLock<ExactStrings<'a>>,
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
            strings: OnceLock::new(),
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
    pub fn exact_strings(&self) -> &ExactStrings<'a> {
        self.strings.get_or_init(|| ExactStrings::new(self.entries))
    }

    /// Returns which units use exact strings that others introduced.
    pub fn references(&self) -> &References {
        self.references.get_or_init(|| References::new(self.exact_strings(), self.units))
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
                    let failed = self.calls[call as usize].failed == Some(true);
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
