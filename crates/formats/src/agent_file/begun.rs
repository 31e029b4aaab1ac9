//! The beginning of a new file of an agent.

use epitome_session::Session;

use super::appended::{Lines, first_time};

/// Where a session goes on.
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
pub(crate) struct Begun<'a> {
    pub(crate) lines: Lines,
    /// The session's id.
    pub(crate) id: String,
    /// Where the session goes on; `None` where the file is the view in another form and no more.
    pub(crate) goes_on: Option<&'a NewSession>,
}

impl<'a> Begun<'a> {
    /// A file of `session`, whose ids depend on what the session says, and on where it goes on.
    pub(crate) fn new(session: &Session, goes_on: Option<&'a NewSession>) -> Self {
        let mut lines = Lines::after(b"", goes_on.map_or_else(|| first_time(session), |it| it.time));
        lines.mix(session.log().iter().map(|message| message.plain_text()).collect::<String>().as_str());
        if let Some(it) = goes_on {
            lines.mix(&format!("{} {}", it.time, it.folder));
        }
        let id = lines.next_uuid();
        Self { lines, id, goes_on }
    }

    /// The project's folder.
    pub(crate) fn folder(&self) -> &'a str {
        self.goes_on.map_or("/", |it| &it.folder)
    }

    /// The project's branch; empty where that is not known.
    pub(crate) fn branch(&self) -> &'a str {
        self.goes_on.map_or("", |it| &it.branch)
    }
}
