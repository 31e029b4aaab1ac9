//! Files in: reading them, and choosing a session.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use epitome::Session;
use epitome::follow::read_session_file;
use epitome::formats::{LoadedFile, LoadedSession, ReadError, ReadOptions, read};
use epitome::session::Trigger;
use epitome_shelf::read_plain;

use crate::args::{InputArgs, ViewArg};
use crate::failure::Failure;
use crate::output::Target;
use crate::paths::{display_name, is_standard};
use crate::render::text::plural;
use crate::session::in_place::Original;
use crate::terminal;

/// The number of sessions that a message lists.
const LISTED: usize = 8;

/// Reads the sessions of a file or of standard input; reports the parts that were left out.
pub(crate) fn load(args: &InputArgs, quiet: bool) -> Result<LoadedFile, Failure> {
    load_bytes(bytes(&args.file)?, args, quiet)
}

/// The same from the file's content.
pub(crate) fn load_bytes(bytes: Vec<u8>, args: &InputArgs, quiet: bool) -> Result<LoadedFile, Failure> {
    let (format, strict, side_chains) = (args.from, args.strict, args.side_chains);
    let options = ReadOptions { format, strict, side_chains, ..ReadOptions::default() };
    let loaded = match is_standard(&args.file) {
        true => read(bytes, options),
        false => read_session_file(&args.file, bytes, options),
    };
    let loaded = loaded.map_err(|error| {
        let is_unknown = matches!(error, ReadError::Unrecognised { .. });
        let failure =
            Failure::usage(anyhow::Error::new(error).context(format!("cannot read {}", display_name(&args.file))));
        let help = "where it is a session, `--from` names its format; `epitome convert --help` lists them";
        if is_unknown { failure.with_help(help) } else { failure }
    })?;
    if !quiet {
        for warning in &loaded.warnings {
            let line = warning.line.map(|line| format!(":{line}")).unwrap_or_default();
            terminal::note(&format!("{}{line}: {}", display_name(&args.file), warning.message));
        }
    }
    Ok(loaded)
}

/// The content of a file, or of standard input.
pub(crate) fn bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    read_with(file, |path| read_plain(path))
}

/// The same for the input of a command whose output goes to `target`; where that is the input's own file, with the
/// facts that writing there needs.
pub(crate) fn bytes_for(file: &Path, target: &Target) -> Result<(Vec<u8>, Option<Original>), Failure> {
    if !target.is_input() {
        return Ok((bytes(file)?, None));
    }
    if fs::metadata(file).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        let failure = Failure::usage_text(format!("cannot write {}: it is no file that is kept", display_name(file)));
        return Err(failure.with_help("name another file with -o"));
    }
    let mut original = None;
    let bytes = read_with(file, |path| {
        let (of_file, bytes) = Original::read(path)?;
        original = Some(of_file);
        Ok(bytes)
    })?;
    Ok((bytes, original))
}

fn read_with(file: &Path, read: impl FnOnce(&Path) -> io::Result<Vec<u8>>) -> Result<Vec<u8>, Failure> {
    if is_standard(file) {
        let mut bytes = Vec::new();
        io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::usage(anyhow::Error::new(error).context("cannot read standard input")))?;
        return Ok(bytes);
    }
    if file.is_dir() {
        let failure = Failure::usage_text(format!("cannot read {}: it is a folder", display_name(file)));
        return Err(failure.with_help("name the file of one session"));
    }
    read(file).map_err(|error| {
        let missing = error.kind() == io::ErrorKind::NotFound;
        let is_no_file = error.kind() == io::ErrorKind::InvalidInput;
        let failure = Failure::usage(anyhow::Error::new(error).context(format!("cannot read {}", display_name(file))));
        match () {
            () if missing => failure.with_help("check the path; `-` reads standard input"),
            () if is_no_file => failure.with_help("name a file, or read a pipe to its end: epitome … - < PIPE"),
            () => failure,
        }
    })
}

/// The position of the session that the arguments ask for: the only one, or the one of that name or number.
pub(crate) fn choose(loaded: &LoadedFile, args: &InputArgs) -> Result<usize, Failure> {
    let sessions = &loaded.sessions;
    let Some(wanted) = &args.session else {
        return match sessions.len() {
            1 => Ok(0),
            count => {
                let failure = Failure::usage_text(format!("{} holds {count} sessions", display_name(&args.file)));
                Err(failure.with_help(format!("choose one with --session N|ID:\n{}", listing(sessions))))
            }
        };
    };
    let by_name = sessions.iter().position(|session| session.name == *wanted);
    let by_number = || wanted.parse::<usize>().ok().filter(|number| *number < sessions.len());
    by_name.or_else(by_number).ok_or_else(|| {
        let failure = Failure::usage_text(format!("{} holds no session `{wanted}`", display_name(&args.file)));
        failure.with_help(format!("it holds {}:\n{}", plural(sessions.len(), "session"), listing(sessions)))
    })
}

fn listing(sessions: &[LoadedSession]) -> String {
    let mut lines: Vec<String> = sessions
        .iter()
        .take(LISTED)
        .enumerate()
        .map(|(number, session)| {
            format!("{number:>3}  {}  {}", session.name, plural(session.session.log().len(), "message"))
        })
        .collect();
    if sessions.len() > LISTED {
        lines.push(format!("  … and {} more", sessions.len() - LISTED));
    }
    lines.join("\n")
}

/// The session in the view that the arguments ask for. For the full one every compaction is undone, the newest first:
/// the journal still knows them, and the session is still the file's.
pub(crate) fn select_view(session: &Session, view: ViewArg) -> Session {
    let mut viewed = session.clone();
    if view == ViewArg::Full {
        // What a person took back is no compaction.
        let in_force = session.journal().iter().filter(|epoch| !epoch.undone && epoch.trigger != Trigger::TakenBack);
        let in_force: Vec<u32> = in_force.map(|epoch| epoch.id).collect();
        if in_force.into_iter().rev().any(|epoch| viewed.undo(epoch).is_err()) {
            return session.without_journal();
        }
    }
    viewed
}
