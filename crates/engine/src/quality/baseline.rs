//! The valuable texts that a session held, and which of them a view still holds.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use epitome_session::{Arguments, Content, Entry, Level};
use epitome_strategy::{ExactStrings, FileAccess, Occurrence, View};

use super::find::Finder;
use super::key_texts::{
    OriginalMessages, Texts, TypedMessages, conclusions, summary_lines, typed_messages_and_demands,
};
use super::{KeptShare, MinQuality, NEAR_EMPTY_FROM, PARTS, Quality, QualityPart};
use crate::context::Context;

/// The most examples of losses in a report.
const EXAMPLES: usize = 5;
/// The longest example, in characters.
const EXAMPLE_CHARS: usize = 200;
/// The fewest characters of a typed message that says what a session is about: a shorter one is a "yes" or a "go".
const INFORMATIVE_CHARS: usize = 10;
/// The share of the whole below which a view is near-empty although something is left. One sentence of dozens, left by chance
/// in the newest message, says no more of a session than none. Source: the recorded sessions that were measured keep a
/// sixth and more at a two-hundredth of their tokens.
const NEAR_EMPTY_BELOW: f64 = 0.02;

/// What the session held: read once, then compared with each view.
#[derive(Debug)]
pub(crate) struct QualityBaseline<'a> {
    /// The texts of all items, one item after the other.
    texts: Vec<Cow<'a, str>>,
    /// The items of all parts, one part after the other.
    items: Vec<Item>,
    /// The bounds of each part in the list above, in the order of [`QualityPart::ALL`].
    parts: [Range<usize>; PARTS],
    /// The wordings of the typed messages.
    typed: TypedMessages<'a>,
    finder: Finder,
    /// How many of each item the view before held.
    held_before: Vec<u32>,
}

/// An item that is kept or lost as a whole, but for equal messages.
#[derive(Debug)]
struct Item {
    /// Its texts: it is kept where all of them are; how many of equal messages are, [`QualityBaseline::kept_of`] says.
    texts: Range<usize>,
    weight: f64,
    /// How many it counts as: equal messages are one item.
    count: u32,
    /// The newest message that has it.
    last: u32,
}

