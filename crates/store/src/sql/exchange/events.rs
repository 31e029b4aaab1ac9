//! Events of sessions: written by the instance that did something, read by all.
//!
//! The ids come from one sequence, and are given while a lock is held to the end of the transaction. So they become visible
//! in their order, and a reader that has read up to one never meets a smaller one later.

use std::sync::Arc;
use std::time::Duration;

use super::Exchange;
use crate::error::StoreError;
use crate::sql::postgres::Wakeups;
use crate::sql::statement::{Outcome, Statement};
use crate::sql::{Access, Failure, now};

/// The lock that a writer of events holds to the end of its transaction.
const IN_ORDER: &str = "SELECT pg_advisory_xact_lock('session_events'::regclass::oid::int4, 0)::text";

/// An event is not worth waiting for the disk: what it speaks of is stored already.
const WITHOUT_WAITING: &str = "SELECT set_config('synchronous_commit', 'off', true)";

/// Deletes from the lowest id up, so that nothing is missing between two events that are there. The newest row stays: it
/// says how far the ids have come. Only a bounded number of rows are looked at for their age: more of them go the next time, or with the bound
/// on their number.
const PRUNE: &str = "\
    DELETE FROM session_events WHERE id < (SELECT MAX(id) FROM session_events) AND id <= GREATEST( \
    (SELECT MAX(id) FROM session_events) - ?2, \
    (SELECT MAX(id) FROM (SELECT id, told_at FROM session_events ORDER BY id LIMIT 20000) AS oldest WHERE told_at < ?1))";

/// An event to be published to the other instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingEvent {
    /// The tenant of its session.
    pub tenant: Arc<str>,
    /// The session's id.
    pub session: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// It as JSON.
    pub body: String,
    /// Whether the session is gone with it: earlier events of the session are deleted.
    pub is_last: bool,
}

/// A published event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    /// Its number among the events of all sessions, from 1 on. Numbers grow in the order in which events were published, with
    /// gaps.
    pub id: u64,
    /// The tenant of its session.
    pub tenant: Arc<str>,
    /// The session's id.
    pub session: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// It as JSON.
    pub body: String,
}

/// How far the events of a database go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFeed {
    /// A random name that distinguishes the numbers of this database from those of another.
    pub name: Arc<str>,
    /// The number of the newest event; 0 where there was none.
    pub newest: u64,
}

/// Events in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPage {
    /// The number of the oldest event of the database that is kept; 0 where there was none.
    pub oldest: u64,
    /// The number of the newest.
    pub newest: u64,
    /// The events.
    pub events: Vec<FeedEvent>,
}

impl EventPage {
    /// Whether all events after that number are in the database still: a reader that stands there has missed none. False for a
    /// number that no event has yet.
    pub fn follows(&self, id: u64) -> bool {
        (self.oldest..=self.newest + 1).contains(&id.saturating_add(1))
    }
}

impl Exchange {
    /// Publishes events to all instances, in one transaction: all or none. Listeners are woken once for all of them.
    ///
    /// Does not wait until they are on the disk. A crash of the database may lose the last ones.
    pub async fn publish(&self, events: &[OutgoingEvent]) -> Result<(), StoreError> {
        if events.is_empty() {
            return Ok(());
        }
        let mut statements = vec![Statement::new(IN_ORDER), Statement::new(WITHOUT_WAITING)];
        for event in events {
            if event.is_last {
                let delete = Statement::new("DELETE FROM session_events WHERE tenant = ?1 AND session = ?2");
                statements.push(delete.with(&*event.tenant).with(&*event.session));
            }
            let insert = Statement::new(
                "INSERT INTO session_events (tenant, session, name, body, told_at) VALUES (?1, ?2, ?3, ?4, ?5)",
            );
            let insert = insert.with(&*event.tenant).with(&*event.session).with(&*event.name);
            statements.push(insert.with(event.body.as_str()).with(now()));
        }
        statements.push(Statement::new("SELECT pg_notify('epitome_' || md5(current_schema()), '')::text"));
        self.store.write(statements).await.map(drop)
    }

    /// How far the events go now.
    pub async fn event_feed(&self) -> Result<EventFeed, StoreError> {
        let asked =
            self.store.read(vec![Statement::new("SELECT name FROM event_feed"), Statement::new(BOUNDS)]).await?;
        let [name, bounds] = asked.as_slice() else { return Err(Failure::Unmet(0).into_error()) };
        Ok(EventFeed { name: name.first()?.name()?, newest: read_bounds(bounds)?.1 })
    }

    /// The events of all sessions behind that number: `most` of them at most, the oldest first.
    pub async fn events_after(&self, id: u64, most: u32) -> Result<EventPage, StoreError> {
        let select = Statement::new(
            "SELECT id, tenant, session, name, body FROM session_events WHERE id > ?1 ORDER BY id LIMIT ?2",
        );
        self.page(select.with(id).with(most)).await
    }

    /// The events of one session behind that number, and those of no session, which are for all: `most` of them at most, the
    /// newest, the oldest of these first.
    pub async fn session_events_after(
        &self,
        tenant: &str,
        session: &str,
        id: u64,
        most: u32,
    ) -> Result<EventPage, StoreError> {
        let select = Statement::new(
            "SELECT id, tenant, session, name, body FROM session_events \
             WHERE (tenant, session) IN ((?1, ?2), ('', '')) AND id > ?3 ORDER BY id DESC LIMIT ?4",
        );
        let mut page = self.page(select.with(tenant).with(session).with(id).with(most)).await?;
        page.events.reverse();
        Ok(page)
    }

    async fn page(&self, select: Statement) -> Result<EventPage, StoreError> {
        let asked = self.store.read(vec![Statement::new(BOUNDS), select]).await?;
        let [bounds, events] = asked.as_slice() else { return Err(Failure::Unmet(0).into_error()) };
        let (oldest, newest) = read_bounds(bounds)?;
        let events = events.rows.iter().map(|row| {
            let mut row = row.read();
            let id = row.integer()?.unsigned_abs();
            let (tenant, session, name) = (row.name()?, row.name()?, row.name()?);
            Ok(FeedEvent { id, tenant, session, name, body: row.text()?.to_owned() })
        });
        Ok(EventPage { oldest, newest, events: events.collect::<Result<_, StoreError>>()? })
    }

    /// Deletes events that are older than `age`, and the oldest where there are more than `most`. Returns how many. Each
    /// instance may do this as often as it likes.
    pub async fn prune_events(&self, age: Duration, most: u32) -> Result<u64, StoreError> {
        let before = now() - i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let prune = Statement::new(PRUNE).with(before).with(most);
        let outcomes = self.store.run(Access::Write, vec![prune]).await.map_err(Failure::into_error)?;
        Ok(outcomes.first().map_or(0, |outcome| outcome.changed))
    }

    /// Listens for events of any instance, over a connection of its own. Events published before this returns
    /// can be read at once.
    pub async fn wakeups(&self) -> Result<Wakeups, StoreError> {
        let connected = tokio::task::unconstrained(self.store.database.wakeups()).await?;
        connected.ok_or_else(|| Failure::Unmet(0).into_error())
    }
}

/// The numbers of the oldest and of the newest event.
const BOUNDS: &str = "SELECT COALESCE(MIN(id), 0), COALESCE(MAX(id), 0) FROM session_events";

fn read_bounds(outcome: &Outcome) -> Result<(u64, u64), StoreError> {
    let mut row = outcome.first()?;
    Ok((row.integer()?.unsigned_abs(), row.integer()?.unsigned_abs()))
}
