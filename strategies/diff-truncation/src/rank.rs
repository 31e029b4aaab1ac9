//! Ranks the lines of a diff.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use epitome_strategy::code::definition;
use epitome_strategy::commands::is_diff_total;
use epitome_strategy::cut::{Focus, fit, is_error_line};
use epitome_strategy::{Tokens, View};

use crate::LISTS;
use crate::diff::{Diff, LineKind};

/// Lock files, generated, minified and vendored files.
static MINOR_FILES: LazyLock<Vec<&str>> = LazyLock::new(|| LISTS.list("minor files"));

/// How many neighbouring changed lines go together: a definition with the lines below it.
const RUN: usize = 4;

// The rank of a line; less is better.
/// Names a file, or says how many there are.
const NAME: u8 = 0;
/// What happens to a file (renamed, new, binary), and the text around the diff.
const ABOUT: u8 = 1;
const HUNK: u8 = 2;
/// A change that matters, with those below it.
const TELLING: u8 = 3;
const CHANGE: u8 = 4;
/// Added to headers beyond their half of the room, and to the changes of files whose names are among those.
const LATER: u8 = 5;
/// Repeats what others say: `index`, `---` below `diff --git`, a file's row in a `--stat`.
const AGAIN: u8 = 10;
const NEAR: u8 = 11;
const FAR: u8 = 12;
/// Added to everything in minor files but headers.
const MINOR: u8 = 20;

/// The ranges of the diff to keep within `room` tokens. Headers go first, for at most half of the room when they need
/// more: names of files and a `--stat`'s total, the text around the diff, hunk headers. Then changes that matter (definitions, error words,
/// words in focus), other changes, the other headers, context next to a change, other context; minor files last. Among
/// equals the files take turns, so that each keeps something. Of a file whose name does not fit nothing stays: it would
/// pass for a part of the file before it. Linear, but for a sort.
pub(crate) fn kept_lines(view: &View<'_>, text: &str, diff: &Diff, focus: &Focus, room: Tokens) -> Vec<Range<u32>> {
    let ranking = Ranking::new(text, diff, focus);
    let pieces: Vec<Range<usize>> = diff.lines.iter().map(|line| line.range.clone()).collect();
    let headers = ranking.order(|_, rank| (rank <= HUNK).then_some(rank));
    let first = fit(view, text, &pieces, headers, room / 2);
    let named = ranking.lines_named(&first);
    let ranked = ranking.order(|index, rank| {
        let is_named = named[diff.lines[index].file as usize];
        let goes_first = is_named && (rank > HUNK || is_kept(&first, &pieces[index]));
        Some(if rank % MINOR <= CHANGE && !goes_first { rank + LATER } else { rank })
    });
    let keep = fit(view, text, &pieces, ranked.iter().copied(), room);
    let named = ranking.lines_named(&keep);
    if named.iter().all(|is_named| *is_named) {
        return keep;
    }
    let of_named = ranked.into_iter().filter(|index| named[diff.lines[*index].file as usize]);
    fit(view, text, &pieces, of_named, room)
}

/// The ranks of a diff's lines.
struct Ranking<'d> {
    diff: &'d Diff,
    /// For each line.
    ranks: Vec<u8>,
    /// The line that names a file, by the file's number; `None` for lines before the first.
    names: Vec<Option<usize>>,
    /// How late a file's name comes among the names, by the file's number: minor files last, those with changes that
    /// matter first.
    late: Vec<u8>,
}

impl<'d> Ranking<'d> {
    fn new(text: &str, diff: &'d Diff, focus: &Focus) -> Self {
        let line_of = |index: usize| &text[diff.lines[index].range.clone()];
        let focus = focus.distinctive((0..diff.lines.len()).map(line_of));
        let names = names(text, diff);
        let is_minor: Vec<bool> = std::iter::once(false).chain(diff.paths.iter().map(|path| is_minor(path))).collect();
        let mut late: Vec<u8> = is_minor.iter().map(|is_minor| if *is_minor { 2 } else { 1 }).collect();
        late[0] = 0;
        let mut ranks = Vec::with_capacity(diff.lines.len());
        let mut run = Run::default();
        for (index, line) in diff.lines.iter().enumerate() {
            let (content, file) = (line_of(index).get(1..).unwrap_or(""), line.file as usize);
            let rank = match line.kind {
                LineKind::File if names[file] == Some(index) => NAME,
                LineKind::File if tells_fate(line_of(index)) => ABOUT,
                LineKind::Outside if is_diff_total(line_of(index)) => NAME,
                LineKind::Outside if !is_stat_row(line_of(index)) => ABOUT,
                LineKind::File | LineKind::Outside => AGAIN,
                LineKind::Hunk => HUNK,
                LineKind::Added | LineKind::Removed => {
                    let matters = is_definition(content) || is_error_line(content) || focus.hits(content) > 0;
                    if matters || run.is_over() {
                        run = Run { left: RUN, rank: if matters { TELLING } else { CHANGE } };
                    }
                    run.left -= 1;
                    run.rank
                }
                LineKind::Context if near_change(diff, index) => NEAR,
                LineKind::Context => FAR,
            };
            if !matches!(line.kind, LineKind::Added | LineKind::Removed) {
                run = Run::default();
            }
            if rank == TELLING && !is_minor[file] {
                late[file] = 0;
            }
            ranks.push(if is_minor[file] && rank > HUNK { rank + MINOR } else { rank });
        }
        Self { diff, ranks, names, late }
    }

