//! What the view before held that matters, and what of it still stands.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use epitome_session::{Arguments, Content, Entry, Origin};
use epitome_strategy::{Atoms, FileAccess, Lexicon, Occurrence, View};

use super::find::Finder;
use super::sentences::instructions;
use super::{Kept, MinQuality, Quality};

/// How many examples of what was lost are told.
const EXAMPLES: usize = 5;
/// Characters of an example.
const EXAMPLE_CHARS: usize = 200;

/// What the view before held: read once, compared with each view after.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    /// Strings, instructions and files, one part behind the other.
    texts: Vec<Cow<'a, str>>,
    items: Vec<Item>,
    parts: [Range<usize>; 3],
    finder: Finder,
}

/// What one of them is worth.
#[derive(Debug)]
struct Item {
    weight: f64,
    /// The newest message that has it.
    last: u32,
}

/// Whether what a call names as a path is one: garbage is nothing that could be lost.
fn is_name(path: &str) -> bool {
    path.chars().any(char::is_alphanumeric) && path.trim() == path && !path.contains(char::is_control)
}

/// Whether a string is words joined by hyphens, as in "fall-back": prose, whoever typed it.
fn is_compound(text: &str) -> bool {
    text.chars().all(|char| char.is_alphabetic() || char == '-')
}

impl<'a> Held<'a> {
    /// Reads what was typed and called in a view of `entries`. Linear in that.
    pub(crate) fn of(entries: &'a [Entry], view: &View<'_>, lexicon: &Lexicon) -> Self {
        let mut held =
            Self { texts: Vec::new(), items: Vec::new(), parts: Default::default(), finder: Finder::default() };
        held.read_strings(entries);
        held.parts[0] = 0..held.texts.len();
        held.read_instructions(entries, lexicon);
        held.parts[1] = held.parts[0].end..held.texts.len();
        held.read_files(view);
        held.parts[2] = held.parts[1].end..held.texts.len();
        held.finder = Finder::new(held.texts.iter().map(AsRef::as_ref));
        held
    }

    fn add(&mut self, text: Cow<'a, str>, weight: f64, last: u32) {
        self.texts.push(text);
        self.items.push(Item { weight, last });
    }

    fn read_strings(&mut self, entries: &'a [Entry]) {
        let atoms = Atoms::asked_for(entries);
        let mut asked = vec![None; atoms.all().len()];
        for occurrence in atoms.occurrences() {
            let atom = occurrence.atom as usize;
            if !is_key(entries, occurrence, atoms.all()[atom].text.len()) {
                asked[atom] = Some(occurrence.at.message);
            }
        }
        for (atom, last) in atoms.all().iter().zip(asked) {
            let Some(last) = last.filter(|_| atom.text.contains(char::is_alphanumeric) && !is_compound(atom.text))
            else {
                continue;
            };
            let weight = 1.0 + f64::from(last) / entries.len() as f64;
            self.add(Cow::Borrowed(atom.text), weight, last);
        }
    }

    fn read_instructions(&mut self, entries: &'a [Entry], lexicon: &Lexicon) {
        let mut known: HashMap<Cow<'a, str>, usize> = HashMap::new();
        for (message, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.message.is_typed()) {
            for block in &entry.message.blocks {
                let Content::Text { text } = &block.content else { continue };
                for sentence in instructions(text, lexicon) {
                    match known.get(&sentence) {
                        Some(index) => self.items[*index].last = message as u32,
                        None => {
                            known.insert(sentence.clone(), self.texts.len());
                            self.add(sentence, 1.0, message as u32);
                        }
                    }
                }
            }
        }
    }

    fn read_files(&mut self, view: &View<'_>) {
        let facts = view.facts();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for event in facts.file_events() {
            let message = facts.calls()[event.call as usize].at.message;
            let weight = match event.access {
                FileAccess::Edit | FileAccess::Write => 2.0,
                FileAccess::ReadWhole | FileAccess::ReadPart => 1.0,
            };
            match known.get(event.path.as_str()) {
                Some(index) => {
                    let item = &mut self.items[*index];
                    (item.weight, item.last) = (item.weight.max(weight), message);
                }
                None if is_name(&event.path) => {
                    known.insert(&event.path, self.texts.len());
                    self.add(Cow::Owned(event.path.clone()), weight, message);
                }
                None => {}
            }
        }
    }

    /// What of it stands in a view after. Linear in that view.
    pub(crate) fn kept_in(&self, after: &[Entry], least: &MinQuality) -> Quality {
        let mut found = vec![false; self.texts.len()];
        let read = after
            .iter()
            .map(|entry| &entry.message)
            .filter(|message| !message.is_system_prompt() && message.origin != Origin::Instructions);
        for block in read.flat_map(|message| &message.blocks) {
            let (text, is_json): (&str, bool) = match &block.content {
                Content::Text { text } => (text, false),
                Content::ToolCall(call) => (call.arguments.text(), matches!(call.arguments, Arguments::Json(_))),
                Content::ToolResult(result) => (&result.text, false),
                Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => continue,
            };
            self.finder.mark(text, is_json, &self.texts, &mut found);
        }
        Quality::new(self.parts.clone().map(|part| self.kept(part, &found)), least)
    }

    fn kept(&self, part: Range<usize>, found: &[bool]) -> Kept {
        let weight =
            |indexes: &mut dyn Iterator<Item = usize>| indexes.map(|index| self.items[index].weight).sum::<f64>();
        let mut lost: Vec<usize> = part.clone().filter(|index| !found[*index]).collect();
        let all = weight(&mut part.clone());
        let share = if lost.is_empty() { 1.0 } else { super::rounded(1.0 - weight(&mut lost.iter().copied()) / all) };
        let (held, kept) = (part.len() as u32, (part.len() - lost.len()) as u32);
        lost.sort_by(|one, other| {
            let value = |index: usize| (self.items[index].weight, self.items[index].last);
            value(*other).partial_cmp(&value(*one)).unwrap_or(std::cmp::Ordering::Equal).then(one.cmp(other))
        });
        Kept { held, kept, share, lost: self.examples(&lost) }
    }

    /// The first few, without those that are parts of others among them: a path and its file name are one loss.
    fn examples(&self, lost: &[usize]) -> Vec<String> {
        let mut examples: Vec<&str> = Vec::new();
        for text in lost.iter().map(|index| &*self.texts[*index]) {
            if examples.iter().any(|known| known.contains(text)) {
                continue;
            }
            if examples.len() == EXAMPLES {
                break;
            }
            examples.push(text);
        }
        let cut = |text: &str| match text.char_indices().nth(EXAMPLE_CHARS) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        };
        examples.into_iter().map(cut).collect()
    }
}

/// Whether a string of `length` bytes is the name of an argument: the tool's word, and nobody's question.
fn is_key(entries: &[Entry], occurrence: &Occurrence, length: usize) -> bool {
    let block = &entries[occurrence.at.message as usize].message.blocks[occurrence.at.block as usize];
    let Content::ToolCall(call) = &block.content else { return false };
    let (start, bytes) = (occurrence.start as usize, call.arguments.text().as_bytes());
    let behind = bytes.get(start + length..).unwrap_or_default();
    start > 0
        && bytes[start - 1] == b'"'
        && behind.starts_with(b"\"")
        && behind[1..].trim_ascii_start().starts_with(b":")
}
