//! The runtimes that were built, so that sessions with the same settings have the same one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use epitome::Runtime;
use epitome::store::Tenant;
use parking_lot::Mutex;

use crate::http::ApiError;

/// The runtimes of a tenant that are kept although no session in memory works with them.
const RECENT: usize = 16;

/// The failures of a tenant that are remembered.
const FAILED: usize = 16;

/// The time for which a failure is remembered. Changed settings make another key; only a file of the configuration can
/// change under the same one.
const FAILED_FOR: Duration = Duration::from_secs(10);

/// The parts that a runtime is made of, beside the tenant and the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RuntimeKey {
    /// The agent's name, and its settings where it is a stored one.
    pub(super) agent: Option<(String, Option<String>)>,
    /// The session's own settings, as JSON.
    pub(super) session: String,
    /// The stored channels among which they choose, as JSON.
    pub(super) channels: String,
}

/// The runtimes of agents and sessions with settings of their own, by what they were made of. One is here for as long as a
/// session works with it, so that no session is counted again because others were asked for in between.
///
/// Tenants share none of them, and so nothing that their caches hold of a model's answers. Sessions without an agent and
/// without settings are not here: they have the service's own runtime, of all tenants.
#[derive(Debug, Default)]
pub(crate) struct RuntimeCache(Mutex<HashMap<Tenant, TenantRuntimes>>);

#[derive(Debug, Default)]
struct TenantRuntimes {
    made: HashMap<RuntimeKey, Weak<Runtime>>,
    /// The last used last.
    recent: VecDeque<Arc<Runtime>>,
    /// The last to fail last.
    failed: VecDeque<(RuntimeKey, Instant, ApiError)>,
}

impl TenantRuntimes {
    /// Notes that a runtime was used; the one that is kept no more for that.
    fn mark_used(&mut self, runtime: &Arc<Runtime>) -> Option<Arc<Runtime>> {
        self.recent.retain(|known| !Arc::ptr_eq(known, runtime));
        self.recent.push_back(Arc::clone(runtime));
        if self.recent.len() > RECENT { self.recent.pop_front() } else { None }
    }
}

impl RuntimeCache {
    /// The runtime of these parts where one is kept, or the reason why it could not be built shortly before `now`.
    pub(super) fn find(
        &self,
        tenant: &Tenant,
        parts: &RuntimeKey,
        now: Instant,
    ) -> Option<Result<Arc<Runtime>, ApiError>> {
        self.with(tenant, |kept| {
            if let Some(runtime) = kept.made.get(parts).and_then(Weak::upgrade) {
                let left = kept.mark_used(&runtime);
                return (Some(Ok(runtime)), left);
            }
            kept.failed.retain(|(_, since, _)| now.saturating_duration_since(*since) < FAILED_FOR);
            let failed = kept.failed.iter().find(|(known, ..)| known == parts);
            (failed.map(|(.., error)| Err(error.clone())), None)
        })
    }

    /// Keeps a runtime, or returns the one that another request has kept first, so that all requests share one.
    pub(super) fn keep(&self, tenant: &Tenant, parts: RuntimeKey, runtime: Runtime) -> Arc<Runtime> {
        let runtime = Arc::new(runtime);
        self.with(tenant, |kept| {
            // Nothing works with these any more. There are about as many others as sessions in memory.
            kept.made.retain(|_, runtime| runtime.strong_count() > 0);
            let runtime = match kept.made.get(&parts).and_then(Weak::upgrade) {
                Some(known) => known,
                None => {
                    kept.made.insert(parts, Arc::downgrade(&runtime));
                    runtime
                }
            };
            let left = kept.mark_used(&runtime);
            (runtime, left)
        })
    }

    /// Remembers why these parts make no runtime.
    pub(super) fn failed(&self, tenant: &Tenant, parts: RuntimeKey, error: ApiError, now: Instant) {
        self.with(tenant, |kept| {
            kept.failed.retain(|(known, ..)| *known != parts);
            kept.failed.push_back((parts, now, error));
            if kept.failed.len() > FAILED {
                kept.failed.pop_front();
            }
            ((), None)
        });
    }

