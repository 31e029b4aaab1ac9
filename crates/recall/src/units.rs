//! Units: the lines of a piece; long ones are cut at suitable places.

use std::ops::Range;

/// The approximate bytes of a unit of a long line.
const LENGTH: usize = 250;

/// A line up to this length stays whole.
const LONGEST: usize = 375;

/// The places where a long line may be cut, the best first: behind an escaped end of a line, between objects of JSON,
/// behind a sentence, between fields, between words.
const PLACES: &[&str] = &["\\n", "},{", "\",\"", ". ", "。", "\", \"", ", ", " "];

/// Returns the units of a text, in order: byte ranges without the line's end, and whether the unit ends its line. Blank
/// lines have none. Linear.
pub(crate) fn read_units(text: &str, mut unit: impl FnMut(Range<usize>, bool)) {
    let mut at = 0;
    for line in text.split('\n') {
        let end = at + line.trim_end().len();
        let next = at + line.len() + 1;
        if at < end {
            cut(text, at..end, &mut unit);
        }
        at = next;
    }
}

fn cut(text: &str, line: Range<usize>, unit: &mut impl FnMut(Range<usize>, bool)) {
    let mut at = line.start;
    while line.end - at > LONGEST {
        let from = text.ceil_char_boundary(at + LENGTH / 2);
        let to = text.floor_char_boundary(at + LENGTH);
        let place = PLACES.iter().find_map(|place| Some(from + text[from..to].rfind(place)? + place.len()));
        let end = place.unwrap_or(to);
        unit(at..end, false);
        at = end;
    }
    unit(at..line.end, true);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_texts() {
        let check = |text: &str, expect: &[(&str, bool)]| {
            let mut found = Vec::new();
            read_units(text, |range, ends| found.push((&text[range], ends)));
            assert_eq!(found, expect, "{text}");
        };
        check("", &[]);
        check("one", &[("one", true)]);
        check("one  \n\n\t\n  two\n", &[("one", true), ("  two", true)]);
        let long = "word ".repeat(60);
        check(&long, &[(long.trim_end(), true)]);
        // a sentence's end, however far in front, before a mere space
        let (first, second) = (format!("{}. ", "a".repeat(150)), "b ".repeat(150));
        check(&format!("{first}{second}"), &[(&first, false), (second.trim_end(), true)]);
        let objects = format!("[{{{}}},{{{}}}]", "x".repeat(200), "y".repeat(300));
        check(&objects, &[(&objects[..205], false), (&objects[205..], true)]);
        // nowhere to cut, and characters of several bytes
        let word = "字".repeat(130);
        check(&word, &[(&word[..249], false), (&word[249..], true)]);
    }
}
