//! A live session that is kept in a store, where others may change it too: other processes, and the service.

use std::sync::Arc;

use epitome_session::Session;
use epitome_store::{
    Checkpoint, Scope, SessionArchive, SessionInfo, SessionMetadata, Store, StoreError, StoredSession, Tenant,
    TenantMemories, successor_id,
};

use super::{LiveError, LiveSession};

/// A live session that is kept in a store, as the service keeps its sessions: both may work on the same one.
///
/// Each change is made under the session's lock and stored whole or not at all. One that begins on a session which somebody
/// else has changed is refused with [`StoreError::Conflict`] and changes nothing; the next call works on the session as the
/// store has it. Where the settings have memories flushed, they go to the store's, in the scope of the session.
///
#[cfg_attr(feature = "sqlite", doc = "```")]
#[cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
/// use epitome::live::{LiveSession, SharedSession};
/// use epitome::session::{Message, Origin, Role};
/// use epitome::store::{SessionMetadata, Store, Tenant};
///
/// # async fn keep() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = epitome::Config::default().build(&epitome::registry())?;
/// let (store, tenant) = (Store::open("sqlite::memory:").await?, Tenant::default());
/// let about = SessionMetadata::default();
/// let mut shared = SharedSession::create(LiveSession::new(&runtime), &store, &tenant, "first", &about).await?;
/// let message = Message::text("", Role::User, Origin::Typed, "Fix the build");
/// shared.change(async |live| live.push(message)).await?;
/// shared.change(async |live| live.maintain().await).await?; // before each call of the model
/// let request = shared.look().await?.session().view(); // what to send
/// # assert_eq!((request.len(), store.session(&tenant, "first").await?.session.view().len()), (1, 1));
/// # Ok(())
/// # }
/// # epitome::engine::block_on(keep()).unwrap();
/// ```
#[derive(Debug)]
pub struct SharedSession {
    live: LiveSession,
    store: Store,
    tenant: Tenant,
    id: Arc<str>,
    /// The version that it has in the store, as far as is known here.
    version: u64,
    /// When it was made: an id may be given again.
    created_at: i64,
    /// Whether it is another one in memory than in the store, or may be.
    is_stale: bool,
}

impl SharedSession {
    /// Stores a new session as `live` has it, and keeps it there from now on.
    ///
    /// # Errors
    ///
    /// The tenant has a session of that id ([`StoreError::Taken`]), or the store failed.
    pub async fn create(
        mut live: LiveSession,
        store: &Store,
        tenant: &Tenant,
        id: &str,
        about: &SessionMetadata,
    ) -> Result<Self, LiveError> {
        live.session.id = Some(Arc::from(id));
        let version = store.create_session(tenant, id, about, &live.session, &mut live.archive).await?;
        let created_at = store.session_info(tenant, id).await?.created_at;
        Ok(Self::new(live, store, tenant, id, version, created_at))
    }

    /// Opens a session of the store in place of the one that `live` has, whose engine and settings it continues with. Linear in
    /// the session.
    ///
    /// # Errors
    ///
    /// The tenant has no session of that id ([`StoreError::NotFound`]), or the store failed.
    pub async fn open(live: LiveSession, store: &Store, tenant: &Tenant, id: &str) -> Result<Self, LiveError> {
        let mut shared = Self::new(live, store, tenant, id, 0, 0);
        shared.load().await?;
        Ok(shared)
    }

    fn new(mut live: LiveSession, store: &Store, tenant: &Tenant, id: &str, version: u64, created_at: i64) -> Self {
        let id: Arc<str> = Arc::from(id);
        if live.settings.memory_flush {
            let memories = TenantMemories::new(store.clone(), tenant.clone());
            live.remember_in(Arc::new(memories), Scope::Session(Arc::clone(&id)));
        }
        Self { live, store: store.clone(), tenant: tenant.clone(), id, version, created_at, is_stale: false }
    }

    /// The id that it has in the store.
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The number of its changes when it was last read or stored.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What the store says of it now, without reading the session.
    pub async fn info(&self) -> Result<SessionInfo, StoreError> {
        self.store.session_info(&self.tenant, &self.id).await
    }

