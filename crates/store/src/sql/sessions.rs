//! Sessions: making, listing, loading and changing them.

use std::collections::HashSet;
use std::sync::Arc;

use epitome_session::{CallId, Message, Session};

use super::statement::{Outcome, Reader, Statement, Value, json};
use super::writes::{Counts, Writes};
use super::{Access, Failure, Store, not_found, now};
use crate::archive::{Locator, SessionArchive};
use crate::data::{Page, Paging, SessionFilter, SessionInfo, SessionMetadata, StoredSession};
use crate::error::StoreError;
use crate::record::{Compaction, Record};
use crate::replay::SessionReplay;
use crate::settings::check_secrets;
use crate::steps::{Items, SessionChange, steps};
use crate::tenant::{Tenant, check_name};

/// The columns of a session that [`info`] reads.
const INFO: &str = "id, agent, title, settings, version, messages, epochs, created_at, updated_at";

impl Store {
    /// Stores a new session as it is, and returns its version. What the archive holds is stored with the epochs that name
    /// it, as [`SessionFile::create`](crate::SessionFile::create) does.
    ///
    /// Errors with [`StoreError::Taken`] where the tenant has a session of that id.
    pub async fn create_session(
        &self,
        tenant: &Tenant,
        id: &str,
        about: &SessionMetadata,
        session: &Session,
        archive: &mut SessionArchive,
    ) -> Result<u64, StoreError> {
        check_name("session", id)?;
        let now = now();
        let mut writes = Writes::new(tenant, id, 0, now);
        let insert = Statement::new(
            "INSERT INTO sessions (tenant, id, agent, title, title_folded, settings, tools, created_at, updated_at, \
             version, messages, epochs) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?11)",
        );
        let (log_length, epochs) = (session.log().len() as u32, session.next_epoch());
        let undone = session.journal().iter().filter(|epoch| epoch.undone).count() as u32;
        let insert = with_about(insert.with(tenant.as_str()).with(id), about)?;
        let insert = insert.with(session.tools.as_deref()).with(now).with(log_length + epochs + undone);
        writes.statements.push(insert.with(log_length).with(epochs));
        let mut locator = Locator::new(session);
        let mut told = 0;
        for step in steps(session, archive) {
            match step {
                SessionChange::Message(message) => {
                    writes.message(message, log_length - told)?;
                    told += 1;
                }
                SessionChange::Compaction(epoch, items) => writes.compaction(session, &mut locator, &epoch, &items)?,
                SessionChange::Undo(epoch) => writes.undo(epoch),
            }
        }
        writes.answers(session);
        let version = writes.version();
        match self.run(Access::Write, writes.statements).await {
            Ok(_) => {}
            Err(Failure::Taken) => return Err(self.name_taken_error(tenant, id).await),
            Err(failure) => return Err(failure.into_error()),
        }
        if !session.journal().is_empty() {
            archive.all_stored();
        }
        Ok(version)
    }

    /// Which of the names was taken: that of the session, or that of one of its messages.
    async fn name_taken_error(&self, tenant: &Tenant, id: &str) -> StoreError {
        let name = Arc::from(id);
        match self.session_info(tenant, id).await {
            Ok(_) => StoreError::Taken { of: "session", name },
            Err(StoreError::NotFound { .. }) => {
                StoreError::Mismatch { session: name, problem: "two of its messages have the same id".to_owned() }
            }
            Err(error) => error,
        }
    }

    /// The tenant's sessions, the last changed first.
    pub async fn sessions(
        &self,
        tenant: &Tenant,
        filter: &SessionFilter,
        paging: &Paging,
    ) -> Result<Page<SessionInfo>, StoreError> {
        let (before, behind) = match &paging.after {
            None => (i64::MAX, ""),
            Some(after) => {
                let unknown = || StoreError::Paging { after: after.clone() };
                let (updated, id) = after.split_once(':').ok_or_else(unknown)?;
                (updated.parse().map_err(|_| unknown())?, id)
            }
        };
        let title = filter.title.as_ref().map(|title| {
            let folded = title.to_lowercase().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
            format!("%{folded}%")
        });
        let sql = format!(
            "SELECT {INFO} FROM sessions WHERE tenant = ?1 \
             AND (updated_at < ?2 OR (updated_at = ?2 AND id > ?3)) \
             AND (agent = ?4 OR ?4 IS NULL) AND (title_folded LIKE ?5 ESCAPE '\\' OR ?5 IS NULL) \
             AND updated_at >= ?6 ORDER BY updated_at DESC, id LIMIT ?7"
        );
        let select = Statement::composed(sql).with(tenant.as_str()).with(before).with(behind);
        let select = select.with(filter.agent.as_deref()).with(title).with(filter.updated_since.unwrap_or(i64::MIN));
        // One more, to see whether there is another page.
        let outcome = self.read_one(select.with(u64::from(paging.most) + 1)).await?;
        let mut items = Vec::new();
        for row in outcome.rows.iter().take(paging.most as usize) {
            items.push(info(&mut row.read())?);
        }
        let goes_on = outcome.rows.len() > items.len();
        let next = items.last().filter(|_| goes_on).map(|last| format!("{}:{}", last.updated_at, last.id));
        Ok(Page { items, next })
    }

