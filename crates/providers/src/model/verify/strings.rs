//! The exact strings that a session holds, and the marks behind those of a summary that it does not hold.

use std::collections::HashSet;
use std::ops::Range;

use epitome_strategy::exact_strings;
use epitome_strategy::text::is_cjk;

/// Digits of the shortest number in prose that is looked up: smaller ones count and number things.
const LEAST_DIGITS: usize = 2;
/// Letters and digits of the shortest part that is looked up: one alone stands for a variable, a column, a place in a list.
const LEAST_PART: usize = 2;
/// Bytes of the longest word that is known: a longer one is data and not a name.
const LONGEST: usize = 200;
/// Characters that join the pieces of one word: `next_token`, `lexer.rs`, `deep-nesting`.
const JOINTS: [char; 3] = ['.', '-', '_'];

/// The words of a session, in small letters.
#[derive(Debug, Default)]
pub(super) struct KnownStrings {
    words: HashSet<String>,
    /// Pieces of words: a file's name without its extension, `close` of `queue.close`, `180` of `180ms`.
    pieces: HashSet<String>,
}

impl KnownStrings {
    /// Adds the words of a text of the session. Linear.
    pub(super) fn add(&mut self, text: &str) {
        let lower = text.to_lowercase();
        let is_new = |word: &&str| word.len() <= LONGEST && !self.words.contains(*word);
        let new: HashSet<&str> = words(&lower).filter(is_new).collect();
        for word in new.iter().copied().chain(new.iter().filter_map(|word| number_in(word))) {
            self.pieces.insert(word.to_owned());
            for (at, _) in word.match_indices(JOINTS) {
                let rest = &word[at + 1..];
                let pieces = [&word[..at], rest, rest.split(JOINTS).next().unwrap_or_default()];
                // `85` is not what `0.85` says.
                self.pieces.extend(pieces.into_iter().filter(|piece| !is_number(piece)).map(str::to_owned));
            }
        }
        self.words.extend(new.into_iter().map(str::to_owned));
        let grouped = lower.split(|char: char| !char.is_ascii_digit() && char != ',');
        self.words.extend(grouped.filter(|number| number.contains(',')).map(|number| number.replace(',', "")));
    }

    /// Whether the session holds a string: as it is, or each of its parts, by itself or behind a beginning of the parts
    /// before it (`test_lex/parse` for `test_parse`). Linear in the string.
    fn hold(&self, string: &str) -> bool {
        let mut beginnings: Vec<String> = Vec::new();
        let mut holds = |part: &str| {
            let lower = part.to_lowercase();
            let is_held = self.hold_part(&lower, &beginnings);
            let ends = part.char_indices().filter_map(|(at, char)| match char {
                _ if JOINTS.contains(&char) => Some(at + 1),
                // `FirstLine/Column` for `FirstColumn`.
                _ => char.is_uppercase().then_some(at),
            });
            beginnings.extend(ends.map(|end| part[..end].to_lowercase()));
            is_held
        };
        self.words.contains(&string.to_lowercase().replace(',', "")) || words(string).all(&mut holds)
    }

    fn hold_part(&self, part: &str, beginnings: &[String]) -> bool {
        let is_known = |word: &str| {
            let word = word.trim_matches(JOINTS);
            word.chars().count() < LEAST_PART || self.words.contains(word)
        };
        is_known(part)
            || self.pieces.contains(part)
            || number_in(part).is_some_and(|number| is_known(number) || self.pieces.contains(number))
            || beginnings.iter().any(|beginning| self.words.contains(&format!("{beginning}{part}")))
            // A range, a compound.
            || part.contains('-') && part.split('-').all(|piece| is_known(piece) || self.pieces.contains(piece))
            // `Lexer.next` of a class and its function; a file's extension is no word of its own.
            || part.contains('.') && !is_number(part) && part.split('.').all(is_known)
    }

    /// Puts `mark` behind every exact string of a line that the session does not hold, and calls `looked_up` for each
    /// string with whether it does. Strings that have the mark already are left alone. Linear in the line.
    pub(super) fn mark(&self, line: &mut String, mark: &str, mut looked_up: impl FnMut(&str, bool)) {
        for range in strings_of(line).into_iter().rev() {
            let string = &line[range.clone()];
            let is_held = self.hold(string);
            looked_up(string, is_held);
            // Behind the quotation mark that closes it.
            let end = line.len() - line[range.end..].trim_start_matches('`').len();
            if !is_held && !line[end..].trim_start().starts_with(mark) {
                line.insert_str(end, &format!(" {mark}"));
            }
        }
    }
}

/// The words of a text: letters and digits of any script whose words have borders, with the joints between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_in_word = |char: char| char.is_alphanumeric() && !is_cjk(char) || JOINTS.contains(&char);
    text.split(move |char| !is_in_word(char)).map(|word| word.trim_matches(JOINTS)).filter(|word| !word.is_empty())
}

