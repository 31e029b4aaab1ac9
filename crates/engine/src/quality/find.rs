//! Finds many strings in a text at once, with one look-up for each word of the text.

use epitome_strategy::keys::{KeyMap, key_of};

/// Finds strings on token boundaries; a space in a string matches any white space of the text.
///
/// Each string is indexed by the one of its words that the fewest other strings share; where that word occurs, the rest
/// of the string is compared. A string without a letter or a digit is never found.
#[derive(Debug, Default)]
pub(super) struct Finder {
    /// By a word's key: the strings that are indexed by it, each with the word's offset in the string. Strings are compared
    /// as a whole, so two words with one key cost a comparison and no more.
    by_word: KeyMap<Vec<(u32, u32)>>,
}

impl Finder {
    /// Returns a finder of `strings`. Linear in their bytes.
    pub(super) fn new<'s>(strings: impl Iterator<Item = &'s str> + Clone) -> Self {
        let mut counts: KeyMap<u32> = KeyMap::default();
        for string in strings.clone() {
            words(string, false, |start, end| *counts.entry(key_of(string[start..end].bytes())).or_default() += 1);
        }
        let mut by_word: KeyMap<Vec<(u32, u32)>> = KeyMap::default();
        for (index, string) in strings.enumerate() {
            let mut rarest: Option<(u32, usize, usize)> = None;
            words(string, false, |start, end| {
                let count = counts[&key_of(string[start..end].bytes())];
                let better = |(least, from, to): (u32, usize, usize)| {
                    (count, std::cmp::Reverse(end - start)) < (least, std::cmp::Reverse(to - from))
                };
                if rarest.is_none_or(better) {
                    rarest = Some((count, start, end));
                }
            });
            if let Some((_, start, end)) = rarest {
                by_word.entry(key_of(string[start..end].bytes())).or_default().push((index as u32, start as u32));
            }
        }
        Self { by_word }
    }

    /// Marks in `found` which of `strings` occur in `text`; `strings` are those that the finder was made of. `is_json`
    /// says that `\n`, `\"` and the like are escapes. Linear in the text, but for strings that have no word of their
    /// own: failed comparisons read at most [`MOST_COMPARED`] times the text, and what is not found by then counts as absent.
    pub(super) fn mark<S: AsRef<str>>(&self, text: &str, is_json: bool, strings: &[S], found: &mut [bool]) {
        let mut vain = text.len().saturating_mul(MOST_COMPARED);
        words(text, is_json, |start, end| {
            let Some(candidates) = self.by_word.get(&key_of(text[start..end].bytes())) else { return };
            for (index, at) in candidates.iter().map(|(index, at)| (*index as usize, *at as usize)) {
                if !found[index] && vain > 0 {
                    let (head, tail) = strings[index].as_ref().split_at(at);
                    match compare(text, start, head, tail, is_json) {
                        Ok(()) => found[index] = true,
                        Err(read) => vain = vain.saturating_sub(read),
                    }
                }
            }
        });
    }
}

/// The most bytes that failed comparisons may read for each byte of the text. A text that repeats one word a hundred thousand
/// times is almost a match for itself at each of them; a text with its own words needs less than one.
const MOST_COMPARED: usize = 64;

/// Compares a string with the text around one of its words: `head` ends there, `tail` starts there, both at word boundaries.
/// The error is the number of bytes read.
fn compare(text: &str, at: usize, head: &str, tail: &str, is_json: bool) -> Result<(), usize> {
    let (before, after) = text.split_at(at);
    let before = without_end(before, head)?;
    let after = without_start(after, tail).map_err(|read| read + head.len())?;
    let bytes = before.as_bytes();
    let is_escape = is_json && matches!(bytes, [.., b'\\', b'n' | b't' | b'r']);
    let starts = head.is_empty() || is_escape || !bytes.last().is_some_and(|byte| in_word(*byte));
    let ends_in_word = tail.as_bytes().last().is_some_and(|byte| in_word(*byte));
    let stands = starts && !(ends_in_word && after.as_bytes().first().is_some_and(|byte| in_word(*byte)));
    if stands { Ok(()) } else { Err(head.len() + tail.len()) }
}

