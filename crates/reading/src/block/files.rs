//! The files that old calls named.

use std::collections::HashSet;
use std::fmt::Write as _;

use epitome_strategy::{Language, Tokens, View};

use crate::file_work::{FileWork, file_work};

/// The most files in the list that were only read: the lines name older ones where they matter.
const MOST_READ: usize = 12;
/// The separator of two paths.
const BETWEEN: &str = ", ";

/// The files that old calls named, newest first.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// By what was done to them last.
    paths: [Vec<String>; 3],
}

const CHANGED: usize = 0;
const DELETED: usize = 1;
const READ: usize = 2;

/// How the line of each kind begins, in English and Chinese.
const LABELS: [[&str; 2]; 3] = [["changed: ", "已修改: "], ["deleted: ", "已删除: "], ["read: ", "已读取: "]];

fn kind_of(file: &FileWork) -> usize {
    match (file.is_deleted, file.is_changed) {
        (true, _) => DELETED,
        (false, true) => CHANGED,
        (false, false) => READ,
    }
}

impl Files {
    /// Returns as many as fit into `budget` tokens of the files that calls of a run's units named, changed ones first; those
    /// in an `earlier` block's list come last, and those that are `listed` elsewhere are left out. Linear.
    pub(super) fn new(
        view: &View<'_>,
        is_of_run: impl Fn(u32) -> bool,
        earlier: &Self,
        listed: &Self,
        budget: Tokens,
    ) -> Self {
        let mut files = Self::default();
        let mut seen: HashSet<&str> = listed.paths().collect();
        let mut left = budget;
        let work = file_work(view.facts(), |call| is_of_run(call.unit));
        let is_kind = |kind: usize| move |file: &&FileWork| kind == kind_of(file);
        for kind in [CHANGED, DELETED, READ] {
            let of_calls = work.iter().rev().filter(is_kind(kind)).map(|file| &file.path);
            for path in of_calls.chain(&earlier.paths[kind]) {
                if kind == READ && files.paths[kind].len() == MOST_READ {
                    break;
                }
                let tokens = view.count(path) + 2;
                if tokens > left || !seen.insert(path) {
                    continue;
                }
                left -= tokens;
                files.paths[kind].push(path.clone());
            }
        }
        files
    }

    /// Adds the files of another list.
    pub(super) fn append(&mut self, other: &Self) {
        for (paths, others) in self.paths.iter_mut().zip(&other.paths) {
            paths.extend_from_slice(others);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths().next().is_none()
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().flatten().map(String::as_str)
    }

    /// Returns the tokens of the list, rather too many than too few.
    pub(super) fn tokens(&self, view: &View<'_>) -> Tokens {
        self.paths().map(|path| view.count(path) + 2).sum()
    }

    /// Returns the list, one line for each way in which files were used.
    pub(super) fn write(&self, language: Language) -> String {
        let mut text = String::new();
        for ([english, chinese], paths) in LABELS.iter().zip(&self.paths) {
            if !paths.is_empty() {
                let _ = writeln!(text, "{}{}", language.pick(english, chinese), paths.join(BETWEEN));
            }
        }
        text
    }

    /// Adds the files in a line of an earlier block's list; other lines have none.
    pub(super) fn read_line(&mut self, line: &str) {
        for (labels, paths) in LABELS.iter().zip(&mut self.paths) {
            if let Some(listed) = labels.iter().find_map(|label| line.strip_prefix(label)) {
                paths.extend(listed.split(BETWEEN).map(str::to_owned));
                return;
            }
        }
    }
}
