//! The valuable texts that a session held, and which of them a view still holds.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use epitome_session::{Arguments, Content, Entry, Origin, units};
use epitome_strategy::{Atoms, EntryTokens, FileAccess, Occurrence, Protection, View};

use super::find::Finder;
use super::said::{OriginalMessages, Texts, conclusions, people, summary_lines};
use super::{KeptShare, MinQuality, PARTS, Quality, QualityPart};
use crate::context::Context;

/// The most examples of losses in a report.
const EXAMPLES: usize = 5;
/// The longest example, in characters.
const EXAMPLE_CHARS: usize = 200;

/// What the session held: read once, then compared with each view.
#[derive(Debug)]
pub(crate) struct QualityBaseline<'a> {
    /// The texts of all parts, one part after the other.
    texts: Vec<Cow<'a, str>>,
    items: Vec<Item>,
    /// The bounds of each part in the list above, in the order of [`QualityPart::ALL`].
    parts: [Range<usize>; PARTS],
    finder: Finder,
    /// Which of the texts the view before held.
    stood: Vec<bool>,
}

/// The weight of one text, and the newest message that has it.
#[derive(Debug)]
struct Item {
    weight: f64,
    /// The newest message that has it.
    last: u32,
}

/// Whether a path that a call names is a real one: a damaged path is not a loss.
fn is_name(path: &str) -> bool {
    path.chars().any(char::is_alphanumeric) && path.trim() == path && !path.contains(char::is_control)
}

/// Whether a string consists of words joined by hyphens, as in "fall-back": that is prose and not an identifier.
fn is_compound(text: &str) -> bool {
    text.chars().all(|char| char.is_alphabetic() || char == '-')
}

impl<'a> QualityBaseline<'a> {
    /// Reads what was said and called in a session, and which of it the entries of the view `before` hold. Linear in
    /// the typed texts, the calls and the conclusions; in a session that was compacted before, also in the view.
    pub(crate) fn new(
        context: &Context<'_>,
        whole: &'a OriginalMessages<'_>,
        before: &'a [Entry],
        view: &View<'_>,
    ) -> Self {
        let mut held = Self {
            texts: Vec::new(),
            items: Vec::new(),
            parts: Default::default(),
            finder: Finder::default(),
            stood: Vec::new(),
        };
        let (typed, demanded) = people(whole.entries(), context.lexicon);
        let mut said = [
            (QualityPart::Typed, typed),
            (QualityPart::Instructions, demanded),
            (QualityPart::Conclusions, conclusions(whole.entries())),
            (QualityPart::Summaries, summary_lines(before, context.session)),
        ];
        for part in QualityPart::ALL {
            let start = held.texts.len();
            match said.iter_mut().find(|(of, _)| *of == part) {
                Some((_, texts)) => held.add_all(std::mem::take(texts)),
                None if part == QualityPart::Strings => held.read_strings(whole.entries()),
                None => held.read_files(context, whole, view),
            }
            held.parts[part as usize] = start..held.texts.len();
        }
        held.finder = Finder::new(held.texts.iter().map(AsRef::as_ref));
        held.stood = if whole.is_view() { vec![true; held.texts.len()] } else { held.found_in(before) };
        held
    }

    fn add_all(&mut self, texts: Texts<'a>) {
        for (text, last) in texts.all {
            self.add(text, 1.0, last);
        }
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

    fn read_files(&mut self, context: &Context<'_>, whole: &OriginalMessages<'_>, view: &View<'_>) {
        if whole.is_view() {
            return self.read_files_of(view);
        }
        let entries = whole.entries();
        let units = units(entries);
        // This view is neither counted nor edited: it only gives access to its calls.
        let blocks = |entry: &Entry| EntryTokens { total: 0, blocks: vec![0; entry.message.blocks.len()] };
        let tokens: Vec<EntryTokens> = entries.iter().map(blocks).collect();
        let protections = vec![Protection::Free; units.len()];
        self.read_files_of(&View::new(entries, &units, &tokens, &protections, context.counter, context.language));
    }

    fn read_files_of(&mut self, view: &View<'_>) {
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

    /// Returns which share of it a later view still holds. Linear in that view.
    pub(crate) fn quality_of(&self, after: &[Entry], least: &MinQuality) -> Quality {
        let found = self.found_in(after);
        Quality::new(QualityPart::ALL.map(|part| self.kept_share(self.parts[part as usize].clone(), &found)), least)
    }

    /// Returns which texts a view holds outside the system prompt. Linear in that view.
    fn found_in(&self, view: &[Entry]) -> Vec<bool> {
        let mut found = vec![false; self.texts.len()];
        let read = view
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
        found
    }

    fn kept_share(&self, part: Range<usize>, found: &[bool]) -> KeptShare {
        let weight =
            |indexes: &mut dyn Iterator<Item = usize>| indexes.map(|index| self.items[index].weight).sum::<f64>();
        let mut lost: Vec<usize> = part.clone().filter(|index| !found[*index]).collect();
        let all = weight(&mut part.clone());
        let share =
            if lost.is_empty() { 1.0 } else { super::round_share(1.0 - weight(&mut lost.iter().copied()) / all) };
        let (held, kept) = (part.len() as u32, (part.len() - lost.len()) as u32);
        let lost_now = lost.iter().filter(|index| self.stood[**index]).count() as u32;
        lost.sort_by(|one, other| {
            let value = |index: usize| (self.stood[index], self.items[index].weight, self.items[index].last);
            value(*other).partial_cmp(&value(*one)).unwrap_or(std::cmp::Ordering::Equal).then(one.cmp(other))
        });
        KeptShare { held, kept, lost_now, share, lost: self.examples(&lost) }
    }

    /// Returns the first few, without those that are parts of others among them: a path and its file name are one loss.
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

/// Whether a string of `length` bytes is the name of an argument: it belongs to the tool and not to a question.
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
