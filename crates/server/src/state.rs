//! What all requests share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use epitome::engine::{Budget, Sent};
use epitome::formats::{Format, carries_reasoning};
use epitome::{Engine, Registry, Runtime};
use tokio::sync::Semaphore;

use crate::archive::Archives;
use crate::error::ApiError;
use crate::metrics::ServiceMetrics;
use crate::proxy::Proxy;
use crate::settings::Settings;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) runtime: Runtime,
    pub(crate) registry: Registry,
    pub(crate) settings: Settings,
    pub(crate) archives: Archives,
    pub(crate) metrics: ServiceMetrics,
    pub(crate) proxy: Proxy,
    /// Requests that may still begin.
    pub(crate) slots: Semaphore,
    /// Turns of the workers.
    workers: Arc<Semaphore>,
    rates: Mutex<HashMap<Arc<str>, Rate>>,
    engine: Engine,
}

/// What a tenant may still ask for.
#[derive(Debug)]
struct Rate {
    left: f64,
    since: Instant,
}

impl App {
    pub(crate) fn new(runtime: Runtime, registry: Registry, settings: Settings) -> Result<Self, String> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let workers = if settings.limits.workers == 0 { cores } else { settings.limits.workers };
        Ok(Self {
            archives: Archives::new(settings.memory.archive_bytes),
            metrics: ServiceMetrics::default(),
            proxy: Proxy::new(&settings, &runtime)?,
            slots: Semaphore::new(settings.limits.concurrent),
            workers: Arc::new(Semaphore::new(workers)),
            rates: Mutex::default(),
            engine: epitome::engine_of(&runtime),
            runtime,
            registry,
            settings,
        })
    }

    /// The engine for requests of a format: reasoning that the format has no place for costs nothing.
    pub(crate) fn engine(&self, format: Format) -> Engine {
        let mut engine = self.engine.clone();
        engine.sent = Sent::those(move |block| carries_reasoning(Some(format), format, block));
        engine
    }

    /// The budget for a model, where models count and something is known of it; else the configuration's.
    pub(crate) fn budget_of(&self, model: Option<&str>) -> Budget {
        let known = model.filter(|_| self.settings.budget_by_model).and_then(|it| self.runtime.budget_for(it).ok());
        known.unwrap_or_else(|| self.runtime.budget.clone())
    }

    /// Takes one request off what a tenant may ask for in a minute.
    pub(crate) fn admit(&self, tenant: &Arc<str>) -> Result<(), ApiError> {
        let most = f64::from(self.settings.limits.requests_per_minute);
        if most == 0.0 {
            return Ok(());
        }
        let now = Instant::now();
        let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = rates.entry(Arc::clone(tenant)).or_insert(Rate { left: most, since: now });
        let refilled = now.duration_since(rate.since).as_secs_f64() * most / 60.0;
        (rate.left, rate.since) = ((rate.left + refilled).min(most), now);
        if rate.left < 1.0 {
            let wait = Duration::from_secs_f64((1.0 - rate.left) * 60.0 / most);
            let message = format!("more than {most} requests in a minute");
            let help = "wait as long as Retry-After says; --requests-per-minute sets the limit";
            let status = axum::http::StatusCode::TOO_MANY_REQUESTS;
            return Err(ApiError::new(status, "too-many-requests", message, help).retry_after(wait));
        }
        rate.left -= 1.0;
        Ok(())
    }

    /// Runs work that takes long off the threads that answer requests, as many at once as there are workers. Work that is
    /// given up goes on to its end and keeps its worker.
    pub(crate) async fn work<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failed> {
        let workers = Arc::clone(&self.workers);
        let done = async move {
            let turn = workers.acquire_owned().await.map_err(|_| Failed::Panicked)?;
            let task = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                work()
            });
            task.await.map_err(|_| Failed::Panicked)
        };
        tokio::time::timeout(self.settings.limits.work_timeout, done).await.unwrap_or(Err(Failed::TimedOut))
    }
}

/// Why work came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failed {
    TimedOut,
    Panicked,
}

impl Failed {
    /// A code.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::TimedOut => "timeout",
            Self::Panicked => "internal",
        }
    }
}

impl From<Failed> for ApiError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Panicked => Self::internal(),
            Failed::TimedOut => Self::new(
                axum::http::StatusCode::SERVICE_UNAVAILABLE,
                "timeout",
                "the work took longer than it may",
                "try again later, send less, or raise --work-timeout",
            )
            .retry_after(Duration::from_secs(5)),
        }
    }
}
