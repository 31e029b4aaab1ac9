//! Which parts of a text a shortened version keeps.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::lists::LISTS;
use crate::text;

/// A piece that follows a gap has at least this many bytes, is a whole line, or ends the text: letter by letter almost
/// any text could be found in almost any other.
const SHORTEST_PIECE: usize = 8;
/// Bytes of a piece that are searched for where no whole line is found.
const PROBE: usize = 24;
/// How many places of one line are compared.
const MOST_PLACES: usize = 8;
/// Bytes by which such places are compared.
const LOOKED_AT: usize = 4_096;
/// Bytes of the longest mark.
const LONGEST_MARK: usize = 200;

/// Words that identify a short line or a text in brackets as a mark.
static MARK_WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("marks"));

/// Returns the byte ranges of `old` that `new` consists of, without the marks of `new`; the error is the byte of `new`
/// that is neither part of `old` nor of a mark.
///
/// Every search starts where the last one ended, and one that finds nothing ends the comparison, so the cost is linear
/// in both texts beside the sorting of lines.
pub(super) fn shortened(old: &str, new: &str) -> Result<Vec<Range<u32>>, usize> {
    let mut search = Search { old, new, lines: HashMap::new(), kept: Vec::new(), at: 0, cursor: 0, marked: false };
    for line in text::lines(old) {
        search.lines.entry(&old[line.clone()]).or_default().push(line.start);
    }
    search.run()?;
    let kept: usize = search.kept.iter().map(Range::len).sum();
    // A text that is whole, or longer with an insertion, was not shortened.
    if kept >= old.len() {
        return Err(0);
    }
    Ok(search.kept.iter().map(|range| range.start as u32..range.end as u32).collect())
}

/// Whether a text is only a mark for an omission.
pub(super) fn is_mark(text: &str) -> bool {
    let text = text.trim();
    mark_length(text) == text.len() && !text.is_empty()
}

struct Search<'t> {
    old: &'t str,
    new: &'t str,
    /// The starts of each line of `old`.
    lines: HashMap<&'t str, Vec<usize>>,
    kept: Vec<Range<usize>>,
    /// How far `new` has been read.
    at: usize,
    /// How far `old` has been read.
    cursor: usize,
    /// Whether a mark was read last.
    marked: bool,
}

impl<'t> Search<'t> {
    fn run(&mut self) -> Result<(), usize> {
        while self.at < self.new.len() {
            let rest = &self.new[self.at..];
            let end = self.old.len() - rest.len().min(self.old.len());
            if end >= self.cursor && self.old.ends_with(rest) && !part(rest, LONGEST_MARK).trim().is_empty() {
                self.keep(end, rest.len());
                return Ok(());
            }
            let here = self.whole_lines(self.cursor, common_prefix(rest, &self.old[self.cursor..]));
            let here = self.before_mark(here);
            // Text is missing at a mark: the next piece need not follow right here.
            let line = if self.marked { self.line_place() } else { None };
            let cut_off = here > 0 && mark_length(&rest[here..]) > 0;
            if line.is_none() && (here >= SHORTEST_PIECE || self.ends_line(here) || cut_off) {
                self.keep(self.cursor, here);
            } else if let Some(place) = line.or_else(|| self.line_place()) {
                let length = self.whole_lines(place, common_prefix(rest, &self.old[place..]));
                self.keep(place, length);
            } else if let mark @ 1.. = mark_length(rest) {
                // A mark on a line of its own ends with the line; one within a line may have spaces around it.
                let behind = &rest[mark..];
                let skipped = match self.is_line_start() && behind.starts_with('\n') {
                    true => 1,
                    false => behind.len() - behind.trim_start_matches(' ').len(),
                };
                self.at += mark + skipped;
                self.marked = true;
            } else if let Some((place, length)) = self.probe() {
                self.keep(place, length);
            } else if let Some(space) = rest.chars().next().filter(|char| char.is_whitespace()) {
                self.at += space.len_utf8();
            } else {
                return Err(self.at);
            }
        }
        Ok(())
    }

