//! Reading diffs: unified, combined (`diff --cc`), and patches in the `*** Begin Patch` form.

use std::ops::Range;
use std::sync::LazyLock;

use epitome_strategy::text::lines;

use crate::LISTS;

/// The kind of a line in a text with a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Text around the diff: a commit's message, a `--stat`.
    Outside,
    /// Names a file, or reports its fate.
    File,
    /// Starts a hunk.
    Hunk,
    /// Only in the new version.
    Added,
    /// Only in the old version.
    Removed,
    /// In both.
    Context,
}

/// One line.
#[derive(Debug)]
pub(crate) struct Line {
    /// Its bytes, the line feed included.
    pub(crate) range: Range<usize>,
    pub(crate) kind: LineKind,
    /// The number of its file in the diff; that of the line before for text outside, 0 before the first.
    pub(crate) file: u32,
}

/// A text with at least one hunk or file of a diff.
#[derive(Debug)]
pub(crate) struct Diff {
    pub(crate) lines: Vec<Line>,
    /// The files' paths, as the diff spells them; `file` counts from 1.
    pub(crate) paths: Vec<String>,
}

/// What a diff says in numbers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) files: usize,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

impl Diff {
    /// Returns the diff in `text`, or `None` when there is none. Linear.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { text, state: State::Outside, lines: Vec::new(), paths: Vec::new(), hunks: 0 };
        let ranges: Vec<Range<usize>> = lines(text).collect();
        for (index, range) in ranges.iter().enumerate() {
            let next = ranges.get(index + 1).map_or("", |range| bare_path(&text[range.clone()]));
            reader.line(range.clone(), next);
        }
        let is_diff = !reader.paths.is_empty() || reader.hunks > 0;
        is_diff.then_some(Self { lines: reader.lines, paths: reader.paths })
    }

    /// Returns how many files there are, and the added and removed lines among those that `counts`.
    pub(crate) fn totals(&self, counts: impl Fn(&Range<usize>) -> bool) -> Totals {
        let mut totals = Totals { files: self.paths.len(), ..Totals::default() };
        for line in self.lines.iter().filter(|line| counts(&line.range)) {
            totals.added += usize::from(line.kind == LineKind::Added);
            totals.removed += usize::from(line.kind == LineKind::Removed);
        }
        totals
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// Between a file's header and its first hunk.
    Header,
    /// In a hunk that has this many old and new lines left.
    Hunk {
        old: u64,
        new: u64,
    },
    /// In a hunk whose length is not known: of a combined diff (with the number of its parents), or damaged.
    Open {
        columns: usize,
    },
    /// In a patch of the `*** Begin Patch` form.
    Patch,
}

struct Reader<'t> {
    text: &'t str,
    state: State,
    lines: Vec<Line>,
    paths: Vec<String>,
    hunks: u32,
}

/// A line without its line feed and carriage return.
fn bare_path(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

/// Starts of the lines between `diff --git` and the first hunk.
static HEADERS: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("headers"));

