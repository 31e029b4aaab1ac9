//! The file of `--jsonl`: rows are appended while a run lasts, and in the end it has them in the order of the tables.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use epitome_eval::Row;

use crate::failure::Failure;
use crate::output::Target;
use crate::paths;

/// Where rows go while a run lasts.
#[derive(Debug)]
pub(super) struct RowsFile {
    path: PathBuf,
    target: Target,
    /// Made with the first row.
    file: Option<File>,
}

impl RowsFile {
    /// Checks that rows can be written to `path`, before any work is done: nothing is made, and nothing that is there is
    /// written over.
    pub(super) fn new(path: &Path) -> Result<Self, Failure> {
        if paths::is_standard(path) {
            let failure =
                Failure::usage_text("--jsonl: rows are written while the run lasts, the tables go to standard output");
            return Err(failure.with_help("name a file"));
        }
        if path.extension().is_some_and(|it| it == "gz") {
            let failure =
                Failure::usage_text("--jsonl: rows are appended one by one, a compressed file cannot take them");
            return Err(failure.with_help("name a file without .gz, and compress it afterwards"));
        }
        if path.metadata().is_ok_and(|there| there.len() > 0) {
            let failure = Failure::usage_text(format!("--jsonl: {} is there already", path.display()));
            return Err(failure.with_help("delete it, or name another file"));
        }
        let target = Target::new(Some(path), None)?;
        target.check()?;
        Ok(Self { path: path.to_owned(), target, file: None })
    }

    /// Appends rows. A row that cannot be written now is an error in the end, when the file is written whole.
    pub(super) fn append(&mut self, rows: &[Row]) {
        if self.file.is_none() && !rows.is_empty() {
            self.file = OpenOptions::new().append(true).create(true).open(&self.path).ok();
        }
        if let (Some(file), Ok(lines)) = (self.file.as_mut(), lines(rows)) {
            let _ = file.write_all(&lines);
        }
    }

    /// Writes the file whole, with `rows` in their order.
    pub(super) fn finish(self, rows: &[Row]) -> Result<(), Failure> {
        self.target.write(&lines(rows)?)
    }
}

fn lines(rows: &[Row]) -> Result<Vec<u8>, Failure> {
    let mut lines = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut lines, row)?;
        lines.push(b'\n');
    }
    Ok(lines)
}