    /// The lines, best first, after `rank` had a say in what each is worth; it leaves out those it has none for.
    fn order(&self, rank: impl Fn(usize, u8) -> Option<u8>) -> Vec<usize> {
        let mut turns: HashMap<(u8, u32), u32> = HashMap::new();
        let mut keys = Vec::with_capacity(self.ranks.len());
        for (index, own) in self.ranks.iter().enumerate() {
            let Some(rank) = rank(index, *own) else { continue };
            let file = self.diff.lines[index].file;
            let turn = turns.entry((rank, file)).or_default();
            *turn += 1;
            let late = if *own == NAME { self.late[file as usize] } else { 0 };
            keys.push((rank, late, *turn / RUN as u32, index));
        }
        keys.sort_unstable();
        keys.into_iter().map(|(.., index)| index).collect()
    }

    /// Whether a file's name is kept, by the file's number; true where no line names it.
    fn lines_named(&self, keep: &[Range<u32>]) -> Vec<bool> {
        let lines = &self.diff.lines;
        self.names.iter().map(|name| name.is_none_or(|index| is_kept(keep, &lines[index].range))).collect()
    }
}

/// Whether a line is among the ranges kept. Logarithmic.
pub(crate) fn is_kept(keep: &[Range<u32>], line: &Range<usize>) -> bool {
    let next = keep.partition_point(|range| (range.end as usize) < line.end);
    keep.get(next).is_some_and(|range| range.start as usize <= line.start)
}

#[derive(Default)]
struct Run {
    left: usize,
    rank: u8,
}

impl Run {
    fn is_over(&self) -> bool {
        self.left == 0
    }
}

/// The line that names each file, by the file's number: the first of `diff --git`, `*** Update File`, else `+++`, else
/// `---` of a file that was deleted.
fn names(text: &str, diff: &Diff) -> Vec<Option<usize>> {
    let mut names: Vec<Option<(u8, usize)>> = vec![None; diff.paths.len() + 1];
    for (index, line) in diff.lines.iter().enumerate().filter(|(_, line)| line.kind == LineKind::File) {
        let content = &text[line.range.clone()];
        let quality = match content.get(..4) {
            Some("diff") => 0,
            Some("*** ") if line.file > 0 && content.contains(" File: ") => 0,
            Some("+++ ") if !content.starts_with("+++ /dev/null") => 1,
            Some("--- ") => 2,
            _ => continue,
        };
        let name = &mut names[line.file as usize];
        if name.is_none_or(|(best, _)| quality < best) {
            *name = Some((quality, index));
        }
    }
    names.into_iter().map(|name| name.map(|(_, index)| index)).collect()
}

/// Whether a line of a file's header reports its fate: `index 1..2` and old modes are less informative.
fn tells_fate(line: &str) -> bool {
    let starts = ["*** ", "rename ", "copy ", "new file ", "deleted file ", "new mode ", "Binary ", "GIT binary "];
    starts.iter().any(|start| line.starts_with(start))
}

/// Whether a line is a file's row in a `--stat`: ` src/a.rs | 12 ++--`, ` a.png | Bin 0 -> 12 bytes`.
fn is_stat_row(line: &str) -> bool {
    let Some((path, change)) = line.rsplit_once(" | ") else { return false };
    let change = change.trim();
    let is_graph = |char: char| matches!(char, '+' | '-' | ' ') || char.is_ascii_digit();
    let counts = change.starts_with(|char: char| char.is_ascii_digit()) && change.chars().all(is_graph);
    path.starts_with(' ') && (counts || change.starts_with("Bin"))
}

fn is_minor(path: &str) -> bool {
    MINOR_FILES.iter().any(|name| match name.strip_suffix('/') {
        Some(folder) => path.split('/').rev().skip(1).any(|part| part == folder),
        None => path.ends_with(name),
    })
}

fn near_change(diff: &Diff, index: usize) -> bool {
    let is_change = |index: usize| {
        diff.lines.get(index).is_some_and(|line| matches!(line.kind, LineKind::Added | LineKind::Removed))
    };
    is_change(index + 1) || index.checked_sub(1).is_some_and(is_change)
}

/// Whether a line defines something: a function, a type, a table, a decorated or annotated item.
fn is_definition(content: &str) -> bool {
    let line = content.trim_start();
    if line.starts_with('@') || line.starts_with("#[") {
        return true;
    }
    definition(line).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions() {
        let check = |line: &str, expect: bool| assert_eq!(is_definition(line), expect, "{line}");
        check("pub(crate) async fn run() {", true);
        check("    def parse(self):", true);
        check("export default function App() {", true);
        check("@app.route('/x')", true);
        check("let x = 1;", false);
        check("// a function", false);
    }

    #[test]
    fn minor_files() {
        let check = |path: &str, expect: bool| assert_eq!(is_minor(path), expect, "{path}");
        check("Cargo.lock", true);
        check("web/package-lock.json", true);
        check("a/node_modules/b/c.js", true);
        check("src/lock.rs", false);
        check("src/vendor.rs", false);
    }

    #[test]
    fn stat_rows() {
        let check = |line: &str, expect: bool| {
            assert_eq!(is_stat_row(line), expect, "{line}");
            assert!(!(expect && is_diff_total(line)), "{line}");
        };
        assert!(is_diff_total(" 1 file changed, 2 deletions(-)\n") && !is_diff_total("12 files were read"));
        check(" ledger/cli.py  | 34 ++++++----\n", true);
        check(" old.png | Bin 12 -> 0 bytes", true);
        check(" mode.sh | 0", true);
        check(" 25 files changed, 622 insertions(+), 46 deletions(-)", false);
        check("    a | b", false);
        check("make | 12", false);
    }
}