/// The quality of a view, and whether nothing in it says what the session was about.
pub(super) struct ViewQuality {
    pub(super) quality: Quality,
    pub(super) is_near_empty: bool,
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
        let mut baseline = Self {
            texts: Vec::new(),
            items: Vec::new(),
            parts: Default::default(),
            typed: TypedMessages::default(),
            finder: Finder::default(),
            held_before: Vec::new(),
        };
        let (typed, mut demanded) = typed_messages_and_demands(whole.entries(), context.lexicon);
        baseline.typed = typed;
        for part in QualityPart::ALL {
            let start = baseline.items.len();
            match part {
                QualityPart::Typed => baseline.add_messages(),
                QualityPart::Instructions => baseline.add_all(std::mem::take(&mut demanded)),
                QualityPart::Conclusions => baseline.add_all(conclusions(whole.entries())),
                QualityPart::Summaries => baseline.add_all(summary_lines(before, context.session)),
                QualityPart::Strings => baseline.read_strings(whole.entries()),
                QualityPart::Files => baseline.read_files(context, whole, view),
            }
            baseline.parts[part as usize] = start..baseline.items.len();
        }
        baseline.finder = Finder::new(baseline.texts.iter().map(AsRef::as_ref));
        baseline.held_before = match whole.is_view() {
            true => baseline.items.iter().map(|item| item.count).collect(),
            false => baseline.kept_of(before, &baseline.found_in(before)),
        };
        baseline
    }

    fn add_messages(&mut self) {
        for message in std::mem::take(&mut self.typed.all) {
            let start = self.texts.len();
            self.texts.extend(message.texts);
            let (count, last) = (message.messages, message.last);
            self.items.push(Item { texts: start..self.texts.len(), weight: f64::from(count), count, last });
        }
    }

    fn add_all(&mut self, texts: Texts<'a>) {
        for (text, last) in texts.all {
            self.add(text, 1.0, last);
        }
    }

    fn add(&mut self, text: Cow<'a, str>, weight: f64, last: u32) {
        let start = self.texts.len();
        self.texts.push(text);
        self.items.push(Item { texts: start..start + 1, weight, count: 1, last });
    }

    fn read_strings(&mut self, entries: &'a [Entry]) {
        let strings = ExactStrings::asked_for(entries);
        let mut asked = vec![None; strings.all().len()];
        for occurrence in strings.occurrences() {
            let string = occurrence.string as usize;
            if !is_key(entries, occurrence, strings.all()[string].text.len()) {
                asked[string] = Some(occurrence.at.message);
            }
        }
        for (string, last) in strings.all().iter().zip(asked) {
            let Some(last) = last.filter(|_| string.text.contains(char::is_alphanumeric) && !is_compound(string.text))
            else {
                continue;
            };
            let weight = 1.0 + f64::from(last) / entries.len() as f64;
            self.add(Cow::Borrowed(string.text), weight, last);
        }
    }

    fn read_files(&mut self, context: &Context<'_>, whole: &OriginalMessages<'_>, view: &View<'_>) {
        if whole.is_view() {
            return self.read_files_of(view);
        }
        let messages = whole.entries().iter().map(|entry| &entry.message);
        View::read_messages(messages, context.counter, context.language, |view| self.read_files_of(view));
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
                    known.insert(&event.path, self.items.len());
                    self.add(Cow::Owned(event.path.clone()), weight, message);
                }
                None => {}
            }
        }
    }

    /// Returns which share of it a later view still holds. Linear in that view.
    pub(super) fn judge(&self, after: &[Entry], least: &MinQuality) -> ViewQuality {
        let found = self.found_in(after);
        let kept = self.kept_of(after, &found);
        let shares = QualityPart::ALL.map(|part| self.kept_share(self.parts[part as usize].clone(), &kept, &found));
        let quality = Quality::new(shares, least);
        let is_near_empty = self.is_near_empty(&kept, quality.share);
        ViewQuality { quality, is_near_empty }
    }

    /// Whether of five or more things that say what a session is about none is kept, or next to nothing by their weight,
    /// of which `share` is kept in all.
    fn is_near_empty(&self, kept: &[u32], share: f64) -> bool {
        let typed = &self.parts[QualityPart::Typed as usize];
        let (mut held, mut is_any_kept) = (0, false);
        for (index, item) in self.items.iter().enumerate() {
            if typed.contains(&index) && !self.is_informative(item) {
                continue;
            }
            is_any_kept |= kept[index] > 0;
            held += item.count;
        }
        held >= NEAR_EMPTY_FROM && (!is_any_kept || share < NEAR_EMPTY_BELOW)
    }

    fn is_informative(&self, item: &Item) -> bool {
        let chars = self.texts[item.texts.clone()].iter().map(|text| text.chars().count());
        chars.sum::<usize>() >= INFORMATIVE_CHARS
    }

    /// Returns how many of each item are kept in a view where these texts were found. Of equal messages as many are as
    /// stand there as somebody's words, and one where the words are found elsewhere; but a short one, such as "yes" or "1",
    /// says nothing in the model's words or in a tool's output. Linear in the typed texts and summaries of the view.
    fn kept_of(&self, view: &[Entry], found: &[bool]) -> Vec<u32> {
        let typed = self.parts[QualityPart::Typed as usize].clone();
        let mut kept = vec![0; self.items.len()];
        self.typed.count_in(view, &mut kept[typed.clone()]);
        for (index, item) in self.items.iter().enumerate() {
            if found[item.texts.clone()].iter().all(|found| *found)
                && (!typed.contains(&index) || self.is_informative(item))
            {
                kept[index] = kept[index].max(1);
            }
            kept[index] = kept[index].min(item.count);
        }
        kept
    }

    /// Returns which texts a view holds outside the system prompt. Linear in that view.
    fn found_in(&self, view: &[Entry]) -> Vec<bool> {
        let mut found = vec![false; self.texts.len()];
        let read = view
            .iter()
            .map(|entry| &entry.message)
            .filter(|message| !message.is_system_prompt() && message.origin.level() < Level::Developer);
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

    fn kept_share(&self, part: Range<usize>, kept: &[u32], found: &[bool]) -> KeptShare {
        let item = |index: usize| &self.items[index];
        let missing = |index: usize| item(index).count - kept[index];
        let left_now = |index: usize| self.held_before[index].saturating_sub(kept[index]);
        let mut lost: Vec<usize> = part.clone().filter(|index| missing(*index) > 0).collect();
        let all = part.clone().map(|index| item(index).weight).sum::<f64>();
        let weight = |index: &usize| item(*index).weight * f64::from(missing(*index)) / f64::from(item(*index).count);
        let share =
            if lost.is_empty() { 1.0 } else { super::round_share(1.0 - lost.iter().map(weight).sum::<f64>() / all) };
        let held = part.map(|index| item(index).count).sum::<u32>();
        lost.sort_by(|one, other| {
            let value = |index: usize| (item(index).weight, item(index).last);
            value(*other).partial_cmp(&value(*one)).unwrap_or(std::cmp::Ordering::Equal).then(one.cmp(other))
        });
        let of_lost = |is_wanted: &dyn Fn(usize) -> bool| lost.iter().copied().filter(|it| is_wanted(*it)).collect();
        let now: Vec<usize> = of_lost(&|index| left_now(index) > 0);
        let earlier: Vec<usize> = of_lost(&|index| missing(index) > left_now(index));
        KeptShare {
            held,
            kept: held - lost.iter().map(|index| missing(*index)).sum::<u32>(),
            lost_now: now.iter().map(|index| left_now(*index)).sum(),
            share,
            lost: self.examples(&now, found),
            lost_earlier: self.examples(&earlier, found),
        }
    }

    /// Returns the first few, without those that are parts of others among them: a path and its file name are one loss.
    fn examples(&self, lost: &[usize], found: &[bool]) -> Vec<String> {
        // Of a message that others repeat, or that is short, the words may be there.
        let missing = |index: &usize| {
            let mut texts = self.items[*index].texts.clone();
            texts.clone().find(|text| !found[*text]).or_else(|| texts.next())
        };
        let mut examples: Vec<&str> = Vec::new();
        for text in lost.iter().filter_map(missing).map(|text| &*self.texts[text]) {
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
