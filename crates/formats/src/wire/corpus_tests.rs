//! Over the recorded sessions, where they are at hand.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use epitome_session::{Content, EditKind, Epoch, Origin, Role};

use crate::{Format, LoadedFile, LoadedSession, Profile, ReadOptions, Source, read, render, validate};

/// The folder of recorded sessions, or `None` with a note where there is none.
pub(crate) fn folder() -> Option<PathBuf> {
    let given = std::env::var_os("EPITOME_SESSIONS").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/dev"));
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: no recorded sessions at {} (set EPITOME_SESSIONS)", folder.display());
    None
}

/// The files of the formats that are written back.
pub(crate) fn files() -> Vec<(String, LoadedFile)> {
    let Some(folder) = folder() else { return Vec::new() };
    let mut files = Vec::new();
    for kind in ["claude_code", "codex_rollout", "pi", "openai_chat"] {
        let Ok(entries) = std::fs::read_dir(folder.join(kind)) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            let name = format!("{kind}/{}", path.file_name().unwrap().to_string_lossy());
            let loaded = read(std::fs::read(&path).unwrap(), ReadOptions::default());
            files.push((name.clone(), loaded.unwrap_or_else(|error| panic!("{name}: {error}"))));
        }
    }
    files.sort_by(|left, right| left.0.cmp(&right.0));
    files
}

/// Tool calls, user texts and compactions by file, as the list of recorded sessions counts them.
fn expected(folder: &Path) -> HashMap<String, [usize; 3]> {
    let list = std::fs::read_to_string(folder.join("../MANIFEST.md")).unwrap_or_default();
    let rows = list.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let number = |index: usize| cells.get(index)?.parse::<usize>().ok();
        Some((cells.get(1)?.to_string(), [number(9)?, number(10)?, number(11)?]))
    });
    rows.collect()
}

#[test]
fn counts_of_the_recorded_sessions() {
    let Some(folder) = folder() else { return };
    let expected = expected(&folder);
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (name, loaded) in files() {
        let Some(expect) = expected.get(&name) else { continue };
        compared += 1;
        let (mut calls, mut texts, mut compactions) = (0, 0, 0);
        for session in loaded.sessions.iter().map(|loaded| &loaded.session) {
            for message in session.log() {
                calls += message.calls().count() + message.text_calls.len();
                calls += message.blocks.iter().filter(|block| is_call_without_result(&block.content)).count();
                if message.role == Role::User && message.origin != Origin::ToolOutput {
                    // The list counts a Codex message of several parts once.
                    texts += if loaded.format == Format::Codex { 1 } else { message.blocks.len() };
                }
            }
            // Cleared results alone are not counted there.
            let full = |epoch: &&Epoch| epoch.edits.iter().any(|edit| edit.kind != EditKind::Excerpt);
            compactions += session.journal().iter().filter(full).count();
        }
        if [calls, texts, compactions] != *expect {
            wrong.push(format!("{name}: {:?}, expected {expect:?}", [calls, texts, compactions]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 0 || expected.is_empty(), "the list names no file that is there");
}

fn is_call_without_result(content: &Content) -> bool {
    matches!(content, Content::Opaque(opaque) if opaque.kind.ends_with("_call"))
}

#[test]
fn views_of_the_recorded_sessions_are_valid_for_every_provider() {
    for (name, loaded) in files() {
        for (index, LoadedSession { session, .. }) in loaded.sessions.iter().enumerate() {
            let source = Source::new(&loaded, index).unwrap();
            for profile in Profile::ALL {
                for view in [session.view().to_vec(), session.full_view()] {
                    let rendered = render(&view, profile, session.tools.as_deref(), Some(&source));
                    let violations = validate(&rendered.json, profile);
                    let shown: Vec<String> = violations.iter().take(5).map(ToString::to_string).collect();
                    assert!(violations.is_empty(), "{name} {index} {profile:?}: {shown:#?}");
                }
            }
        }
    }
}
