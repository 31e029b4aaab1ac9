//! The sets among the recorded sessions, where they are at hand: each file is read by one reader, and whole.
#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

use std::path::{Path, PathBuf};

use epitome_lab::sets::{read_set, sets_of};

/// The folders of sets, and of recordings in the shape of chat completions that are a harness's.
const FOLDERS: [&str; 9] = [
    "who_and_when",
    "openai_chat",
    "intercode",
    "locomo",
    "longmemeval_honcho",
    "memorybank",
    "madial",
    "crosswoz",
    "kdconv",
];

#[test]
fn every_recorded_file_is_read_by_one_reader_and_whole() {
    let given = std::env::var_os("EPITOME_SESSIONS").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/dev"));
    // The list of recorded sessions: file, …, sessions in it.
    let manifest = std::fs::read_to_string(folder.join("../MANIFEST.md")).unwrap_or_default();
    let rows = manifest.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let (mut wrong, mut read) = (Vec::new(), 0);
    for row in rows.filter(|row| row.len() > 12 && FOLDERS.iter().any(|name| row[1].starts_with(&format!("{name}/")))) {
        let (Ok(bytes), Ok(expect)) = (std::fs::read(folder.join(row[1])), row[7].parse::<usize>()) else { continue };
        read += 1;
        let file = read_set(&bytes);
        let found = file.as_ref().map_or(0, |file| file.sessions.len());
        let sets = sets_of(&bytes);
        if found != expect || sets.len() != expect.min(1) || file.is_some_and(|file| !file.empty.is_empty()) {
            wrong.push(format!("{}: {found} of {expect} sessions, read as {sets:?}", row[1]));
        }
    }
    assert!(wrong.is_empty(), "{} of {read} files:\n{}", wrong.len(), wrong.join("\n"));
    eprintln!("{read} files of sets were read");
}
