//! The texts of a session that should survive word for word: typed messages, demands, the model's conclusions, and the
//! lines of a summary that an agent wrote.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use epitome_session::{Entry, EntryKey, EpochOrigin, Message, Origin, Position, Role, Session};
use epitome_strategy::Lexicon;
use epitome_strategy::speech::{demands, sentences, spoken_texts, typed_texts};
use epitome_strategy::text::lines;
use epitome_strategy::transcript::{self, Record, Speaker};

use crate::loaded::instruction_lines;

/// The lengths of a sentence that concludes something by itself, in characters.
const CONCLUSION: RangeInclusive<usize> = 40..=300;
/// The lengths of a line of a summary that is informative by itself, in characters.
const SUMMARY_LINE: RangeInclusive<usize> = 12..=2_000;
/// Prefixes of a line (bullets, numbers) that are not part of its text.
const BULLETS: [char; 6] = ['-', '*', '#', '>', '•', ' '];

/// The messages of a session as they were recorded, whatever compactions removed from the view.
#[derive(Debug)]
pub(crate) struct OriginalMessages<'a> {
    entries: Cow<'a, [Entry]>,
}

impl<'a> OriginalMessages<'a> {
    /// Returns the log of a session that was compacted before, else its view. Linear in the messages, without their
    /// texts.
    pub(crate) fn new(session: &Session, view: &'a [Entry]) -> Self {
        if session.journal().iter().all(|epoch| epoch.undone) {
            return Self { entries: Cow::Borrowed(view) };
        }
        let taken_back = session.taken_back();
        let entry = |(message, index): (&Arc<Message>, u32)| {
            let stands = !taken_back.contains(&index);
            stands.then(|| Entry::new(EntryKey::Log(index), Position::log(index), Arc::clone(message)))
        };
        Self { entries: session.log().iter().zip(0..).filter_map(entry).collect() }
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether the view holds every message of the log.
    pub(super) fn is_view(&self) -> bool {
        matches!(self.entries, Cow::Borrowed(_))
    }
}

/// Texts with the newest message that has each; every text occurs once.
#[derive(Debug, Default)]
pub(super) struct Texts<'a> {
    by_text: HashMap<Cow<'a, str>, usize>,
    pub(super) all: Vec<(Cow<'a, str>, u32)>,
}

impl<'a> Texts<'a> {
    fn add(&mut self, text: &'a str, message: usize) {
        let text = single_spaces(text.trim());
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        match self.by_text.get(&text) {
            Some(index) => self.all[*index].1 = message as u32,
            None => {
                self.by_text.insert(text.clone(), self.all.len());
                self.all.push((text, message as u32));
            }
        }
    }

    fn add_within(&mut self, chars: &RangeInclusive<usize>, text: &'a str, message: usize) {
        // The length in bytes rules most texts out before characters are counted.
        if text.len() >= *chars.start() && text.len() <= 4 * chars.end() && chars.contains(&text.chars().count()) {
            self.add(text, message);
        }
    }
}

/// A message that a person typed or said through a tool.
#[derive(Debug)]
pub(super) struct TypedMessage<'a> {
    /// Its words, in several texts where a harness put something between them.
    pub(super) texts: Vec<Cow<'a, str>>,
    /// How many messages say just this.
    pub(super) messages: u32,
    /// The newest of them.
    pub(super) last: u32,
}

/// Typed messages, each wording once.
#[derive(Debug, Default)]
pub(super) struct TypedMessages<'a> {
    /// The numbers of the messages below, by their words.
    by_words: HashMap<String, usize>,
    pub(super) all: Vec<TypedMessage<'a>>,
}

impl<'a> TypedMessages<'a> {
    /// Adds the message that says `texts`; one without a letter or a digit has no words to be found.
    fn add(&mut self, texts: &[&'a str], message: usize) {
        let texts = words_of(texts);
        if texts.is_empty() {
            return;
        }
        let last = message as u32;
        let words = texts.join(" ");
        match self.by_words.get(&words) {
            Some(index) => {
                let known = &mut self.all[*index];
                (known.messages, known.last) = (known.messages + 1, last);
            }
            None => {
                self.by_words.insert(words, self.all.len());
                self.all.push(TypedMessage { texts, messages: 1, last });
            }
        }
    }

    /// Adds to `counts` how often each wording stands in a view as somebody's words: as a message, and as a user's record
    /// of a transcript. Linear in these and the summaries.
    pub(super) fn count_in(&self, view: &[Entry], counts: &mut [u32]) {
        let mut count = |texts: &[&str]| {
            let known = self.by_words.get(&words_of(texts).join(" "));
            if let Some(count) = known.and_then(|index| counts.get_mut(*index)) {
                *count += 1;
            }
        };
        say_each(view, |texts, _| count(texts));
        let summaries = view.iter().filter(|entry| entry.message.origin == Origin::Summary);
        for text in summaries.flat_map(|entry| entry.message.texts()) {
            for record in transcript::read(text) {
                if let Record::Speech { speaker: Speaker::User, rows } = record {
                    count(&[&rows.text()]);
                }
            }
        }
    }
}

/// Returns the texts that have a letter or a digit, in single spaces.
fn words_of<'a>(texts: &[&'a str]) -> Vec<Cow<'a, str>> {
    let texts = texts.iter().filter(|text| text.contains(char::is_alphanumeric));
    texts.map(|text| single_spaces(text.trim())).collect()
}

