//! The sentences of a text.

use epitome_strategy::text::{ends_sentence, is_cjk};

use super::LONGEST_SENTENCE;

/// The sentences of a text: without code, tables, quotations, tags and headings, and without those that are too short
/// or too long to be remembered. Linear in the text.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    let mut continues = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        let continued = std::mem::replace(&mut continues, goes_on(trimmed, lines.peek().copied()));
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        let indented = line.starts_with("    ") || line.starts_with('\t');
        let first = trimmed.chars().next().unwrap_or('#');
        let is_item = without_marker(trimmed).len() < trimmed.len();
        if in_code || matches!(first, '#' | '!' | '|' | '>' | '<' | '{' | '}' | '@' | '/') || (indented && !is_item) {
            continue;
        }
        // Of a sentence that runs over several lines no part is one.
        let whole = split(without_marker(trimmed)).skip(usize::from(continued));
        let before = found.len();
        found.extend(whole);
        if continues && found.len() > before {
            found.pop();
        }
    }
    found.retain(|sentence| is_said(sentence));
    found
}

/// Whether a sentence continues from the end of a line in the next one.
fn goes_on(line: &str, next: Option<&str>) -> bool {
    let starts_low = next.is_some_and(|next| next.trim_start().starts_with(|char: char| char.is_ascii_lowercase()));
    starts_low && !line.is_empty() && !line.ends_with(|char: char| ends_sentence(char) || matches!(char, ':' | '：'))
}

/// A line without the mark of a list's item.
fn without_marker(line: &str) -> &str {
    let bullet = ["- [ ] ", "- [x] ", "- ", "* ", "• ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
        let marked = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).or_else(|| rest.strip_prefix('、'));
        marked.filter(|_| rest.len() < line.len())
    };
    bullet.or_else(numbered).unwrap_or(line).trim_start()
}

/// The sentences of a line. An English one ends with its mark and white space, and a word that does not start in lower
/// case follows: `e.g. this` is one sentence.
fn split(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().find_map(|(at, char)| {
            let end = at + char.len_utf8();
            let behind = &rest[end..];
            let next = behind.trim_start().chars().next();
            let ends = behind.starts_with(char::is_whitespace)
                && next.is_none_or(|next| !next.is_ascii_lowercase())
                && !is_initial(&rest[..at]);
            (ends_sentence(char) && (char > '\u{7f}' || ends)).then_some(end)
        });
        let (sentence, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind.trim_start();
        Some(sentence.trim())
    })
}

/// Whether a text ends in an initial, as in "John F", or in a title: the full stop behind it does not end a sentence.
fn is_initial(text: &str) -> bool {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    matches!(last, "Mr" | "Mrs" | "Ms" | "Dr" | "Prof" | "St" | "No" | "vs")
        || (last.len() == 1 && last != "I" && last.starts_with(|char: char| char.is_ascii_uppercase()))
}

/// Whether the text is a sentence: some words, mostly of letters, not too long.
fn is_said(sentence: &str) -> bool {
    let (mut chars, mut letters, mut chinese) = (0, 0, 0);
    for char in sentence.chars() {
        chars += 1;
        letters += usize::from(char.is_alphabetic() || char == ' ');
        chinese += usize::from(is_cjk(char));
    }
    let words = sentence.split_whitespace().count();
    chars <= LONGEST_SENTENCE && (words >= 4 || chinese >= 6) && letters * 10 >= chars * 6
}
