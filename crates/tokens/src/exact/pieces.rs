//! The pre-tokenizers: where a text is cut into pieces before byte pairs merge within each piece.
//!
//! Both encodings define the cut by a regular expression whose first matching alternative wins. The functions here give
//! the end of the match that starts at a position, written out by the class of its first character; the alternatives
//! are quoted where they are decided. Every character starts some match, so the pieces cover the text.

use super::class_bits::{CASELESS, LOWER, MARK, NEWLINE, NUMBER, OTHER, SPACE, UPPER};
use super::classes::{class_at, skip};

/// `\p{L}`.
const LETTER: u8 = UPPER | LOWER | CASELESS;
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: starts a word of `o200k_base`.
#[cfg(feature = "vocab-o200k")]
const WORD_START: u8 = UPPER | CASELESS | MARK;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: ends a word of `o200k_base`.
#[cfg(feature = "vocab-o200k")]
const WORD_REST: u8 = LOWER | CASELESS | MARK;
/// `[^\s\p{L}\p{N}]`.
const SYMBOL: u8 = OTHER | MARK;
/// `\s`.
const WHITE: u8 = SPACE | NEWLINE;

/// The end of the piece of `o200k_base` that starts at `start`, a character boundary before the end of `text`.
#[inline]
#[cfg(feature = "vocab-o200k")]
pub(crate) fn o200k_end(text: &[u8], start: usize) -> usize {
    let (class, width) = class_at(text, start);
    let second = start + width;
    match class {
        NUMBER => number_end(text, second),
        NEWLINE => white_end(text, start),
        SPACE | OTHER => {
            // `[^\r\n\p{L}\p{N}]?` before a word takes any of these, ` ?` before symbols only the space itself.
            let (next, _) = class_at(text, second);
            if next & (LETTER | MARK) != 0 {
                word_end(text, second)
            } else if class == OTHER || next == OTHER && text[start] == b' ' {
                symbols_end(text, second, b"\r\n/")
            } else {
                white_end(text, start)
            }
        }
        // A letter, or a mark. The latter could also be the optional character before the word, with the same end.
        _ => word_end(text, start),
    }
}

/// The end of the piece of `cl100k_base` that starts at `start`, a character boundary before the end of `text`.
#[inline]
#[cfg(feature = "vocab-cl100k")]
pub(crate) fn cl100k_end(text: &[u8], start: usize) -> usize {
    let (class, width) = class_at(text, start);
    let second = start + width;
    match class {
        NUMBER => number_end(text, second),
        NEWLINE => white_to_end(text, start),
        SPACE | OTHER | MARK => {
            // `'(?i:[sdmt]|ll|ve|re)` comes before all else.
            if text[start] == b'\'' {
                let end = contraction_end(text, start);
                if end > start {
                    return end;
                }
            }
            // `[^\r\n\p{L}\p{N}]?+\p{L}++`, then ` ?[^\s\p{L}\p{N}]++[\r\n]*+`.
            let (next, _) = class_at(text, second);
            if next & LETTER != 0 {
                skip(text, second, LETTER)
            } else if class != SPACE || next & SYMBOL != 0 && text[start] == b' ' {
                symbols_end(text, second, b"\r\n")
            } else {
                white_to_end(text, start)
            }
        }
        _ => skip(text, second, LETTER),
    }
}

/// `\p{N}{1,3}`, the first of them before `second`.
fn number_end(text: &[u8], second: usize) -> usize {
    let mut end = second;
    for _ in 0..2 {
        let (class, width) = class_at(text, end);
        if class != NUMBER {
            break;
        }
        end += width;
    }
    end
}

/// The rest of `[^\s\p{L}\p{N}]+[\r\n/]*`, with the characters of `trailing` for the latter.
#[inline]
fn symbols_end(text: &[u8], at: usize, trailing: &[u8]) -> usize {
    let mut end = skip(text, at, SYMBOL);
    while text.get(end).is_some_and(|byte| trailing.contains(byte)) {
        end += 1;
    }
    end
}

