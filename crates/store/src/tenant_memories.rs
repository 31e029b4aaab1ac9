//! The memories of one tenant of a store.

use std::sync::Arc;

use epitome_strategy::BoxFuture;

use crate::error::StoreError;
use crate::memory::{Memory, MemoryStore, Scope};
use crate::store::{Store, Tenant};

/// The memories of one tenant, for whoever takes a [`MemoryStore`].
#[derive(Debug, Clone)]
pub struct TenantMemories {
    store: Arc<dyn Store>,
    tenant: Tenant,
}

impl TenantMemories {
    /// The tenant's memories in that store.
    pub fn new(store: Arc<dyn Store>, tenant: Tenant) -> Self {
        Self { store, tenant }
    }
}

impl MemoryStore for TenantMemories {
    fn remember<'a>(&'a self, memories: &'a [Memory]) -> BoxFuture<'a, Result<usize, StoreError>> {
        self.store.remember(&self.tenant, memories)
    }

    fn recent<'a>(&'a self, scope: &'a Scope, most: usize) -> BoxFuture<'a, Result<Vec<Memory>, StoreError>> {
        self.store.recent_memories(&self.tenant, scope, most)
    }

    fn search<'a>(
        &'a self,
        scope: &'a Scope,
        words: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Memory>, StoreError>> {
        self.store.search_memories(&self.tenant, scope, words, most)
    }

    fn forget<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.store.forget_memory(&self.tenant, id)
    }
}