    /// Changes the kept runtimes of a tenant. A runtime that is removed is dropped after the lock is released: it may
    /// be large.
    fn with<T>(&self, tenant: &Tenant, act: impl FnOnce(&mut TenantRuntimes) -> (T, Option<Arc<Runtime>>)) -> T {
        // Each operation on a map or a deque leaves it whole.
        let mut tenants = self.0.lock();
        let (done, left) = act(tenants.entry(tenant.clone()).or_default());
        drop(tenants);
        drop(left);
        done
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use epitome::Config;

    use crate::http::Problem;

    use super::*;

    fn tenant(name: &str) -> Tenant {
        Tenant::new(name).unwrap()
    }

    fn parts(number: usize) -> RuntimeKey {
        RuntimeKey { agent: Some(("a".to_owned(), None)), session: number.to_string(), channels: String::new() }
    }

    #[test]
    fn runtimes_are_kept_by_what_they_are_made_of() {
        let (runtimes, now) = (RuntimeCache::default(), Instant::now());
        let runtime = Config::default().build(&epitome::registry()).unwrap();
        let alice = tenant("alice");
        let is_there = |number| runtimes.find(&alice, &parts(number), now).is_some();
        let first = runtimes.keep(&alice, parts(0), runtime.clone());
        assert!(Arc::ptr_eq(&first, &runtimes.keep(&alice, parts(0), runtime.clone())), "who was faster");
        assert!(runtimes.find(&tenant("bob"), &parts(0), now).is_none(), "tenants share nothing");
        for number in 1..RECENT {
            runtimes.keep(&alice, parts(number), runtime.clone());
        }
        assert!(is_there(1), "it is among the last used");
        for number in 0..2 * RECENT {
            runtimes.keep(&tenant("bob"), parts(number), runtime.clone());
        }
        // In place of the first, which is in use, and of the third.
        runtimes.keep(&alice, parts(RECENT), runtime.clone());
        runtimes.keep(&alice, parts(RECENT + 1), runtime.clone());
        assert!(is_there(1) && is_there(3), "another tenant's do not count");
        assert!(!is_there(2), "it was not used for longest");
        // A session works with the first: nothing that others do takes it away.
        for number in 100..200 {
            runtimes.keep(&alice, parts(number), runtime.clone());
        }
        let found = runtimes.find(&alice, &parts(0), now).unwrap().unwrap();
        assert!(Arc::ptr_eq(&first, &found));
        let n_made = runtimes.0.lock()[&alice].made.len();
        assert!(n_made <= RECENT + 2, "{n_made}: what nothing works with is forgotten");
    }

    #[test]
    fn failures_are_remembered_for_a_while() {
        let (runtimes, now, alice) = (RuntimeCache::default(), Instant::now(), tenant("alice"));
        let failed = |number: usize| {
            let error = Problem::BadSettings.with(number.to_string());
            runtimes.failed(&alice, parts(number), error, now);
        };
        let said = |tenant: &Tenant, number: usize, later: Duration| {
            let found = runtimes.find(tenant, &parts(number), now + later);
            found.map(|found| found.unwrap_err().message)
        };
        failed(7);
        assert_eq!(said(&alice, 7, FAILED_FOR / 2).as_deref(), Some("7"));
        assert_eq!(said(&alice, 8, Duration::ZERO), None);
        assert_eq!(said(&tenant("bob"), 7, Duration::ZERO), None);
        assert_eq!(said(&alice, 7, FAILED_FOR), None, "it may have been put right");
        (0..100).for_each(failed);
        assert_eq!(runtimes.0.lock()[&alice].failed.len(), FAILED);
        let runtime = Config::default().build(&epitome::registry()).unwrap();
        runtimes.keep(&alice, parts(99), runtime);
        assert!(runtimes.find(&alice, &parts(99), now).unwrap().is_ok(), "what works now");
    }
}
