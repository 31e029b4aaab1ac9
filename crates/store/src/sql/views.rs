//! Messages of stored sessions, in parts.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Entry, Epoch, Message};

use super::sessions::{load_session, load_statements};
use super::statement::{Outcome, Reader, Row, Statement, Value};
use super::{Store, not_found};
use crate::data::{EpochTimes, Messages, Slice, StoredMessage, StoredSession, ViewKind, removals};
use crate::error::StoreError;
use crate::tenant::Tenant;

impl Store {
    /// Messages of a view of the session. The session is read and folded for it: linear in the session.
    pub async fn view(&self, tenant: &Tenant, id: &str, kind: ViewKind, slice: Slice) -> Result<Messages, StoreError> {
        let mut statements = load_statements(tenant, id);
        statements.push(Statement::for_row(TIMES, tenant, id));
        let mut outcomes = self.read(statements).await?;
        let times = times(&outcomes.pop().unwrap_or_default())?;
        let StoredSession { session, version, .. } = load_session(id, &outcomes)?;
        let full = matches!(kind, ViewKind::Full).then(|| (session.full_view(), removals(&session, &times)));
        let entries = full.as_ref().map_or(session.view(), |(entries, _)| entries);
        let removal = |entry: &Entry| full.as_ref().and_then(|(_, removals)| removals.get(&entry.key));
        let part = entries.iter().skip(slice.from as usize).take(slice.most as usize);
        let messages = part.map(|entry| StoredMessage::new(entry, removal(entry))).collect();
        Ok(Messages { version, total: entries.len() as u32, messages })
    }

    /// The messages of the log that a summary in force replaces, those behind earlier summaries included, in their
    /// order. Linear in these.
    pub async fn behind(&self, tenant: &Tenant, id: &str, summary: &str, slice: Slice) -> Result<Messages, StoreError> {
        const BEHIND: &str = "WITH RECURSIVE behind (message, number) AS (\
             SELECT message, number FROM messages WHERE tenant = ?1 AND session = ?2 AND compacted_into = ?3 \
             UNION \
             SELECT m.message, m.number FROM messages m JOIN behind b ON m.compacted_into = b.message \
             WHERE m.tenant = ?1 AND m.session = ?2) ";
        let summary = Value::from(&epitome_session::MessageId::new(summary));
        let of_session = |sql: String| Statement::composed(sql).with(tenant.as_str()).with(id).with(summary.clone());
        let columns = "m.number, m.body, m.is_summary, m.compacted_at, m.compacted_into";
        let outcomes = self
            .read(vec![
                Statement::for_row("SELECT version FROM sessions WHERE tenant = ?1 AND id = ?2", tenant, id),
                of_session(
                    "SELECT number FROM messages WHERE tenant = ?1 AND session = ?2 AND message = ?3 AND is_summary"
                        .to_owned(),
                ),
                of_session(format!("{BEHIND}SELECT COUNT(*) FROM behind WHERE number IS NOT NULL")),
                of_session(format!(
                    "{BEHIND}SELECT {columns} FROM behind b JOIN messages m ON m.message = b.message \
                     WHERE m.tenant = ?1 AND m.session = ?2 AND m.number IS NOT NULL \
                     ORDER BY m.number LIMIT ?4 OFFSET ?5"
                ))
                .with(slice.most)
                .with(slice.from),
            ])
            .await?;
        let [session, known, count, messages] = outcomes.as_slice() else { return Err(not_found(id)) };
        let version = session.rows.first().ok_or_else(|| not_found(id))?.read().integer()? as u64;
        if known.rows.is_empty() {
            let Value::Text(name) = summary else { return Err(not_found(id)) };
            return Err(StoreError::NotFound { of: "summary", name: Arc::from(name) });
        }
        let total = count.first()?.integer()? as u32;
        let messages = messages.rows.iter().map(|row| message_of_row(&mut row.read())).collect::<Result<_, _>>()?;
        Ok(Messages { version, total, messages })
    }

    /// When the session's compactions were made, in the order of their numbers. Linear in their number.
    pub async fn epoch_times(&self, tenant: &Tenant, id: &str) -> Result<Vec<EpochTimes>, StoreError> {
        times(&self.read_of_session(tenant, id, TIMES).await?)
    }

    /// The summary ([`Epoch::summary`]) of the newest epoch of which the compacted view has one, as it was written.
    pub async fn latest_summary(&self, tenant: &Tenant, id: &str) -> Result<Option<StoredMessage>, StoreError> {
        const SUMMARIES: &str = "SELECT added_epoch, added_index, number, body, is_summary, compacted_at, compacted_into \
             FROM messages WHERE tenant = ?1 AND session = ?2 AND is_summary AND compacted_at IS NULL AND added_epoch = (\
             SELECT MAX(added_epoch) FROM messages \
             WHERE tenant = ?1 AND session = ?2 AND is_summary AND compacted_at IS NULL)";
        let mut of_epoch = None;
        let mut in_force = HashMap::new();
        for row in &self.read_of_session(tenant, id, SUMMARIES).await?.rows {
            let mut row = row.read();
            of_epoch = Some(row.integer()? as u32);
            in_force.insert(row.integer()? as u32, message_of_row(&mut row)?);
        }
        let Some(number) = of_epoch else { return Ok(None) };
        let body = "SELECT body FROM epochs WHERE tenant = ?1 AND session = ?2 AND epoch = ?3";
        let outcomes = self.read(vec![Statement::for_row(body, tenant, id).with(number)]).await?;
        let epoch: Epoch = outcomes.first().ok_or_else(|| not_found(id))?.first()?.json("a stored compaction")?;
        Ok(epoch.summary(|number| in_force.contains_key(&number)).and_then(|number| in_force.remove(&number)))
    }
}

const TIMES: &str = "SELECT committed_at, undone_at FROM epochs WHERE tenant = ?1 AND session = ?2 ORDER BY epoch";

fn times(epochs: &Outcome) -> Result<Vec<EpochTimes>, StoreError> {
    let times = |row: &Row| {
        let mut row = row.read();
        Ok(EpochTimes { committed_at: row.integer()?, undone_at: row.optional_integer()? })
    };
    epochs.rows.iter().map(times).collect()
}

fn message_of_row(row: &mut Reader<'_>) -> Result<StoredMessage, StoreError> {
    Ok(StoredMessage {
        number: row.optional_integer()?.map(|number| number as u32),
        message: row.json::<Arc<Message>>("a stored message")?,
        is_edited: false,
        is_summary: row.bool()?,
        compacted_at: row.optional_integer()?,
        compacted_into: row.optional_text()?.map(Arc::from),
    })
}