    /// A session's metadata, without loading the session. Constant time.
    pub async fn session_info(&self, tenant: &Tenant, id: &str) -> Result<SessionInfo, StoreError> {
        let outcome = self.read_one(select_info(tenant, id)).await?;
        let row = outcome.rows.first().ok_or_else(|| not_found(id))?;
        info(&mut row.read())
    }

    /// Changes what the host keeps about a session; its version stays.
    pub async fn describe(&self, tenant: &Tenant, id: &str, about: &SessionMetadata) -> Result<(), StoreError> {
        let update = Statement::new(
            "UPDATE sessions SET agent = ?3, title = ?4, title_folded = ?5, settings = ?6, updated_at = ?7 \
             WHERE tenant = ?1 AND id = ?2",
        );
        let update = with_about(update.with(tenant.as_str()).with(id), about)?.with(now());
        if self.write_one(update).await? == 0 { Err(not_found(id)) } else { Ok(()) }
    }

    /// Loads a session. Linear in it.
    pub async fn session(&self, tenant: &Tenant, id: &str) -> Result<StoredSession, StoreError> {
        let of_session = |sql| Statement::for_row(sql, tenant, id);
        let archive = of_session(
            "SELECT e.sequence, a.body FROM archive a JOIN epochs e \
             ON e.tenant = a.tenant AND e.session = a.session AND e.epoch = a.epoch \
             WHERE a.tenant = ?1 AND a.session = ?2 ORDER BY e.sequence, a.place",
        );
        let mut statements = load_statements(tenant, id);
        statements.push(archive);
        load_session(id, &self.read(statements).await?)
    }

    /// Stores messages that were pushed to the session, in order, all or none. Costs the messages; where a result among them is of
    /// a call that the engine has answered, the session.
    pub async fn append(
        &self,
        tenant: &Tenant,
        id: &str,
        expected: u64,
        messages: &[Arc<Message>],
    ) -> Result<u64, StoreError> {
        let count = messages.len() as u32;
        let mut writes = Writes::new(tenant, id, expected, now());
        writes.advance(count.into(), count, 0, Counts::default());
        for (index, message) in messages.iter().enumerate() {
            if message.id.as_str().is_empty() {
                let problem = "a message has no id: push it to the session first".to_owned();
                return Err(StoreError::Mismatch { session: Arc::from(id), problem });
            }
            writes.message(message, count - index as u32)?;
        }
        let results = answered_calls(messages);
        if !results.is_empty() && !results.is_disjoint(&answered_calls(&self.answers(tenant, id).await?)) {
            let mut session = self.session(tenant, id).await?.session;
            for message in messages {
                session.push(Message::clone(message));
            }
            writes.answers(&session);
        }
        self.change(tenant, id, expected, Counts::default(), writes).await
    }

    /// What the engine has answered to calls without a result.
    async fn answers(&self, tenant: &Tenant, id: &str) -> Result<Vec<Arc<Message>>, StoreError> {
        let select = "SELECT body FROM messages WHERE tenant = ?1 AND session = ?2 AND added_epoch IS NOT NULL \
             AND origin = 'answer'";
        let answers = self.read_of_session(tenant, id, select).await?;
        answers.rows.iter().map(|row| row.read().json("a stored message")).collect()
    }

    /// Stores the tool definitions of the session, or that it has none.
    pub async fn set_tools(
        &self,
        tenant: &Tenant,
        id: &str,
        expected: u64,
        tools: Option<&str>,
    ) -> Result<u64, StoreError> {
        let mut writes = Writes::new(tenant, id, expected, now());
        writes.advance(1, 0, 0, Counts::default());
        writes.tools(tools);
        self.change(tenant, id, expected, Counts::default(), writes).await
    }

