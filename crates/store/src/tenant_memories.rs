//! The memories of one tenant of a store.

use epitome_strategy::async_trait;

use crate::error::StoreError;
use crate::memory::{Memory, MemoryStore, Scope};
use crate::sql::Store;
use crate::tenant::Tenant;

/// The memories of one tenant, as a [`MemoryStore`].
#[derive(Debug, Clone)]
pub struct TenantMemories {
    store: Store,
    tenant: Tenant,
}

impl TenantMemories {
    /// The tenant's memories in that store.
    pub fn new(store: Store, tenant: Tenant) -> Self {
        Self { store, tenant }
    }
}

#[async_trait]
impl MemoryStore for TenantMemories {
    async fn remember(&self, memories: &[Memory]) -> Result<usize, StoreError> {
        self.store.remember(&self.tenant, memories).await
    }

    async fn recent(&self, scope: &Scope, most: usize) -> Result<Vec<Memory>, StoreError> {
        self.store.recent_memories(&self.tenant, scope, most).await
    }

    async fn search(&self, scope: &Scope, words: &str, most: usize) -> Result<Vec<Memory>, StoreError> {
        self.store.search_memories(&self.tenant, scope, words, most).await
    }

    async fn forget(&self, id: &str) -> Result<bool, StoreError> {
        self.store.forget_memory(&self.tenant, id).await
    }
}
