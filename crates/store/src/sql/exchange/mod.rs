//! What instances on one PostgreSQL database tell each other: events of sessions, and how many requests tenants have left.

mod events;
mod rates;

pub use events::{EventFeed, EventPage, FeedEvent, OutgoingEvent};
pub use rates::Grant;

use super::Store;

/// What the instances on one PostgreSQL database tell each other. Its tables are those of the store's schema.
#[derive(Debug, Clone)]
pub struct Exchange {
    store: Store,
}

impl Store {
    /// The way to the other instances on this database; `None` where it is not PostgreSQL, and so has one instance only.
    pub fn exchange(&self) -> Option<Exchange> {
        (self.database.backend() == "postgres").then(|| Exchange { store: self.clone() })
    }
}
