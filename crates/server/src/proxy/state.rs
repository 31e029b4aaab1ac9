//! What the proxy has beside what all features have: what it remembers of conversations, and its way to providers.

use std::sync::Arc;

use epitome::formats::Format;
use epitome::{Engine, Runtime};

use super::chain::Hashes;
use super::incoming::Incoming;
use super::items::Items;
use super::lookup::Exchanges;
use super::memory::Decisions;
use super::offers::Offers;
use super::upstream::Sender;
use crate::state::Core;

/// The part of the memory of conversations that is for what is known of messages: one of so many.
const OF_ITEMS: usize = 4;

/// The part of the memory of conversations that is for what models looked up: one of so many.
const OF_EXCHANGES: usize = 8;

/// What the proxy needs beside the engine.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) core: Arc<Core>,
    pub(super) runtime: Runtime,
    /// Whether handles are for somebody else too: the configuration asks for them.
    has_handles: bool,
    pub(super) hashes: Hashes,
    pub(super) items: Items,
    pub(super) decisions: Decisions,
    pub(super) exchanges: Exchanges,
    pub(super) sender: Sender,
    /// Which compactions providers have of their own.
    pub(super) compactions: Offers,
}

impl Proxy {
    pub(crate) fn new(core: Arc<Core>) -> Result<Arc<Self>, String> {
        let (settings, mut runtime) = (&core.settings, Runtime::clone(&core.runtime));
        // Nothing changes below the thresholds, and there is nobody to ask.
        runtime.live.arrival_tokens = None;
        runtime.live.require_confirmation = false;
        runtime.live.memory_flush = false;
        let has_handles = runtime.handles;
        // The model gets the tool that handles are for.
        runtime.handles |= runtime.proxy_recall;
        let of_items = settings.memory.session_bytes / OF_ITEMS;
        let of_exchanges = settings.memory.session_bytes / OF_EXCHANGES;
        Ok(Arc::new(Self {
            runtime,
            has_handles,
            hashes: Hashes::new(),
            items: Items::new(of_items),
            decisions: Decisions::new(
                settings.memory.sessions,
                settings.memory.session_bytes - of_items - of_exchanges,
            ),
            exchanges: Exchanges::new(of_exchanges),
            sender: Sender::new(settings.limits.upstream_timeout)?,
            compactions: Offers::default(),
            core,
        }))
    }

    /// The engine for requests of a format: its texts name handles where the model gets the tool for them.
    pub(super) fn engine(&self, format: Format) -> Engine {
        let mut engine = self.core.engine(format);
        engine.handles = self.runtime.handles;
        engine
    }

    /// Whether handles stand in the texts of a conversation's compactions for a tool that this request cannot have.
    pub(super) fn hides_handles(&self, incoming: &Incoming) -> bool {
        self.runtime.proxy_recall && !self.has_handles && !incoming.takes_tools
    }

    /// Conversations that are remembered, and their bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (conversations, bytes) = self.decisions.size();
        (conversations, bytes + self.exchanges.bytes())
    }
}
