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

/// Where we count otherwise than the manifest: user messages, compactions, and why.
const DIFFERENCES: &[(&str, i64, i64, &str)] = &[
    ("cline_sdk/cline-agentic", -1, 0, "the summary is no user's message"),
    ("cline_sdk/cline-basic", -4, 0, "notices of the compaction are no user's messages"),
    ("cline_sdk/cline-session", -1, 0, "an attached file is a block of its message"),
    ("copilot_cli/StarCar", 2, 0, "notifications of finished sub-agents are in the context"),
    ("madial/", -35, 0, "lines with a space in front have a speaker too"),
    ("mini_swe_agent/django__django", -1, 0, "the submitted patch is the last command's output"),
    ("mini_swe_agent/psf__requests", -1, 0, "the same"),
    ("mini_swe_agent/sphinx", -1, 0, "the same"),
    ("mini_swe_agent/pylint", -5, 0, "the same, and 4 notices that a command ran out of time"),
    ("mini_swe_agent/sympy__sympy-13091", -1, 0, "the submitted patch is the last command's output"),
    ("mini_swe_agent/sympy__sympy-19040", -5, 0, "the same, and 4 notices that a command ran out of time"),
    ("opencode/nimbus", 6, 3, "commands run as sub-tasks are in the context; outputs were dropped three times"),
];

fn with_differences(file: &str, counts: Counts) -> Counts {
    let mut counts = counts;
    for (_, users, compactions, _) in DIFFERENCES.iter().filter(|(start, ..)| file.starts_with(start)) {
        counts.users = counts.users.saturating_add_signed(*users as isize);
        counts.compactions = counts.compactions.saturating_add_signed(*compactions as isize);
    }
    counts
}

/// What holds for every session that is read: results answer a call, marked calls lie in their text, nothing is empty.
fn unsound(session: &Session) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for message in session.log() {
        if message.blocks.is_empty() {
            return Some(format!("{} is empty", message.id));
        }
        open.extend(message.calls().map(|(_, call)| call.id.as_ref()));
        for result in message.blocks.iter().filter_map(|block| block.as_result()) {
            match open.iter().rposition(|id| *id == result.call_id.as_ref()) {
                Some(place) if !result.call_id.is_empty() => drop(open.remove(place)),
                _ => return Some(format!("{} answers no call", message.id)),
            }
        }
        for call in &message.text_calls {
            let text = message.blocks.get(call.block as usize).and_then(|block| block.excerptable());
            if text.and_then(|text| text.get(call.start as usize..call.end as usize)).is_none_or(str::is_empty) {
                return Some(format!("{}: a marked call lies outside its text", message.id));
            }
        }
    }
    None
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
        let bytes = decompressed(bytes);
        let read = outcome(&bytes);
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
        match crate::read(bytes, crate::ReadOptions::default()) {
            Ok(loaded) if loaded.format == read.fits[0] => {}
            other => wrong.push(format!("{file}: recognised as {:?}", other.map(|loaded| loaded.format))),
        }
        let mut counts = Counts::default();
        sessions.iter().for_each(|loaded| counts.add(&loaded.session));
        wrong.extend(sessions.iter().filter_map(|loaded| Some(format!("{file}: {}", unsound(&loaded.session)?))));
        let expect = with_differences(file, *expect);
        if counts != expect || !read.warnings.is_empty() {
            wrong.push(format!("{file}: {counts:?}, expected {expect:?}, warnings {:?}", read.warnings));
        }
    }
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), manifest.len(), wrong.join("\n"));
}
