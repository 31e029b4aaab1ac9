//! What a person said that a summary must hold: demands, and the exact strings of the newest request.

use std::collections::HashSet;
use std::sync::Arc;

use epitome_strategy::speech::{demands, sentences, typed_texts};
use epitome_strategy::text::{clip, is_cjk};
use epitome_strategy::{Lexicon, Message, exact_strings};

use super::key;

/// Columns of the longest sentence that rules add; of a longer one the beginning.
const LONGEST: usize = 400;
/// Bytes of the longest text whose demands have to be there word for word: a longer text was pasted, or is the template
/// of a command, and a model decides which part of it binds. About two thirds of a page.
const LONGEST_TYPED: usize = 2_000;
/// The least probability that a sentence binds, of those that a model's text has to hold: it may leave out what only may.
const SURE: f32 = 0.8;
/// Share of a demand's words that a line of the summary must have to count as stating the demand.
const TOLD: f64 = 0.6;

/// A sentence that a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypedSentence {
    /// Word for word.
    pub(crate) text: String,
    /// Whether it demands something of all further work.
    pub(crate) is_demand: bool,
    /// The newest later sentence of the person about the same ([`related_sentence`]): it may take the demand back, or
    /// narrow it, which is for the reader to see.
    pub(crate) later: Option<String>,
}

impl TypedSentence {
    /// The paths, names and numbers in it.
    pub(crate) fn strings(&self) -> Vec<&str> {
        exact_strings(&self.text)
    }
}

/// The demands of a person in `messages`, and the sentences with exact strings of their newest one, each once, in order.
/// `log` has the later ones. Linear in what was typed, for each sentence that is returned.
pub(super) fn sentences_to_keep(messages: &[&Arc<Message>], log: &[Arc<Message>]) -> Vec<TypedSentence> {
    let lexicon = Lexicon::standard();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let typed: Vec<(*const Message, String)> = log
        .iter()
        .filter(|message| message.is_typed())
        .map(|message| (Arc::as_ptr(message), message.plain_text()))
        .collect();
    let newest = messages.iter().rposition(|message| message.is_typed());
    for (index, message) in messages.iter().enumerate() {
        let place = typed.iter().position(|(typed, _)| *typed == Arc::as_ptr(message));
        let later = place.map_or(&[][..], |place| &typed[place + 1..]);
        for (_, text, ranges) in typed_texts(message) {
            for typed in ranges.into_iter().map(|range| &text[range]).filter(|typed| typed.len() <= LONGEST_TYPED) {
                let binding = demands(&lexicon, typed).into_iter().filter(|demand| demand.binding >= SURE);
                let mut kept: Vec<_> = binding.map(|demand| (demand.range, true)).collect();
                if Some(index) == newest {
                    let asks = sentences(typed).into_iter().filter(|range| {
                        let is_demanded = kept.iter().any(|(demand, _)| demand.contains(&range.start));
                        !is_demanded && !exact_strings(&typed[range.clone()]).is_empty()
                    });
                    kept.extend(asks.map(|range| (range, false)).collect::<Vec<_>>());
                    kept.sort_by_key(|(range, _)| range.start);
                }
                for (range, is_demand) in kept {
                    let Some(text) = clip(&typed[range], LONGEST) else { continue };
                    if seen.insert(key(&text)) {
                        let later = later.iter().rev().find_map(|(_, said)| related_sentence(&text, said));
                        found.push(TypedSentence { text, is_demand, later });
                    }
                }
            }
        }
    }
    found
}

/// Those of `said` that a text does not tell: not all of their exact strings, or, of a demand, not enough of the words of
/// each of its sentences on one line. Linear in the text for each.
pub(super) fn missing_sentences<'s>(said: &'s [TypedSentence], text: &str) -> Vec<&'s TypedSentence> {
    let whole = key(text);
    let lines: Vec<HashSet<String>> = text.lines().map(words).collect();
    // A demand of several sentences may be told in several places.
    let is_sentence_told = |sentence: &str| {
        let own = words(sentence);
        let is_on = |line: &HashSet<String>| own.intersection(line).count() as f64 >= own.len() as f64 * TOLD;
        own.is_empty() || whole.contains(&key(sentence)) || lines.iter().any(is_on)
    };
    let is_told = |said: &&TypedSentence| {
        said.strings().iter().all(|string| whole.contains(&key(string)))
            && (!said.is_demand || sentences(&said.text).into_iter().all(|range| is_sentence_told(&said.text[range])))
    };
    said.iter().filter(|said| !is_told(said)).collect()
}

/// The words of a text that say something, each by its beginning, so that forms of a word are one; of Chinese each pair of
/// signs.
fn words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    for word in text.to_lowercase().split(|char: char| !(char.is_alphanumeric() || char == '_')) {
        let cjk: Vec<char> = word.chars().filter(|char| is_cjk(*char)).collect();
        if cjk.is_empty() {
            if word.chars().count() >= 3 {
                words.insert(word.chars().take(5).collect());
            }
        } else {
            words.extend(cjk.windows(2).map(|pair| pair.iter().collect::<String>()));
        }
    }
    words
}

/// The last sentence of a later text that shares at least half of a demand's words, and two of them, or one word with a
/// digit, which is a name; not one that says the same.
fn related_sentence(demand: &str, later: &str) -> Option<String> {
    let own = words(demand);
    let is_related = |sentence: &&str| {
        let said = words(sentence);
        let shared: Vec<&String> = own.intersection(&said).collect();
        let is_of_its_name = shared.iter().any(|word| word.contains(|char: char| char.is_ascii_digit()));
        let is_of_its_words = shared.len() >= 2 && shared.len() * 2 >= own.len();
        (is_of_its_name || is_of_its_words) && key(sentence) != key(demand)
    };
    let said: Vec<&str> = sentences(later).into_iter().map(|range| &later[range]).collect();
    said.into_iter().rev().find(is_related).and_then(|sentence| clip(sentence, LONGEST))
}
