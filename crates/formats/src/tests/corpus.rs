//! The readers and writers over the recorded sessions, where they are at hand.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use epitome_session::{Content, EditKind, Epoch, Message, Origin, Role, Session, Trigger};

use super::outcome;
use crate::{Format, LoadedFile, LoadedSession, ReadOptions, Source, Wire, read, render, validate};

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    sessions: usize,
    calls: usize,
    users: usize,
    compactions: usize,
}

impl Counts {
    fn count(loaded: &LoadedFile) -> Self {
        let mut counts = Self::default();
        for (index, of_file) in loaded.sessions.iter().enumerate() {
            let source = Source::new(loaded, index).unwrap();
            let is_listed =
                |message: &Message| loaded.format != Format::ClaudeCode || !is_of_the_host(&source, message);
            counts.add(loaded.format, &of_file.session, is_listed);
        }
        counts
    }

    fn add(&mut self, format: Format, session: &Session, is_listed: impl Fn(&Message) -> bool) {
        self.sessions += 1;
        for message in session.log() {
            self.calls += message.calls().count() + message.text_calls.len();
            self.calls += message.blocks.iter().filter(|block| is_call_without_result(&block.content)).count();
            let is_user = message.role == Role::User && matches!(message.origin, Origin::Typed | Origin::Injected);
            if is_user && is_listed(message) {
                // The list counts the parts of these agents' messages.
                let by_part = matches!(format, Format::ClaudeCode | Format::Pi);
                self.users += if by_part { message.blocks.len() } else { 1 };
            }
        }
        // Cleared results alone are not counted there.
        let is_full = |epoch: &&Epoch| {
            epoch.trigger != Trigger::TakenBack && epoch.edits.iter().any(|edit| edit.kind != EditKind::Excerpt)
        };
        self.compactions += session.journal().iter().filter(is_full).count();
    }
}

/// Whether Claude Code's host put a message there that no user's record has: the list counts records.
fn is_of_the_host(source: &Source<'_>, message: &Message) -> bool {
    let record = message.records.first().and_then(|record| source.record(*record)).unwrap_or_default();
    let record: serde_json::Value = serde_json::from_str(record).unwrap_or_default();
    let is_queued = record["attachment"]["type"] == "queued_command";
    message.origin == Origin::Injected && !is_queued && matches!(record["type"].as_str(), Some("attachment" | "system"))
}

fn is_call_without_result(content: &Content) -> bool {
    matches!(content, Content::Opaque(opaque) if opaque.kind.ends_with("_call"))
}

/// Where we count otherwise than the manifest: user messages, and why.
const DIFFERENCES: &[(&str, isize, &str)] = &[
    ("claude_code/cli-5c-5cb639eac4", 1, "what the agent was given while it worked"),
    ("claude_code/cli-63-bd3f9b02f2", 1, "the same"),
    ("claude_code/cli-90-ed5b9b296e-1", 2, "the same"),
    ("claude_code/cli-98-78b713483d", 6, "the same"),
    ("claude_code/cli-d5-99f72ee73a", 1, "the same"),
    ("claude_code/context-evaluator-ee", 1, "the same"),
    ("claude_code/kimi-cli-28", 1, "the same"),
    ("claude_code/kimi-cli-29", 2, "the same"),
    ("claude_code/kimi-cli-2d", 1, "the same"),
    ("claude_code/oh-my-posh-11", 4, "the same"),
    ("claude_code/oh-my-posh-d3", 6, "the same"),
    ("cline_sdk/cline-agentic", -1, "the summary is not a user's message"),
    ("cline_sdk/cline-basic", -4, "notices of the compaction are not a user's messages"),
    ("cline_sdk/cline-session", -1, "an attached file is a block of its message"),
    ("copilot_cli/StarCar", 2, "notifications of finished sub-agents are in the context"),
    ("mini_swe_agent/django__django", -1, "the submitted patch is the last command's output"),
    ("mini_swe_agent/psf__requests", -1, "the same"),
    ("mini_swe_agent/sphinx", -1, "the same"),
    ("mini_swe_agent/pylint", -5, "the same, and 4 notices that a command ran out of time"),
    ("mini_swe_agent/sympy__sympy-13091", -1, "the submitted patch is the last command's output"),
    ("mini_swe_agent/sympy__sympy-19040", -5, "the same, and 4 notices that a command ran out of time"),
    ("openhands/multi_swe_bench", 1, "what the agent knows by a key word is in the context"),
    ("opencode/nimbus", 6, "commands run as sub-tasks are in the context"),
];

