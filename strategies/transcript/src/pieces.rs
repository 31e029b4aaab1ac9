//! A text in pieces: its lines, and of long lines their sentences.

use std::ops::Range;

use epitome_strategy::text;

/// Bytes of the longest line that is one piece.
const LONGEST_LINE: usize = 400;
/// Bytes that a piece of a longer line has at most; about as much as two lines of prose.
const PIECE: usize = 260;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Its bytes, without the line's number and without white space at the end.
    pub(crate) range: Range<usize>,
    /// The bytes of the number that a tool put in front of the line.
    pub(crate) number: Option<Range<usize>>,
    /// Whether it begins a line; otherwise it goes on with the line of the piece before.
    pub(crate) starts_line: bool,
}

/// The pieces of a text that hold a letter or a digit, in order; lines of marks alone are left out. `numbered` tells that a
/// tool may have put numbers in front of the lines. Linear.
pub(crate) fn pieces(text: &str, numbered: bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for line in text::lines(text) {
        let end = line.start + text[line.clone()].trim_end().len();
        let (number, start) = if numbered { line_number(text, line.start..end) } else { (None, line.start) };
        if end - start <= LONGEST_LINE {
            if text[start..end].chars().any(char::is_alphanumeric) {
                pieces.push(Piece { range: start..end, number, starts_line: true });
            }
            continue;
        }
        let mut number = number;
        let mut at = start;
        while at < end {
            let cut = ends_of_piece(&text[at..end]) + at;
            let piece = Piece { range: at..cut, number: number.take(), starts_line: at == start };
            if text[at..cut].chars().any(char::is_alphanumeric) {
                pieces.push(piece);
            }
            at = cut;
        }
    }
    pieces
}

/// Where the first piece of a long line ends: at the last end of a sentence, of a field or of a word within bounds.
fn ends_of_piece(line: &str) -> usize {
    if line.len() <= PIECE {
        return line.len();
    }
    let limit = text::floor_boundary(line, PIECE);
    let part = &line[..limit];
    let after = |found: Option<usize>, length: usize| found.map(|at| at + length).filter(|at| *at * 3 > limit);
    let sentence = [". ", "! ", "? ", "; ", "\\n"].iter().filter_map(|mark| after(part.rfind(mark), mark.len())).max();
    let chinese = ['。', '！', '？', '；'].iter().filter_map(|mark| after(part.rfind(*mark), mark.len_utf8())).max();
    let field = || ["},", "],", "\",", ", "].iter().filter_map(|mark| after(part.rfind(mark), mark.len())).max();
    let word = || after(part.rfind(' '), 1);
    sentence.max(chinese).or_else(field).or_else(word).unwrap_or(limit).max(1)
}

/// The number that a tool put in front of a line (`  12\t`, `12→`, `12:`, `12-`), and where the line itself starts.
fn line_number(text: &str, line: Range<usize>) -> (Option<Range<usize>>, usize) {
    let all = &text[line.clone()];
    let blank = all.len() - all.trim_start().len();
    let digits = all[blank..].bytes().take_while(u8::is_ascii_digit).count();
    let rest = &all[blank + digits..];
    let mark = match rest.chars().next() {
        Some(mark @ ('\t' | '→' | '|')) => mark.len_utf8(),
        // A time of day has a digit behind its colon.
        Some(':') if !rest[1..].starts_with(|char: char| char.is_ascii_digit()) => 1,
        Some('-') if rest[1..].starts_with([' ', '\t']) => 1,
        _ => 0,
    };
    if digits == 0 || digits > 7 || mark == 0 {
        return (None, line.start);
    }
    let number = line.start + blank..line.start + blank + digits;
    let start = number.end + mark;
    (Some(number), start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_parts_of_long_lines() {
        let check = |text: &str, expect: &[&str]| {
            let shown = |piece: &Piece| {
                let number = piece.number.clone().map_or(String::new(), |number| format!("{}|", &text[number]));
                format!("{number}{}{}", if piece.starts_line { "" } else { "+" }, &text[piece.range.clone()])
            };
            assert_eq!(pieces(text, true).iter().map(shown).collect::<Vec<_>>(), expect);
        };
        check("one\n\n---\n two \n", &["one", " two"]);
        check(
            "   12\tlet x = 1;\n13:let y;\n14-  more\n2024-05-01 log",
            &["12|let x = 1;", "13|let y;", "14|  more", "2024-05-01 log"],
        );
        let long = format!("{} End of it. {}", "word ".repeat(45), "more ".repeat(45));
        assert_eq!(pieces(&long, true).len(), 2);
        assert!(pieces(&long, true)[1].range.start > 200 && !pieces(&long, true)[1].starts_line);
        assert_eq!(pieces(&"字".repeat(400), true).iter().map(|piece| piece.range.len()).max(), Some(258));
    }
}
