//! The parts of a text that stay when the floor cuts it: both ends of an output, the beginnings of a summary's
//! sections.

use std::ops::Range;

use epitome_strategy::cut::sections;
use epitome_strategy::{Tokens, text};

/// Bytes of the shortest informative beginning of a section: its heading and a few words.
const LEAST_BEGINNING: usize = 60;

/// Returns the head and the tail of a text of `tokens` tokens that together make about `keep` of them, at ends of lines
/// where that costs little, else beside words. The head gets two thirds, because it names the subject.
pub(crate) fn ends(shown: &str, keep: Tokens, tokens: Tokens) -> Vec<Range<u32>> {
    let bytes = bytes_of(shown, keep, tokens);
    let most = text::floor_boundary(shown, bytes * 2 / 3);
    let line_end = shown[..most].rfind('\n').map(|at| at + 1).filter(|at| at * 4 >= most * 3);
    let head = line_end.unwrap_or_else(|| text::cut_before(shown, most));
    let tail = text::ceil_boundary(shown, shown.len() - (bytes / 3).min(shown.len()));
    let tail = shown[tail..]
        .find('\n')
        .map(|at| tail + at + 1)
        .filter(|at| (at - tail) * 4 <= shown.len() - tail)
        .unwrap_or_else(|| text::cut_behind(shown, tail));
    if head >= tail {
        return Vec::new();
    }
    let ranges = [0..head as u32, tail as u32..shown.len() as u32];
    ranges.into_iter().filter(|range| !range.is_empty()).collect()
}

/// Returns the beginning of a summary of `tokens` tokens and those of its sections, each with its heading; with a mark
/// of `mark` tokens for each gap they make about `keep` tokens. Short sections stay whole before long ones get more. A
/// summary without sections is one section. Never empty: a summary is not to become a mark. Linear in the text, but for
/// a search over the sections' lengths.
pub(crate) fn beginnings(shown: &str, keep: Tokens, tokens: Tokens, mark: Tokens) -> Vec<Range<u32>> {
    let (room, mark) = (bytes_of(shown, keep, tokens), bytes_of(shown, mark, tokens));
    let mut sections: Vec<Range<usize>> = sections(shown).into_iter().map(|section| section.range).collect();
    // Sections that get no more than their headings would be a mere list of headings.
    let mut taken = 0;
    let most = sections
        .iter()
        .take_while(|section| {
            taken += section.len().min(LEAST_BEGINNING + mark);
            taken <= room
        })
        .count();
    if sections.len() > most.max(1) {
        sections.truncate(most.max(1));
        if let Some(last) = sections.last_mut() {
            last.end = shown.len();
        }
    }
    let takes = |level: usize| -> usize {
        sections.iter().map(|section| if section.len() <= level + mark { section.len() } else { level + mark }).sum()
    };
    let (mut low, mut high) = (LEAST_BEGINNING, shown.len().max(LEAST_BEGINNING));
    while low < high {
        let middle = (low + high).div_ceil(2);
        if takes(middle) <= room { low = middle } else { high = middle - 1 }
    }
    let mut kept: Vec<Range<u32>> = Vec::new();
    for section in sections {
        let end = match section.len() <= low + mark {
            true => section.end,
            false => section.start + beginning(&shown[section.clone()], low),
        };
        match kept.last_mut() {
            Some(last) if last.end as usize == section.start => last.end = end as u32,
            _ => kept.push(section.start as u32..end as u32),
        }
    }
    kept
}

/// Returns how many bytes of a text make this many of its tokens, by its mean.
fn bytes_of(shown: &str, part: Tokens, tokens: Tokens) -> usize {
    (shown.len() as f64 * f64::from(part) / f64::from(tokens.max(1))) as usize
}

/// Returns how much of a section stays when about `most` bytes may: whole lines, where these are most of it, else whole
/// words.
fn beginning(section: &str, most: usize) -> usize {
    let end = text::floor_boundary(section, most);
    let line = section[..end].rfind('\n').map(|at| at + 1);
    let word = section[..end].rfind(char::is_whitespace);
    let near = |at: &usize| at * 2 >= end && *at > 0;
    line.filter(near).or(word.filter(near)).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what stays of `text` when `keep` of its bytes may and a mark takes 10; parts are joined by `|`.
    fn check(text: &str, keep: usize, expect: &str) {
        let kept = beginnings(text, keep as Tokens, text.len() as Tokens, 10);
        let parts: Vec<&str> = kept.iter().map(|range| &text[range.start as usize..range.end as usize]).collect();
        assert_eq!(parts.join("|"), expect);
    }

    const SECTIONS: &str = "## Goal\nFix the parser, and leave the lexer alone.\n\n## Files\n- a.rs: the parser of the whole language, with its tables\n- b.rs: the lexer, which nobody is to touch for any reason\n- c.rs: the tests of both, and what they print\n- d.rs: the command line\n\n## Pending\n- Run the tests.\n";

    #[test]
    fn short_sections_stay_whole_and_long_ones_lose_their_ends() {
        check(SECTIONS, SECTIONS.len(), SECTIONS);
        check(
            SECTIONS,
            200,
            "## Goal\nFix the parser, and leave the lexer alone.\n\n## Files\n- a.rs: the parser of the whole language, with its tables\n|## Pending\n- Run the tests.\n",
        );
    }

    #[test]
    fn the_ends_of_one_long_line_are_cut_beside_words() {
        let shown = "compile src/parser.rs and ".repeat(20);
        for keep in (60..shown.len() - 60).step_by(7) {
            let kept = ends(&shown, keep as Tokens, shown.len() as Tokens);
            assert_eq!(kept.len(), 2, "{keep}");
            let cuts = [kept[0].end as usize, kept[1].start as usize];
            assert!(cuts.iter().all(|at| !text::is_in_name(&shown, *at)), "{keep}: {kept:?}");
        }
    }

    #[test]
    fn something_stays_however_little_may() {
        for keep in [0, 1, 10, 60, 100] {
            let kept = beginnings(SECTIONS, keep, SECTIONS.len() as Tokens, 10);
            assert!(kept.first().is_some_and(|range| range.start == 0 && range.end >= 30), "{keep}: {kept:?}");
        }
    }

    #[test]
    fn what_is_kept_fits() {
        let long = SECTIONS.repeat(30);
        for keep in (200..long.len()).step_by(97) {
            let kept = beginnings(&long, keep as Tokens, long.len() as Tokens, 10);
            let bytes: u32 = kept.iter().map(|range| range.end - range.start).sum();
            assert!(bytes as usize <= keep, "{bytes} of {keep}");
            let ordered = kept.windows(2).all(|pair| pair[0].end < pair[1].start);
            assert!(ordered && kept.iter().all(|range| long.is_char_boundary(range.end as usize)), "{kept:?}");
        }
    }

    #[test]
    fn one_paragraph_keeps_its_beginning() {
        let text = "word ".repeat(100);
        check(&text, 110, "word ".repeat(20).trim_end());
        let text = "字".repeat(100);
        check(&text, 100, &"字".repeat(30));
    }
}
