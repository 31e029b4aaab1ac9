//! A session with its past: from a file that epitome keeps it in, or from an agent's.

use epitome::Session;
use epitome::formats::LoadedFile;
use epitome::recall::{StretchSearch, find_by_handle, find_stretch_by_handle, message_number};
use epitome::store::{OpenedSession, SessionFile};
use epitome::strategy::{Archive, ArchivedContent};

use crate::args::RecordedSessionArgs;
use crate::failure::Failure;
use crate::paths::display_name;
use crate::session::input::{self, bytes};
use crate::terminal;

/// A session with its past.
#[derive(Debug)]
pub(crate) enum RecordedSession {
    /// Of a file that epitome keeps it in, with its archive.
    Stored {
        /// The stored session.
        opened: Box<OpenedSession>,
        /// The file's content.
        bytes: Vec<u8>,
    },
    /// Of an agent's file.
    Recorded {
        /// The content of the file.
        loaded: LoadedFile,
        /// Which of its sessions.
        index: usize,
    },
}

impl RecordedSession {
    /// Reads the session that the arguments ask for. Neither locks nor changes the file.
    pub(crate) fn read(args: &RecordedSessionArgs, quiet: bool) -> Result<Self, Failure> {
        Self::from_bytes(bytes(&args.file)?, args, quiet)
    }

    /// The same, but with the first session of a file of several where the arguments choose none.
    pub(crate) fn read_any(args: &RecordedSessionArgs, quiet: bool) -> Result<Self, Failure> {
        let bytes = bytes(&args.file)?;
        if args.session.is_some() || args.from.is_none() && SessionFile::is_one(&bytes) {
            return Self::from_bytes(bytes, args, quiet);
        }
        let loaded = input::load_bytes(bytes, &args.input(), quiet)?;
        Ok(Self::Recorded { loaded, index: 0 })
    }

    /// The same from the file's content.
    pub(crate) fn from_bytes(bytes: Vec<u8>, args: &RecordedSessionArgs, quiet: bool) -> Result<Self, Failure> {
        if args.from.is_none() && SessionFile::is_one(&bytes) {
            let opened = SessionFile::parse(&args.file, &bytes).map_err(Failure::usage)?;
            let session = &opened.session;
            if let Some(wanted) = args.session.as_deref().filter(|it| *it != "0" && session.id.as_deref() != Some(*it))
            {
                let failure = Failure::usage_text(format!("{} holds no session `{wanted}`", display_name(&args.file)));
                return Err(failure.with_help("it holds one: leave --session out"));
            }
            if let Some(repaired) = opened.repaired.as_ref().filter(|_| !quiet) {
                terminal::note(&format!("{}: {repaired}", display_name(&args.file)));
            }
            return Ok(Self::Stored { opened: Box::new(opened), bytes });
        }
        let input = args.input();
        let loaded = input::load_bytes(bytes, &input, quiet)?;
        let index = input::choose(&loaded, &input)?;
        Ok(Self::Recorded { loaded, index })
    }

    /// The session.
    pub(crate) fn session(&self) -> &Session {
        match self {
            Self::Stored { opened, .. } => &opened.session,
            Self::Recorded { loaded, index } => &loaded.sessions[*index].session,
        }
    }

    /// The session alone.
    pub(crate) fn into_session(self) -> Session {
        match self {
            Self::Stored { opened, .. } => opened.session,
            Self::Recorded { loaded, index } => loaded.sessions[index].session.clone(),
        }
    }

    /// The file's format, by name.
    pub(crate) fn format(&self) -> &'static str {
        match self {
            Self::Stored { .. } => "epitome",
            Self::Recorded { loaded, .. } => loaded.format.as_str(),
        }
    }

    /// The text that left under a handle, or the message of a number. Where no archive has it, the session may, whether or
    /// not the compaction is in its file: a handle is a hash of its text. `at` is the message that it begins at, where that
    /// is known.
    pub(crate) fn recall(&self, handle: &str, at: Option<u32>) -> Result<StretchSearch, Failure> {
        let handle = handle.trim();
        if let Some(number) = message_number(handle) {
            let message = self.session().log().get(number as usize);
            let messages = message.map(|message| ArchivedContent::Messages(vec![message.clone()]));
            return Ok(messages.map_or(StretchSearch::Nowhere, StretchSearch::Found));
        }
        let archived = match self {
            Self::Stored { opened, .. } => opened.archive.get(handle).map_err(Failure::usage)?,
            Self::Recorded { .. } => None,
        };
        let session = self.session();
        let item = archived.or_else(|| find_by_handle(session, handle));
        Ok(item.map_or_else(|| find_stretch_by_handle(session, handle, at), StretchSearch::Found))
    }
}
