//! The words and names of a line.

use std::sync::LazyLock;

use epitome_strategy::cut::stop_words;
use epitome_strategy::keys::{KeyMap, key_of};
use epitome_strategy::text::is_cjk;

/// The fewest letters of a word.
const LEAST_LETTERS: usize = 3;

/// The keys of words that say nothing of the subject of an English text.
static STOP_WORDS: LazyLock<KeyMap<()>> =
    LazyLock::new(|| stop_words().iter().map(|word| (key_of(word.bytes()), ())).collect());

/// The terms of a session, each with a number in the order of first occurrence.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    numbers: KeyMap<u32>,
    /// For each term, whether it is a name: a path, an identifier, a number; other terms are plain words.
    names: Vec<bool>,
}

impl Terms {
    /// Returns how many there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether a term is a name.
    pub(crate) fn is_name(&self, term: u32) -> bool {
        self.names[term as usize]
    }

    fn number(&mut self, key: u64, is_name: bool) -> u32 {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.names.push(is_name);
        }
        number
    }

    /// Appends the terms of a text, each once, to `found`. Linear in the text.
    pub(crate) fn read(&mut self, text: &str, found: &mut Vec<u32>) {
        let first = found.len();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if is_part(bytes[at]) {
                let end = at + bytes[at..].iter().take_while(|byte| is_part(**byte)).count();
                let is_word = text[end..].chars().next().is_some_and(is_letter);
                at = if is_word { self.read_word(text, at, found) } else { self.read_run(&text[at..end], found, end) };
                continue;
            }
            if bytes[at].is_ascii() {
                at += 1;
                continue;
            }
            match text[at..].chars().next() {
                Some(char) if is_cjk(char) => at = self.read_chinese(text, at, found),
                Some(char) if is_letter(char) => at = self.read_word(text, at, found),
                char => at += char.map_or(1, char::len_utf8),
            }
        }
        let seen = &mut found[first..];
        seen.sort_unstable();
        let kept = first + dedup(seen);
        found.truncate(kept);
    }

    /// Reads a run of ASCII letters, digits and the marks of names. Returns `end`, where it ends.
    fn read_run(&mut self, run: &str, found: &mut Vec<u32>, end: usize) -> usize {
        let term = run.trim_matches(|char: char| matches!(char, '.' | ':' | '/' | '\\' | '-' | '+' | '#'));
        if term.len() < LEAST_LETTERS {
            return end;
        }
        if is_name(term) {
            found.push(self.number(key_of(term.bytes()), true));
            let last = term.rsplit(['/', '\\', ':']).next().unwrap_or(term);
            if last.len() < term.len() && last.len() > LEAST_LETTERS {
                found.push(self.number(key_of(last.bytes()), true));
            }
        } else {
            let word = key_of(term.bytes().map(|byte| byte.to_ascii_lowercase()));
            if !STOP_WORDS.contains_key(&word) {
                found.push(self.number(word, false));
            }
        }
        end
    }

    /// Reads Chinese, Japanese or Korean characters from `at` on: each pair of neighbours. Returns where they end.
    fn read_chinese(&mut self, text: &str, at: usize, found: &mut Vec<u32>) -> usize {
        let mut end = at;
        let mut previous = None;
        for char in text[at..].chars().take_while(|char| is_cjk(*char)) {
            let here = end;
            end += char.len_utf8();
            if let Some(before) = previous.replace(here) {
                found.push(self.number(key_of(text[before..end].bytes()), false));
            }
        }
        end
    }

    /// Reads a word with letters beyond ASCII, from `at` on. Returns where it ends.
    fn read_word(&mut self, text: &str, at: usize, found: &mut Vec<u32>) -> usize {
        let is_inside = |char: &char| char.is_ascii_alphanumeric() || is_letter(*char);
        let word = text[at..].chars().take_while(is_inside);
        let (letters, bytes) =
            word.clone().fold((0, 0), |(letters, bytes), char| (letters + 1, bytes + char.len_utf8()));
        if letters >= LEAST_LETTERS {
            let lower = word.flat_map(char::to_lowercase).flat_map(|char| u32::from(char).to_le_bytes());
            found.push(self.number(key_of(lower), false));
        }
        // A mark of names in front of the word is not one of its letters.
        at + bytes.max(text[at..].chars().next().map_or(1, char::len_utf8))
    }
}

