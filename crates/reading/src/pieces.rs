//! Splits a text into pieces: its lines, and the sentences of long lines and of typed text.

use std::ops::Range;

use epitome_strategy::text;

/// Bytes of the longest line that is one piece.
const LONGEST_LINE: usize = 400;
/// Bytes of the longest line of a typed message that is one piece, and of its shortest sentence that is.
const SENTENCE: usize = 80;
const LEAST_SENTENCE: usize = 24;
/// Bytes that a piece of a longer line has at most; about as much as two lines of prose.
const PIECE: usize = 260;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Its bytes, without the line's number and without white space at the end.
    pub(crate) range: Range<usize>,
    /// The bytes of the number that a tool put in front of the line.
    pub(crate) number: Option<Range<usize>>,
    /// Whether this number follows that of the line before.
    pub(crate) continues: bool,
    /// Whether it begins a line; otherwise it continues the line of the piece before.
    pub(crate) starts_line: bool,
}

/// How a text is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Into lines.
    Lines,
    /// Into lines that a tool may have put numbers in front of.
    NumberedLines,
    /// Into sentences: of typed text one sentence may bind where the next does not.
    Sentences,
}

/// Returns the pieces of a text that have a letter or a digit, in order. Lines of marks alone are left out, and of what a tool
/// printed those of one tag, the numbers of empty lines, an exit code of success and marks of an earlier clearing. Linear.
pub(crate) fn pieces(text: &str, cut: Cut) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let longest = if cut == Cut::Sentences { SENTENCE } else { LONGEST_LINE };
    let is_numbered = cut == Cut::NumberedLines;
    let number_of = |line: &Range<usize>| leading_number(&text[line.clone()]).filter(|_| is_numbered);
    let mut lines = text::lines(text).peekable();
    let mut number_before = None;
    let mut next_number = lines.peek().and_then(number_of);
    while let Some(line) = lines.next() {
        let end = line.start + text[line.clone()].trim_end().len();
        let here = std::mem::replace(&mut next_number, lines.peek().and_then(number_of));
        let continues = here.is_some() && number_before.map(|before: u32| before + 1) == here;
        let is_counted = continues || here.is_some_and(|here| next_number == Some(here + 1));
        number_before = here;
        let (number, start) =
            if is_numbered { line_number(text, line.start..end, is_counted) } else { (None, line.start) };
        let numbered = text[line.clone()].trim_end_matches(['\n', '\r']);
        if is_numbered && says_nothing(&text[start..end], numbered, is_counted) {
            continue;
        }
        let is_alone = is_numbered && line.start == 0 && line.end == text.len();
        let first_fields = if is_alone { first_fields(&text[start..end]) } else { None };
        if end - start <= longest && first_fields.is_none() {
            if text[start..end].chars().any(char::is_alphanumeric) {
                pieces.push(Piece { range: start..end, number, continues, starts_line: true });
            }
            continue;
        }
        let mut number = number;
        let mut at = start;
        while at < end {
            let rest = &text[at..end];
            let length = match (cut, first_fields.filter(|_| at == start)) {
                (_, Some(length)) => length,
                (Cut::Sentences, _) => end_of_sentence(rest),
                (Cut::Lines | Cut::NumberedLines, _) => end_of_piece(rest),
            };
            let piece = Piece { range: at..at + length, number: number.take(), continues, starts_line: at == start };
            if rest[..length].chars().any(char::is_alphanumeric) {
                pieces.push(piece);
            }
            at += length;
        }
    }
    pieces
}

/// Returns where the first sentence of a line ends, with the white space behind it; a very short one includes the next.
fn end_of_sentence(line: &str) -> usize {
    let limit = line.floor_char_boundary(LONGEST_LINE.min(line.len()));
    let mut marks = line[..limit].char_indices().peekable();
    while let Some((at, char)) = marks.next() {
        let end = at + char.len_utf8();
        let is_free = !char.is_ascii() || marks.peek().is_some_and(|(_, next)| next.is_whitespace());
        if end >= LEAST_SENTENCE && text::ends_sentence(char) && is_free {
            return end + line[end..].len() - line[end..].trim_start().len();
        }
    }
    end_of_piece(line)
}