/// The two word alternatives of `o200k_base` behind the optional first character. A letter or mark is at `start`.
///
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` wins wherever it matches: either the capitals are
/// followed by small letters, or the first part gives back its characters up to the last one without case. Only pure
/// capitals are left to `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`.
/// Both end in a contraction, if any.
#[inline]
#[cfg(feature = "vocab-o200k")]
fn word_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut after_caseless = start;
    let end = loop {
        let (class, width) = class_at(text, at);
        if class & WORD_START != 0 {
            at += width;
            if class != UPPER {
                after_caseless = at;
            }
        } else if class == LOWER {
            break skip(text, at + width, WORD_REST);
        } else if after_caseless > start {
            break after_caseless;
        } else {
            break at;
        }
    };
    contraction_end(text, end)
}

/// The end of `(?i:'s|'t|'re|'ve|'m|'ll|'d)?` at `at`. The long s, `ſ`, is an `s` to a matcher that ignores case.
#[inline]
fn contraction_end(text: &[u8], at: usize) -> usize {
    let Some([b'\'', letters @ ..]) = text.get(at..) else {
        return at;
    };
    match letters {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => at + 2,
        [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] | [b'l' | b'L', b'l' | b'L', ..] | [0xc5, 0xbf, ..] => at + 3,
        _ => at,
    }
}

/// White space of `o200k_base`: `\s*[\r\n]+`, else `\s+(?!\S)`, else `\s+`.
///
/// That is: up to the last line break of the run; without one, all but the last character, which is left to
/// the word behind it, unless the text or the run is over.
fn white_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut last = start;
    let mut after_newline = start;
    loop {
        let (class, width) = class_at(text, at);
        if class & WHITE == 0 {
            break;
        }
        last = at;
        at += width;
        if class == NEWLINE {
            after_newline = at;
        }
    }
    if after_newline > start {
        after_newline
    } else if at == text.len() || last == start {
        at
    } else {
        last
    }
}

/// White space of `cl100k_base`: `\s++$` first, which takes a run at the end of the text whole.
#[cfg(feature = "vocab-cl100k")]
fn white_to_end(text: &[u8], start: usize) -> usize {
    let end = skip(text, start, WHITE);
    if end == text.len() { end } else { white_end(text, start) }
}

#[cfg(test)]
#[cfg(all(feature = "vocab-cl100k", feature = "vocab-o200k"))]
mod tests {
    use super::*;

    fn pieces(text: &str, end: fn(&[u8], usize) -> usize) -> Vec<&str> {
        let mut start = 0;
        let mut pieces = Vec::new();
        while start < text.len() {
            let end = end(text.as_bytes(), start);
            pieces.push(&text[start..end]);
            start = end;
        }
        pieces
    }

    /// Each case: the pieces of `o200k_base`, then those of `cl100k_base`, separated by `|`.
    #[test]
    fn cuts_where_the_patterns_cut() {
        for (o200k, cl100k) in [
            ("Hello|,| world|!", "Hello|,| world|!"),
            ("Get|HTTPResponse|Now", "GetHTTPResponseNow"),
            ("it's| HE'LL| it'ſ|tar", "it|'s| HE|'LL| it|'ſ|tar"),
            ("日本|A| ab", "日本A| ab"),
            ("e\u{301}a", "e|\u{301}a"),
            ("\u{301}|HTTP", "\u{301}HTTP"),
            ("123|456|7", "123|456|7"),
            ("a|  | b|\t|\tc", "a|  | b|\t|\tc"),
            ("a| \r\n\n| | b", "a| \r\n\n| | b"),
            ("a|\n|  ", "a|\n  "),
            ("//\r\n/|x", "//\r\n|/x"),
        ] {
            for (cut, end) in [(o200k, o200k_end as fn(&[u8], usize) -> usize), (cl100k, cl100k_end)] {
                assert_eq!(pieces(&cut.replace('|', ""), end).join("|"), cut);
            }
        }
    }
}
