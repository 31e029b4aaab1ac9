//! The parts that a decision needs: the engine, the triggers, and the known messages.

use std::sync::Arc;

use epitome::engine::ReasoningFilter;
use epitome::formats::{Format, carries_reasoning, usual_model};
use epitome::live::Metrics;
use epitome::strategy::TokenCounter;
use epitome::wire::Wire;
use epitome::{Engine, Runtime};

use super::chain::{Digest, Hashes};
use super::counts::RememberingCounter;
use super::items::Items;

/// The share of the memory of messages that is for the counts of their texts: one part in this many.
const OF_COUNTS: usize = 4;

/// Decides over conversations. It holds none of them, and threads may share it.
#[derive(Debug)]
pub struct Decider {
    runtime: Runtime,
    engine: Engine,
    metrics: Option<Arc<Metrics>>,
    tells_provenance: bool,
    pub(super) hashes: Hashes,
    pub(super) items: Items,
}

impl Decider {
    /// A decider under the settings of `runtime`, with `engine`. Conversations are recognised by hashes under `secret`,
    /// and known messages take `item_bytes` at most, with the counts of their texts.
    pub fn new(mut runtime: Runtime, mut engine: Engine, secret: [u8; 32], item_bytes: usize) -> Self {
        // Nothing changes below the thresholds, and no person can be asked.
        runtime.live.arrival_tokens.0 = None;
        runtime.live.require_confirmation = false;
        runtime.live.memory_flush = false;
        engine.handles = runtime.base_engine.handles;
        let of_counts = item_bytes / OF_COUNTS;
        engine.counter = Arc::new(RememberingCounter::new(engine.counter, secret, of_counts));
        Self {
            runtime,
            engine,
            metrics: None,
            tells_provenance: false,
            hashes: Hashes::new(secret),
            items: Items::new(item_bytes - of_counts),
        }
    }

    /// Counts the sessions that it works on into `metrics` from here on.
    pub fn count_into(&mut self, metrics: Arc<Metrics>) {
        self.metrics = Some(metrics);
    }

    /// Tells the [`Provenance`](super::Provenance) of what it makes from here on, which takes memory for each conversation.
    pub fn tell_provenance(&mut self) {
        self.tells_provenance = true;
    }

    /// The configuration in force.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Where the conversations of `owner` at an interface begin: who has another of `keys`, which may be secrets, has other
    /// conversations.
    pub fn seed<'a>(&self, owner: &str, wire: Wire, keys: impl Iterator<Item = &'a [u8]>) -> Digest {
        self.hashes.seed(owner, wire, keys)
    }

    /// The engine for requests of an interface: reasoning that it has no place for costs nothing.
    pub fn engine(&self, wire: Wire) -> Engine {
        let format = Format::from(wire);
        let mut engine = self.engine.clone();
        engine.sent = ReasoningFilter::matching(move |block| carries_reasoning(Some(format), format, block));
        engine
    }

    /// The counter for requests of an interface to a model.
    pub(super) fn counter(&self, wire: Wire, model: Option<&str>) -> Arc<dyn TokenCounter> {
        let model = model.or_else(|| usual_model(wire.into()));
        self.engine.counter.of_model(model).unwrap_or_else(|| Arc::clone(&self.engine.counter))
    }

    pub(super) fn tells_provenance(&self) -> bool {
        self.tells_provenance
    }

    pub(super) fn metrics(&self) -> Option<Arc<Metrics>> {
        self.metrics.clone()
    }
}
