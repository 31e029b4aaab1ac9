//! Which lines of a diff matter.

use std::collections::HashMap;

use epitome_strategy::cut::{Focus, is_error_line};

use crate::diff::{Diff, LineKind};

/// Lock files, generated, minified and vendored files.
pub(crate) const MINOR_FILES: &[&str] = &[
    ".lock",
    "package-lock.json",
    "pnpm-lock.yaml",
    "go.sum",
    ".min.js",
    ".min.css",
    ".map",
    ".snap",
    ".svg",
    ".pb.go",
    "_pb2.py",
    ".generated.ts",
    ".g.dart",
    "vendor/",
    "node_modules/",
    "third_party/",
    "dist/",
    "target/",
    "generated/",
];

/// How many changed lines in a row go together: a definition with what stands below it.
const RUN: usize = 4;

/// The positions of the diff's lines, most important first: file headers and the text around the diff, hunk headers,
/// then changes that matter (definitions, error words, words in focus), other changes, context next to a change, other
/// context; minor files last. Among equals the files take turns, so that each keeps something. Linear, but for a sort.
pub(crate) fn ranked(text: &str, diff: &Diff, focus: &Focus, minor_files: &[String]) -> Vec<usize> {
    let minor: Vec<bool> = diff.paths.iter().map(|path| is_minor(path, minor_files)).collect();
    let is_minor = |file: u32| file.checked_sub(1).is_some_and(|file| minor[file as usize]);
    let line_of = |index: usize| &text[diff.lines[index].range.clone()];
    let focus = focus.telling((0..diff.lines.len()).map(line_of));
    let mut keys = Vec::with_capacity(diff.lines.len());
    let mut turns: HashMap<(u8, u32), u32> = HashMap::new();
    let mut run = Run::default();
    for (index, line) in diff.lines.iter().enumerate() {
        let content = line_of(index).get(1..).unwrap_or("");
        let rank = match line.kind {
            LineKind::File => u8::from(!names_file(line_of(index))),
            LineKind::Outside => 1,
            LineKind::Hunk => 2,
            LineKind::Added | LineKind::Removed => {
                let matters = is_definition(content) || is_error_line(content) || focus.hits(content) > 0;
                let starts = matters || run.is_over();
                if starts {
                    run = Run { left: RUN, rank: if matters { 3 } else { 4 } };
                }
                run.left -= 1;
                run.rank
            }
            LineKind::Context => {
                if near_change(diff, index) {
                    5
                } else {
                    6
                }
            }
        };
        if !matches!(line.kind, LineKind::Added | LineKind::Removed) {
            run = Run::default();
        }
        let rank = if is_minor(line.file) && rank > 2 { rank + 10 } else { rank };
        let turn = turns.entry((rank, line.file)).or_default();
        *turn += 1;
        keys.push((rank, *turn / RUN as u32, index));
    }
    keys.sort_unstable();
    keys.into_iter().map(|(_, _, index)| index).collect()
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

/// Whether a file's line names it: of the others (`index 1..2`, modes) a reader learns less.
fn names_file(line: &str) -> bool {
    ["diff ", "+++ ", "*** ", "rename ", "Binary "].iter().any(|start| line.starts_with(start))
}

fn is_minor(path: &str, minor_files: &[String]) -> bool {
    minor_files.iter().any(|name| match name.strip_suffix('/') {
        Some(folder) => path.split('/').rev().skip(1).any(|part| part == folder),
        None => path.ends_with(name.as_str()),
    })
}

fn near_change(diff: &Diff, index: usize) -> bool {
    let is_change = |index: usize| {
        diff.lines.get(index).is_some_and(|line| matches!(line.kind, LineKind::Added | LineKind::Removed))
    };
    is_change(index + 1) || index.checked_sub(1).is_some_and(is_change)
}

/// Words with which definitions start, in the languages that agents write most.
const DEFINING: &[&str] = &[
    "fn",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "impl",
    "func",
    "function",
    "interface",
    "type",
    "module",
    "mod",
    "const",
    "static",
    "macro_rules!",
    "CREATE",
    "ALTER",
    "namespace",
    "package",
    "message",
    "service",
    "template",
];

/// Words that may stand in front of those.
const MODIFIERS: &[&str] = &[
    "pub",
    "pub(crate)",
    "pub(super)",
    "export",
    "default",
    "async",
    "public",
    "private",
    "protected",
    "abstract",
    "final",
    "static",
    "unsafe",
    "extern",
    "override",
    "virtual",
    "inline",
    "declare",
];

/// Whether a line defines something: a function, a type, a table, a decorated or annotated item.
fn is_definition(content: &str) -> bool {
    let line = content.trim_start();
    if line.starts_with('@') || line.starts_with("#[") {
        return true;
    }
    let mut words = line.split_whitespace().take(5).skip_while(|word| MODIFIERS.contains(word) && *word != "static");
    words.next().is_some_and(|word| DEFINING.contains(&word) || word.starts_with("impl<"))
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
        check("impl<T> From<T> for U {", true);
        check("@app.route('/x')", true);
        check("let x = 1;", false);
        check("// a function", false);
    }

    #[test]
    fn minor_files() {
        let names: Vec<String> = MINOR_FILES.iter().map(|name| (*name).to_owned()).collect();
        let check = |path: &str, expect: bool| assert_eq!(is_minor(path, &names), expect, "{path}");
        check("Cargo.lock", true);
        check("web/package-lock.json", true);
        check("a/node_modules/b/c.js", true);
        check("src/lock.rs", false);
        check("src/vendor.rs", false);
    }
}