/// Returns where the first piece of a long line ends: at the last end of a sentence, of a field or of a word within
/// bounds.
fn end_of_piece(line: &str) -> usize {
    if line.len() <= PIECE {
        return line.len();
    }
    let limit = line.floor_char_boundary(PIECE);
    let part = &line[..limit];
    let after = |found: Option<usize>, length: usize| found.map(|at| at + length).filter(|at| *at * 3 > limit);
    let sentence = [". ", "! ", "? ", "; ", "\\n"].iter().filter_map(|mark| after(part.rfind(mark), mark.len())).max();
    let chinese = ['。', '！', '？', '；'].iter().filter_map(|mark| after(part.rfind(*mark), mark.len_utf8())).max();
    let field = || ["},", "],", "\",", ", "].iter().filter_map(|mark| after(part.rfind(mark), mark.len())).max();
    let word = || after(part.rfind(' '), 1);
    sentence.max(chinese).or_else(field).or_else(word).unwrap_or(limit).max(1)
}

/// Returns where the plain fields at the beginning of an answer that is one object in one line end, in front of its first list or object: what a
/// service says of a call stands there, and behind it what it says of the parts. `None` for another line, one that is short, and
/// where these fields are long. Looks at so many bytes only.
pub(crate) fn first_fields(line: &str) -> Option<usize> {
    if line.len() <= LONGEST_ANSWER || !line.starts_with('{') {
        return None;
    }
    let (mut in_text, mut is_escaped, mut end) = (false, false, None);
    for (at, byte) in line.bytes().enumerate().take(PIECE).skip(1) {
        match byte {
            _ if std::mem::take(&mut is_escaped) => {}
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b',' if !in_text => end = Some(at + 1),
            b'{' | b'[' if !in_text => return end.map(|end| end + usize::from(line[end..].starts_with(' '))),
            _ => {}
        }
    }
    None
}

/// Bytes of the longest answer of a service that is one piece and stands with its call.
pub(crate) const LONGEST_ANSWER: usize = 160;

/// Whether a line of a tool's output, without its number and with it, says nothing of its own. `is_counted` says whether the
/// line before or behind it has the number before or behind.
fn says_nothing(line: &str, numbered: &str, is_counted: bool) -> bool {
    let trimmed = line.trim();
    is_tag(line)
        || is_number_of_empty_line(numbered, is_counted)
        || is_mark_of_clearing(trimmed)
        || is_exit_of_success(trimmed)
        || trimmed == "(Bash completed with no output)"
}

/// Whether a line is one tag without attributes: it frames what is beside it.
fn is_tag(line: &str) -> bool {
    let inner = line.trim().strip_prefix('<').and_then(|line| line.strip_suffix('>'));
    let name = inner.map(|inner| inner.strip_prefix('/').unwrap_or(inner));
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    })
}

/// Whether a line is a number that a tool put in front of an empty line: a mark follows it, or it is counted and indented to the
/// width of such numbers. A count that a program prints is indented too.
fn is_number_of_empty_line(line: &str, is_counted: bool) -> bool {
    let digits = line.trim_start();
    let rest = digits.trim_start_matches(|char: char| char.is_ascii_digit());
    let count = digits.len() - rest.len();
    let is_aligned =
        rest.trim_end().is_empty() && count + (line.len() - digits.len()) >= 6 && digits.len() < line.len();
    (1..=7).contains(&count)
        && (is_counted && is_aligned
            || rest.starts_with('\t') && rest.trim().is_empty()
            || matches!(rest.trim(), ":" | "-" | "→" | "|"))
}

/// Whether a line stands for a result that its agent had cleared before. Source: the recorded agents.
fn is_mark_of_clearing(line: &str) -> bool {
    line.starts_with("[Old tool result")
}

/// What a tool prints in front of the output of a command that succeeded: the mark at the call says it.
/// Source: the shells of the recorded agents.
fn is_exit_of_success(line: &str) -> bool {
    matches!(
        line,
        "Exit code: 0" | "Exit code 0" | "exit code: 0" | "<returncode>0</returncode>" | "Process exited with code 0"
    )
}

