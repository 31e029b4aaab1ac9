//! A host that keeps a session in a store, as a server would, and plays with it.

use std::sync::Arc;

use epitome_engine::{Chain, Chains, Engine, Pins, Request, SignalDetector};
use epitome_harness::hostile::{self, Chaos, Dice};
use epitome_session::{EntryKey, Epoch, Message, Origin, Position, Role, Session, SyntheticMessage, Trigger};
use epitome_store::{Checkpoint, SessionArchive, SessionMetadata, Store, StoreError, StoredSession, Tenant};
use epitome_testkit::FakeCounter;

pub(crate) struct Host {
    pub(crate) store: Store,
    pub(crate) tenant: Tenant,
    pub(crate) id: String,
    pub(crate) session: Session,
    pub(crate) archive: SessionArchive,
    pub(crate) version: u64,
    /// What is stored of the session.
    pub(crate) stored: Checkpoint,
    /// Whether nothing is stored until it is saved.
    pub(crate) is_lazy: bool,
    engine: Engine,
    dice: Dice,
}

impl Host {
    /// A host of an empty session that is new in the store.
    pub(crate) async fn new(store: &Store, id: &str, seed: u64) -> Self {
        let mut host = Self::over(store, id, seed);
        let (about, tenant) = (SessionMetadata::default(), Tenant::default());
        host.version = store.create_session(&tenant, id, &about, &host.session, &mut host.archive).await.unwrap();
        host.session.id = Some(id.into());
        host
    }

    /// A host of a session that another one has made.
    pub(crate) async fn load(store: &Store, id: &str, seed: u64) -> Self {
        let mut host = Self::over(store, id, seed);
        host.reload().await;
        host
    }

    fn over(store: &Store, id: &str, seed: u64) -> Self {
        let mut engine = Engine::new(Arc::new(FakeCounter), Arc::new(SignalDetector));
        let chain = || Chain(vec![Arc::new(Chaos { seed, panics: false })]);
        engine.chains = Chains {
            code: chain(),
            analysis: chain(),
            conversation: chain(),
            mixed: chain(),
            unknown: chain(),
            ..Chains::default()
        };
        engine.pins = Pins { protected_tools: Vec::new(), ..Pins::default() };
        Self {
            store: store.clone(),
            tenant: Tenant::default(),
            id: id.to_owned(),
            session: Session::new(),
            archive: SessionArchive::new(),
            version: 0,
            stored: Checkpoint::default(),
            is_lazy: false,
            engine,
            dice: Dice::new(seed),
        }
    }

    /// Forgets what is in memory and reads it again.
    pub(crate) async fn reload(&mut self) {
        let stored = self.store.session(&self.tenant, &self.id).await.unwrap();
        self.stored = Checkpoint::new(&stored.session);
        (self.session, self.archive, self.version) = (stored.session, stored.archive, stored.version);
    }

    pub(crate) async fn push(&mut self, messages: Vec<Message>) {
        for message in messages {
            self.session.push(message);
        }
        self.save_unless_lazy().await;
    }

    /// Compacts in memory to a random share; whether that made an epoch.
    pub(crate) async fn compact_in_memory(&mut self) -> bool {
        let mut ledger = self.engine.ledger(&self.session);
        let budget = ledger.total() * (self.dice.below(90) as u32 + 5) / 100;
        let request = Request::to_budget(budget);
        let compacted = self.engine.compact(&mut self.session, &mut ledger, &mut self.archive, &request);
        compacted.await.unwrap().status.is_compaction()
    }

    pub(crate) async fn compact(&mut self) -> bool {
        let done = self.compact_in_memory().await;
        if done {
            self.save_unless_lazy().await;
            assert!(self.is_lazy || self.archive.pending() == 0);
        }
        done
    }

    /// Puts a summary in place of the older half of the view, where there is anything to summarise.
    pub(crate) async fn summarize(&mut self, text: String) {
        let view = self.session.view();
        let part = &view[view.len() / 6..view.len() / 2];
        let Some(first) = part.first() else { return };
        let position = Position::before(first.position, self.session.next_epoch(), 0);
        let message = Arc::new(Message::text("summary", Role::User, Origin::Summary, text));
        let removed: Vec<EntryKey> = part.iter().map(|entry| entry.key).collect();
        let epoch = Epoch::recorded(Trigger::Manual, removed, vec![SyntheticMessage { position, message }]);
        self.session.commit(epoch);
        self.save().await;
    }

    /// Undoes some epoch, where one can be undone.
    pub(crate) async fn undo(&mut self) -> bool {
        let mut can = (0..self.session.next_epoch()).filter(|epoch| self.session.clone().undo(*epoch).is_ok());
        let Some(epoch) = can.next() else { return false };
        drop(can);
        self.session.undo(epoch).unwrap();
        self.save_unless_lazy().await;
        true
    }

    /// Messages of hostile sessions, compactions and undos in turn; `after` sees the host after each.
    pub(crate) async fn play(&mut self, seed: u64, rounds: usize, mut after: impl FnMut(&Self)) {
        let mut dice = Dice::new(!seed);
        for _ in 0..rounds {
            let messages = hostile::session(dice.bits(), 8);
            let late = hostile::missing_results(&self.session).into_iter().take(2);
            let mut messages: Vec<Message> =
                messages.log().iter().map(|message| (**message).clone()).chain(late).collect();
            while !messages.is_empty() {
                let some = messages.drain(..messages.len().min(1 + dice.below(5))).collect();
                self.push(some).await;
                after(self);
            }
            if !dice.once_in(4) && self.compact().await {
                after(self);
            }
            if dice.once_in(3) && self.undo().await {
                after(self);
            }
        }
    }

    async fn save_unless_lazy(&mut self) {
        if !self.is_lazy {
            self.save().await;
        }
    }

    pub(crate) async fn save(&mut self) {
        self.version = self.try_save(self.version).await.unwrap();
    }

    /// Saves what is new over the stored session of that version.
    pub(crate) async fn try_save(&mut self, version: u64) -> Result<u64, StoreError> {
        let (session, archive) = (&self.session, &mut self.archive);
        let saved = self.store.save(&self.tenant, &self.id, version, session, archive, &self.stored).await;
        if saved.is_ok() {
            self.stored = Checkpoint::new(&self.session);
        }
        saved
    }

    pub(crate) async fn assert_stored(&self, what: &str) {
        let stored = self.store.session(&self.tenant, &self.id).await.unwrap();
        assert_eq!(stored.version, self.version, "{what}");
        assert_same(&stored, &self.session, &self.archive, what);
    }
}

/// What was loaded is the session, and of the archive what was committed.
pub(crate) fn assert_same(stored: &StoredSession, session: &Session, archive: &SessionArchive, what: &str) {
    assert_eq!(stored.session.id, session.id, "{what}");
    assert_eq!(stored.session.tools, session.tools, "{what}");
    assert_eq!(stored.session.state_hash(), session.state_hash(), "{what}");
    assert!(stored.session.log() == session.log(), "{what}: the log");
    assert!(stored.session.journal() == session.journal(), "{what}: the journal");
    assert!(stored.session.view() == session.view(), "{what}: the view");
    let mut archive = archive.clone();
    archive.discard_pending();
    assert!(stored.archive.items().eq(archive.items()), "{what}: the archive");
    assert_eq!(stored.archive.pending(), 0, "{what}");
}
