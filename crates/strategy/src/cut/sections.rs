//! The sections of a summary that an agent or a model wrote.

use std::ops::Range;

use crate::services::Tokens;
use crate::text;

/// Bytes of the shortest informative beginning of a section: its heading and a few words.
const LEAST_BEGINNING: usize = 60;

/// Returns the sections of a summary, its beginning included: together the whole text, in order, each from its heading
/// on. One section where there is no heading; none for an empty text. Linear.
fn sections(summary: &str) -> Vec<Range<usize>> {
    let mut sections: Vec<Range<usize>> = Vec::new();
    let mut is_behind_blank = false;
    for line in text::lines(summary) {
        let shown = &summary[line.clone()];
        let is_heading = is_heading(shown, is_behind_blank);
        is_behind_blank = shown.trim().is_empty();
        match sections.last_mut().filter(|_| !is_heading) {
            Some(section) => section.end = line.end,
            None => sections.push(line),
        }
    }
    sections
}

/// Returns the beginning of a summary of `tokens` tokens and those of its sections, each with its heading; with a mark
/// of `mark` tokens for each gap they make about `keep` tokens. Short sections stay whole before long ones get more. A
/// summary without sections is one section. Never empty: a summary is not to become a mark. Linear in the text, but for
/// a search over the sections' lengths.
pub fn beginnings(shown: &str, keep: Tokens, tokens: Tokens, mark: Tokens) -> Vec<Range<u32>> {
    let (room, mark) = (bytes_of(shown, keep, tokens), bytes_of(shown, mark, tokens));
    let mut sections: Vec<Range<usize>> = sections(shown);
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
    let end = section.floor_char_boundary(most);
    let line = section[..end].rfind('\n').map(|at| at + 1);
    let word = section[..end].rfind(char::is_whitespace);
    let near = |at: &usize| at * 2 >= end && *at > 0;
    line.filter(near).or(word.filter(near)).unwrap_or(end)
}

/// Whether a line is the heading of a section: `## Files`, `**Files**`, `<files>`, `3. Files and code:`, or behind a
/// blank line `Files:`.
fn is_heading(line: &str, is_behind_blank: bool) -> bool {
    let line = line.trim_end();
    let ends_in_colon = line.ends_with([':', '：']);
    let hashes = line.len() - line.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
        return true;
    }
    if line.starts_with("**") && line.trim_end_matches([':', '：']).ends_with("**") && line.len() > 4 {
        return true;
    }
    if line.starts_with('<') && !line.starts_with("</") && line.ends_with('>') && !line.contains(' ') {
        return true;
    }
    let digits = line.len() - line.trim_start_matches(|char: char| char.is_ascii_digit()).len();
    if (1..=2).contains(&digits) && line[digits..].starts_with(['.', '、']) && ends_in_colon {
        return true;
    }
    let is_item = line.starts_with(['-', '*', ' ', '\t', '`', '>']);
    is_behind_blank && ends_in_colon && !is_item && line.chars().count() <= 60
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_a_summary() {
        let check = |summary: &str, expect: &[&str]| {
            let found: Vec<&str> = sections(summary).into_iter().map(|range| &summary[range]).collect();
            assert_eq!(found, expect, "{summary}");
        };
        check(
            "Intro\n## Files\na.rs\n## Pending tasks\nship it",
            &["Intro\n", "## Files\na.rs\n", "## Pending tasks\nship it"],
        );
        check("no heading\nat all", &["no heading\nat all"]);
        check("", &[]);
    }

    #[test]
    fn headings_of_many_kinds() {
        let check = |line: &str, is_behind_blank: bool, expect: bool| {
            assert_eq!(is_heading(line, is_behind_blank), expect, "{line}");
        };
        check("## Files\n", false, true);
        check("#hashtag\n", false, false);
        check("**Files and code**:\n", false, true);
        check("3. Files and code:\n", false, true);
        check("3. a step\n", false, false);
        check("Pending tasks:\n", true, true);
        check("Pending tasks:\n", false, false);
        check("- an item:\n", true, false);
        check("待办：\n", true, true);
        check("<pending_tasks>\n", false, true);
        check("</pending_tasks>\n", false, false);
    }

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
