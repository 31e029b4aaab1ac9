//! Paths of the command line, where `-` is standard input or output.

use std::path::Path;

/// Whether a path means standard input or output.
pub(crate) fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// A path as messages name it.
pub(crate) fn display_name(file: &Path) -> String {
    if is_standard(file) { "standard input".to_owned() } else { file.display().to_string() }
}

/// A word as a shell takes it: quoted where it would not stay one word as it is.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain =
        |char: char| char.is_alphanumeric() || "-_./=:,@%+".contains(char) || (cfg!(windows) && char == '\\');
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if cfg!(windows) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[test]
    fn words_for_a_shell() {
        let check = |word: &str, expect: &str| assert_eq!(super::shell_word(word), expect);
        check("a/b-c_1.jsonl", "a/b-c_1.jsonl");
        check("über.json", "über.json");
        check("my session.json", "'my session.json'");
        check("~/it's $HOME.json", "'~/it'\\''s $HOME.json'");
        check("a;b", "'a;b'");
        check("", "''");
    }
}
