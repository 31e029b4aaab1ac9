//! The readers over the recorded sessions: every file is claimed once, and the counts are those of the manifest.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use epitome_session::{Origin, Role, Session};

use super::testing::{decompressed, outcome};

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    sessions: usize,
    calls: usize,
    users: usize,
    compactions: usize,
}

impl Counts {
    fn add(&mut self, session: &Session) {
        self.sessions += 1;
        for message in session.log() {
            self.calls += message.calls().count() + message.text_calls.len();
            self.users +=
                usize::from(message.role == Role::User && matches!(message.origin, Origin::Typed | Origin::Injected));
        }
        self.compactions += session.journal().len();
    }
}

/// Where we count otherwise than the manifest, and why.
fn differences(file: &str, counts: &mut Counts) {
    let _ = (file, counts);
}

fn folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("EPITOME_SESSIONS").map_or_else(|| root.join("../shared/data/dev"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("NOT TESTED: no recorded sessions at {}", folder.display());
    None
}

/// Sessions, calls, user messages and compactions of each file, from the manifest's table.
fn manifest(folder: &Path) -> BTreeMap<String, Counts> {
    let text = std::fs::read_to_string(folder.join("../MANIFEST.md")).unwrap();
    let rows = text.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    rows.filter(|row| row.len() > 12 && row[1].contains('/'))
        .filter_map(|row| {
            let number = |column: usize| row[column].parse::<usize>().ok();
            let counts =
                Counts { sessions: number(7)?, calls: number(9)?, users: number(10)?, compactions: number(11)? };
            Some((row[1].to_owned(), counts))
        })
        .collect()
}

#[test]
fn every_file_is_read_by_one_reader() {
    let Some(folder) = folder() else { return };
    let manifest = manifest(&folder);
    let mut wrong = Vec::new();
    for (file, expect) in &manifest {
        let Ok(bytes) = std::fs::read(folder.join(file)) else { continue };
        let read = outcome(&decompressed(bytes));
        let elsewhere = ["claude_code/", "codex_rollout/", "pi/"].iter().any(|other| file.starts_with(other));
        if elsewhere || expect.sessions == 0 {
            if !read.fits.is_empty() {
                wrong.push(format!("{file}: claimed as {:?}", read.fits));
            }
            continue;
        }
        if read.fits.len() != 1 {
            wrong.push(format!("{file}: claimed as {:?}", read.fits));
            continue;
        }
        let sessions = match read.sessions {
            Ok(sessions) => sessions,
            Err(error) => {
                wrong.push(format!("{file}: {error}"));
                continue;
            }
        };
        let mut counts = Counts::default();
        sessions.iter().for_each(|loaded| counts.add(&loaded.session));
        let mut expect = *expect;
        differences(file, &mut expect);
        if counts != expect || !read.warnings.is_empty() {
            wrong.push(format!("{file}: {counts:?}, expected {expect:?}, warnings {:?}", read.warnings));
        }
    }
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), manifest.len(), wrong.join("\n"));
}