/// Returns what people typed: every message, and the demands in them with the lines of the instructions that the host loaded.
/// Linear in the typed texts, the instructions and the calls.
pub(super) fn typed_messages_and_demands<'a>(
    entries: &'a [Entry],
    lexicon: &Lexicon,
) -> (TypedMessages<'a>, Texts<'a>) {
    let (mut typed, mut demanded) = (TypedMessages::default(), Texts::default());
    say_each(entries, |texts, message| {
        typed.add(texts, message);
        for text in texts {
            for demand in demands(lexicon, text) {
                demanded.add(&text[demand.range], message);
            }
        }
    });
    for (line, message) in instruction_lines(entries) {
        demanded.add(line.trim_start_matches(BULLETS), message);
    }
    (typed, demanded)
}

/// Calls `say` with the words of each message that a person typed or said through a tool, and its number. Linear in the
/// typed texts.
fn say_each<'a>(entries: &'a [Entry], mut say: impl FnMut(&[&'a str], usize)) {
    for (index, entry) in entries.iter().enumerate() {
        let message = &entry.message;
        let words = typed_texts(message).flat_map(|(_, text, ranges)| ranges.into_iter().map(|range| &text[range]));
        say(&words.collect::<Vec<_>>(), index);
        for (_, text, ranges) in spoken_texts(message) {
            ranges.into_iter().for_each(|range| say(&[&text[range]], index));
        }
    }
}

/// Returns the concluding sentences of the model's last message before each typed message, and of its last message of
/// all: these report the outcome. Linear in these messages.
pub(super) fn conclusions(entries: &[Entry]) -> Texts<'_> {
    let mut texts = Texts::default();
    let mut last: Option<usize> = None;
    for (index, entry) in entries.iter().enumerate() {
        if entry.message.is_typed() {
            conclude(&mut texts, entries, last.take());
        } else if entry.message.role == Role::Assistant
            && entry.message.origin == Origin::Model
            && entry.message.texts().any(|text| !text.trim().is_empty())
        {
            last = Some(index);
        }
    }
    conclude(&mut texts, entries, last);
    texts
}

fn conclude<'a>(texts: &mut Texts<'a>, entries: &'a [Entry], message: Option<usize>) {
    let Some(index) = message else { return };
    for text in entries[index].message.texts() {
        for range in sentences(text) {
            texts.add_within(&CONCLUSION, &text[range], index);
        }
    }
}

/// Returns the lines of the summaries in a view that this engine did not write: an agent's own, and those of a foreign
/// file. Linear in these.
pub(super) fn summary_lines<'a>(view: &'a [Entry], session: &Session) -> Texts<'a> {
    let ours = |key: EntryKey| match key {
        EntryKey::Synthetic { epoch, .. } => {
            session.journal().get(epoch as usize).is_some_and(|epoch| epoch.origin == EpochOrigin::Engine)
        }
        EntryKey::Log(_) => false,
    };
    let mut texts = Texts::default();
    for (index, entry) in view.iter().enumerate() {
        if entry.message.origin != Origin::Summary || ours(entry.key) {
            continue;
        }
        for text in entry.message.texts() {
            for line in lines(text) {
                texts.add_within(&SUMMARY_LINE, text[line].trim_start_matches(BULLETS).trim(), index);
            }
        }
    }
    texts
}

fn single_spaces(words: &str) -> Cow<'_, str> {
    let plain = !words.contains("  ") && !words.contains(|char: char| char.is_whitespace() && char != ' ');
    if plain { Cow::Borrowed(words) } else { Cow::Owned(words.split_whitespace().collect::<Vec<_>>().join(" ")) }
}
