//! The exact strings of the metrics. Nothing here is shared with the strategies' search for exact strings.

use std::collections::HashSet;

use crate::cases::text::is_cjk;

/// The fewest characters of an exact string.
const LEAST_CHARACTERS: usize = 4;
/// The most characters of a word or path: a longer one is data.
const MOST_CHARACTERS: usize = 200;
/// The most characters of a quoted string: a longer one is prose.
const MOST_QUOTED: usize = 80;

/// Returns the exact strings in `text`, each once, in order: URLs, quoted strings, and words that are a path, a file
/// name, an identifier, an id or a number. Four characters or more. Linear.
///
/// A word is a run of letters, digits and `_ - . / : @ # ~ +`; it counts when it holds a digit, one of `_ . / : @ #`
/// between other characters (or a leading `/`), or a capital behind a small letter. Plain words, flags and punctuation do not count.
pub fn atoms(text: &str) -> Vec<String> {
    let mut found = AtomCollector::default();
    for line in text.lines() {
        collect_quoted(line, &mut found);
        words(line, &mut found);
    }
    found.atoms
}

#[derive(Default)]
struct AtomCollector {
    atoms: Vec<String>,
    seen: HashSet<String>,
}

impl AtomCollector {
    fn add(&mut self, atom: &str) {
        if atom.chars().count() >= LEAST_CHARACTERS && !self.seen.contains(atom) {
            self.seen.insert(atom.to_owned());
            self.atoms.push(atom.to_owned());
        }
    }
}

/// The quotation marks that open a string, with those that close it.
const QUOTES: [(char, char); 8] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('「', '」'), ('『', '』'), ('《', '》')];

/// Whether a character is part of a word, so that its neighbours are not on a token boundary.
pub(crate) fn is_word_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

fn collect_quoted(line: &str, found: &mut AtomCollector) {
    let mut rest = line;
    let mut before: Option<char> = None;
    while let Some((at, open)) = rest.char_indices().find(|(_, char)| QUOTES.iter().any(|(open, _)| open == char)) {
        let close = QUOTES.iter().find(|(known, _)| *known == open).map_or(open, |(_, close)| *close);
        let previous = rest[..at].chars().next_back().or(before);
        let inside = &rest[at + open.len_utf8()..];
        before = Some(open);
        // An apostrophe in a word opens nothing.
        let opens = open != close || !previous.is_some_and(is_word_char);
        let end = inside.find(close).filter(|end| {
            let after = inside[end + close.len_utf8()..].chars().next();
            opens && (open != close || !after.is_some_and(is_word_char))
        });
        match end {
            Some(end) => {
                let content = inside[..end].trim();
                if content.chars().count() <= MOST_QUOTED && content.chars().any(|it| it.is_alphanumeric()) {
                    found.add(content);
                }
                rest = &inside[end + close.len_utf8()..];
                before = Some(close);
            }
            None => rest = inside,
        }
    }
}

fn is_run_char(char: char) -> bool {
    is_word_char(char) || matches!(char, '-' | '.' | '/' | ':' | '@' | '#' | '~' | '+')
}

/// Returns the end of the URL that `text` starts with, if it does.
fn url_end(text: &str) -> Option<usize> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| text.starts_with(scheme))?;
    let ends = |char: char| {
        char.is_whitespace()
            || is_cjk(char)
            || matches!(char, '"' | '\'' | '`' | '<' | '>' | '(' | ')' | '[' | ']')
            || matches!(char, '{' | '}' | '|' | '\\' | ',' | '，' | '。' | '；' | '）' | '》' | '」')
    };
    let end = text.find(ends).unwrap_or(text.len());
    let end = text[..end].trim_end_matches(['.', ';', ':', '!', '?', '/']).len();
    (end > scheme.len()).then_some(end)
}

fn words(line: &str, found: &mut AtomCollector) {
    let mut at = 0;
    while let Some(char) = line[at..].chars().next() {
        if let Some(length) = url_end(&line[at..]) {
            found.add(&line[at..at + length]);
            at += length;
            continue;
        }
        if !is_run_char(char) {
            at += char.len_utf8();
            continue;
        }
        let end = run_end(line, at);
        if let Some(word) = qualified(&line[at..end]) {
            found.add(word);
        }
        at = end;
    }
}

/// Returns where the run that starts at `start` ends: before a URL, and with the backslashes of a path that begins with
/// a drive.
fn run_end(line: &str, start: usize) -> usize {
    let bytes = line.as_bytes();
    let is_drive = bytes[start].is_ascii_alphabetic() && line[start + 1..].starts_with(":\\");
    let mut end = start;
    for (at, char) in line[start..].char_indices() {
        let in_run = is_run_char(char) || (is_drive && char == '\\');
        if !in_run || (at > 0 && char == 'h' && url_end(&line[start + at..]).is_some()) {
            break;
        }
        end = start + at + char.len_utf8();
    }
    end
}

/// Returns the exact string in a run: punctuation at the ends and a line number behind a file name taken off; `None`
/// for a plain word.
fn qualified(run: &str) -> Option<&str> {
    let mut word = run.trim_end_matches(['.', ':', '/', '-', '#', '@', '+', '~']);
    word = word.trim_start_matches(['-', ':', '+', '#']);
    word = word.strip_prefix("./").unwrap_or(word);
    // `main.rs:120:7` names `main.rs`.
    for _ in 0..2 {
        if let Some((name, number)) = word.rsplit_once(':')
            && name.contains('.')
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            word = name;
        }
    }
    let length = word.chars().count();
    if !(LEAST_CHARACTERS..=MOST_CHARACTERS).contains(&length) || !word.bytes().any(|it| it.is_ascii_alphanumeric()) {
        return None;
    }
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let is_joined = word.contains(['_', '.', '/', ':', '@', '#', '\\']);
    let has_hump = word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    (has_digit || is_joined || has_hump).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_as_exact() {
        fn check(text: &str, expect: &[&str]) {
            assert_eq!(atoms(text), expect, "{text}");
        }
        check("cargo test -p my_crate --no-verify", &["my_crate"]);
        check("sed -n '1,40p' ./src/main.rs", &["1,40p", "src/main.rs"]);
        check("cd /repo/app && grep -rn \"fn parse_line\" src/", &["fn parse_line", "/repo/app", "parse_line"]);
        check("see https://a.example/x?id=7, then run", &["https://a.example/x?id=7"]);
        check("don't touch it, it's fine", &[]);
        check("order 48213 of ABC-9 for user id usr_77", &["48213", "ABC-9", "usr_77"]);
        check("renderPage README todo main.rs:120", &["renderPage", "main.rs"]);
        check("打开“设置中心”里的config.toml。", &["设置中心", "config.toml"]);
        check(r"type C:\work\a.txt and foo\|bar", &[r"C:\work\a.txt"]);
        check("std::fs::read and a 1.2 of 12", &["std::fs::read"]);
        check("sum of a+b at the end.", &[]);
    }
}
