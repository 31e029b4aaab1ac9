//! Finding the session that is meant: a file's, the newest of a folder or of an agent, or the one of an id.

use std::path::{Path, PathBuf};

use epitome::Session;
use epitome::follow::{SessionPlace, SessionSource, UnknownPlace, place_of};
use epitome::formats::{RecordedModel, recorded_model};

use crate::args::{AgentSessionArgs, RecordedSessionArgs};
use crate::failure::Failure;
use crate::paths::{display_name, is_standard};
use crate::session::recorded_session::RecordedSession;
use crate::terminal;

/// A session that was found.
pub(crate) struct FoundSession {
    /// Its file.
    pub(crate) file: PathBuf,
    /// The file's format.
    pub(crate) format: &'static str,
    pub(crate) session: Session,
    /// The model that the session names last.
    pub(crate) model: RecordedModel,
}

impl FoundSession {
    /// Reads the session that the arguments mean.
    pub(crate) fn read(args: &AgentSessionArgs, quiet: bool) -> Result<Self, Failure> {
        let place = place(args)?;
        if place.path.is_dir() {
            let mut source = SessionSource::new(&place.path, args.from, args.session.clone());
            source.refresh().map_err(Failure::usage)?;
            let Some(read) = source.current() else {
                return Err(Failure::usage_text(format!("{} holds no session", display_name(&place.path))));
            };
            read.missing.iter().filter(|_| !quiet).for_each(|missing| terminal::note(missing));
            let (file, format) = (read.path().to_owned(), read.format);
            return Ok(Self { file, format, session: read.session.clone(), model: read.model.clone() });
        }
        let file = place.path;
        let (from, session) = (args.from, args.session.clone());
        let wanted = RecordedSessionArgs { file: file.clone(), from, session, side_chains: false };
        let read = RecordedSession::read(&wanted, quiet)?;
        let model = match &read {
            RecordedSession::Stored { .. } => RecordedModel::default(),
            RecordedSession::Recorded { loaded, .. } => recorded_model(loaded.format, &loaded.bytes),
        };
        let format = read.format();
        Ok(Self { file, format, session: read.into_session(), model })
    }
}

/// The file of the session that the arguments mean.
#[cfg(feature = "service")]
pub(crate) fn file(args: &AgentSessionArgs) -> Result<PathBuf, Failure> {
    let place = place(args)?.path;
    if !place.is_dir() {
        return Ok(place);
    }
    let mut source = SessionSource::new(&place, args.from, args.session.clone());
    source.refresh().map_err(Failure::usage)?;
    let read = source.current().map(|read| read.path().to_owned());
    read.ok_or_else(|| Failure::usage_text(format!("{} holds no session", display_name(&place))))
}

/// The place that the arguments mean.
pub(crate) fn place(args: &AgentSessionArgs) -> Result<SessionPlace, Failure> {
    let known = |path: &Path| SessionPlace { path: path.to_owned(), agent: None };
    let Some(path) = &args.place else { return place_of(None).map_err(place_failure) };
    if is_standard(path) || path.exists() {
        return Ok(known(path));
    }
    // A name that is not UTF-8 is neither an agent nor an id: the file is missing.
    let Some(name) = path.to_str() else { return Ok(known(path)) };
    place_of(Some(name)).map_err(place_failure)
}

fn place_failure(problem: UnknownPlace) -> Failure {
    let help = match &problem {
        UnknownPlace::NoSessions { .. } => "name the session's file or its folder",
        UnknownPlace::Unknown(_) => {
            "check the path; the agents are claude-code, codex, pi, gemini-cli, qwen-code and copilot-cli"
        }
        UnknownPlace::NoAgent => "name a session's file, or a folder of sessions",
    };
    Failure::usage(problem).with_help(help)
}
