//! Figures and words as a person reads them.

use std::borrow::Cow;
use std::time::Duration;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::render::style::{FAINT, STRONG, Style};
use crate::terminal;

/// Columns where the width is not known: a pipe, a file.
const DEFAULT_WIDTH: usize = 110;

/// Columns to use: the terminal's, or `COLUMNS`.
pub(crate) fn width() -> usize {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok());
    named.or_else(terminal::columns).unwrap_or(DEFAULT_WIDTH).clamp(40, 160)
}

/// A number with its digits in groups: `12,034`.
pub(crate) fn number(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 message`, `2 messages`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", number(count as u64))
}

/// A share in per cent: `31 %`, and `0.4 %` where whole numbers say too little.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    let share = part as f64 * 100.0 / whole as f64;
    if share > 0.0 && share < 1.0 { format!("{share:.1} %") } else { format!("{share:.0} %") }
}

/// A duration in the unit that fits.
pub(crate) fn duration(duration: Duration) -> String {
    let micros = duration.as_micros();
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..100_000 => format!("{:.1} ms", micros as f64 / 1e3),
        100_000..1_000_000 => format!("{} ms", micros / 1_000),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}

/// Bytes in the unit that fits.
pub(crate) fn bytes(count: usize) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

/// The columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// A text in at most `most` columns, cut with `…`.
pub(crate) fn clip(text: &str, most: usize) -> Cow<'_, str> {
    if columns(text) <= most {
        return Cow::Borrowed(text);
    }
    let mut taken = 0;
    let mut out = String::new();
    for char in text.chars() {
        taken += char.width().unwrap_or(0);
        if taken + 1 > most {
            break;
        }
        out.push(char);
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    Cow::Owned(out)
}

/// The first words of a text on one line, without control characters; at most about `most` columns.
pub(crate) fn first_words(text: &str, most: usize) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().filter(|char| !char.is_control()).take(most + 1));
        if columns(&out) > most {
            break;
        }
    }
    clip(&out, most).into_owned()
}

/// A text broken into lines of at most `most` columns, at white space.
pub(crate) fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let fits = lines.last().is_some_and(|line| line.is_empty() || columns(line) + 1 + columns(word) <= most);
        if !fits {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Writes a text in lines of at most `width` columns behind a label of `columns` columns, which stands in front of the first.
pub(crate) fn labelled(out: &mut String, label: &str, columns: usize, text: &str, width: usize) {
    for (index, line) in wrap(text, width.saturating_sub(columns + 2)).iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        out.push_str(&format!("  {FAINT}{label:<columns$}{FAINT:#}{line}\n"));
    }
}

/// Writes a text in lines of at most `width` columns, two columns in.
pub(crate) fn paragraph(out: &mut String, text: &str, style: Style, width: usize) {
    for line in wrap(text, width.saturating_sub(2)) {
        out.push_str(&format!("  {style}{line}{style:#}\n"));
    }
}

/// Writes the heading of a part of a page.
pub(crate) fn heading(out: &mut String, text: &str) {
    out.push_str(&format!("\n{STRONG}{text}{STRONG:#}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        assert_eq!(number(0u64), "0");
        assert_eq!(number(999u64), "999");
        assert_eq!(number(1_234_567u64), "1,234,567");
        assert_eq!((percent(1, 3), percent(1, 300), percent(0, 0)), ("33 %".into(), "0.3 %".into(), "0 %".into()));
        assert_eq!(duration(Duration::from_micros(1_250)), "1.2 ms");
        assert_eq!(plural(1, "edit"), "1 edit");
    }

    #[test]
    fn words_are_cut_by_columns() {
        assert_eq!(clip("short", 9), "short");
        assert_eq!(clip("a long text", 7), "a long…");
        assert_eq!(clip("中文很长", 5), "中文…");
        assert_eq!(first_words("two\n\twords \u{1b}[1m here", 40), "two words [1m here");
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
    }
}
