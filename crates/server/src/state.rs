//! What all requests share.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use epitome::engine::{Budget, Sent};
use epitome::formats::{Format, carries_reasoning};
use epitome::store::Store;
use epitome::strategy::Cancellation;
use epitome::{Engine, Registry, Runtime};
use tokio::sync::Notify;

use crate::agents::Runtimes;
use crate::archive::Archives;
use crate::events::Hub;
use crate::guard::shares::Shares;
use crate::http::ApiError;
use crate::listen::connections::Connections;
use crate::metrics::ServiceMetrics;
use crate::proxy::Proxy;
use crate::sessions::Sessions;
use crate::settings::Settings;
use crate::workers::Workers;

/// Requests whose bodies may arrive at once, for each that may be answered at once.
const MOST_ARRIVING: usize = 4;

/// Bodies of the largest size that may be in memory at once; answers too.
const MOST_BODIES: usize = 8;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) registry: Registry,
    pub(crate) settings: Settings,
    pub(crate) archives: Archives,
    pub(crate) metrics: ServiceMetrics,
    pub(crate) proxy: Proxy,
    /// What happens to sessions, for those who watch.
    pub(crate) hub: Arc<Hub>,
    /// The sessions that are kept; `None` where there is no store.
    sessions: Option<Sessions>,
    /// What works on sessions that have settings of their own.
    pub(crate) runtimes: Runtimes,
    /// Requests that are answered.
    pub(crate) slots: Arc<Shares>,
    /// Requests whose bodies arrive.
    pub(crate) arriving: Arc<Shares>,
    /// Bytes of bodies that arrive or are answered.
    pub(crate) body_bytes: Arc<Shares>,
    /// Bytes of answers that are on their way.
    pub(crate) answer_bytes: Arc<Shares>,
    /// Requests of the proxy whose bodies go on as they come.
    pub(crate) streams: Arc<Shares>,
    /// Connections that are open.
    pub(crate) connections: Arc<Connections>,
    workers: Arc<Workers>,
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
    pub(crate) fn new(
        runtime: Runtime,
        registry: Registry,
        settings: Settings,
        store: Option<Arc<dyn Store>>,
    ) -> Result<Self, String> {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let are_several = settings.tokens.tenants().len() > 1;
        let workers = if settings.limits.workers == 0 { cores } else { settings.limits.workers };
        Ok(Self {
            archives: Archives::new(settings.memory.archive_bytes),
            metrics: ServiceMetrics::default(),
            proxy: Proxy::new(&settings, &runtime)?,
            hub: Arc::default(),
            sessions: store.map(|store| Sessions::new(store, &settings.memory)),
            runtimes: Runtimes::default(),
            slots: Shares::new(settings.limits.concurrent, are_several),
            arriving: Shares::new(settings.limits.concurrent.saturating_mul(MOST_ARRIVING), are_several),
            body_bytes: Shares::new(settings.limits.body_bytes.saturating_mul(MOST_BODIES), are_several),
            answer_bytes: Shares::new(settings.limits.body_bytes.saturating_mul(MOST_BODIES), are_several),
            streams: Shares::new(settings.limits.concurrent, are_several),
            connections: Connections::new(settings.limits.connections, settings.limits.connections_per_address),
            workers: Workers::new(workers, are_several),
            rates: Mutex::default(),
            engine: epitome::engine_of(&runtime),
            runtime: Arc::new(runtime),
            registry,
            settings,
        })
    }

    /// The sessions that are kept. The error for a service without a store is 404.
    pub(crate) fn sessions(&self) -> Result<&Sessions, ApiError> {
        self.sessions.as_ref().ok_or_else(|| {
            let help = "start the service with --store sqlite:PATH or --store postgres://…";
            let status = axum::http::StatusCode::NOT_FOUND;
            ApiError::new(status, "no-store", "this service keeps no sessions", help)
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

    /// Runs work that takes long off the threads that answer requests, as many at once as there are workers. Work that
    /// takes too long, or whose caller has left, is given up by the cancellation that it gets.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        tenant: &Arc<str>,
        work: impl FnOnce(&Cancellation) -> T + Send + 'static,
    ) -> Result<T, Failed> {
        let cancellation = Cancellation::new();
        let _given_up = WhenDropped(cancellation.clone());
        let done = async move {
            let turn = self.workers.turn(tenant).await;
            turn.take(move || work(&cancellation)).await.ok_or(Failed::Panicked)
        };
        tokio::time::timeout(self.settings.limits.work_timeout, done).await.unwrap_or(Err(Failed::TimedOut))
    }

    /// Runs a future off the threads that answer requests. Each of its steps has the turn of a worker; while it waits, for a
    /// model or for the disk, it has none. A step that takes longer than work may, or whose caller has left, is given up by
    /// `cancellation`.
    pub(crate) async fn in_turns<T: Send + 'static>(
        &self,
        tenant: &Arc<str>,
        cancellation: &Cancellation,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Failed> {
        let _given_up = WhenDropped(cancellation.clone());
        let mut future: Pin<Box<dyn Future<Output = T> + Send>> = Box::pin(future);
        let bell = Arc::new(Bell(Notify::new()));
        loop {
            let turn = self.workers.turn(tenant).await;
            let (waker, span) = (Waker::from(Arc::clone(&bell)), tracing::Span::current());
            let step = move || {
                let polled = span.in_scope(|| future.as_mut().poll(&mut Context::from_waker(&waker)));
                (future, polled)
            };
            let mut step = Box::pin(turn.take(step));
            let stepped = match tokio::time::timeout(self.settings.limits.work_timeout, &mut step).await {
                Ok(stepped) => stepped,
                Err(_) => {
                    cancellation.request();
                    step.await
                }
            };
            let (same, polled) = stepped.ok_or(Failed::Panicked)?;
            match polled {
                Poll::Ready(value) => return Ok(value),
                Poll::Pending => future = same,
            }
            bell.0.notified().await;
        }
    }
}

/// Gives work up when whoever waits for it is gone. To work that has come to its end it makes no difference.
struct WhenDropped(Cancellation);

impl Drop for WhenDropped {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// Rings when a future wants its next step; also where nobody listens yet.
struct Bell(Notify);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;
    use crate::settings::Limits;

    /// Longer than anything here takes.
    const NEVER: Duration = Duration::from_secs(30);

    fn app(work_timeout: Duration) -> Arc<App> {
        let registry = epitome::registry();
        let runtime = epitome::Config::default().build(&registry).unwrap();
        let limits = Limits { work_timeout, workers: 1, ..Limits::default() };
        Arc::new(App::new(runtime, registry, Settings { limits, ..Settings::default() }, None).unwrap())
    }

    /// Work that ends when it is given up and not before, and says so.
    fn endless() -> (impl FnOnce(&Cancellation) + Send + 'static, Receiver<()>, Receiver<()>) {
        let ((begins, begun), (ends, ended)): ((Sender<()>, _), (Sender<()>, _)) = (channel(), channel());
        let work = move |cancellation: &Cancellation| {
            begins.send(()).unwrap();
            let since = Instant::now();
            while !cancellation.is_requested() {
                assert!(since.elapsed() < NEVER, "it is never given up");
                std::thread::yield_now();
            }
            ends.send(()).unwrap();
        };
        (work, begun, ended)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn work_that_takes_too_long_gives_its_worker_back() {
        let (app, tenant) = (app(Duration::from_millis(50)), Arc::from("alice"));
        let (work, _begun, ended) = endless();
        assert_eq!(app.work(&tenant, work).await, Err(Failed::TimedOut));
        ended.recv_timeout(NEVER).unwrap();
        let next = app.workers.turn(&tenant);
        tokio::time::timeout(NEVER, next).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn work_whose_caller_has_left_gives_its_worker_back() {
        let (app, tenant) = (app(NEVER), Arc::from("alice"));
        let (work, begun, ended) = endless();
        let (shared, its) = (Arc::clone(&app), Arc::clone(&tenant));
        let caller = tokio::spawn(async move { shared.work(&its, work).await });
        tokio::task::spawn_blocking(move || begun.recv_timeout(NEVER)).await.unwrap().unwrap();
        caller.abort();
        ended.recv_timeout(NEVER).unwrap();
        tokio::time::timeout(NEVER, app.workers.turn(&tenant)).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_step_that_takes_too_long_is_given_up() {
        let (app, tenant, cancellation) = (app(Duration::from_millis(50)), Arc::from("alice"), Cancellation::new());
        let (work, _begun, ended) = endless();
        let its = cancellation.clone();
        let stepped = app.in_turns(&tenant, &cancellation, async move {
            work(&its);
            7
        });
        assert_eq!(stepped.await, Ok(7), "what it comes to then is its own");
        ended.recv_timeout(NEVER).unwrap();
    }
}
