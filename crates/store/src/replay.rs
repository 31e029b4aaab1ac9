//! Reading a stored session: its records, done again in their order.

use std::path::Path;

use epitome_session::Session;

use crate::archive::{SessionArchive, content_of};
use crate::error::StoreError;
use crate::lines::{Line, lines};
use crate::record::{AnyHeader, Compaction, Header, Record, StoredItem, VERSION};

/// The session that a file's records give.
#[derive(Debug)]
pub(crate) struct ReplayedSession {
    pub session: Session,
    pub archive: SessionArchive,
    /// Bytes of the records that were read.
    pub length: u64,
    /// Lines of them, the header included.
    pub lines: u64,
    /// The incomplete records behind them, described for a person.
    pub torn: Option<String>,
}

/// Applies all records of the file again. Linear in the file.
///
/// The incomplete records that a killed process or a loss of power may leave at the end are left out: a line without
/// its end, a line that is not JSON, archived items without their compaction. The same anywhere else is an error.
pub(crate) fn replay(path: &Path, bytes: &[u8]) -> Result<ReplayedSession, StoreError> {
    let lines = lines(bytes);
    let mut session = Session::new();
    session.id = header(path, lines.first())?.id;
    let mut replaying = SessionReplay::new(session);
    let damaged = |damage: Damage| StoreError::damaged(path, damage.at, damage.problem);
    let mut torn = None;
    let records = &lines[1..];
    for (index, line) in records.iter().enumerate() {
        match line.is_whole.then(|| serde_json::from_slice(line.bytes)) {
            Some(Ok(record)) => replaying.apply(line.number, record).map_err(damaged)?,
            Some(Err(error)) if line.is_json() => return Err(StoreError::damaged(path, line.number, error)),
            _ if is_one_write(&records[index - replaying.open..], replaying.open) => {
                let problem = if line.is_whole { "a line that is not JSON" } else { "a line without its end" };
                torn = Some((index - replaying.open, problem));
                break;
            }
            _ => return Err(StoreError::damaged(path, line.number, "it is not JSON, and other records follow")),
        }
    }
    if torn.is_none() && replaying.open > 0 {
        torn = Some((records.len() - replaying.open, "archived items without their compaction"));
    }
    let good = torn.map_or(records.len(), |(index, _)| index);
    let length = records.get(good).map_or(bytes.len(), |line| line.start);
    let torn = torn.map(|(_, problem)| {
        format!("line {} and what follows, {} bytes, begins with {problem}", good + 2, bytes.len() - length)
    });
    let (session, archive) = replaying.finish().map_err(damaged)?;
    Ok(ReplayedSession { session, archive, length: length as u64, lines: good as u64 + 1, torn })
}

fn header(path: &Path, line: Option<&Line<'_>>) -> Result<Header, StoreError> {
    let not_a_session = |problem: &str| StoreError::NotASession { path: path.to_owned(), problem: problem.to_owned() };
    let line = line.ok_or_else(|| not_a_session("it is empty"))?;
    if !line.is_whole {
        return Err(not_a_session("its first line has no end"));
    }
    let of = |error: serde_json::Error| not_a_session(&format!("its first line is not a header: {error}"));
    let version = serde_json::from_slice::<AnyHeader>(line.bytes).map_err(of)?.epitome;
    if version > VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), version, known: VERSION });
    }
    serde_json::from_slice(line.bytes).map_err(of)
}

/// Whether the records at the end of a file, of which the first `items` are archived items and the next cannot be read,
/// may be one incomplete write. Power may fail while the end of it is on the disk and its middle is not.
fn is_one_write(records: &[Line<'_>], items: usize) -> bool {
    let parsed = |line: &Line<'_>| serde_json::from_slice::<Record>(line.bytes).ok();
    let is_part = |line: &Line<'_>| matches!(parsed(line), Some(Record::Archived(_))) || !line.is_json();
    let Some((last, between)) = records.get(items + 1..).and_then(<[_]>::split_last) else { return true };
    let ends = match parsed(last) {
        Some(Record::Compaction(compaction)) => compaction.items as usize == records.len() - 1,
        _ => is_part(last),
    };
    ends && between.iter().all(is_part)
}

/// The problem of a record.
#[derive(Debug)]
pub(crate) struct Damage {
    /// Which record: its line, or its sequence.
    pub at: u64,
    pub problem: String,
}

/// A session while its records are done again.
#[derive(Debug)]
pub(crate) struct SessionReplay {
    session: Session,
    /// Archived items, each with its line.
    items: Vec<(u64, StoredItem)>,
    /// The number of items at the end without a compaction.
    open: usize,
}

impl SessionReplay {
    pub(crate) fn new(session: Session) -> Self {
        Self { session, items: Vec::new(), open: 0 }
    }

    /// Does one record again; `at` names it where it is damaged.
    pub(crate) fn apply(&mut self, at: u64, record: Record) -> Result<(), Damage> {
        let damaged = |problem: String| Damage { at, problem };
        if self.open > 0 && !matches!(record, Record::Archived(_) | Record::Compaction(_)) {
            return Err(damaged("the archived items in front of it have no compaction".to_owned()));
        }
        match record {
            Record::Tools(tools) => self.session.tools = tools,
            Record::Message(message) => {
                self.session.push(*message);
            }
            Record::Archived(item) => {
                self.items.push((at, item));
                self.open += 1;
            }
            Record::Compaction(compaction) => {
                commit(&mut self.session, *compaction, self.open).map_err(damaged)?;
                self.open = 0;
            }
            Record::Undo(epoch) => self.session.undo(epoch).map_err(|error| damaged(error.to_string()))?,
        }
        Ok(())
    }

    /// The session and its archive, without items whose compaction is missing.
    pub(crate) fn finish(mut self) -> Result<(Session, SessionArchive), Damage> {
        let whole = self.items.len() - self.open;
        let mut archive = SessionArchive::new();
        for (at, item) in self.items.drain(..whole) {
            let content = content_of(&self.session, item.content);
            archive.restore(item.handle, content.map_err(|problem| Damage { at, problem })?);
        }
        Ok((self.session, archive))
    }
}

fn commit(session: &mut Session, compaction: Compaction, items: usize) -> Result<(), String> {
    let Compaction { items: written, epoch } = compaction;
    if written as usize != items {
        return Err(format!("{items} archived items stand in front of a compaction of {written}"));
    }
    let (number, length) = (session.next_epoch(), session.log().len());
    if (epoch.id, epoch.log_length as usize) != (number, length) {
        let (id, log_length) = (epoch.id, epoch.log_length);
        return Err(format!("compaction {id} of {log_length} messages stands where {number} of {length} is expected"));
    }
    session.commit(epoch);
    Ok(())
}
