//! Output to the person who runs the command: results on standard output, everything else on standard error. Nothing else
//! writes there, and what a session says is text here, whatever it would make a terminal do.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};

use crate::render::style::{MARK, WARN, sequence_of};

/// Writes data to standard output: as it is for a file or another program, as text for a terminal.
pub(crate) fn standard(bytes: &[u8]) -> io::Result<()> {
    if is_screen() {
        return write_all(io::stdout().lock(), paint(&String::from_utf8_lossy(bytes), false).as_bytes());
    }
    write_all(io::stdout().lock(), bytes)
}

/// Writes styled text to standard output, without its styles where it is not a terminal.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let has_colours = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
    write_painted(anstream::stdout().lock(), text, has_colours)
}

/// The same over the last `lines` lines of a terminal.
pub(crate) fn print_over(lines: usize, text: &str) -> io::Result<()> {
    if lines > 0 {
        write_all(anstream::stdout().lock(), format!("\u{1b}[{lines}F\u{1b}[J").as_bytes())?;
    }
    print(text)
}

/// Writes styled text to standard output, for another program that shows styles: without them only where nobody wants any.
#[cfg(feature = "service")]
pub(crate) fn print_for_host(text: &str) -> io::Result<()> {
    let wants_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    write_painted(io::stdout().lock(), text, !wants_none)
}

fn write_painted(out: impl Write, text: &str, has_colours: bool) -> io::Result<()> {
    write_all(out, paint(text, has_colours).as_bytes())
}

fn write_all(mut out: impl Write, bytes: &[u8]) -> io::Result<()> {
    let written = out.write_all(bytes).and_then(|()| out.flush());
    // The kind stays, by which a pipe is known that its reader closed.
    written.map_err(|error| io::Error::new(error.kind(), format!("cannot write to standard output: {error}")))
}

/// Writes styled text to standard error, without its styles where it is not a terminal. A closed standard error is not a reason
/// to stop.
pub(crate) fn tell(text: &str) {
    let has_colours = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    let _ = anstream::stderr().lock().write_all(paint(text, has_colours).as_bytes());
}

/// Tells of something that did not stop the command.
pub(crate) fn note(message: &str) {
    tell(&format!("{WARN}warning{WARN:#}: {message}\n"));
}

/// Tells of something that did not stop the command, and of which session it is.
pub(crate) fn warn(session: Option<&str>, message: &str) {
    let session = session.map(|session| format!("session {session}: ")).unwrap_or_default();
    note(&format!("{session}{message}"));
}

/// Shows how far long work is, on a terminal only.
#[cfg(feature = "eval")]
pub(crate) fn progress(done: usize, of: usize) {
    if done == of {
        clear_line();
    } else {
        show_line(&format!("{done} of {of}"));
    }
}

/// Shows a line in place of the one before, on a terminal only.
pub(crate) fn show_line(line: &str) {
    if is_watched() {
        let _ = anstream::stderr().lock().write_all(format!("\r{}\u{1b}[K", paint(line, false)).as_bytes());
    }
}

/// Takes such a line away.
pub(crate) fn clear_line() {
    show_line("");
}

/// Writes a value to standard output as JSON that a person can read too.
pub(crate) fn print_json(value: &impl serde::Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    standard(text.as_bytes())
}

/// Shows what the parser of the command line says: help and version, or what is wrong with it.
pub(crate) fn show_parsed(said: &clap::Error) {
    let text = said.render().to_string();
    // Where the words of the command line would do something to the terminal, its styles are given up with them.
    if paint(&text, false) == text {
        // Whether they could be printed changes nothing any more.
        let _ = said.print();
    } else {
        tell(&text);
    }
}

/// Whether standard output is a terminal.
pub(crate) fn is_screen() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard error is a terminal, and a person sees how far the work is.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// The columns of the terminal, where there is one.
pub(crate) fn columns() -> Option<usize> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(io::stderr())?;
    Some(usize::from(width))
}

/// A text as a terminal may get it: the marks of styles are escape sequences, or gone, and whatever else would do something to
/// the terminal, or to the order of the letters, is a sign that can be seen.
fn paint(text: &str, has_colours: bool) -> Cow<'_, str> {
    if !text.contains(|char| char == MARK || (is_unsafe(char))) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            MARK => {
                let sequence = chars.next().and_then(sequence_of).filter(|_| has_colours);
                out.push_str(sequence.unwrap_or_default());
            }
            '\r' if chars.peek() == Some(&'\n') => {}
            // The pictures of control characters stand in their order.
            '\0'..' ' if is_unsafe(char) => out.extend(char::from_u32(0x2400 + char as u32)),
            '\u{7f}' => out.push('\u{2421}'),
            char if is_unsafe(char) => out.push(char::REPLACEMENT_CHARACTER),
            char => out.push(char),
        }
    }
    Cow::Owned(out)
}

/// Whether a character controls a terminal (C0 without line feed and tab, DEL, C1) or the direction of text
/// (<https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters>), or ends a line that is none here.
fn is_unsafe(char: char) -> bool {
    (char.is_control() && char != '\n' && char != '\t')
        || matches!(
            char,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}'
        )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::render::style::{BAD, STRONG};

    #[test]
    fn what_a_session_says_is_text() {
        let check = |text: &str, expect: &str| {
            assert_eq!(paint(text, false), expect, "{text:?}");
            assert_eq!(paint(&format!("{BAD}{text}{BAD:#}"), true), format!("\u{1b}[31m{expect}\u{1b}[0m"), "{text:?}");
        };
        check("plain\n\ttext, naïve, 中文, 👩‍👩‍👧", "plain\n\ttext, naïve, 中文, 👩‍👩‍👧");
        check("\u{1b}]0;QUAY\u{7}\u{1b}[2J", "␛]0;QUAY␇␛[2J");
        check("\u{1b}[31mred\u{1b}[0m", "␛[31mred␛[0m");
        check("\u{9b}31m \u{90} \u{85} \u{7f} \0 \u{8}", "\u{fffd}31m \u{fffd} \u{fffd} ␡ ␀ ␈");
        check("one\r\ntwo\rthree", "one\ntwo␍three");
        check("a\u{202e}b\u{2066}c\u{2069}d\u{200f}e\u{61c}", "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}");
        check("\u{2028}", "\u{fffd}");
        assert_eq!(paint(&format!("{MARK}"), true), "");
        assert_eq!(paint(&format!("{MARK}x{STRONG}y{STRONG:#}"), true), "\u{1b}[1my\u{1b}[0m");
    }

    /// Every other way to a terminal would be one around what is above.
    #[test]
    fn nothing_else_writes_to_a_terminal() {
        const WAYS: [&str; 8] =
            ["println!", "print!(", "eprint", "stdout()", "stderr()", "anstream", "anstyle", "dbg!("];
        fn look(folder: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    look(&path, found);
                } else if !path.ends_with("src/terminal.rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    let ways = WAYS.iter().filter(|way| text.contains(**way));
                    found.extend(ways.map(|way| format!("{}: {way}", path.display())));
                }
            }
        }
        let mut found = Vec::new();
        look(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        assert_eq!(found, Vec::<String>::new(), "terminal.rs is the one writer");
    }
}
