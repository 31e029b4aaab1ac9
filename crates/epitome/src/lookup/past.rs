//! The past of one session, the source of answers.

use std::sync::Arc;

use crate::context::ContextStatus;
use epitome_recall::{Index, Page, Query, QueryProblem, SessionMatches, find_by_handle, message_number};
use epitome_session::{Message, Session};
use epitome_strategy::ArchivedContent;

use super::answer::{Answer, Recall, page_answer};
use super::call::Call;
use super::status::status_text;

/// A session's index, kept up to date with its log at the cost of what is new.
#[derive(Debug, Default)]
pub struct LogIndex {
    index: Index,
    /// The messages in the index. They are the session's own: only the list is kept beside it.
    indexed: Vec<Arc<Message>>,
}

impl LogIndex {
    /// Brings the index up to date with a session. The indexed messages are compared with the log, and a log with
    /// another beginning is indexed anew; the rest is linear in what is new.
    pub fn follow(&mut self, session: &Session) {
        let log = session.log();
        let is_same = |(old, new): (&Arc<Message>, &Arc<Message>)| Arc::ptr_eq(old, new) || old == new;
        if self.indexed.len() > log.len() || !self.indexed.iter().zip(log).all(is_same) {
            *self = Self::default();
        }
        let new = &log[self.indexed.len()..];
        self.index.append(new);
        self.indexed.extend_from_slice(new);
    }

    /// Returns how many messages are indexed.
    pub fn len(&self) -> usize {
        self.indexed.len()
    }

    /// Whether no message is indexed.
    pub fn is_empty(&self) -> bool {
        self.indexed.is_empty()
    }

    /// Returns the session's share of a search over many sessions: see [`epitome_recall::Pool`].
    ///
    /// Errors where the query is beyond its limits, as [`search`](Self::search) does.
    pub fn share(&self, session: &Session, query: &Query) -> Result<SessionMatches, QueryProblem> {
        let mut share = self.index.share(query)?;
        share.locate(session);
        Ok(share)
    }

    /// Returns the passages that are found, each with whether the context still contains it, and the handle where it
    /// does not.
    pub fn search(&self, session: &Session, query: &Query) -> Result<Page, QueryProblem> {
        let mut page = self.index.search(query)?;
        page.locate(session);
        Ok(page)
    }
}

/// A session's past, for one call.
pub struct SessionPast<'a> {
    /// The session.
    pub session: &'a Session,
    /// Its index, which is brought up to date before a search.
    pub index: &'a mut LogIndex,
    /// Returns the item that is archived under a handle; the error is a sentence.
    pub archive: &'a dyn Fn(&str) -> Result<Option<ArchivedContent>, String>,
    /// Returns the description of the context.
    pub status: &'a dyn Fn() -> ContextStatus,
}

impl std::fmt::Debug for SessionPast<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SessionPast").field("messages", &self.session.log().len()).finish_non_exhaustive()
    }
}

impl SessionPast<'_> {
    /// Answers a call.
    pub fn answer(&mut self, call: &Call) -> Answer {
        match call {
            Call::Search(query) => {
                self.index.follow(self.session);
                match self.index.search(self.session, query) {
                    Ok(page) => page_answer(query, &page, self.session),
                    Err(problem) => Answer::refusal(format!("{problem}.")),
                }
            }
            Call::Recall { handle, offset, limit } => match self.recall(handle) {
                Ok(Some(item)) => {
                    Recall { handle, item: &item, offset: *offset, limit: *limit, log: self.session.log() }.answer()
                }
                Ok(None) => Answer::refusal(format!(
                    "Nothing is kept under `{handle}`. Marks, summaries and found passages name handles; #0 to #{} are the \
                     messages.",
                    self.session.log().len().saturating_sub(1)
                )),
                Err(problem) => Answer::refusal(problem),
            },
            Call::Status => Answer::new(status_text(&(self.status)())),
            Call::Compact(_) => Answer::refusal(
                "This server reads the session and does not hold its context, so it cannot compact it.".to_owned(),
            ),
        }
    }

    /// Resolves a handle or a message's number.
    fn recall(&self, handle: &str) -> Result<Option<ArchivedContent>, String> {
        if let Some(number) = message_number(handle) {
            let message = self.session.log().get(number as usize);
            return Ok(message.map(|message| ArchivedContent::Messages(vec![Arc::clone(message)])));
        }
        if handle.starts_with('#') {
            return Err(format!("`{handle}` is not a message's number"));
        }
        match (self.archive)(handle)? {
            Some(item) => Ok(Some(item)),
            None => Ok(find_by_handle(self.session, handle)),
        }
    }
}
