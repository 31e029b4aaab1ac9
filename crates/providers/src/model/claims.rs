//! The strings of a summary that must be in the session: paths, names, numbers, commands, quotations.

use std::collections::HashSet;
use std::sync::Arc;

use epitome_strategy::text::is_cjk;
use epitome_strategy::{AtomKind, Language, Message, NoTokens, Origin, Role, View};

use super::exact::is_exact;
use super::wording::proposes;

/// Digits of the shortest number that is looked up: smaller ones count and number things in prose.
const LEAST_DIGITS: usize = 2;
/// Bytes of the longest string that is looked up whole: a longer one is prose.
const LONGEST: usize = 400;
/// The number of slashes, from the end, at which a path is looked up as a folder and a name in it.
const MOST_SPLITS: usize = 6;
/// Pairs of marks around a quotation.
const QUOTES: [(char, char); 5] = [('`', '`'), ('"', '"'), ('“', '”'), ('「', '」'), ('『', '』')];

/// A string of a summary that must be in the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    /// As the summary has it.
    pub text: String,
    /// It holds where all strings of one of these are found, in the form of [`fold_for_lookup`].
    pub ways: Vec<Vec<String>>,
}

/// The claims of a text, each once, in order; headings claim nothing, nor do sections that propose. Linear in the text.
pub(super) fn claims(text: &str) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut is_proposed = false;
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            is_proposed = proposes(heading.trim());
        }
        if is_proposed || line.starts_with("## ") {
            continue;
        }
        let mut add = |claim: Claim| {
            if !claim.ways.is_empty() && seen.insert(claim.text.clone()) {
                found.push(claim);
            }
        };
        let rest = without_quotes(line, |quoted, is_code| {
            if let Some(claim) = of_quotation(quoted, is_code) {
                add(claim);
            }
        });
        let rest = without_atoms(&rest, |text, kind| add(of_atom(text, kind)));
        numbers(&rest).into_iter().map(of_number).for_each(add);
    }
    found
}

/// A text as claims are looked up in: small letters, white space as one blank, one kind of quotes. Linear.
pub(super) fn fold_for_lookup(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut is_gap = false;
    for char in text.chars() {
        if char.is_whitespace() {
            is_gap = !folded.is_empty();
            continue;
        }
        if std::mem::take(&mut is_gap) {
            folded.push(' ');
        }
        match char {
            '’' | '‘' => folded.push('\''),
            '“' | '”' => folded.push('"'),
            char => folded.extend(char.to_lowercase()),
        }
    }
    folded
}

/// A line with its quotations blanked out; `found` receives the text of each, and whether it is between backquotes.
fn without_quotes(line: &str, mut found: impl FnMut(&str, bool)) -> String {
    let mut rest = String::with_capacity(line.len());
    let mut at = 0;
    while let Some(char) = line[at..].chars().next() {
        let behind = at + char.len_utf8();
        let quotes = QUOTES.iter().find(|(open, _)| *open == char);
        let inside = quotes.and_then(|(_, close)| line[behind..].find(*close).map(|end| (end, close.len_utf8())));
        match inside.filter(|(end, _)| (1..=LONGEST).contains(end)) {
            Some((end, close)) => {
                found(&line[behind..behind + end], char == '`');
                rest.push(' ');
                at = behind + end + close;
            }
            None => {
                rest.push(char);
                at = behind;
            }
        }
    }
    rest
}

/// The claim of a quotation; `None` for a word in quotation marks that is not a quotation.
fn of_quotation(quoted: &str, is_code: bool) -> Option<Claim> {
    let text = quoted.trim();
    let words = text.split_whitespace().count();
    let is_said = words > 1 || text.chars().filter(|char| is_cjk(*char)).count() >= 4;
    if text.is_empty() || !(is_code || is_said) || !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    let bare = |text: &str| {
        fold_for_lookup(text.trim().trim_end_matches(['.', ',', '!', '?', ';', ':', '。', '，', '！', '？']))
    };
    // A mark of omission splits the quotation.
    let pieces: Vec<String> = text
        .split("...")
        .flat_map(|piece| piece.split('…'))
        .map(bare)
        .filter(|piece| piece.chars().any(char::is_alphanumeric))
        .collect();
    let mut ways = vec![pieces];
    if is_code && words == 1 {
        ways.push(vec![bare(text.trim_end_matches("()"))]);
        ways.extend(path_ways(text));
    }
    Some(Claim { text: quoted.to_owned(), ways })
}

fn of_atom(text: &str, kind: AtomKind) -> Claim {
    let mut ways = vec![vec![fold_for_lookup(text)]];
    match kind {
        AtomKind::Path => ways.extend(path_ways(text)),
        AtomKind::Number => return of_number(text.to_owned()),
        AtomKind::Identifier => ways.extend(path_ways(text)),
        AtomKind::Url | AtomKind::Quoted => {}
    }
    Claim { text: text.to_owned(), ways }
}

