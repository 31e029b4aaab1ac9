//! Sessions: making, listing, loading and changing them.

use std::sync::Arc;

use epitome_session::Session;

use super::statement::{Outcome, Reader, Statement, json};
use super::writes::Writes;
use super::{Access, Failure, Store, not_found, now};
use crate::archive::SessionArchive;
use crate::checkpoint::Checkpoint;
use crate::data::{Page, Paging, SessionFilter, SessionInfo, SessionMetadata, StoredSession};
use crate::error::StoreError;
use crate::record::{Compaction, Record};
use crate::replay::SessionReplay;
use crate::settings::check_secrets;
use crate::steps::items_by_epoch;
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
        writes.changes(session, items_by_epoch(session, archive), &Checkpoint::default())?;
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

    /// Stores everything that a session has gained since `before`, at which it had the expected version: tool definitions,
    /// messages, epochs with the archive's pending items, undos; nothing where there is nothing new. All or nothing; costs
    /// what is new, and the number of messages where an epoch is. Returns the new version. On an error the pending items stay
    /// pending.
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
        before: &Checkpoint,
    ) -> Result<u64, StoreError> {
        let (messages, epochs) = (before.new_messages(session), before.new_epochs(session));
        let undone = before.undone_epochs(session);
        let is_retooled = session.tools != before.tools;
        let undone_at_once = epochs.iter().filter(|epoch| epoch.undone).count();
        let changes = messages.len() + undone.len() + epochs.len() + undone_at_once + usize::from(is_retooled);
        if changes == 0 {
            return Ok(expected);
        }
        let mut writes = Writes::new(tenant, id, expected, now());
        writes.advance(changes as u64, messages.len() as u32, epochs.len() as u32, before);
        if is_retooled {
            writes.tools(session.tools.as_deref());
        }
        // Before the new changes, as nothing in force depends on them; the last first, as it may have depended on
        // others.
        undone.into_iter().rev().for_each(|epoch| writes.undo(epoch));
        // All that is pending goes with the first new epoch: it is looked up when all is read.
        let first = epochs.first().map(|epoch| epoch.id);
        let pending = first.map(|epoch| (epoch, archive.pending_items().collect())).into_iter().collect();
        writes.changes(session, pending, before)?;
        let version = self.change(tenant, id, expected, before, writes).await?;
        if first.is_some() {
            archive.all_stored();
        }
        Ok(version)
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
        before: &Checkpoint,
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
                "the session had {} messages and {} compactions before, the stored one has {} and {}",
                before.messages,
                before.undone.len(),
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
