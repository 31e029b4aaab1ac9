//! The file of `--jsonl`: the rows of an earlier run, and where new ones go. Nothing in it is lost: rows are appended while
//! a run lasts, and in the end those that the run had no part in stay behind its own.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use epitome_eval::{CaseId, Row};

use crate::args::EvalArgs;
use crate::failure::Failure;
use crate::render::text::plural;
use crate::{paths, terminal};

/// The rows of an earlier run, and whether this one may write to the file: it is checked before any work is done, and
/// neither made nor changed.
pub(super) fn earlier_rows(args: &EvalArgs, quiet: bool) -> Result<Vec<Row>, Failure> {
    let Some(path) = &args.jsonl else { return Ok(Vec::new()) };
    if paths::is_standard(path) {
        let failure =
            Failure::usage_text("--jsonl: rows are written while the run lasts, the tables go to standard output");
        return Err(failure.with_help("name a file"));
    }
    if path.extension().is_some_and(|it| it == "gz") {
        let failure = Failure::usage_text("--jsonl: rows are appended one by one, a compressed file cannot take them");
        return Err(failure.with_help("name a file without .gz, and compress it afterwards"));
    }
    let unusable = |error: io::Error, what: &str| {
        Failure::usage(anyhow::Error::new(error).context(format!("cannot {what} {}", path.display())))
    };
    let bytes = if path.is_file() { std::fs::read(path).map_err(|error| unusable(error, "read"))? } else { Vec::new() };
    if !bytes.is_empty() && !args.resume {
        let failure = Failure::usage_text(format!("--jsonl: {} is there already", path.display()));
        return Err(failure.with_help("go on from its rows with --resume, delete it, or name another file"));
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let rows: Vec<Row> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if rows.is_empty() && !lines.is_empty() {
        let failure = Failure::usage_text(format!("--resume: {} holds no rows of `epitome eval`", path.display()));
        return Err(failure.with_help("delete it, or name another file"));
    }
    let unreadable = lines.len() - rows.len();
    if unreadable > 0 && !quiet {
        let these = plural(unreadable, "line");
        terminal::tell(&format!("{these} of {} cannot be read and will be left out\n", path.display()));
    }
    probe(path).map_err(|error| unusable(error, "write"))?;
    Ok(rows)
}

/// Checks that a file can be written to: better before hours of measuring than after them.
fn probe(path: &Path) -> io::Result<()> {
    let is_new = !path.exists();
    OpenOptions::new().append(true).create(true).open(path)?;
    if is_new { std::fs::remove_file(path) } else { Ok(()) }
}

/// Where rows go while a run lasts. The file is made with the first of them.
#[derive(Debug)]
pub(super) struct Log<'a> {
    path: Option<&'a Path>,
    file: Option<File>,
}

impl<'a> Log<'a> {
    pub(super) fn new(path: Option<&'a Path>) -> Self {
        Self { path, file: None }
    }

    /// Appends rows. A row that cannot be written now is an error in the end, when the file is written whole.
    pub(super) fn append(&mut self, rows: &[Row]) {
        let Some(path) = self.path.filter(|_| !rows.is_empty()) else { return };
        if self.file.is_none() {
            self.file = open(path).ok();
        }
        if let (Some(file), Ok(lines)) = (self.file.as_mut(), lines(rows)) {
            let _ = file.write_all(&lines);
        }
    }
}

/// Behind a line that an interrupt cut off a new one starts.
fn open(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    if file.metadata()?.len() > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

/// The rows of a run, and behind them those of earlier ones that it had no part in, each once: of several the last.
pub(super) fn join_rows(new: &[Row], known: &[Row]) -> Result<Vec<u8>, Failure> {
    fn key(row: &Row) -> (&CaseId, &str, &str) {
        (&row.case, &row.budget, &row.method)
    }
    let mut seen: HashSet<_> = new.iter().map(key).collect();
    let mut others: Vec<&Row> = known.iter().rev().filter(|row| seen.insert(key(row))).collect();
    others.reverse();
    let mut all = lines(new)?;
    for row in others {
        all.extend(lines(std::slice::from_ref(row))?);
    }
    Ok(all)
}

fn lines(rows: &[Row]) -> Result<Vec<u8>, Failure> {
    let mut lines = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut lines, row)?;
        lines.push(b'\n');
    }
    Ok(lines)
}
