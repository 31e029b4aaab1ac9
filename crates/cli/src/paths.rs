//! Paths of the command line, where `-` is standard input or output.

use std::path::Path;

use epitome::formats::Format;

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

/// The arguments by which another command reads a session again, for a shell; `None` for one that was piped in.
pub(crate) fn reading_words(file: &Path, from: Option<Format>, session: Option<&str>) -> Option<String> {
    if is_standard(file) {
        return None;
    }
    let file = file.display().to_string();
    // What begins with a hyphen would be taken for an option.
    let file = if file.starts_with('-') { format!("./{file}") } else { file };
    let mut words = vec![shell_word(&file)];
    if let Some(format) = from {
        words.extend(["--from".to_owned(), format.to_string()]);
    }
    if let Some(session) = session {
        words.extend(["--session".to_owned(), shell_word(session)]);
    }
    Some(words.join(" "))
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

    #[cfg(unix)]
    #[test]
    fn words_that_read_a_session_again() {
        use super::{Format, Path, reading_words};
        let check = |file: &str, from: Option<Format>, session: Option<&str>, expect: Option<&str>| {
            assert_eq!(reading_words(Path::new(file), from, session).as_deref(), expect, "{file}");
        };
        check("s.jsonl", None, None, Some("s.jsonl"));
        check("my s.jsonl", Some(Format::Codex), Some("it's"), Some("'my s.jsonl' --from codex --session 'it'\\''s'"));
        check("-s.jsonl", None, Some("1"), Some("./-s.jsonl --session 1"));
        check("-", Some(Format::Codex), None, None);
    }
}