impl Reader<'_> {
    fn line(&mut self, range: Range<usize>, next: &str) {
        let text = self.text;
        let line = bare_path(&text[range.clone()]);
        let kind = self.kind(line, next);
        self.lines.push(Line { range, kind, file: self.paths.len() as u32 });
    }

    fn kind(&mut self, line: &str, next: &str) -> LineKind {
        // The counts in its header say where a hunk ends, so that a removed line `-- x` is not a header.
        if let State::Hunk { old, new } = &mut self.state {
            let kind = match line.as_bytes().first() {
                Some(b'+') if *new > 0 => LineKind::Added,
                Some(b'-') if *old > 0 => LineKind::Removed,
                Some(b'\\') => return LineKind::Context,
                Some(b' ') | None if *old > 0 && *new > 0 => LineKind::Context,
                _ => {
                    // Fewer lines than announced: the diff was cut off or written by hand.
                    self.state = State::Open { columns: 1 };
                    return self.kind(line, next);
                }
            };
            *old -= u64::from(kind != LineKind::Added);
            *new -= u64::from(kind != LineKind::Removed);
            if *old == 0 && *new == 0 {
                self.state = State::Header; // another hunk may follow
            }
            return kind;
        }
        if line.starts_with("diff --git ") || line.starts_with("diff --cc ") || line.starts_with("diff --combined ") {
            self.paths.push(path_of_git_header(line));
            self.state = State::Header;
            return LineKind::File;
        }
        if line == "*** Begin Patch" {
            self.state = State::Patch;
            return LineKind::File;
        }
        if line.starts_with("@@") && self.state != State::Patch && self.open_hunk(line) {
            self.hunks += 1;
            return LineKind::Hunk;
        }
        if line.starts_with("--- ") && next.starts_with("+++ ") {
            // With a `diff --git` line in front the file is known already.
            if self.state != State::Header || self.lines.last().is_none_or(|last| last.kind != LineKind::File) {
                self.paths.push(path_of_new_line(next));
            }
            self.state = State::Header;
            return LineKind::File;
        }
        match self.state {
            State::Outside => LineKind::Outside,
            State::Patch => self.patch_line(line),
            State::Open { columns } => match marks(line, columns) {
                Some(kind) => kind,
                None => self.leave(),
            },
            State::Header | State::Hunk { .. } => {
                if line.starts_with('\\') {
                    LineKind::Context // "\ No newline at end of file" behind the last line of a hunk
                } else if HEADERS.iter().any(|header| line.starts_with(header)) {
                    LineKind::File
                } else {
                    self.leave()
                }
            }
        }
    }

    fn leave(&mut self) -> LineKind {
        self.state = State::Outside;
        LineKind::Outside
    }

    /// Reads a hunk's header: `@@ -1,2 +3,4 @@`, or `@@@ -1,2 -1,2 +3,4 @@@` of a combined diff.
    fn open_hunk(&mut self, line: &str) -> bool {
        let columns = line.bytes().take_while(|byte| *byte == b'@').count() - 1;
        let mut words = line[columns + 1..].split_whitespace();
        let ranges: Option<Vec<u64>> = words.by_ref().take(columns + 1).map(count_of).collect();
        self.state = match ranges.as_deref() {
            Some([old, new]) if columns == 1 && old + new > 0 => State::Hunk { old: *old, new: *new },
            // A header without numbers is one of a patch written by a model.
            _ => State::Open { columns },
        };
        columns > 1 || line[2..].trim().is_empty() || ranges.is_some()
    }

    fn patch_line(&mut self, line: &str) -> LineKind {
        let starts = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
        if let Some(path) = starts.iter().find_map(|start| line.strip_prefix(start)) {
            self.paths.push(path.trim().to_owned());
            return LineKind::File;
        }
        if line == "*** End Patch" {
            self.state = State::Outside;
            return LineKind::File;
        }
        if line.starts_with("*** ") {
            return LineKind::File;
        }
        if line.starts_with("@@") {
            self.hunks += 1;
            return LineKind::Hunk;
        }
        marks(line, 1).unwrap_or(LineKind::Context)
    }
}

/// Returns the kind of a hunk's line by its first `columns` characters; `None` when they are not marks.
fn marks(line: &str, columns: usize) -> Option<LineKind> {
    if line.is_empty() || line.starts_with('\\') {
        return Some(LineKind::Context);
    }
    let marks = &line.as_bytes()[..columns.min(line.len())];
    match marks {
        _ if !marks.iter().all(|mark| matches!(mark, b' ' | b'+' | b'-')) => None,
        _ if marks.contains(&b'+') => Some(LineKind::Added),
        _ if marks.contains(&b'-') => Some(LineKind::Removed),
        _ => Some(LineKind::Context),
    }
}

/// Returns the number of lines in `-12,5` or `+12`.
fn count_of(word: &str) -> Option<u64> {
    let numbers = word.strip_prefix(['-', '+'])?;
    match numbers.split_once(',') {
        Some((start, count)) => start.parse::<u64>().ok().and(count.parse().ok()),
        None => numbers.parse::<u64>().ok().map(|_| 1),
    }
}

/// Returns the new path in `diff --git a/x b/x`, `diff --cc x`.
fn path_of_git_header(line: &str) -> String {
    let path = match line.rsplit_once(" b/") {
        Some((_, path)) => path,
        None => line.rsplit(' ').next().unwrap_or(line),
    };
    path.trim_matches('"').to_owned()
}

/// Returns the path in `+++ b/x`, without a time behind it.
fn path_of_new_line(line: &str) -> String {
    let path = line.trim_start_matches("+++ ");
    let path = path.split('\t').next().unwrap_or(path).trim();
    path.strip_prefix("b/").unwrap_or(path).to_owned()
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
