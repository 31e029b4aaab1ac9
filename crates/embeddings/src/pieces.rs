//! Cuts texts into the pieces that have a row in the table; `tools/distill/units.py` does the same.

use crate::table::{Block, Table};

/// The score of a Han character without a row: less likely than any piece, so that it never breaks one up.
const UNKNOWN_HAN: f32 = -16.0;

/// The most letters of a word that are looked up; a longer one is data, and its first letters are enough.
const MAX_WORD_BYTES: usize = 64;

/// The prefix of a piece that continues a word.
const MARKS: &str = "##";

/// Buffers that are used again for each text.
#[derive(Debug, Default)]
pub(crate) struct Cutter {
    inner: String,
    starts: Vec<usize>,
    best: Vec<f32>,
    back: Vec<(usize, u32)>,
}

impl Cutter {
    /// Calls `found` with each piece of `word`: the longest known one first, `##` before those inside. `word` is ASCII and
    /// lower case; a letter that begins no piece is left out.
    pub(crate) fn latin(&mut self, block: &Block, word: &str, mut found: impl FnMut(u32)) {
        let word = &word[..word.len().min(MAX_WORD_BYTES)];
        let mut start = 0;
        while start < word.len() {
            let marks = if start == 0 { 0 } else { MARKS.len() };
            self.inner.clear();
            self.inner.push_str(&MARKS[..marks]);
            self.inner.push_str(&word[start..]);
            let known = (marks + 1..=self.inner.len())
                .rev()
                .find_map(|end| block.find(&self.inner[..end]).map(|piece| (piece, end - marks)));
            start += match known {
                Some((piece, length)) => {
                    found(piece);
                    length
                }
                None => 1,
            };
        }
    }

    /// Calls `found` with the pieces of a run of Han characters, cut in the most probable way (Viterbi), last one first.
    pub(crate) fn han(&mut self, table: &Table, run: &str, mut found: impl FnMut(u32)) {
        self.starts.clear();
        self.starts.extend(run.char_indices().map(|(at, _)| at));
        self.starts.push(run.len());
        let n_characters = self.starts.len() - 1;
        self.best.clear();
        self.best.resize(n_characters + 1, f32::NEG_INFINITY);
        self.best[0] = 0.0;
        self.back.clear();
        self.back.resize(n_characters + 1, (0, u32::MAX));
        for start in 0..n_characters {
            for length in 1..=table.longest_han.min(n_characters - start) {
                let text = &run[self.starts[start]..self.starts[start + length]];
                let (score, piece) = match table.han.find(text) {
                    Some(piece) => (table.han.score(piece), piece),
                    None if length == 1 => (UNKNOWN_HAN, u32::MAX),
                    None => continue,
                };
                let score = self.best[start] + score;
                if score > self.best[start + length] {
                    self.best[start + length] = score;
                    self.back[start + length] = (start, piece);
                }
            }
        }
        let mut end = n_characters;
        while end > 0 {
            let (start, piece) = self.back[end];
            if piece != u32::MAX {
                found(piece);
            }
            end = start;
        }
    }
}

/// Returns the parts of a name: `parseHTTPHeader2` is parse, HTTP, Header, 2. `name` is ASCII letters and digits.
pub(crate) fn parts_of_name(name: &str) -> impl Iterator<Item = &str> {
    let bytes = name.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        let first = *bytes.get(start)?;
        let run = |from: usize, is: fn(&u8) -> bool| from + bytes[from..].iter().take_while(|byte| is(byte)).count();
        let end = if first.is_ascii_digit() {
            run(start, u8::is_ascii_digit)
        } else {
            let capitals = run(start, u8::is_ascii_uppercase);
            match capitals - start {
                0 | 1 => run(start + 1, u8::is_ascii_lowercase).max(capitals),
                // The last capital begins the word that continues in small letters.
                _ if bytes.get(capitals).is_some_and(u8::is_ascii_lowercase) => capitals - 1,
                _ => capitals,
            }
        };
        let part = &name[start..end];
        start = end;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_fall_apart() {
        let cases = [
            ("parseHTTPHeader2", "parse HTTP Header 2"),
            ("OrderBook", "Order Book"),
            ("ALLCAPS", "ALLCAPS"),
            ("aB", "a B"),
            ("x86", "x 86"),
            ("Word", "Word"),
            ("", ""),
        ];
        for (name, expect) in cases {
            assert_eq!(parts_of_name(name).collect::<Vec<_>>().join(" "), expect);
        }
    }

    #[test]
    fn pieces_of_words() {
        let check = |word: &str, expect: &str| {
            let table = Table::shipped().unwrap();
            let mut found = Vec::new();
            Cutter::default().latin(&table.latin, word, |piece| found.push(table.latin.text(piece)));
            assert_eq!(found.join(" "), expect, "{word}");
        };
        check("compaction", "compact ##ion");
        check("tokens", "token ##s");
        check("a", "a");
        check("", "");
    }

    #[test]
    fn pieces_of_chinese() {
        let check = |run: &str, expect: &str| {
            let table = Table::shipped().unwrap();
            let mut found = Vec::new();
            Cutter::default().han(table, run, |piece| found.push(table.han.text(piece)));
            found.reverse();
            assert_eq!(found.join(" "), expect, "{run}");
        };
        check("数据库服务器", "数据库 服务器");
        check("我们", "我们");
        check("", "");
    }
}
