//! The recorded sessions: where they are, and checks over all of them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Write;
use std::path::{Path, PathBuf};

use epitome_formats::{LoadedFile, LoadedSession, ReadOptions, read};
use epitome_lab::sets::{SetFile, read_set};
use epitome_session::{Content, Message, Origin, Role, Session, units};
use rayon::prelude::*;

/// Shares of a session's tokens that it is compacted to.
pub const SHARES: [f64; 3] = [0.4, 0.2, 0.1];

/// The folder of recorded sessions: `EPITOME_SESSIONS`, else `../shared/data/dev` beside the workspace; `None` where it
/// does not exist.
pub fn recorded_sessions() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/dev");
    let folder = std::env::var_os("EPITOME_SESSIONS").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// Every file below a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        for path in entries.map(|entry| entry.path()) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Says something even when the test passes: the harness only holds back what is printed by macros.
pub fn tell(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// A file of recorded sessions.
#[derive(Debug)]
pub enum RecordedFile {
    /// One of an agent or a provider.
    Agent(LoadedFile),
    /// One of an evaluation harness, or a set of dialogues, which only the laboratory reads.
    Set(SetFile),
}

impl RecordedFile {
    /// Its sessions.
    pub fn sessions(&self) -> &[LoadedSession] {
        match self {
            Self::Agent(loaded) => &loaded.sessions,
            Self::Set(set) => &set.sessions,
        }
    }

    /// The file as it was read, where an agent or a provider wrote it.
    pub fn agent(&self) -> Option<&LoadedFile> {
        match self {
            Self::Agent(loaded) => Some(loaded),
            Self::Set(_) => None,
        }
    }

    /// Reads a file; `None` where it holds no session. What a harness recorded is read as such: a general reader of chat
    /// completions would take it too.
    fn read(bytes: Vec<u8>) -> Option<Self> {
        match read_set(&bytes) {
            Some(set) => Some(Self::Set(set)),
            None => read(bytes, ReadOptions::default()).ok().map(Self::Agent),
        }
    }
}

/// Files of the recorded sessions that hold sessions, read; says so visibly when there are none.
pub fn loaded() -> Vec<(String, RecordedFile)> {
    let Some(folder) = recorded_sessions() else {
        tell("NOT RUN on recorded sessions: there is no folder `$EPITOME_SESSIONS` or `../shared/data/dev`");
        return Vec::new();
    };
    let name = |path: &Path| path.strip_prefix(&folder).unwrap_or(path).display().to_string();
    let files = files(&folder);
    let read_one =
        |path: &std::path::PathBuf| RecordedFile::read(std::fs::read(path).unwrap()).map(|loaded| (name(path), loaded));
    let loaded: Vec<(String, RecordedFile)> = files.par_iter().filter_map(read_one).collect();
    let sessions: usize = loaded.iter().map(|(_, loaded)| loaded.sessions().len()).sum();
    tell(&format!("{sessions} recorded sessions in {} of {} files", loaded.len(), files.len()));
    loaded
}

/// The variable that makes a sample all of the recorded sessions.
const ALL_SESSIONS: &str = "EPITOME_ALL_SESSIONS";
/// A sample has one of so many sessions: a test that plays every strategy takes about a minute with it, on two cores.
const SAMPLE_SHARE: usize = 6;
/// A session outside the sample meets one of so many ways to check it: with all of them every strategy would take a quarter of an
/// hour over all sessions.
const TURNS: usize = 3;

/// The ways in which a session of a sample is checked, by their numbers.
#[derive(Debug, Clone, Copy)]
pub struct Ways {
    /// `None` for all.
    turn: Option<usize>,
}

impl Ways {
    /// Those of a session: all where the sample has it, one session of six. With `EPITOME_ALL_SESSIONS` those of every other one
    /// are a third, each session's another. The name decides, the same on every run and machine, so a new file changes nothing for
    /// the others. `None` for a session that is not checked.
    pub fn of(file: &str, index: usize) -> Option<Self> {
        let hash = |hash: usize, byte: u8| (hash ^ usize::from(byte)).wrapping_mul(0x0100_0193);
        let number = format!("{file}#{index}").bytes().fold(0x811c_9dc5, hash) >> 8;
        match number.is_multiple_of(SAMPLE_SHARE) {
            true => Some(Self { turn: None }),
            false => std::env::var_os(ALL_SESSIONS).map(|_| Self { turn: Some(number / SAMPLE_SHARE % TURNS) }),
        }
    }

    /// Whether the way of that number is one of them.
    pub fn has(self, number: usize) -> bool {
        self.turn.is_none_or(|turn| number % TURNS == turn)
    }
}

/// [`check_all`] on the sessions of the sample, each in its [`Ways`].
pub fn check_sample(
    loaded: &[(String, RecordedFile)],
    check: impl Fn(&RecordedFile, usize, Ways, &mut Vec<String>) + Sync,
) {
    check_those(loaded, |file, loaded, index, found| {
        if let Some(ways) = Ways::of(file, index) {
            check(loaded, index, ways, found);
        }
    });
}

/// Runs `check` on every session of every file, files in parallel; panics with everything that it found wrong.
pub fn check_all(loaded: &[(String, RecordedFile)], check: impl Fn(&RecordedFile, usize, &mut Vec<String>) + Sync) {
    check_those(loaded, |_, loaded, index, found| check(loaded, index, found));
}

fn check_those(loaded: &[(String, RecordedFile)], check: impl Fn(&str, &RecordedFile, usize, &mut Vec<String>) + Sync) {
    let problems: Vec<String> = loaded
        .par_iter()
        .flat_map(|(file, loaded)| {
            (0..loaded.sessions().len())
                .into_par_iter()
                .flat_map_iter(|index| {
                    let mut found = Vec::new();
                    check(file, loaded, index, &mut found);
                    let name = loaded.sessions()[index].name.clone();
                    found.into_iter().map(move |problem| format!("{file} {name}: {problem}"))
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let shown = problems.iter().take(60).cloned().collect::<Vec<_>>().join("\n");
    assert!(problems.is_empty(), "{} problems:\n{shown}", problems.len());
}

/// Goes on with the session: a question, then the first steps of the recording again, up to one whose calls are answered.
pub fn grow(session: &mut Session, recorded: &Session) {
    session.push(Message::text("", Role::User, Origin::Typed, "Go on with what is left."));
    let mut more = Session::new();
    for message in recorded.log().iter().filter(|message| message.role != Role::System).take(40) {
        more.push(Message { pinned: false, records: Vec::new(), ..(**message).clone() });
    }
    let closed = units(more.view()).iter().rev().find(|unit| unit.closed).map_or(0, |unit| unit.entries.end);
    let round = session.log().len();
    for entry in &more.view()[..closed] {
        session.push(renamed(&entry.message, round));
    }
}

/// The message with other call ids: an agent does not use one twice.
fn renamed(message: &Message, round: usize) -> Message {
    let mut message = message.clone();
    for block in &mut message.blocks {
        block.raw = None;
        match &mut block.content {
            Content::ToolCall(call) => call.id = format!("{}-{round}", call.id).into(),
            Content::ToolResult(result) => result.call_id = format!("{}-{round}", result.call_id).into(),
            _ => {}
        }
    }
    message
}