    /// Changes it, and stores the change: whole, or not at all. Waits while others change it under its lock. `work` may be
    /// dropped at any time; the session is then as the store has it.
    ///
    /// # Errors
    ///
    /// Those of `work`, which is then not stored; [`StoreError::Conflict`] where another process has changed the session since it
    /// was read here; [`StoreError::NotFound`] where it was deleted. The next call works on it as the store has it.
    pub async fn change<T, E: From<LiveError>>(
        &mut self,
        work: impl AsyncFnOnce(&mut LiveSession) -> Result<T, E>,
    ) -> Result<T, E> {
        let lock = self.store.lock(&self.tenant, &self.id).await.map_err(LiveError::from)?;
        let done = self.change_locked(work).await;
        lock.release().await;
        done
    }

    async fn change_locked<T, E: From<LiveError>>(
        &mut self,
        work: impl AsyncFnOnce(&mut LiveSession) -> Result<T, E>,
    ) -> Result<T, E> {
        self.begin().await?;
        let before = Checkpoint::new(&self.live.session);
        // Until it is known how this ends: it may be dropped, or panic.
        self.is_stale = true;
        let done = work(&mut self.live).await;
        let is_changed = Checkpoint::new(&self.live.session) != before;
        if done.is_ok() {
            let (session, archive) = (&self.live.session, &mut self.live.archive);
            let saved = self.store.save(&self.tenant, &self.id, self.version, session, archive, &before).await;
            self.version = saved.map_err(LiveError::from)?;
        }
        // What was done by half is forgotten with the next call.
        self.is_stale = is_changed && done.is_err();
        if is_changed {
            self.live.archive.discard_pending(); // of previews of another state
        }
        done
    }

    /// Makes sure that the session is the stored one.
    async fn begin(&mut self) -> Result<(), LiveError> {
        if self.is_stale {
            return self.load().await;
        }
        let info = self.info().await?;
        if (info.version, info.created_at) == (self.version, self.created_at) {
            return Ok(());
        }
        self.is_stale = true;
        Err(StoreError::Conflict { session: info.id, expected: self.version, actual: info.version }.into())
    }

    /// The session for looking and previewing, as it was when it was last read or stored here; what is changed in it is not
    /// stored.
    ///
    /// # Errors
    ///
    /// It has to be read again, and that failed.
    pub async fn look(&mut self) -> Result<&mut LiveSession, LiveError> {
        if self.is_stale {
            self.load().await?;
        }
        Ok(&mut self.live)
    }

    /// Reads the session again where it is another one than the store has; whether it was. One query where it is the same.
    pub async fn reload(&mut self) -> Result<bool, LiveError> {
        let was = (self.version, self.created_at);
        match self.begin().await {
            Ok(()) => {}
            Err(LiveError::Store(StoreError::Conflict { .. })) => self.load().await?,
            Err(error) => return Err(error),
        }
        Ok((self.version, self.created_at) != was)
    }

    async fn load(&mut self) -> Result<(), LiveError> {
        let info = self.info().await?;
        let StoredSession { session, archive, version, .. } = self.store.session(&self.tenant, &self.id).await?;
        self.live.replace(session, archive);
        (self.version, self.created_at, self.is_stale) = (version, info.created_at, false);
        Ok(())
    }

    /// Stores the session that continues this one ([`MaintainOutcome::NewSession`](super::MaintainOutcome::NewSession)),
    /// under the id that the service gives it; where it is there already, it is opened. `live` is empty, with the engine and
    /// the settings to go on with.
    ///
    /// # Errors
    ///
    /// The store failed: the next [`maintain`](LiveSession::maintain) of this session gives a new session again.
    pub async fn begin_successor(&mut self, live: LiveSession, session: Session) -> Result<Self, LiveError> {
        let begun = self.successor(live, session).await;
        begun.inspect_err(|_| self.live.forget_failure())
    }

    async fn successor(&self, mut live: LiveSession, session: Session) -> Result<Self, LiveError> {
        let id = successor_id(&self.tenant, &self.id, &self.live.session);
        match self.info_of(&id).await {
            Ok(_) => return Self::open(live, &self.store, &self.tenant, &id).await,
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        live.replace(session, SessionArchive::new());
        Self::create(live, &self.store, &self.tenant, &id, &self.info().await?.about).await
    }

    async fn info_of(&self, id: &str) -> Result<SessionInfo, StoreError> {
        self.store.session_info(&self.tenant, id).await
    }
}
