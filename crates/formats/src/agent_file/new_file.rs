//! The beginning of a new file of an agent.

use epitome_session::Session;

use super::appended::{Lines, first_time};

/// Where a session continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The project's folder, absolute.
    pub folder: String,
    /// The project's branch; empty where that is not known.
    pub branch: String,
    /// The time, in milliseconds since 1970.
    pub time: i64,
}

/// A new file before its first record.
pub(crate) struct NewFile<'a> {
    pub(crate) lines: Lines,
    /// The session's id.
    pub(crate) id: String,
    /// Where the session continues; `None` where the file is the view in another form and no more.
    pub(crate) continuation: Option<&'a NewSession>,
}

impl<'a> NewFile<'a> {
    /// A file of `session`, whose ids depend on what the session says, and on where it continues.
    pub(crate) fn new(session: &Session, continuation: Option<&'a NewSession>) -> Self {
        let mut lines = Lines::after(b"", continuation.map_or_else(|| first_time(session), |session| session.time));
        lines.mix(session.log().iter().map(|message| message.plain_text()).collect::<String>().as_str());
        if let Some(new) = continuation {
            lines.mix(&format!("{} {}", new.time, new.folder));
        }
        let id = lines.next_uuid();
        Self { lines, id, continuation }
    }

    /// The project's folder.
    pub(crate) fn folder(&self) -> &'a str {
        self.continuation.map_or("/", |session| &session.folder)
    }

    /// The project's branch; empty where that is not known.
    pub(crate) fn branch(&self) -> &'a str {
        self.continuation.map_or("", |session| &session.branch)
    }
}