/// Blocks of code that the manifest counts as calls, and the agent refused: it takes replies with exactly one, as the notice
/// behind each of these says.
const REFUSED_CALLS: &[(&str, usize)] = &[
    ("mini_swe_agent/django__django-11138", 38),
    ("mini_swe_agent/django__django-14351", 42),
    ("mini_swe_agent/django__django-15554", 24),
    ("mini_swe_agent/psf__requests", 4),
    ("mini_swe_agent/pylint", 4),
    ("mini_swe_agent/sphinx", 23),
    ("mini_swe_agent/sympy__sympy-13091", 10),
    ("mini_swe_agent/sympy__sympy-19040", 26),
];

/// The folders whose recordings only the laboratory reads: evaluation harnesses and sets of dialogues. Its own test reads
/// them.
const SETS: [&str; 9] = [
    "who_and_when/",
    "openai_chat/",
    "intercode/",
    "locomo/",
    "longmemeval_honcho/",
    "memorybank/",
    "madial/",
    "crosswoz/",
    "kdconv/",
];

/// What holds for every session that is read: results answer a call, marked calls lie in their text, and no message
/// is empty that the recording did not hold so.
fn unsound(session: &Session, may_be_empty: bool) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for message in session.log() {
        if message.blocks.is_empty() && !may_be_empty {
            return Some(format!("{} is empty", message.id));
        }
        open.extend(message.calls().map(|(_, call)| call.id.as_ref()));
        for result in message.blocks.iter().filter_map(|block| block.as_result()) {
            match open.iter().rposition(|id| *id == result.call_id.as_ref()) {
                Some(place) => drop(open.remove(place)),
                None => return Some(format!("{} answers no call", message.id)),
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
    for kind in ["claude_code", "codex_rollout", "pi"] {
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

/// The counts of each file, from the list of recorded sessions.
fn manifest(folder: &Path) -> BTreeMap<String, Counts> {
    let text = std::fs::read_to_string(folder.join("../MANIFEST.md")).unwrap_or_default();
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

/// What is wrong with the reading of a file.
fn problems(bytes: Vec<u8>, expect: Counts) -> Vec<String> {
    let loaded = match read(bytes, ReadOptions::default()) {
        Ok(loaded) => loaded,
        Err(_) if expect.sessions == 0 => return Vec::new(),
        Err(error) => return vec![error.to_string()],
    };
    let mut problems = Vec::new();
    let fits = outcome(&loaded.bytes).fits;
    let is_unmistakable = fits == [loaded.format] || fits.is_empty() && loaded.format.is_writable();
    if !is_unmistakable {
        problems.push(format!("read as {}, and claimed as {fits:?}", loaded.format));
    }
    // What is written back keeps the messages that the recording has nothing in.
    let may_be_empty = loaded.format.is_writable();
    problems.extend(loaded.sessions.iter().filter_map(|of_file| unsound(&of_file.session, may_be_empty)));
    let counts = Counts::count(&loaded);
    if counts != expect || !loaded.warnings.is_empty() {
        problems.push(format!("{counts:?}, expected {expect:?}, warnings {:?}", loaded.warnings));
    }
    problems
}

#[test]
fn every_recorded_file_is_read_by_one_reader_and_whole() {
    let Some(folder) = folder() else { return };
    let manifest = manifest(&folder);
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (file, expect) in manifest.iter().filter(|(file, _)| !SETS.iter().any(|set| file.starts_with(set))) {
        let Ok(bytes) = std::fs::read(folder.join(file)) else { continue };
        compared += 1;
        let mut expect = *expect;
        for (_, users, _) in DIFFERENCES.iter().filter(|(start, ..)| file.starts_with(start)) {
            expect.users = expect.users.saturating_add_signed(*users);
        }
        for (_, calls) in REFUSED_CALLS.iter().filter(|(start, ..)| file.starts_with(start)) {
            expect.calls -= calls;
        }
        wrong.extend(problems(bytes, expect).into_iter().map(|problem| format!("{file}: {problem}")));
    }
    assert!(wrong.is_empty(), "{} of {compared} files:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 0 || manifest.is_empty(), "the list names no file that is there");
}

#[test]
fn views_of_the_recorded_sessions_are_valid_for_every_provider() {
    for (name, loaded) in files() {
        for (index, LoadedSession { session, .. }) in loaded.sessions.iter().enumerate() {
            let source = Source::new(&loaded, index).unwrap();
            for profile in Wire::ALL {
                for view in [session.view().to_vec(), session.full_view()] {
                    let rendered = render(&view, profile, session.tools.as_deref(), Some(&source));
                    let mut violations = validate(&rendered.json, profile);
                    // A recording of chat messages without ids is one for a server that does not ask for them.
                    let has_ids = session.log().iter().flat_map(|it| it.calls()).all(|(_, call)| !call.id.is_empty());
                    violations.retain(|it| has_ids || it.rule != "call-id" || !source.is_own(profile));
                    let shown: Vec<String> = violations.iter().take(5).map(ToString::to_string).collect();
                    assert!(violations.is_empty(), "{name} {index} {profile:?}: {shown:#?}");
                }
            }
        }
    }
}
