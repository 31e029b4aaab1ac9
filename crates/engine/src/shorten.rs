//! The parts of a text that stay when the floor cuts it: its two ends.

use std::ops::Range;

use epitome_strategy::{Tokens, text};

/// Returns the head and the tail of a text of `tokens` tokens that together make about `keep` of them, at ends of lines
/// where that costs little, else beside words. The head gets two thirds, because it names the subject.
pub(crate) fn ends(shown: &str, keep: Tokens, tokens: Tokens) -> Vec<Range<u32>> {
    let bytes = (shown.len() as f64 * f64::from(keep) / f64::from(tokens.max(1))) as usize;
    let most = shown.floor_char_boundary(bytes * 2 / 3);
    let line_end = shown[..most].rfind('\n').map(|at| at + 1).filter(|at| at * 4 >= most * 3);
    let head = line_end.unwrap_or_else(|| text::cut_before(shown, most));
    let tail = shown.ceil_char_boundary(shown.len() - (bytes / 3).min(shown.len()));
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
