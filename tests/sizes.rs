//! How large the product is: code lines of each crate, and lists of words in the code, against the tables in `sizes.toml`.
//!
//! A code line is one with a token that is neither a comment nor of a test. `UPDATE_SIZES=1` writes what became smaller; a
//! crate that grows, or one more list of words, is written by hand, with its reason.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, LineColumn, TokenStream, TokenTree};
use serde::{Deserialize, Serialize};

/// Rooms of the product. What only measures it is in `lab/`, what only tests it in `tests/`.
const ROOMS: [&str; 5] = ["benches", "crates", "strategies", "fuzz", "examples"];
/// A constant with fewer texts is no list of words: a pair of names, an opening and its end.
const LEAST_WORDS: usize = 4;
/// Where a list of words judges nobody's session: measurements, and what tests feed.
const WITHOUT_LISTS: [&str; 4] = ["benches", "crates/eval", "crates/testkit", "fuzz/fuzz_targets"];

/// Upper bounds, as `sizes.toml` has them.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Sizes {
    /// Code lines of everything, which no change may end above.
    most_lines: usize,
    /// Constants of four texts or more.
    most_word_lists: usize,
    /// Code lines of each crate.
    lines: BTreeMap<String, usize>,
}

/// What a file holds.
#[derive(Debug, Default, PartialEq)]
struct Measured {
    lines: BTreeSet<usize>,
    word_lists: usize,
}

impl Measured {
    fn read(text: &str) -> Self {
        let mut measured = Self::default();
        measured.visit(text.parse().unwrap());
        measured
    }

    fn add(&mut self, from: LineColumn, to: LineColumn) {
        self.lines.extend(from.line..=to.line);
    }

    fn visit(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match &token {
                TokenTree::Punct(sign) if sign.as_char() == '#' => {
                    tokens.next_if(|next| matches!(next, TokenTree::Punct(inner) if inner.as_char() == '!'));
                    let Some(TokenTree::Group(attribute)) = tokens.next() else { continue };
                    let text = attribute.stream().to_string().replace(' ', "");
                    if text == "cfg(test)" {
                        skip_item(&mut tokens);
                    } else if !text.starts_with("doc=") {
                        self.visit_group(&attribute);
                    }
                }
                TokenTree::Group(group) => self.visit_group(group),
                TokenTree::Ident(word) if word == "const" || word == "static" => {
                    self.add(token.span().start(), token.span().end());
                    let item: Vec<TokenTree> = tokens.clone().take_while(|it| !is_sign(it, ';')).collect();
                    self.word_lists += usize::from(is_word_list(&item));
                }
                _ => self.add(token.span().start(), token.span().end()),
            }
        }
    }

    fn visit_group(&mut self, group: &Group) {
        self.add(group.span_open().start(), group.span_open().end());
        self.visit(group.stream());
        self.add(group.span_close().start(), group.span_close().end());
    }
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// Takes the item behind `#[cfg(test)]`: up to its body or its semicolon.
fn skip_item(tokens: &mut impl Iterator<Item = TokenTree>) {
    let is_end = |token: TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        other => is_sign(&other, ';'),
    };
    tokens.find_map(|token| is_end(token).then_some(()));
}

/// Whether `NAME: TYPE = VALUE` is a list of texts.
fn is_word_list(item: &[TokenTree]) -> bool {
    let Some(equals) = item.iter().position(|token| is_sign(token, '=')) else { return false };
    let (kind, value) = item.split_at(equals);
    let is_array_of_texts = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Bracket && mentions_str(group.stream()),
        _ => false,
    };
    kind.iter().any(is_array_of_texts) && texts(value.iter().cloned().collect()) >= LEAST_WORDS
}

fn mentions_str(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => mentions_str(group.stream()),
        TokenTree::Ident(name) => name == "str",
        _ => false,
    })
}

/// The texts among tokens.
fn texts(tokens: TokenStream) -> usize {
    let texts_of = |token: TokenTree| match token {
        TokenTree::Group(group) => texts(group.stream()),
        TokenTree::Literal(literal) => usize::from(literal.to_string().ends_with('"')),
        _ => 0,
    };
    tokens.into_iter().map(texts_of).sum()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every Rust file of a folder that is not one of tests alone.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_for_tests =
            ["tests", "tests.rs", "target", "node_modules"].contains(&name) || name.ends_with("_tests.rs");
        match path.is_dir() {
            _ if is_for_tests => {}
            true => files(&path, found),
            false if name.ends_with(".rs") => found.push(path),
            false => {}
        }
    }
}

