//! Future-reference recall: the exact strings that later calls needed, and which of them a result still contains.

use std::collections::{HashMap, HashSet};

use epitome::session::{Content, Message, Role};

use crate::EvalError;
use crate::cases::atoms::atoms;
use crate::cases::patterns::Patterns;
use crate::cases::text::{Word, append, leaves, words};

/// The most characters of an argument string that is read: a longer one is content that the agent wrote.
const MOST_ARGUMENT_CHARACTERS: usize = 300;
/// Words on each side of an occurrence that bind it.
const WORDS_EACH_SIDE: usize = 3;
/// How many of these must be near the string in the result.
const WORDS_NEEDED: usize = 2;
/// The most characters between the string and these words.
const NEAR_CHARACTERS: usize = 120;

/// Parameters that say how a tool runs, not on what, one a line, in lower case without other signs.
const PLUMBING: &str = include_str!("plumbing.txt");

/// Strings without information, which a recorder put in place of secrets.
const VOID: &[&str] = &["REDACTED"];

/// An exact string that the agent needed after the cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NeededAtom {
    /// The string.
    pub atom: String,
    /// The first message of the future that used it, counted from 0.
    pub first_use: usize,
}

/// The needed strings of a case, and the tables to score a text.
#[derive(Debug)]
pub(crate) struct NeededAtoms {
    pub(crate) atoms: Vec<NeededAtom>,
    patterns: Patterns,
    /// Numbers of the words that bind any string.
    vocabulary: HashMap<String, u32>,
    /// For each string: the sets of words around its occurrences, and how many of a set must be near it.
    bindings: Vec<Bindings>,
}

#[derive(Debug, Default)]
struct Bindings {
    sets: HashSet<Vec<u32>>,
    least: usize,
}

/// Returns the strings in the arguments of a message's calls, each once; without plumbing parameters and long
/// arguments.
pub(crate) fn used_atoms(message: &Message) -> Vec<String> {
    let mut seen = HashSet::new();
    call_atoms(message).into_iter().flatten().filter(|atom| seen.insert(atom.clone())).collect()
}

/// Returns the same for each call by itself, those in plain text behind the others.
pub fn call_atoms(message: &Message) -> Vec<Vec<String>> {
    let mut of_calls = Vec::new();
    let add = |text: &str, used: &mut Vec<String>| {
        if text.chars().count() <= MOST_ARGUMENT_CHARACTERS {
            used.extend(atoms(text).into_iter().filter(|atom| !VOID.contains(&atom.as_str())));
        }
    };
    for (_, call) in message.calls() {
        let mut used = Vec::new();
        match call.arguments.json() {
            Some(value) => leaves(&value, "", &mut |key, leaf| {
                if !is_plumbing(key) {
                    add(leaf, &mut used);
                }
            }),
            None => add(call.arguments.text(), &mut used),
        }
        of_calls.push(used);
    }
    for call in &message.text_calls {
        if let Some(Content::Text { text }) = message.blocks.get(call.block as usize).map(|block| &block.content)
            && let Some(arguments) = text.get(call.start as usize..call.end as usize)
        {
            let mut used = Vec::new();
            add(arguments, &mut used);
            of_calls.push(used);
        }
    }
    of_calls
}

/// Whether a parameter says how a tool runs, not on what.
pub fn is_plumbing(key: &str) -> bool {
    let plain: String = key.chars().filter(|char| char.is_ascii_alphanumeric()).collect();
    PLUMBING.lines().any(|known| plain.eq_ignore_ascii_case(known))
}

/// Returns how many calls a message makes, those written in plain text included.
pub(crate) fn calls(message: &Message) -> usize {
    message.calls().count() + message.text_calls.len()
}

impl NeededAtoms {
    /// Returns the strings of `prefix`, the conversation before the cut as one text, that the calls in `future` needed:
    /// they occur in `prefix` on token boundaries, not in `system`, and no message of the user's side and no result
    /// shows them between the cut and their first use. Linear in the texts.
    pub(crate) fn find(prefix: &str, system: &str, future: &[&Message]) -> Result<Self, EvalError> {
        let mut first_uses: Vec<NeededAtom> = Vec::new();
        let mut known = HashSet::new();
        for (index, message) in future.iter().enumerate() {
            for atom in used_atoms(message) {
                if known.insert(atom.clone()) {
                    first_uses.push(NeededAtom { atom, first_use: index });
                }
            }
        }
        let strings: Vec<&str> = first_uses.iter().map(|used| used.atom.as_str()).collect();
        let patterns = Patterns::new(&strings, true)?;
        let in_prefix = patterns.present(prefix);
        let in_system = patterns.present(system);
        let shown = first_shown(&patterns, first_uses.len(), future);
        let mut number = 0;
        first_uses.retain(|used| {
            let is_needed =
                in_prefix[number] && !in_system[number] && shown[number].is_none_or(|at| at >= used.first_use);
            number += 1;
            is_needed
        });
        Self::from_atoms(first_uses, prefix)
    }