/// The number in a word that has letters in front of it or behind it: of `180ms`, of `v1.2`, the date of a time.
fn number_in(word: &str) -> Option<&str> {
    let start = word.find(|char: char| char.is_ascii_digit())?;
    let is_of_number = |char: char| char.is_ascii_digit() || JOINTS.contains(&char);
    let end = word[start..].find(|char| !is_of_number(char)).map_or(word.len(), |length| start + length);
    let is_between = word[..start].chars().all(char::is_alphabetic) && (start == 0 || end == word.len());
    Some(word[start..end].trim_end_matches(JOINTS)).filter(|number| is_between && *number != word)
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// The places of the exact strings of a line: what stands between as many backquotes, and the words that no prose has.
/// Linear in the line, for each run of backquotes.
fn strings_of(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let open = line[at..].find('`').map_or(line.len(), |quote| at + quote);
        found.extend(exact_words(&line[at..open]).map(|word| at + word.start..at + word.end));
        let start = line.len() - line[open..].trim_start_matches('`').len();
        let marks = &line[open..start];
        // Without its like a run of them quotes nothing; three are a fence.
        let is_quoting = (1..3).contains(&marks.len());
        let inside = line[start..].find(marks).filter(|length| is_quoting && *length > 0);
        found.extend(inside.map(|length| start..start + length));
        at = inside.map_or(start, |length| start + length + marks.len());
    }
    found
}

/// The places of the words of prose that are exact strings.
fn exact_words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_gap = |char: char| match char.is_ascii() {
        true => char.is_ascii_whitespace() || "()[]{}<>\"|*".contains(char),
        false => is_cjk(char) || !char.is_alphanumeric(),
    };
    let mut start = 0;
    text.split(is_gap).filter_map(move |token| {
        let at = start;
        start += token.len() + text[start + token.len()..].chars().next().map_or(0, char::len_utf8);
        let is_edge = |char: char| !char.is_alphanumeric();
        let word = token.trim_matches(is_edge);
        let at = at + token.len() - token.trim_start_matches(is_edge).len();
        is_exact(word).then(|| at..at + word.len())
    })
}

/// Whether a word of prose is an exact string: a number, or a name that is not two or three plain words.
fn is_exact(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_compound = || word.chars().all(|char| char.is_alphabetic() || char == '-' || char == '/');
    let is_plain = || exact_strings(word).is_empty() || is_compound() && word.matches('/').count() < 2;
    digits >= LEAST_DIGITS || !is_plain()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> KnownStrings {
        let mut known = KnownStrings::default();
        known.add(text);
        known
    }

    #[test]
    fn strings_that_are_looked_up() {
        let check = |line: &str, expect: &[&str]| {
            let found: Vec<&str> = strings_of(line).into_iter().map(|range| &line[range]).collect();
            assert_eq!(found, expect, "{line}");
        };
        check("- two things, 3 of them, done", &[]);
        check("- it has 41 lines and 0.85 of them, 75,366 in all", &["41", "0.85", "75,366"]);
        check("- src/lexer.rs:41 calls next_token", &["src/lexer.rs:41", "next_token"]);
        check("- `cargo test --all` of a \"hack\", `done`", &["cargo test --all", "done"]);
        check("- 用户说不要改动接口，端口是48213", &["48213"]);
        check("- a self-portrait and/or none, but a/b/c", &["a/b/c"]);
        check("- (see lexer.rs), the `end", &["lexer.rs"]);
        check("- a ```sh fence ```, ``a `b` c`` and `x`", &["a `b` c", "x"]);
    }

    #[test]
    fn strings_in_parts() {
        let session = "fn next_token FirstLine firstColumn at Trail_cmd __fn__ trail_cmd.go:97 and :174\nUbuntu, macOS\nWindows intent outcome /repo/src/lexer.rs\n\
            test_lex test_parse 0.85s 75,366 bytes, 12345 of them; ran `cargo test --test deep_nesting` on 2024-05-20T10:00";
        let check = |string: &str, expect: bool| assert_eq!(known(session).hold(string), expect, "{string}");
        for held in [
            "trail_cmd.go:97,174",
            "ubuntu/macos/windows",
            "intent+outcome",
            "src/Lexer.rs",
            "lexer",
            "test_lex/parse",
            "FirstLine/Column",
            "05-20",
            "0.85 s",
            "75366 bytes",
            "12,345",
            "97-174",
            "next_token()",
            "cargo  test --test deep_nesting",
            "2024-05-20",
            "Intent.outcome()",
            "trail_cmd.__fn__",
            "v0.85",
        ] {
            check(held, true);
        }
        for unknown in ["src/parser.rs", "next_toke", "trail_cmd.go:98", "85", "cargo bench", "test_lex/read", "75,367"]
        {
            check(unknown, false);
        }
    }

    #[test]
    fn data_are_no_words() {
        let known = known(&"a1.b2-c3_".repeat(100_000));
        assert!(known.words.is_empty() && known.pieces.is_empty());
    }

    #[test]
    fn marks_of_what_is_unknown() {
        let check = |line: &str, expect: &str| {
            let mut marked = line.to_owned();
            let mut counted = (0, Vec::new());
            for _ in 0..2 {
                counted = (0, Vec::new());
                known("src/lexer.rs `next token`").mark(&mut marked, "[unverified]", |string, is_held| {
                    counted.0 += 1;
                    counted.1.extend((!is_held).then(|| string.to_owned()));
                });
            }
            assert_eq!(marked, expect, "a second time changes nothing");
            assert_eq!(counted.1.len(), expect.matches("[unverified]").count());
        };
        check("- src/lexer.rs and `next token`, two", "- src/lexer.rs and `next token`, two");
        check("- parser.rs and `next word` too", "- parser.rs [unverified] and `next word` [unverified] too");
        check("- 端口是48213。", "- 端口是48213 [unverified]。");
    }
}