/// Returns the number at the beginning of a line, where nothing follows it, or what may stand behind the number of a line.
fn leading_number(line: &str) -> Option<u32> {
    let digits = line.trim_start();
    let rest = digits.trim_start_matches(|char: char| char.is_ascii_digit());
    let count = digits.len() - rest.len();
    let is_number = (1..=7).contains(&count) && rest.chars().next().is_none_or(|next| "\t→|:-\r\n ".contains(next));
    is_number.then(|| digits[..count].parse().ok()).flatten()
}

/// Returns the number that a tool put in front of a line (`  12\t`, `12→`, `12:`, `12-`), and where the line itself
/// starts. In front of a tab and of `|` a number may be a value: there it has to be counted.
fn line_number(text: &str, line: Range<usize>, is_counted: bool) -> (Option<Range<usize>>, usize) {
    let all = &text[line.clone()];
    let blank = all.len() - all.trim_start().len();
    let digits = all[blank..].bytes().take_while(u8::is_ascii_digit).count();
    let rest = &all[blank + digits..];
    let mark = match rest.chars().next() {
        Some('→') => '→'.len_utf8(),
        Some('\t' | '|') if is_counted => 1,
        // A time of day has a digit behind its colon. One space belongs to the colon, as transcripts write it.
        Some(':') if rest[1..].starts_with(' ') => 2,
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
        let check = |text: &str, cut: Cut, expect: &[&str]| {
            let shown = |piece: &Piece| {
                let number = piece.number.clone().map_or(String::new(), |number| format!("{}|", &text[number]));
                format!("{number}{}{}", if piece.starts_line { "" } else { "+" }, &text[piece.range.clone()])
            };
            assert_eq!(pieces(text, cut).iter().map(shown).collect::<Vec<_>>(), expect);
        };
        check("one\n\n---\n two \n", Cut::NumberedLines, &["one", " two"]);
        check(
            "   12\tlet x = 1;\n13:let y;\n14-  more\n2024-05-01 log",
            Cut::NumberedLines,
            &["12|let x = 1;", "13|let y;", "14|  more", "2024-05-01 log"],
        );
        check("<output>\nfn a()\n</output>\n   325\n 7\n42", Cut::NumberedLines, &["fn a()", "   325", " 7", "42"]);
        check("   324\tfn a()\n   325\n   326\t}\n", Cut::NumberedLines, &["324|fn a()"]);
        check("4096\t./a\n12\t./b", Cut::NumberedLines, &["4096\t./a", "12\t./b"]);
        check("17|Ann\n19|Bob", Cut::NumberedLines, &["17|Ann", "19|Bob"]);
        check("<output>", Cut::Lines, &["<output>"]);
        check("  1160\n  1161\n 10160\t\n1160\t\n1160:\n1161-\n  1162→\n12", Cut::NumberedLines, &["12"]);
        check("Exit code: 0\n[Old tool result content cleared]\nExit code: 1", Cut::NumberedLines, &["Exit code: 1"]);
        check(
            "Thanks for that. I moved to v1.2 on Monday. Never push to the main branch, please! Ok.\nShort. Line.",
            Cut::Sentences,
            &[
                "Thanks for that. I moved to v1.2 on Monday. ",
                "+Never push to the main branch, please! ",
                "+Ok.",
                "Short. Line.",
            ],
        );
        let long = format!("{} End of it. {}", "word ".repeat(45), "more ".repeat(45));
        assert_eq!(pieces(&long, Cut::Lines).len(), 2);
        assert!(pieces(&long, Cut::Lines)[1].range.start > 200 && !pieces(&long, Cut::Lines)[1].starts_line);
        let answer =
            format!(r#"{{"result": "declined", "code": "51, [x]", "trace": ["{}"], "a": 1}}"#, "1ec1 ".repeat(60));
        let first = r#"{"result": "declined", "code": "51, [x]", "#;
        assert_eq!(&answer[pieces(&answer, Cut::NumberedLines)[0].range.clone()], first);
        assert_eq!(first_fields(r#"{"result": "declined", "parts": [1]}"#), None);
        assert_eq!(first_fields(&format!("{{\"a\": \"{}\", \"b\": []}}", "x".repeat(400))), None);
        assert_eq!(pieces(&"字".repeat(400), Cut::Lines).iter().map(|piece| piece.range.len()).max(), Some(258));
    }
}