    /// Stores the newest epoch of the session together with the archive's pending items, all or nothing. Linear in the
    /// number of messages and in the items.
    ///
    /// Errors with [`StoreError::Mismatch`] where the session has another number of messages or epochs than the stored
    /// one would then have. On an error the pending items stay pending.
    pub async fn commit(
        &self,
        tenant: &Tenant,
        id: &str,
        expected: u64,
        session: &Session,
        archive: &mut SessionArchive,
    ) -> Result<u64, StoreError> {
        let epoch = session.journal().last().filter(|epoch| !epoch.undone);
        let epoch = epoch.ok_or_else(|| StoreError::Mismatch {
            session: Arc::from(id),
            problem: "its newest compaction is undone, or it has none".to_owned(),
        })?;
        let counts = Counts { messages: Some(session.log().len() as u32), epochs: Some(epoch.id) };
        let mut writes = Writes::new(tenant, id, expected, now());
        writes.advance(1, 0, 1, counts);
        let items: Items<'_> = archive.pending_items().collect();
        writes.compaction(session, &mut Locator::new(session), epoch, &items)?;
        let version = self.change(tenant, id, expected, counts, writes).await?;
        archive.all_stored();
        Ok(version)
    }

    /// Stores that an epoch was undone, after [`Session::undo`] did it.
    pub async fn undo(&self, tenant: &Tenant, id: &str, expected: u64, epoch: u32) -> Result<u64, StoreError> {
        let mut writes = Writes::new(tenant, id, expected, now());
        writes.advance(1, 0, 0, Counts::default());
        writes.undo(epoch);
        if !self.answers(tenant, id).await?.is_empty() {
            let mut session = self.session(tenant, id).await?.session;
            // One that cannot be undone here is refused by the change.
            if session.undo(epoch).is_ok() {
                writes.answers(&session);
            }
        }
        self.change(tenant, id, expected, Counts::default(), writes).await
    }

    /// Stores everything that is new in a session since its version was the expected one: tool definitions, messages,
    /// epochs with the archive's pending items, undos. All or nothing, in one change where the other calls are one for
    /// each; costs what is new, and the number of messages.
    ///
    /// Undos of epochs that were stored before count as made before the new changes: the session comes back with the
    /// same log, journal, view and state hash.
    ///
    /// Errors with [`StoreError::Mismatch`] where the session does not go on where the stored one ends.
    pub async fn save(
        &self,
        tenant: &Tenant,
        id: &str,
        expected: u64,
        session: &Session,
        archive: &mut SessionArchive,
    ) -> Result<u64, StoreError> {
        let stored = self.stored(tenant, id).await?;
        if stored.version != expected {
            return Err(StoreError::Conflict { session: Arc::from(id), expected, actual: stored.version });
        }
        let mismatch = |problem: &str| StoreError::Mismatch { session: Arc::from(id), problem: problem.to_owned() };
        let (log, journal) = (session.log(), session.journal());
        let (Some(new), Some(_)) = (log.get(stored.messages..), journal.get(stored.undone.len()..)) else {
            return Err(mismatch("it has fewer messages or compactions than the stored one"));
        };
        let newest = stored.messages.checked_sub(1).map(|last| Value::from(&log[last].id));
        if newest != stored.newest.map(Value::from) {
            return Err(mismatch("its messages are others than the stored ones"));
        }
        let mut writes = Writes::new(tenant, id, expected, now());
        let undone = stored.undone.iter().zip(journal).filter(|(was, epoch)| !**was && epoch.undone);
        let undone: Vec<u32> = undone.map(|(_, epoch)| epoch.id).collect();
        let new_epochs = &journal[stored.undone.len()..];
        let is_retooled = stored.tools.as_deref() != session.tools.as_deref();
        let undone_at_once = new_epochs.iter().filter(|epoch| epoch.undone).count();
        let changes = new.len() + undone.len() + new_epochs.len() + undone_at_once + usize::from(is_retooled);
        if changes == 0 {
            return Ok(expected);
        }
        writes.advance(changes as u64, new.len() as u32, new_epochs.len() as u32, Counts::default());
        if is_retooled {
            writes.tools(session.tools.as_deref());
        }
        // Before the new changes, as nothing in force depends on them; the last first, as it may have depended on
        // others.
        undone.into_iter().rev().for_each(|epoch| writes.undo(epoch));
        let mut locator = Locator::new(session);
        let mut pending: Items<'_> = archive.pending_items().collect();
        let (mut messages, mut epochs) = (0, 0);
        for step in steps(session, &SessionArchive::new()) {
            match step {
                SessionChange::Message(message) => {
                    messages += 1;
                    if messages > stored.messages {
                        writes.message(message, (log.len() + 1 - messages) as u32)?;
                    }
                }
                SessionChange::Compaction(epoch, _) => {
                    epochs += 1;
                    if epochs > stored.undone.len() {
                        // All that is pending goes with the first: it is looked up when all is read.
                        writes.compaction(session, &mut locator, &epoch, &std::mem::take(&mut pending))?;
                    }
                }
                SessionChange::Undo(epoch) if epoch as usize >= stored.undone.len() => writes.undo(epoch),
                SessionChange::Undo(_) => {}
            }
        }
        writes.answers(session);
        let has_new_epoch = !new_epochs.is_empty();
        let version = self.change(tenant, id, expected, Counts::default(), writes).await?;
        if has_new_epoch {
            archive.all_stored();
        }
        Ok(version)
    }