    /// Returns the needed strings with the words that bind them in `prefix`.
    fn from_atoms(atoms: Vec<NeededAtom>, prefix: &str) -> Result<Self, EvalError> {
        let strings: Vec<&str> = atoms.iter().map(|used| used.atom.as_str()).collect();
        let patterns = Patterns::new(&strings, true)?;
        let words = words(prefix);
        let mut vocabulary = HashMap::new();
        let mut sets: Vec<HashSet<Vec<u32>>> = vec![HashSet::new(); atoms.len()];
        patterns.each(prefix, |number, start, end| {
            let around = words_around(&words, start, end);
            let mut set: Vec<u32> = around.map(|word| intern(&mut vocabulary, &prefix[word.start..word.end])).collect();
            set.sort_unstable();
            set.dedup();
            sets[number].insert(set);
        });
        let bindings = sets.into_iter().map(Bindings::new).collect();
        Ok(Self { atoms, patterns, vocabulary, bindings })
    }

    /// Returns which strings occur in `text`, and which of them with their bound words. Linear in the text and the
    /// occurrences.
    pub(crate) fn survive(&self, text: &str) -> (Vec<bool>, Vec<bool>) {
        let mut present = vec![false; self.atoms.len()];
        let mut bound = vec![false; self.atoms.len()];
        let words = words(text);
        self.patterns.each(text, |number, start, end| {
            present[number] = true;
            if !bound[number] {
                bound[number] = self.bindings[number].hold(|| self.binding_words_near(text, &words, start, end));
            }
        });
        (present, bound)
    }

    /// Returns the binding words within reach of a range of `text`, whole, and not in the range itself.
    fn binding_words_near(&self, text: &str, words: &[Word], start: usize, end: usize) -> HashSet<u32> {
        let from = text[..start].char_indices().rev().take(NEAR_CHARACTERS).last().map_or(start, |(at, _)| at);
        let to = text[end..].char_indices().nth(NEAR_CHARACTERS).map_or(text.len(), |(at, _)| end + at);
        let first = words.partition_point(|word| word.start < from);
        let reach = words[first..].iter().take_while(|word| word.end <= to);
        let outside = reach.filter(|word| word.end <= start || word.start >= end);
        outside.filter_map(|word| self.vocabulary.get(&lower(&text[word.start..word.end]))).copied().collect()
    }
}

impl Bindings {
    /// An occurrence with fewer than two words around it is bound by those it has, unless another has two.
    fn new(sets: HashSet<Vec<u32>>) -> Self {
        let most = sets.iter().map(Vec::len).max().unwrap_or(0);
        let least = most.min(WORDS_NEEDED);
        Self { sets: sets.into_iter().filter(|set| set.len() >= least).collect(), least }
    }

    fn hold(&self, near: impl FnOnce() -> HashSet<u32>) -> bool {
        if self.least == 0 {
            return true;
        }
        let near = near();
        self.sets.iter().any(|set| set.iter().filter(|word| near.contains(word)).count() >= self.least)
    }
}

/// Returns up to three words in front of a range and up to three behind it, outside of it.
fn words_around(words: &[Word], start: usize, end: usize) -> impl Iterator<Item = &Word> {
    let before = words.partition_point(|word| word.end <= start);
    let after = words.partition_point(|word| word.start < end);
    let front = &words[before.saturating_sub(WORDS_EACH_SIDE)..before];
    let back = &words[after.min(words.len())..(after + WORDS_EACH_SIDE).min(words.len())];
    front.iter().chain(back)
}

fn lower(word: &str) -> String {
    word.to_lowercase()
}

fn intern(vocabulary: &mut HashMap<String, u32>, word: &str) -> u32 {
    let next = vocabulary.len() as u32;
    *vocabulary.entry(lower(word)).or_insert(next)
}

/// Returns for each string the first message of the future that shows it to the agent: the user's side or a tool's
/// result.
fn first_shown(patterns: &Patterns, count: usize, future: &[&Message]) -> Vec<Option<usize>> {
    let mut shown = vec![None; count];
    let mut text = String::new();
    for (index, message) in future.iter().enumerate() {
        if !matches!(message.role, Role::User | Role::Tool) {
            continue;
        }
        text.clear();
        append(message, &mut text);
        patterns.each(&text, |number, _, _| {
            shown[number].get_or_insert(index);
        });
    }
    shown
}
