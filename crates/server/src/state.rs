//! The state that every feature needs and none owns.

use std::sync::Arc;

use epitome::engine::{Budget, ReasoningFilter};
use epitome::formats::{Format, carries_reasoning};
use epitome::store::Store;
use epitome::{Engine, Registry, Runtime};
use epitome_fit::Archives;

use crate::http::{ApiError, Problem};
use crate::metrics::ServiceMetrics;
use crate::settings::Settings;
use crate::storage::Storage;
use crate::worker_pool::WorkerPool;

/// The state that every feature needs and none owns. It knows no feature: each has a state of its own, which holds this
/// one.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) registry: Registry,
    pub(crate) settings: Settings,
    pub(crate) archives: Archives,
    pub(crate) metrics: ServiceMetrics,
    pub(crate) workers: WorkerPool,
    /// `None` where the service keeps nothing.
    storage: Option<Storage>,
    /// The engine for sessions of any format.
    pub(crate) engine: Engine,
}

impl Core {
    pub(crate) fn new(runtime: Runtime, registry: Registry, settings: Settings, store: Option<Store>) -> Arc<Self> {
        Arc::new(Self {
            archives: Archives::new(settings.memory.archive_bytes),
            metrics: ServiceMetrics::default(),
            workers: WorkerPool::new(&settings.limits, settings.tokens.has_several_tenants()),
            storage: store.map(Storage::new),
            engine: epitome::engine_of(&runtime),
            runtime: Arc::new(runtime),
            registry,
            settings,
        })
    }

    /// Where things are kept. The error for a service without a store is 404.
    pub(crate) fn storage(&self) -> Result<&Storage, ApiError> {
        self.storage.as_ref().ok_or_else(|| Problem::NoStore.into())
    }

    /// The budget for a model, where models count and something is known of it; else the runtime's.
    pub(crate) fn budget_of(&self, runtime: &Runtime, model: Option<&str>) -> Budget {
        let known = model.filter(|_| self.settings.budget_by_model).and_then(|it| runtime.budget_for(it).ok());
        known.unwrap_or_else(|| runtime.budget.clone())
    }
}

/// An engine for requests of a format: reasoning that the format has no place for costs nothing.
pub(crate) fn suited(mut engine: Engine, format: Format) -> Engine {
    engine.sent = ReasoningFilter::matching(move |block| carries_reasoning(Some(format), format, block));
    engine
}
