//! The proxy's own state: the memory of conversations, and its connections to providers.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use epitome::Runtime;
use epitome::config::{CompactionBy, Prices};
use epitome_fit::conversation::{Decider, Decisions, MatchedRequest, PreparedRequest};

use super::compaction_support::CompactionSupport;
use super::conversation::SharedConversation;
use super::lookup::Exchanges;
use super::native::{ItemKeys, random_key};
use super::unpack_budget::UnpackBudget;
use super::upstream::Sender;
use crate::state::Core;

/// The share of the memory that is for single messages: one part in this many.
const OF_ITEMS: usize = 4;

/// The share of the memory of conversations, as a divisor, that is for the lookups of models.
const OF_EXCHANGES: usize = 8;

/// The proxy's own state, beside the engine.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) core: Arc<Core>,
    /// Whether the configuration asks for handles anyway, for other readers.
    has_handles: bool,
    pub(super) decider: Decider,
    pub(super) decisions: Decisions<SharedConversation>,
    pub(super) exchanges: Exchanges,
    pub(super) sender: Sender,
    /// Which compactions providers have of their own.
    pub(super) compactions: CompactionSupport,
    /// What compaction items are signed with.
    pub(super) item_keys: ItemKeys,
    /// What requests may unpack to.
    pub(super) unpacked: UnpackBudget,
    pub(super) prices: Prices,
}

impl Proxy {
    pub(crate) fn new(core: Arc<Core>) -> Result<Arc<Self>, String> {
        let (settings, mut runtime) = (&core.settings, Runtime::clone(&core.runtime));
        let has_handles = runtime.base_engine.handles;
        // The model gets the tool that handles are for.
        runtime.base_engine.handles |= runtime.proxy_recall;
        let of_items = settings.memory.session_bytes / OF_ITEMS;
        let of_exchanges = settings.memory.session_bytes / OF_EXCHANGES;
        let mut decider = Decider::new(runtime, core.engine.clone(), secret(), of_items);
        decider.count_into(Arc::clone(&core.metrics.sessions));
        let mut item_keys = settings.item_keys.clone();
        if item_keys.is_empty() {
            // Items last as long as the process.
            item_keys.push(&random_key()?);
        }
        Ok(Arc::new(Self {
            decider,
            has_handles,
            decisions: Decisions::new(
                settings.memory.sessions,
                settings.memory.session_bytes - of_items - of_exchanges,
            ),
            exchanges: Exchanges::new(of_exchanges),
            sender: Sender::new(settings.limits.upstream_timeout, settings.tokens.clone())?,
            compactions: CompactionSupport::default(),
            item_keys,
            unpacked: UnpackBudget::new(settings.limits.body_bytes, settings.tokens.has_several_tenants()),
            prices: Prices::shipped().map_err(|error| error.to_string())?,
            core,
        }))
    }

    /// The configuration that requests are compacted by.
    pub(super) fn runtime(&self) -> &Runtime {
        self.decider.runtime()
    }

    /// Whether compactions that clients ask their provider for are made here.
    pub(super) fn answers_compactions(&self) -> bool {
        self.runtime().proxy_compaction == CompactionBy::Proxy
    }

    /// Whether the texts of a conversation's compactions name handles for a tool that a request cannot have.
    /// `takes_tools` says whether a tool can be added to it.
    pub(super) fn hides_handles(&self, takes_tools: bool) -> bool {
        self.runtime().proxy_recall && !self.has_handles && !takes_tools
    }

    /// Keeps what left the context of a request, for those who ask for it by its handle.
    pub(super) fn archive(&self, incoming: &MatchedRequest, mut prepared: PreparedRequest) -> PreparedRequest {
        self.core.archives.keep(&incoming.owner, std::mem::take(&mut prepared.archived));
        prepared
    }

    /// Conversations that are remembered, and their bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (conversations, bytes) = self.decisions.size();
        (conversations, bytes + self.exchanges.bytes())
    }
}

/// A secret of this process: what a client sends cannot be guessed from hashes with it.
fn secret() -> [u8; 32] {
    let mut secret = [0; 32];
    for part in secret.chunks_mut(8) {
        // Each state is seeded by the system.
        let word = RandomState::new().build_hasher().finish().to_le_bytes();
        part.copy_from_slice(&word[..part.len()]);
    }
    secret
}