/// Returns what follows `string` in `text` where `text` starts with it; the error is the number of bytes read.
fn without_start<'t>(text: &'t str, string: &str) -> Result<&'t str, usize> {
    let mut rest = text;
    for (index, part) in string.split(' ').enumerate() {
        let read = text.len() - rest.len() + part.len();
        if index > 0 {
            let trimmed = rest.trim_start();
            rest = (trimmed.len() < rest.len()).then_some(trimmed).ok_or(read)?;
        }
        rest = rest.strip_prefix(part).ok_or(read)?;
    }
    Ok(rest)
}

/// Returns what precedes `string` in `text` where `text` ends with it; the error is the number of bytes read.
fn without_end<'t>(text: &'t str, string: &str) -> Result<&'t str, usize> {
    let mut rest = text;
    for (index, part) in string.rsplit(' ').enumerate() {
        let read = text.len() - rest.len() + part.len();
        if index > 0 {
            let trimmed = rest.trim_end();
            rest = (trimmed.len() < rest.len()).then_some(trimmed).ok_or(read)?;
        }
        rest = rest.strip_suffix(part).ok_or(read)?;
    }
    Ok(rest)
}

/// Whether a byte continues a word. Words of other scripts have no edges.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Calls `word` with the bounds of each run of Latin letters, digits and underscores, and of each run of other scripts'
/// letters. Linear.
fn words(text: &str, is_json: bool, mut word: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if in_word(bytes[at]) {
            while at < bytes.len() && in_word(bytes[at]) {
                at += 1;
            }
            word(start, at);
        } else if bytes[at] == b'\\' && is_json {
            at = text.ceil_char_boundary(at + 2);
        } else if bytes[at].is_ascii() {
            at += 1;
        } else {
            let letters = text[at..].chars().take_while(|char| !char.is_ascii() && char.is_alphanumeric());
            at += letters.map(char::len_utf8).sum::<usize>();
            if at > start {
                word(start, at);
            } else {
                at = text.ceil_char_boundary(at + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(strings: &[&str], text: &str, is_json: bool) -> String {
        let mut found = vec![false; strings.len()];
        Finder::new(strings.iter().copied()).mark(text, is_json, strings, &mut found);
        let kept = strings.iter().zip(found).filter(|(_, found)| *found).map(|(string, _)| *string);
        kept.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn strings_stand_on_token_boundaries() {
        let check = |string: &str, text: &str, expect: bool| {
            assert_eq!(found(&[string], text, false) == string, expect, "{string} in {text}");
        };
        check("src/main.rs", "see src/main.rs:12", true);
        check("src/main.rs", "see /repo/src/main.rs", true);
        check("src/main.rs", "see src/main.rsx", false);
        check("src/main.rs", "see mysrc/main.rs", false);
        check("/usr/bin", "in /usr/bin, or", true);
        check("/usr/bin", "in mine/usr/bin", false);
        check("max_tokens", "config.max_tokens=1", true);
        check("max_tokens", "max_tokens_all", false);
        check("4096", "14096", false);
        check("cargo test --all", "cargo\n  test --all", true);
        check("cargo test --all", "cargo test--all", false);
        check("Never push. Ask 我.", "- Never  push. Ask 我.", true);
        check("不要修改 main.rs", "用户：不要修改 main.rs。", true);
        check("不要修改", "不要修改它", false); // a run of another script is found whole
        check("…", "…", false);
    }

    #[test]
    fn escapes_are_no_part_of_a_word() {
        assert_eq!(
            found(&["src/lib.rs", "/tmp/x"], r#"{"a":"one\nsrc/lib.rs\n/tmp/x\"é\é"}"#, true),
            "src/lib.rs | /tmp/x"
        );
        assert_eq!(found(&["src/lib.rs"], r"one\nsrc/lib.rs", false), "");
    }

    /// Each of the words is almost a match: without a bound this reads a hundred gigabytes.
    #[test]
    fn a_word_without_end_is_read_in_bounded_time() {
        let text = "hi ".repeat(200_000);
        assert_eq!(found(&[text.trim_end()], &text[..text.len() - 6], false), "");
        assert_eq!(found(&[text.trim_end()], &text, false).len(), text.len() - 1);
    }

    #[test]
    fn strings_that_share_words_are_told_apart() {
        let strings = ["src/a/mod.rs", "src/b/mod.rs", "src/a", "mod.rs"];
        assert_eq!(found(&strings, "only src/b/mod.rs here", false), "src/b/mod.rs | mod.rs");
        assert_eq!(found(&strings, "only src/a here", false), "src/a");
    }
}