    fn keep(&mut self, place: usize, length: usize) {
        let length = match self.before_mark(length) {
            0 => length,
            shorter => shorter,
        };
        let range = place..place + length;
        match self.kept.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.kept.push(range),
        }
        self.at += length;
        self.cursor = place + length;
        self.marked = false;
    }

    /// Whether the next `length` bytes are lines up to their end.
    fn ends_line(&self, length: usize) -> bool {
        length > 0 && self.is_line_start() && self.new[..self.at + length].ends_with('\n')
    }

    fn is_line_start(&self) -> bool {
        self.at == 0 || self.new.as_bytes()[self.at - 1] == b'\n'
    }

    /// Returns a match of `length` bytes at `place`, ended at the start of a line that it breaks off in and that is
    /// whole further down: two lines that begin with the same white space are two lines.
    fn whole_lines(&self, place: usize, length: usize) -> usize {
        let end = self.at + length;
        if end == self.new.len() || length == 0 || self.new[..end].ends_with('\n') {
            return length;
        }
        let start = match self.new[self.at..end].rfind('\n') {
            Some(feed) => self.at + feed + 1,
            None if self.is_line_start() => self.at,
            None => return length,
        };
        let line = line_at(self.new, start);
        let behind = place + (start - self.at);
        let stands = self.lines.get(line).is_some_and(|places| places.last().is_some_and(|last| *last > behind));
        if stands { start - self.at } else { length }
    }

    /// Returns a match of `length` bytes, ended in front of a mark that reaches beyond it: `old` may happen to contain
    /// the mark's first bracket as well.
    fn before_mark(&self, length: usize) -> usize {
        let end = self.at + length;
        if end == self.new.len() {
            return length;
        }
        let start = self.new.ceil_char_boundary(self.at.max(end.saturating_sub(LONGEST_MARK)));
        let reaches = |(at, char): (usize, char)| {
            let at = start + at;
            let opens = matches!(char, '…' | '.' | '[' | '(' | '<');
            (opens && at + mark_length(&self.new[at..]) > end).then_some(at - self.at)
        };
        self.new[start..end].char_indices().find_map(reaches).unwrap_or(length)
    }

    /// Returns where in `old`, from the cursor on, the current line of `new` occurs whole: of the first few places the
    /// one with the longest match behind it.
    fn line_place(&self) -> Option<usize> {
        if !self.is_line_start() {
            return None;
        }
        let rest = &self.new[self.at..];
        let line = line_at(self.new, self.at);
        // A blank line occurs everywhere.
        if line.trim().is_empty() {
            return None;
        }
        let places = self.lines.get(line)?;
        let first = places.partition_point(|place| *place < self.cursor);
        let same = |place: &usize| common_prefix(part(rest, LOOKED_AT), part(&self.old[*place..], LOOKED_AT));
        // `max_by_key` takes the last of the best, and the first is nearer.
        places[first..].iter().take(MOST_PLACES).rev().max_by_key(|place| same(place)).copied()
    }

    /// Returns where in `old`, from the cursor on, the next few words of `new` occur, and how much is the same from
    /// there on.
    fn probe(&self) -> Option<(usize, usize)> {
        let rest = &self.new[self.at..];
        let line = line_at(part(rest, 2 * LONGEST_MARK), 0);
        let line = line.strip_suffix('\n').unwrap_or(line);
        // A mark that the author set behind a piece is not part of it.
        let piece = &line[..mark_place(line).unwrap_or(line.len())];
        let probe = part(piece, PROBE);
        let closed = piece.len() < line.len() || (self.at > 0 && probe.len() == rest.trim_end().len());
        if probe.trim().is_empty() || (probe.len() < SHORTEST_PIECE && !closed) {
            return None;
        }
        let place = self.cursor + self.old[self.cursor..].find(probe)?;
        Some((place, common_prefix(rest, &self.old[place..])))
    }
}

/// Returns the first `length` bytes of a text, or a few less.
fn part(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length.min(text.len()))]
}

/// Returns the line that starts at `start`, with its line feed.
fn line_at(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    rest.find('\n').map_or(rest, |feed| &rest[..=feed])
}

/// Returns how many bytes two texts have in common from their start, in whole characters.
fn common_prefix(left: &str, right: &str) -> usize {
    let same = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    left.floor_char_boundary(same)
}

/// Returns where in a line a mark begins that follows some text.
fn mark_place(line: &str) -> Option<usize> {
    let starts = line.char_indices().filter(|(_, char)| matches!(char, '…' | '.' | '[' | '(' | '<'));
    starts.map(|(at, _)| at).find(|at| *at > 0 && mark_length(&line[*at..]) > 0)
}

/// Returns how many bytes at the start of a text are a mark: dots, a text in brackets with dots or a word for an
/// omission, or a short line with one. 0 where there is no mark.
fn mark_length(text: &str) -> usize {
    let dots = text.len() - text.trim_start_matches('…').len();
    if dots > 0 {
        return dots;
    }
    let dots = text.len() - text.trim_start_matches('.').len();
    if dots >= 3 {
        return dots;
    }
    let line = line_at(part(text, 2 * LONGEST_MARK), 0).trim_end();
    let says_so = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.contains('…') || text.contains("...") || MARK_WORDS.iter().any(|word| text.contains(word))
    };
    let close = match line.chars().next() {
        Some('[') => ']',
        Some('(') => ')',
        Some('<') => '>',
        Some(_) | None => {
            let short = line.len() <= LONGEST_MARK / 2 && line.starts_with(['-', '=', '#', '/', '*', '~']);
            return if short && says_so(line) { line.len() } else { 0 };
        }
    };
    match line.find(close) {
        Some(end) if end <= LONGEST_MARK && says_so(&line[..end]) => end + 1,
        Some(_) | None => 0,
    }
}