/// Other forms of a path in the session: without the line number, or as a folder and a name in it.
fn path_ways(text: &str) -> Vec<Vec<String>> {
    let mut ways = Vec::new();
    let text = fold_for_lookup(text);
    let (path, line) = match text.rsplit_once(':') {
        Some((path, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {
            let lines: Vec<String> = line.split('-').filter(|line| !line.is_empty()).map(str::to_owned).collect();
            ways.push(std::iter::once(path.to_owned()).chain(lines.iter().cloned()).collect());
            (path.to_owned(), lines)
        }
        _ => (text.clone(), Vec::new()),
    };
    for (at, _) in path.rmatch_indices('/').take(MOST_SPLITS).filter(|(at, _)| *at > 0 && at + 1 < path.len()) {
        let parts = [path[..at].to_owned(), path[at + 1..].to_owned()];
        ways.push(parts.into_iter().chain(line.iter().cloned()).collect());
    }
    let bare = path.trim_start_matches("./");
    if bare.len() < path.len() && !bare.is_empty() {
        ways.push(std::iter::once(bare.to_owned()).chain(line.iter().cloned()).collect());
    }
    ways
}

fn of_number(text: String) -> Claim {
    let plain = text.replace(',', "");
    let mut ways = vec![vec![text.clone()]];
    if plain != text {
        ways.push(vec![plain]);
    } else if let Ok(number) = text.parse::<u64>()
        && number >= 1_000
    {
        ways.push(vec![epitome_strategy::session::heading::group_digits(number)]);
    }
    Claim { text, ways }
}

/// A line with its exact strings blanked out; `found` gets each with its kind.
fn without_atoms(line: &str, mut found: impl FnMut(&str, AtomKind)) -> String {
    let message = Arc::new(Message::text("summary", Role::User, Origin::Typed, line));
    let mut rest = line.to_owned();
    View::read_messages([&message], &NoTokens, Language::English, |view| {
        let atoms = view.facts().atoms();
        let mut end = 0;
        for occurrence in atoms.occurrences() {
            let atom = &atoms.all()[occurrence.atom as usize];
            let start = occurrence.start as usize;
            // A path is looked up as a whole and not by its parts.
            if start < end || !is_exact(atom) {
                continue;
            }
            end = start + atom.text.len();
            found(atom.text, atom.kind);
            if rest.get(start..end).is_some() {
                rest.replace_range(start..end, &" ".repeat(end - start));
            }
        }
    });
    rest
}

/// The numbers of a line with at least [`LEAST_DIGITS`] digits that are words of their own: `41`, `0.85`, `75,366`.
fn numbers(line: &str) -> Vec<String> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | ',' | '_' | '-' | '/' | ':');
    let words = line.split(|char: char| !is_part(char));
    let number = |word: &str| {
        let word = word.trim_matches(['.', ',', ':', '-', '/']);
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
        (is_number && digits >= LEAST_DIGITS).then(|| word.to_owned())
    };
    words.filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_up() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<String> = claims(text).into_iter().map(|claim| claim.text).collect();
            assert_eq!(found, expect, "{text}");
        };
        check("## Goal of 42\n- two things, 3 of them, done", &[]);
        check("- it has 41 lines and 0.85 of them, 75,366 in all", &["41", "0.85", "75,366"]);
        check("- src/lexer.rs:41 calls next_token", &["src/lexer.rs:41", "next_token"]);
        check("- `cargo test --all` says \"no such file\"", &["cargo test --all", "no such file"]);
        check("- a \"hack\", `done`", &["done"]);
        check("- 用户说“不要改动接口”，端口是48213", &["不要改动接口", "48213"]);
        check("- twice 41 and 41", &["41"]);
    }

    #[test]
    fn other_ways_to_stand_there() {
        let check = |text: &str, way: &[&str]| {
            let found = claims(text).remove(0);
            assert!(found.ways.iter().any(|known| known == way), "{:?}", found.ways);
        };
        check("- src/lexer.rs:41", &["src/lexer.rs", "41"]);
        check("- /repo/src/Lexer.rs", &["/repo", "src/lexer.rs"]);
        check("- `next_token()`", &["next_token"]);
        check("- \"one two … three four.\"", &["one two", "three four"]);
        check("- 75,366 tokens", &["75366"]);
        check("- 75366 tokens", &["75,366"]);
    }

    #[test]
    fn folding() {
        assert_eq!(fold_for_lookup(" It’s\n  “A  b” "), "it's \"a b\"");
    }
}
