//! Terms, the keys of the index: words in lower case, the parts of names beside the whole names, and pairs of the
//! characters of scripts that put no space between words.

use epitome_strategy::cut::is_stop_word;
use snowball_stemmers_rs::Stemmer;

/// The bytes of a word that count: a longer word is data, which its beginning identifies.
const LONGEST_WORD: usize = 40;

/// The most bytes of a whole name; longer ones are found by their parts.
const LONGEST_NAME: usize = 120;

/// A term of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Term<'a> {
    /// A word, or a part of a name, in lower case.
    Word(&'a str),
    /// A whole name of several parts, in lower case: `src/main.rs`, `is_ready`, `readFile`.
    Name(&'a str),
    /// A character, or a pair of neighbours, of a script without spaces.
    Characters(&'a str),
}

/// Calls back with the terms of `text`, each with the byte at which it begins. Linear.
pub(crate) fn read_terms(text: &str, mut term: impl FnMut(usize, Term<'_>)) {
    let mut lower = String::new();
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() && *byte != b'_' {
            at += 1; // most of what stands between words
            continue;
        }
        let Some(char) = text[at..].chars().next() else { break };
        if is_spaceless(char) {
            at = read_characters(text, at, &mut term);
        } else if is_word(char) {
            at = read_name(text, at, &mut lower, &mut term);
        } else {
            at += char.len_utf8();
        }
    }
}

/// Whether the words of its script have no spaces between them: Chinese, Japanese, Korean (whose particles are
/// attached), Thai, Lao, Burmese, Khmer.
fn is_spaceless(char: char) -> bool {
    matches!(char,
        '\u{0e01}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_word(char: char) -> bool {
    char == '_'
        || if char.is_ascii() { char.is_ascii_alphanumeric() } else { char.is_alphanumeric() && !is_spaceless(char) }
}

/// Reads a run of characters of a script without spaces; returns its end.
fn read_characters(text: &str, start: usize, term: &mut impl FnMut(usize, Term<'_>)) -> usize {
    let mut previous = None;
    let mut end = start;
    for char in text[start..].chars().take_while(|char| is_spaceless(*char)) {
        let next = end + char.len_utf8();
        term(end, Term::Characters(&text[end..next]));
        if let Some(previous) = previous {
            term(previous, Term::Characters(&text[previous..next]));
        }
        previous = Some(end);
        end = next;
    }
    end
}

/// Reads a name: its words, and where it has several parts the whole of it and the last part of a path; returns its
/// end.
fn read_name(text: &str, start: usize, lower: &mut String, term: &mut impl FnMut(usize, Term<'_>)) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut is_joined) = (start, false);
    loop {
        let (end, is_split) = read_words(text, at, lower, term);
        is_joined |= is_split;
        let joins = matches!(bytes.get(end), Some(b'.' | b'/' | b'-' | b':'))
            && text[end + 1..].chars().next().is_some_and(is_word);
        if !joins {
            at = end;
            break;
        }
        is_joined = true;
        at = end + 1;
    }
    if is_joined && at - start <= LONGEST_NAME {
        write_lower(&text[start..at], lower);
        term(start, Term::Name(lower));
        if let Some(slash) = lower.rfind('/') {
            term(start, Term::Name(&lower[slash + 1..]));
        }
    }
    at
}

/// Reads the words of a run of letters, digits and `_`, split at the capitals of `camelCase`; returns the run's end,
/// and whether it has several parts.
fn read_words(text: &str, start: usize, lower: &mut String, term: &mut impl FnMut(usize, Term<'_>)) -> (usize, bool) {
    let (mut from, mut end, mut is_split) = (start, start, false);
    let mut previous = ' ';
    let mut chars = text[start..].chars().peekable();
    while let Some(char) = chars.next_if(|char| is_word(*char)) {
        let mut small_behind = || chars.peek().is_some_and(|next| next.is_lowercase());
        let begins = char.is_uppercase()
            && (previous.is_lowercase() || previous.is_ascii_digit() || (previous.is_uppercase() && small_behind()));
        if char == '_' || begins {
            is_split |= previous != ' ';
            read_word(text, from..end, lower, term);
            from = end + usize::from(char == '_');
        }
        previous = char;
        end += char.len_utf8();
    }
    read_word(text, from..end, lower, term);
    (end, is_split)
}

fn read_word(text: &str, range: std::ops::Range<usize>, lower: &mut String, term: &mut impl FnMut(usize, Term<'_>)) {
    if range.is_empty() {
        return;
    }
    write_lower(&text[range.clone()], lower);
    lower.truncate(lower.floor_char_boundary(LONGEST_WORD));
    term(range.start, Term::Word(lower));
}

fn write_lower(text: &str, lower: &mut String) {
    lower.clear();
    if text.is_ascii() {
        lower.push_str(text);
        lower.make_ascii_lowercase();
    } else {
        lower.extend(text.chars().flat_map(char::to_lowercase));
    }
}

/// Calls `read` with a term in its spelling of the table: a sign distinguishes names and characters from words.
pub(crate) fn with_key<R>(term: Term<'_>, read: impl FnOnce(&str) -> R) -> R {
    let (sign, text) = match term {
        Term::Word(text) => return read(text),
        Term::Name(text) => ("=", text),
        Term::Characters(text) => ("~", text),
    };
    read(&[sign, text].concat())
}

/// Returns the spelling of a word's stem; `None` where the term is not a word that has one.
pub(crate) fn stem_key(term: Term<'_>, stemmer: &Stemmer) -> Option<String> {
    match term {
        Term::Word(word) if word.bytes().all(|byte| byte.is_ascii_lowercase()) => {
            Some(format!("+{}", stemmer.stem(word)))
        }
        _ => None,
    }
}

/// Returns the terms of a query in their spelling of the table, each once: the informative ones, else all of them.
/// Words are spelt as their stems.
pub(crate) fn query_terms(words: &str, stemmer: &Stemmer) -> Vec<String> {
    let (mut telling, mut empty) = (Vec::new(), Vec::new());
    read_terms(words, |_, term| {
        let key = stem_key(term, stemmer).unwrap_or_else(|| with_key(term, str::to_owned));
        let is_empty = matches!(term, Term::Word(word) if is_stop_word(word));
        let list = if is_empty { &mut empty } else { &mut telling };
        if !list.contains(&key) {
            list.push(key);
        }
    });
    if telling.is_empty() { empty } else { telling }
}

/// Words of a question in front of what it asks for: "which port", "what is the limit", "how many attempts".
const ASKING: &[&str] = &["many", "much", "what", "which"];

/// Returns the spelling of the word that a question asks the value of: the first informative one behind a word that asks.
pub(crate) fn asked_term(words: &str, stemmer: &Stemmer) -> Option<String> {
    let (mut asks, mut asked) = (false, None);
    read_terms(words, |_, term| {
        let Term::Word(word) = term else { return };
        if ASKING.contains(&word) {
            asks = true;
        } else if asks && asked.is_none() && !is_stop_word(word) {
            asked = Some(stem_key(term, stemmer).unwrap_or_else(|| word.to_owned()));
        }
    });
    asked
}

/// Whether a term is likely a value: a port, an amount, a version, an identifier. One digit alone is everywhere.
pub(crate) fn is_value(term: Term<'_>) -> bool {
    matches!(term, Term::Word(word) if word.len() > 1 && word.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Words of a question for a person's text. They count as occurring there, once a message.
pub(crate) const NAMES_OF_TYPED: &[&str] = &["ask", "demand", "instruct", "request", "say", "user"];

/// Words of a question for the newest text.
const NEWEST: &[&str] = &["end", "ends", "last", "latest", "newest", "recent", "recently"];

/// Whether a query asks for the newest text.
pub(crate) fn asks_for_newest(words: &str) -> bool {
    let mut asks = false;
    read_terms(words, |_, term| asks |= matches!(term, Term::Word(word) if NEWEST.contains(&word)));
    asks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written_terms(text: &str) -> Vec<String> {
        let mut written = Vec::new();
        read_terms(text, |_, term| {
            written.push(match term {
                Term::Word(word) => word.to_owned(),
                Term::Name(name) => format!("={name}"),
                Term::Characters(pair) => format!("~{pair}"),
            });
        });
        written
    }

    #[test]
    fn terms_of_texts() {
        let check = |text: &str, expect: &str| assert_eq!(written_terms(text).join(" "), expect, "{text}");
        check("", "");
        check("Fix the build!", "fix the build");
        check("readFile", "read file =readfile");
        check("HTTPServer2Go", "http server2 go =httpserver2go");
        check("is_ready", "is ready =is_ready");
        check("__init__", "init =__init__");
        check("src/foo.rs", "src foo rs =src/foo.rs =foo.rs");
        check("v1.2.3, done.", "v1 2 3 =v1.2.3 done");
        check("/usr/bin", "usr bin =usr/bin =bin");
        check("naïve Öl", "naïve öl");
        check("a-b", "a b =a-b");
        check("用户名", "~用 ~户 ~用户 ~名 ~户名");
        check("改foo_bar。", "~改 foo bar =foo_bar");
        check("поиск по тексту", "поиск по тексту");
        check(&"x".repeat(60), &"x".repeat(40));
    }

    #[test]
    fn what_a_question_asks_for() {
        let stemmer = Stemmer::create(snowball_stemmers_rs::Algorithm::English);
        let check = |words: &str, expect: Option<&str>| {
            assert_eq!(asked_term(words, &stemmer).as_deref(), expect, "{words}");
        };
        check("which port", Some("+port"));
        check("On what is the limit of retries based?", Some("+limit"));
        check("how many attempts are made", Some("+attempt"));
        check("why does it fail", None);
        check("port", None);
        check("which", None);
        let is_value = |text: &str| {
            let mut found = false;
            read_terms(text, |_, term| found |= is_value(term));
            found
        };
        assert!(is_value("8417") && is_value("v2") && is_value("HLV-2209"));
        assert!(!is_value("0") && !is_value("port"));
    }
}