    /// The stored part of a session that [`save`](Self::save) needs to find the changes.
    async fn stored(&self, tenant: &Tenant, id: &str) -> Result<StoredState, StoreError> {
        let of_session = |sql| Statement::for_row(sql, tenant, id);
        let outcomes = self
            .read(vec![
                of_session("SELECT version, messages, tools FROM sessions WHERE tenant = ?1 AND id = ?2"),
                of_session(
                    "SELECT message FROM messages WHERE tenant = ?1 AND session = ?2 AND number = \
                     (SELECT messages FROM sessions WHERE tenant = ?1 AND id = ?2) - 1",
                ),
                of_session("SELECT undone_sequence FROM epochs WHERE tenant = ?1 AND session = ?2 ORDER BY epoch"),
            ])
            .await?;
        let [session, newest, epochs] = outcomes.as_slice() else { return Err(not_found(id)) };
        let mut row = session.rows.first().ok_or_else(|| not_found(id))?.read();
        let undone = epochs.rows.iter().map(|row| Ok(row.read().optional_integer()?.is_some()));
        Ok(StoredState {
            version: row.integer()? as u64,
            messages: row.integer()? as usize,
            tools: row.optional_text()?.map(str::to_owned),
            newest: newest.rows.first().map(|row| row.read().text().map(str::to_owned)).transpose()?,
            undone: undone.collect::<Result<_, StoreError>>()?,
        })
    }

    /// Deletes a session with its archive, and the memories that are its alone. Whether there was one.
    pub async fn delete_session(&self, tenant: &Tenant, id: &str) -> Result<bool, StoreError> {
        let delete = [
            "DELETE FROM sessions WHERE tenant = ?1 AND id = ?2",
            "DELETE FROM memories WHERE tenant = ?1 AND session = ?2",
        ];
        let deletes = delete.map(|sql| Statement::for_row(sql, tenant, id));
        let deleted = self.delete(deletes.into()).await?;
        Ok(deleted.first().is_some_and(|sessions| *sessions > 0))
    }

    /// Makes a change, and finds out why where it cannot be made. Returns the new version.
    async fn change(
        &self,
        tenant: &Tenant,
        id: &str,
        expected: u64,
        counts: Counts,
        writes: Writes<'_>,
    ) -> Result<u64, StoreError> {
        let version = writes.version();
        let failure = match self.run(Access::Write, writes.statements).await {
            Ok(_) => return Ok(version),
            Err(Failure::Error(error)) => return Err(error),
            Err(failure) => failure,
        };
        let stored = self.session_info(tenant, id).await?;
        if stored.version != expected {
            return Err(StoreError::Conflict { session: stored.id, expected, actual: stored.version });
        }
        let problem = match failure {
            Failure::Unmet(0) => format!(
                "the session has {} messages in front of compaction {}, the stored one has {} and {} compactions",
                counts.messages.unwrap_or_default(),
                counts.epochs.unwrap_or_default(),
                stored.messages,
                stored.epochs
            ),
            Failure::Unmet(_) => "there is no such compaction, or it is undone already".to_owned(),
            Failure::Taken => "the id of a message or a handle is taken".to_owned(),
            Failure::Error(error) => return Err(error),
        };
        Err(StoreError::Mismatch { session: stored.id, problem })
    }
}

/// The stored state of a session.
#[derive(Debug)]
struct StoredState {
    version: u64,
    messages: usize,
    tools: Option<String>,
    /// The id of the newest message of the log, as its column has it.
    newest: Option<String>,
    /// Which epochs there are, and which were undone.
    undone: Vec<bool>,
}

/// The next four values of a statement: what the host keeps about a session.
fn with_about(statement: Statement, about: &SessionMetadata) -> Result<Statement, StoreError> {
    if let Some(agent) = &about.agent {
        check_name("agent", agent)?;
    }
    check_secrets(&about.settings)?;
    let folded = about.title.as_ref().map(|title| title.to_lowercase());
    let statement = statement.with(about.agent.as_deref()).with(about.title.as_deref()).with(folded);
    Ok(statement.with(json("what is kept about a session", &about.settings)?))
}