/// The terms of the lines of a session.
pub(crate) struct LineTerms {
    pub known: Terms,
    /// The terms of all lines, and the range of each line's terms.
    pub terms: Vec<u32>,
    pub spans: Vec<(u32, u32)>,
}

impl LineTerms {
    /// Reads the terms of each line; of none of those that are left once the work is given up. Linear in the text.
    pub(crate) fn read<'t>(lines: impl Iterator<Item = &'t str>, is_cancelled: impl Fn() -> bool) -> Self {
        let mut read =
            Self { known: Terms::default(), terms: Vec::new(), spans: Vec::with_capacity(lines.size_hint().0) };
        for line in lines {
            let start = read.terms.len() as u32;
            if !is_cancelled() {
                read.known.read(line, &mut read.terms);
            }
            read.spans.push((start, read.terms.len() as u32));
        }
        read
    }
}

/// Whether a character is a letter beyond ASCII of a script that puts spaces between words.
fn is_letter(char: char) -> bool {
    !char.is_ascii() && char.is_alphanumeric() && !is_cjk(char)
}

/// Moves the distinct elements of a sorted slice to its front and returns how many there are.
fn dedup(sorted: &mut [u32]) -> usize {
    let mut kept = 0;
    for at in 0..sorted.len() {
        if kept == 0 || sorted[kept - 1] != sorted[at] {
            sorted[kept] = sorted[at];
            kept += 1;
        }
    }
    kept
}

fn is_part(byte: u8) -> bool {
    KINDS[usize::from(byte)] & PART != 0
}

/// Whether a run is a name and not a word: it has a digit or a mark of names, a capital behind a small letter, or two
/// dashes; and two letters or digits in a row.
fn is_name(run: &str) -> bool {
    let (mut seen, mut before, mut dashes) = (0, 0, 0);
    for byte in run.bytes() {
        let kind = KINDS[usize::from(byte)];
        seen |= kind & MARK | before & kind & SOLID | before & SMALL & (kind & CAPITAL) >> 1;
        dashes += u32::from(byte == b'-');
        before = kind;
    }
    (seen & (MARK | SMALL) != 0 || dashes > 1) && seen & SOLID != 0
}

/// Kinds of bytes: those of runs, those that make a run a name, those of which a name has two in a row; small letters, and
/// capitals, which are the next bit.
const PART: u8 = 1;
const MARK: u8 = 2;
const SOLID: u8 = 4;
const SMALL: u8 = 8;
const CAPITAL: u8 = 16;

/// The kinds of each byte.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        kinds[byte as usize] = match byte {
            b'a'..=b'z' => PART | SOLID | SMALL,
            b'A'..=b'Z' => PART | SOLID | CAPITAL,
            b'0'..=b'9' | b'_' => PART | SOLID | MARK,
            b'/' | b'\\' | b'.' | b':' | b'@' | b'#' => PART | MARK,
            b'~' | b'+' | b'-' => PART,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words() {
        let check = |text: &str, names: usize, words: usize| {
            let mut terms = Terms::default();
            let mut found = Vec::new();
            terms.read(text, &mut found);
            let named = found.iter().filter(|term| terms.is_name(**term)).count();
            assert_eq!((named, found.len() - named), (names, words), "{text}");
        };
        check("see the parser.", 0, 2);
        check("src/parser.rs: Parser parser PARSER", 2, 1); // the path, its last part, one word
        check("parseLine parse_line well-kept-crate well-kept", 3, 1);
        check("1204 42", 1, 0);
        check("预算是七百", 0, 4);
        check("Größe größe", 0, 1);
        check("", 0, 0);
    }
}
