//! The few styles in use, as marks in the text. The writer of the terminal makes escape sequences of them, or leaves them out;
//! an escape sequence that is in a text comes from a session, and does not get through.

use std::fmt;

/// Begins a mark. A noncharacter: it stands for nothing in any text that is exchanged.
pub(crate) const MARK: char = '\u{fdd0}';

/// The end of every style.
const END: char = '0';

/// A style: `{STYLE}` begins it and `{STYLE:#}` ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style(Option<char>);

/// The important part of a line.
pub(crate) const STRONG: Style = Style(Some('b'));
/// Labels, and what may be skipped.
pub(crate) const FAINT: Style = Style(Some('f'));
/// Within bounds.
pub(crate) const GOOD: Style = Style(Some('g'));
/// Near a bound.
pub(crate) const WARN: Style = Style(Some('w'));
/// Out of bounds.
pub(crate) const BAD: Style = Style(Some('r'));
/// Names.
pub(crate) const NAME: Style = Style(Some('n'));
/// As other text.
pub(crate) const PLAIN: Style = Style(None);

impl fmt::Display for Style {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(_) if formatter.alternate() => write!(formatter, "{MARK}{END}"),
            Some(code) => write!(formatter, "{MARK}{code}"),
            None => Ok(()),
        }
    }
}

/// The escape sequence of a mark's second character; `None` for one that is of no mark.
pub(crate) fn sequence_of(code: char) -> Option<&'static str> {
    Some(match code {
        END => "\u{1b}[0m",
        'b' => "\u{1b}[1m",
        'f' => "\u{1b}[2m",
        'g' => "\u{1b}[32m",
        'w' => "\u{1b}[33m",
        'r' => "\u{1b}[31m",
        'n' => "\u{1b}[36m",
        _ => return None,
    })
}

/// A text without the marks of styles.
pub(crate) fn without_styles(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char == MARK {
            chars.next();
        } else {
            out.push(char);
        }
    }
    out
}
