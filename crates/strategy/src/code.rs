//! Definitions in the lines of code.

use std::sync::LazyLock;

use crate::lists::LISTS;

/// Words in front of the name of what is defined, in the languages that agents write most.
static DEFINING: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("defining"));

/// Words that may precede those: behind any other word it is prose, as in "a function that".
static MODIFIERS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("modifiers"));

/// Returns what a line of code defines, with the word that says what it is: `fn parse`, `class Lexer`. Linear in the line.
pub fn definition(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        let (word, behind) = rest.split_once(' ')?;
        if DEFINING.contains(&word) || word.starts_with("impl<") {
            let end = behind.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(behind.len());
            return (end >= 2).then(|| &rest[..word.len() + 1 + end]);
        }
        if !MODIFIERS.contains(&word) {
            return None;
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions() {
        let check = |line: &str, expect: Option<&str>| assert_eq!(definition(line), expect, "{line}");
        check("pub(crate) async fn run() {", Some("fn run"));
        check("    def parse(self):", Some("def parse"));
        check("export default function App() {", Some("function App"));
        check("impl<T> From<T> for U {", Some("impl<T> From"));
        check("CREATE TABLE users (", Some("TABLE users"));
        check("let x = 1;", None);
        check("// a function that", None);
        check("", None);
    }
}
