//! What the host loaded as instructions, and the rules that the agent read where its host would load them: where they stand among
//! messages.

use std::collections::HashMap;
use std::ops::Range;

use epitome_session::{Block, Entry, EntryKey};
use epitome_strategy::rules_read;

/// A block with instructions: its place in its message, and their ranges in its text as it was recorded.
#[derive(Debug, Clone)]
pub(crate) struct LoadedBlock {
    pub block: u32,
    pub ranges: Vec<Range<usize>>,
}

/// The instructions of a view by entry; of each source the newest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Loaded(HashMap<EntryKey, Vec<LoadedBlock>>);

impl Loaded {
    /// Reads the instructions of a view. Linear in the blocks, and in the calls where one may name a file of rules.
    pub(crate) fn read(entries: &[Entry]) -> Self {
        let mut newest: HashMap<&str, (EntryKey, u32, Range<usize>)> = HashMap::new();
        for entry in entries {
            for (number, block) in entry.original.blocks.iter().enumerate() {
                let Some(text) = block.excerptable().filter(|_| !block.instructions.is_empty()) else { continue };
                for range in block.instructions.iter().map(|range| Range::<usize>::from(*range)) {
                    if let Some(part) = text.get(range.clone()) {
                        newest.insert(source(part), (entry.key, number as u32, range));
                    }
                }
            }
        }
        let mut loaded = Self::default();
        newest.into_values().for_each(|(key, block, range)| loaded.add(key, block, range));
        for at in rules_read(entries) {
            let entry = &entries[at.message as usize];
            let text = entry.original.blocks.get(at.block as usize).and_then(Block::excerptable);
            if let Some(text) = text.filter(|_| !loaded.0.contains_key(&entry.key)) {
                loaded.add(entry.key, at.block, 0..text.len());
            }
        }
        for blocks in loaded.0.values_mut() {
            blocks.sort_by_key(|block| block.block);
            blocks.iter_mut().for_each(|block| block.ranges.sort_by_key(|range| range.start));
        }
        loaded
    }

    fn add(&mut self, key: EntryKey, block: u32, range: Range<usize>) {
        let blocks = self.0.entry(key).or_default();
        match blocks.iter_mut().find(|known| known.block == block) {
            Some(known) => known.ranges.push(range),
            None => blocks.push(LoadedBlock { block, ranges: vec![range] }),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an entry has instructions. Constant time.
    pub(crate) fn holds(&self, key: EntryKey) -> bool {
        self.0.contains_key(&key)
    }

    pub(crate) fn remove(&mut self, keys: &[EntryKey]) {
        self.0.retain(|key, _| !keys.contains(key));
    }

    /// Returns the blocks of an entry that have instructions.
    pub(crate) fn blocks(&self, key: EntryKey) -> &[LoadedBlock] {
        self.0.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// Returns the lines of the instructions among messages, each with the position of its message: what is not blank, a tag, or
/// nothing but signs. Linear in the instructions.
pub(crate) fn instruction_lines(entries: &[Entry]) -> Vec<(&str, usize)> {
    let loaded = Loaded::read(entries);
    let mut lines = Vec::new();
    for (position, entry) in entries.iter().enumerate() {
        for LoadedBlock { block, ranges } in loaded.blocks(entry.key) {
            let text = entry.original.blocks.get(*block as usize).and_then(Block::excerptable);
            let parts = ranges.iter().filter_map(|range| text?.get(Range::clone(range)));
            let words = parts.flat_map(str::lines).map(|line| without_number(line).trim());
            lines.extend(words.filter(|line| !is_tag(line)).map(|line| (line, position)));
        }
    }
    lines
}

/// Returns the line by which instructions are known: the first that is more than a tag.
pub(crate) fn source(text: &str) -> &str {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines().find(|line| !is_tag(line)).or_else(|| lines().next()).unwrap_or_default()
}

/// Whether a line is one tag of an element.
pub(crate) fn is_tag(line: &str) -> bool {
    line.strip_prefix('<').and_then(|line| line.strip_suffix('>')).is_some_and(|inside| !inside.contains(['<', '>']))
}

/// Returns a line without the number that a tool for reading puts in front of it: `    12→`, `12\t`, `12: `.
pub(crate) fn without_number(line: &str) -> &str {
    let rest = line.trim_start().trim_start_matches(|char: char| char.is_ascii_digit());
    let is_numbered = rest.len() < line.trim_start().len();
    rest.strip_prefix(['→', '\t', '|']).or_else(|| rest.strip_prefix(": ")).filter(|_| is_numbered).unwrap_or(line)
}
