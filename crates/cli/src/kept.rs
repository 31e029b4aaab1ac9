//! A session with its past: from a file that epitome keeps it in, or from an agent's.

use epitome::Session;
use epitome::formats::Loaded;
use epitome::session::{Change, Content, EntryKey, Message};
use epitome::store::{Opened, SessionFile};
use epitome::strategy::{Archive, Archived, archive::handles};

use crate::args::KeptArgs;
use crate::failure::Failure;
use crate::input::{self, bytes, shown};
use crate::output;

/// A session with its past.
#[derive(Debug)]
pub(crate) enum Kept {
    /// Of a file that epitome keeps it in, with its archive.
    Stored {
        /// What the file holds.
        opened: Box<Opened>,
        /// The file's content.
        bytes: Vec<u8>,
    },
    /// Of an agent's file.
    Recorded {
        /// What the file holds.
        loaded: Loaded,
        /// Which of its sessions.
        index: usize,
    },
}

impl Kept {
    /// Reads the session that the arguments ask for. Neither locks nor changes the file.
    pub(crate) fn read(args: &KeptArgs, quiet: bool) -> Result<Self, Failure> {
        Self::of(bytes(&args.file)?, args, quiet)
    }

    /// The same, but the first session of a file of several where the arguments choose none.
    pub(crate) fn read_any(args: &KeptArgs, quiet: bool) -> Result<Self, Failure> {
        let bytes = bytes(&args.file)?;
        if args.session.is_some() || args.from.is_none() && SessionFile::is_one(&bytes) {
            return Self::of(bytes, args, quiet);
        }
        let loaded = input::load_bytes(bytes, &args.input(), quiet)?;
        Ok(Self::Recorded { loaded, index: 0 })
    }

    /// The same of what the file holds.
    pub(crate) fn of(bytes: Vec<u8>, args: &KeptArgs, quiet: bool) -> Result<Self, Failure> {
        if args.from.is_none() && SessionFile::is_one(&bytes) {
            let opened = SessionFile::parse(&args.file, &bytes).map_err(Failure::usage)?;
            let session = &opened.session;
            if let Some(wanted) = args.session.as_deref().filter(|it| *it != "0" && session.id.as_deref() != Some(*it))
            {
                let failure = Failure::usage_text(format!("{} holds no session `{wanted}`", shown(&args.file)));
                return Err(failure.with_help("it holds one: leave --session out"));
            }
            if let Some(repaired) = opened.repaired.as_ref().filter(|_| !quiet) {
                output::note(&format!("{}: {repaired}", shown(&args.file)));
            }
            return Ok(Self::Stored { opened: Box::new(opened), bytes });
        }
        let input = args.input();
        let loaded = input::load_bytes(bytes, &input, quiet)?;
        let index = input::choose(&loaded, &input, "")?;
        Ok(Self::Recorded { loaded, index })
    }

    /// The session.
    pub(crate) fn session(&self) -> &Session {
        match self {
            Self::Stored { opened, .. } => &opened.session,
            Self::Recorded { loaded, index } => &loaded.sessions[*index].session,
        }
    }

    /// The file's format, by name.
    pub(crate) fn format(&self) -> &'static str {
        match self {
            Self::Stored { .. } => "epitome",
            Self::Recorded { loaded, .. } => loaded.format.as_str(),
        }
    }

    /// What left under a handle. An agent's file has no archive, but it may have what left: then it is known by its handle,
    /// which is a hash of it. Linear in the session.
    pub(crate) fn recall(&self, handle: &str) -> Result<Option<Archived>, Failure> {
        let handle = handle.trim();
        match self {
            Self::Stored { opened, .. } => opened.archive.get(handle).map_err(Failure::usage),
            Self::Recorded { .. } => Ok(items(self.session()).find(|item| has_handle(item, handle))),
        }
    }
}

/// Whether an item may have this handle: one of at least the shortest length.
fn has_handle(item: &Archived, handle: &str) -> bool {
    let mut all = handles(item);
    all.next().is_some_and(|shortest| handle.starts_with(&*shortest)) && {
        handles(item).any(|known| *known == *handle)
    }
}

/// What an archive of a session could hold: every text, every message, and what each edit of a compaction removed.
fn items(session: &Session) -> impl Iterator<Item = Archived> {
    let texts = session.log().iter().flat_map(|message| {
        message.blocks.iter().filter_map(|block| match &block.content {
            Content::Text { text } => Some(Archived::Text(text.clone())),
            Content::Thinking(thinking) => Some(Archived::Text(thinking.text.clone())),
            Content::ToolCall(call) => Some(Archived::Text(call.arguments.text().clone())),
            Content::ToolResult(result) => Some(Archived::Text(result.text.clone())),
            Content::Media(_) | Content::Opaque(_) | Content::Gone => None,
        })
    });
    let messages = session.log().iter().map(|message| Archived::Messages(vec![message.clone()]));
    let removed = session.journal().iter().flat_map(|epoch| &epoch.edits).map(|edit| {
        let removed = edit.changes.iter().filter_map(|change| match change {
            Change::Remove { entry } => message_of(session, *entry),
            Change::Excerpt { .. } | Change::Trim { .. } | Change::Strip { .. } => None,
        });
        Archived::Messages(removed.collect())
    });
    texts.chain(messages).chain(removed)
}

fn message_of(session: &Session, key: EntryKey) -> Option<std::sync::Arc<Message>> {
    match key {
        EntryKey::Log(index) => session.log().get(index as usize).cloned(),
        EntryKey::Synthetic { epoch, index } => {
            let epoch = session.journal().get(epoch as usize)?;
            epoch.synthetics.get(index as usize).map(|synthetic| synthetic.message.clone())
        }
    }
}