fn select_info(tenant: &Tenant, id: &str) -> Statement {
    let sql = format!("SELECT {INFO} FROM sessions WHERE tenant = ?1 AND id = ?2");
    Statement::composed(sql).with(tenant.as_str()).with(id)
}

fn info(row: &mut Reader<'_>) -> Result<SessionInfo, StoreError> {
    Ok(SessionInfo {
        id: row.name()?,
        about: SessionMetadata {
            agent: row.optional_text()?.map(str::to_owned),
            title: row.optional_text()?.map(str::to_owned),
            settings: row.json("what is kept about a session")?,
        },
        version: row.integer()? as u64,
        messages: row.integer()? as u32,
        epochs: row.integer()? as u32,
        created_at: row.integer()?,
        updated_at: row.integer()?,
    })
}

/// The statements that read all of a session but its archive, for [`load_session`].
pub(super) fn load_statements(tenant: &Tenant, id: &str) -> Vec<Statement> {
    let of_session = |sql| Statement::for_row(sql, tenant, id);
    vec![
        select_info(tenant, id),
        of_session("SELECT tools FROM sessions WHERE tenant = ?1 AND id = ?2"),
        of_session(
            "SELECT sequence, body FROM messages WHERE tenant = ?1 AND session = ?2 AND number IS NOT NULL \
             ORDER BY sequence",
        ),
        of_session(
            "SELECT sequence, items, undone_sequence, body FROM epochs WHERE tenant = ?1 AND session = ?2 \
             ORDER BY epoch",
        ),
    ]
}

/// The session that was read, by doing every change again in its order. Without an answer to the fifth statement, that
/// for its archive, it has an empty one.
pub(super) fn load_session(id: &str, outcomes: &[Outcome]) -> Result<StoredSession, StoreError> {
    let [about, tools, messages, epochs, archive @ ..] = outcomes else { return Err(not_found(id)) };
    let about = about.rows.first().map(|row| info(&mut row.read())).ok_or_else(|| not_found(id))??;
    let mut records: Vec<(u64, Record)> = Vec::new();
    for row in &messages.rows {
        let mut row = row.read();
        records.push((row.integer()? as u64, Record::Message(row.json("a stored message")?)));
    }
    for row in archive.iter().flat_map(|archive| &archive.rows) {
        let mut row = row.read();
        records.push((row.integer()? as u64, Record::Archived(row.json("an archived item")?)));
    }
    for (epoch, row) in epochs.rows.iter().enumerate() {
        let mut row = row.read();
        let (sequence, items) = (row.integer()? as u64, row.integer()? as u32);
        let undone = row.optional_integer()?;
        let items = if archive.is_empty() { 0 } else { items };
        let compaction = Compaction { items, epoch: row.json("a stored compaction")? };
        records.push((sequence, Record::Compaction(Box::new(compaction))));
        records.extend(undone.map(|sequence| (sequence as u64, Record::Undo(epoch as u32))));
    }
    // Stable: archived items stay in front of their compaction, whose sequence they have.
    records.sort_by_key(|(sequence, _)| *sequence);
    let damaged = |damage: crate::replay::Damage| StoreError::DamagedSession {
        session: Arc::from(id),
        sequence: damage.at,
        problem: damage.problem,
    };
    let mut session = Session::new();
    session.id = Some(Arc::clone(&about.id));
    session.tools = tools.first()?.optional_text()?.map(Arc::from);
    let mut replaying = SessionReplay::new(session);
    for (sequence, record) in records {
        replaying.apply(sequence, record).map_err(damaged)?;
    }
    let (session, archive) = replaying.finish().map_err(damaged)?;
    let has = (session.log().len(), session.journal().len());
    if has != (about.messages as usize, about.epochs as usize) {
        let problem = format!(
            "{} messages and {} compactions are there of {} and {}",
            has.0, has.1, about.messages, about.epochs
        );
        return Err(StoreError::DamagedSession { session: about.id, sequence: about.version, problem });
    }
    Ok(StoredSession { session, archive, version: about.version, about: about.about })
}

/// The calls that messages have results of.
fn answered_calls(messages: &[Arc<Message>]) -> HashSet<CallId> {
    let blocks = messages.iter().flat_map(|message| &message.blocks);
    blocks.filter_map(|block| Some(Arc::clone(&block.as_result()?.call_id))).collect()
}