#[test]
fn nothing_grows_without_a_reason() {
    let table = root().join("tests/sizes.toml");
    let text = fs::read_to_string(&table).unwrap();
    let allowed: Sizes = toml::from_str(&text).unwrap();
    let mut sizes = Sizes { most_lines: allowed.most_lines, most_word_lists: 0, lines: BTreeMap::new() };
    let mut paths = Vec::new();
    ROOMS.iter().for_each(|room| files(&root().join(room), &mut paths));
    for path in paths {
        let inside = path.strip_prefix(root()).unwrap();
        let measured = Measured::read(&fs::read_to_string(&path).unwrap());
        let room: PathBuf = inside.iter().take(2).collect();
        let room = if inside.starts_with("benches") { "benches".to_owned() } else { room.to_str().unwrap().to_owned() };
        if !WITHOUT_LISTS.contains(&room.as_str()) {
            sizes.most_word_lists += measured.word_lists;
        }
        *sizes.lines.entry(room).or_default() += measured.lines.len();
    }
    let all: usize = sizes.lines.values().sum();
    let mut problems = Vec::new();
    let mut check = |of: &str, is: usize, most: usize| {
        if is > most {
            problems.push(format!("{of}: {is}, at most {most}"));
        }
    };
    check("code lines of everything", all, allowed.most_lines);
    check("lists of words", sizes.most_word_lists, allowed.most_word_lists);
    for (room, lines) in &sizes.lines {
        check(&format!("code lines of {room}"), *lines, allowed.lines.get(room).copied().unwrap_or(0));
    }
    assert!(
        problems.is_empty(),
        "{}\nWhat is as long as before is better; else raise the line of tests/sizes.toml, and say why beside it.",
        problems.join("\n")
    );
    if std::env::var_os("UPDATE_SIZES").is_some() {
        let smaller = |line: &str| {
            let (name, rest) = line.split_once(" = ")?;
            let most = sizes.lines.get(name.trim_matches('"'));
            let most = most.or((name == "most_word_lists").then_some(&sizes.most_word_lists));
            let most = most.or((name == "most_lines").then_some(&all))?;
            let reason = rest.split_once('#').map_or(String::new(), |(_, reason)| format!(" #{reason}"));
            Some(format!("{name} = {most}{reason}"))
        };
        let lines = text.lines().map(|line| smaller(line).unwrap_or_else(|| line.to_owned()) + "\n");
        fs::write(&table, lines.collect::<String>()).unwrap();
    }
}

#[track_caller]
fn check(text: &str, lines: usize, word_lists: usize) {
    let measured = Measured::read(text);
    assert_eq!((measured.lines.len(), measured.word_lists), (lines, word_lists), "{text}");
}

#[test]
fn a_line_counts_that_is_neither_a_comment_nor_of_a_test() {
    check("//! A room.\n\n/// A function.\nfn f() {\n    // Why.\n    g(); /* or\n not */\n}\n", 3, 0);
    check("const TEXT: &str = \"// one\ntwo\";", 2, 0);
    check("fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\nfn h() {}", 2, 0);
    check("fn f() {}\n#[cfg(test)]\nmod tests;\n#[cfg(unix)]\nfn g() {}", 3, 0);
    check("impl A {\n    #[cfg(test)]\n    fn f(&self) -> [u8; 2] {\n        g()\n    }\n}", 2, 0);
    check("const A: [&str; 4] = [\"a\", \"b\", \"c\", \"d\"];\nconst B: [&str; 2] = [\"a\", \"b\"];", 2, 1);
    check("fn f() {\n    const A: &[(&str, u8)] = &[(\"a\", 1), (\"b\", 2), (r\"c\", 3), (\"d\", 4)];\n}", 3, 1);
    check("const A: [u8; 5] = *b\"abcde\";\nconst fn f() -> u8 { 1 }", 2, 0);
}
