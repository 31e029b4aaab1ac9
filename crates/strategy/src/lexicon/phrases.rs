//! Finds words and phrases by their beginnings: a table that is built in microseconds and looked up once for each word
//! of a text. (An automaton over the same words takes longer to build than most texts take to read.)

use std::collections::BTreeMap;
use std::ops::Range;

use super::cue::Cues;
use crate::text::fnv;

/// Words and phrases in lower case, each with its cues; without cues where it only hides shorter ones.
#[derive(Debug, Default)]
pub(super) struct Phrases {
    /// Phrases with the same beginning are neighbours, the longest first.
    phrases: Vec<(String, Cues)>,
    /// The range of the phrases of each beginning.
    groups: Vec<Range<u32>>,
    /// By the hash of a beginning one more than its group; 0 where there is none. At most half full.
    slots: Vec<u32>,
    /// The lengths of the beginnings by their first byte: most words of a text begin no phrase, and need no look-up.
    lengths: Lengths,
}

/// For each first byte, in lower case, a bit for each length, the last one for all that are longer.
#[derive(Debug)]
struct Lengths([u32; 256]);

impl Default for Lengths {
    fn default() -> Self {
        Self([0; 256])
    }
}

impl Lengths {
    /// The place of a beginning's bit.
    fn place(beginning: &str) -> (usize, u32) {
        let first = beginning.bytes().next().unwrap_or_default().to_ascii_lowercase();
        (usize::from(first), 1 << beginning.len().min(31))
    }

    fn insert(&mut self, beginning: &str) {
        let (first, bit) = Self::place(beginning);
        self.0[first] |= bit;
    }

    fn has(&self, beginning: &str) -> bool {
        let (first, bit) = Self::place(beginning);
        self.0[first] & bit != 0
    }
}

/// The key of a look-up: a run of Latin letters and digits, or one character of another kind.
fn beginning(text: &str) -> &str {
    let run = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let end = if run > 0 { run } else { text.chars().next().map_or(0, char::len_utf8) };
    &text[..end]
}

/// FNV-1a of the lower case. The table holds the lexicon's phrases only, so a session's text cannot fill it.
fn hash(beginning: &str) -> usize {
    let hash = fnv(beginning.bytes().map(|byte| byte.to_ascii_lowercase()));
    (hash ^ hash >> 32) as usize
}

impl Phrases {
    /// Builds the table. Linear in the words.
    pub(super) fn new<'w>(words: impl Iterator<Item = (&'w str, Cues)>) -> Self {
        let mut by_beginning: BTreeMap<&str, Vec<(&str, Cues)>> = BTreeMap::new();
        for (word, cues) in words.filter(|(word, _)| !word.is_empty()) {
            by_beginning.entry(beginning(word)).or_default().push((word, cues));
        }
        let mut phrases = Self { slots: vec![0; (by_beginning.len() * 2).next_power_of_two()], ..Self::default() };
        for (beginning, mut alike) in by_beginning {
            alike.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
            let start = phrases.phrases.len() as u32;
            phrases.phrases.extend(alike.into_iter().map(|(word, cues)| (word.to_owned(), cues)));
            phrases.groups.push(start..phrases.phrases.len() as u32);
            let mut slot = hash(beginning) & (phrases.slots.len() - 1);
            while phrases.slots[slot] != 0 {
                slot = (slot + 1) & (phrases.slots.len() - 1);
            }
            phrases.slots[slot] = phrases.groups.len() as u32;
            phrases.lengths.insert(beginning);
        }
        phrases
    }

    /// Returns how many phrases there are.
    pub(super) fn len(&self) -> usize {
        self.phrases.len()
    }

    /// Returns the phrases with the same beginning as `wanted`, in any case.
    fn group(&self, wanted: &str) -> &[(String, Cues)] {
        let mask = self.slots.len() - 1;
        let mut slot = hash(wanted) & mask;
        while let Some(group) = self.slots[slot].checked_sub(1) {
            let group = &self.groups[group as usize];
            let alike = &self.phrases[group.start as usize..group.end as usize];
            if beginning(&alike[0].0).eq_ignore_ascii_case(wanted) {
                return alike;
            }
            slot = (slot + 1) & mask;
        }
        &[]
    }

    /// Returns the phrases that occur in a text as words of their own, the longest at each place, in the order of the
    /// text; none begins inside another. Linear in the text and in how many phrases share a beginning.
    pub(super) fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (Cues, Range<usize>)> + 't {
        let mut at = 0;
        std::iter::from_fn(move || {
            if self.phrases.is_empty() {
                return None;
            }
            while at < text.len() {
                let start = at;
                let wanted = beginning(&text[start..]);
                at += wanted.len();
                if !self.lengths.has(wanted) {
                    continue;
                }
                for (phrase, cues) in self.group(wanted) {
                    let range = start..start + phrase.len();
                    let same = text.as_bytes().get(range.clone());
                    if same.is_some_and(|same| same.eq_ignore_ascii_case(phrase.as_bytes())) && is_whole(text, &range) {
                        at = range.end;
                        return Some((*cues, range));
                    }
                }
            }
            None
        })
    }

    /// Whether one of the phrases occurs in a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.find(text).next().is_some()
    }
}

/// Whether the text at `range` is a word of its own: no Latin letter or digit continues it at an end that has one.
/// Chinese words have no such edges.
fn is_whole(text: &str, range: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let goes_on = |inside: u8, outside: Option<&u8>| {
        inside.is_ascii_alphanumeric() && outside.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let before = range.start.checked_sub(1).and_then(|at| bytes.get(at));
    !range.is_empty() && !goes_on(bytes[range.start], before) && !goes_on(bytes[range.end - 1], bytes.get(range.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_where_they_begin() {
        let words = [
            "must",
            "must not",
            "don't",
            "<pin>",
            "!!!done!!!",
            "决定",
            "决定了",
            "todo list",
            "x1",
            "é",
            "未决定的事",
        ];
        let phrases = Phrases::new(words.into_iter().map(|word| (word, Cues::ALL)));
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<&str> = phrases.find(text).map(|(_, range)| &text[range]).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("You MUST not, but must", &["MUST not", "must"]);
        check("mustard, max_must, must_be, 1must", &[]);
        check("Don't! and I don'tx", &["Don't"]);
        check("a<Pin>b !!!DONE!!!x", &["<Pin>", "!!!DONE!!!"]);
        check("我们决定了，他决定", &["决定了", "决定"]);
        check("未决定", &["决定"]);
        check("todo  list, todo list", &["todo list"]);
        check("É é x1 x12", &["é", "x1"]);
        check("must", &["must"]);
        check("", &[]);
        assert_eq!(Phrases::default().find("must").count(), 0);
    }
}
