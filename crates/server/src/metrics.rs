//! What has happened, in Prometheus' text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use epitome::live::Counters;

/// Upper bounds of the histogram of durations, in seconds.
const BOUNDS: [f64; 9] = [0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 20.0, 60.0, 300.0];

/// Counters of the service.
#[derive(Debug, Default)]
pub(crate) struct ServiceMetrics {
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    durations: Mutex<BTreeMap<&'static str, Histogram>>,
    compactions: Mutex<BTreeMap<&'static str, u64>>,
    proxied: Mutex<BTreeMap<&'static str, u64>>,
    tokens_saved: AtomicU64,
    in_flight: AtomicI64,
    /// Of the proxy's sessions.
    pub(crate) sessions: Arc<epitome::live::Metrics>,
}

#[derive(Debug, Default, Clone)]
struct Histogram {
    buckets: [u64; BOUNDS.len()],
    count: u64,
    sum: f64,
}

/// A request under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlight<'a>(&'a AtomicI64);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ServiceMetrics {
    pub(crate) fn begin(&self) -> InFlight<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(&self.in_flight)
    }

    pub(crate) fn request(&self, route: &'static str, status: u16, took: Duration) {
        *lock(&self.requests).entry((route, status)).or_default() += 1;
        let mut durations = lock(&self.durations);
        let histogram = durations.entry(route).or_default();
        let seconds = took.as_secs_f64();
        for (bucket, bound) in histogram.buckets.iter_mut().zip(BOUNDS) {
            *bucket += u64::from(seconds <= bound);
        }
        histogram.count += 1;
        histogram.sum += seconds;
    }

    /// A compaction that a caller asked for.
    pub(crate) fn compaction(&self, status: &'static str, tokens_saved: u32) {
        *lock(&self.compactions).entry(status).or_default() += 1;
        self.tokens_saved.fetch_add(tokens_saved.into(), Ordering::Relaxed);
    }

    /// A request that the proxy sent on.
    pub(crate) fn proxied(&self, status: &'static str) {
        *lock(&self.proxied).entry(status).or_default() += 1;
    }

    /// Everything as text; `gauges` are name, help and value of what is measured now.
    pub(crate) fn text(&self, gauges: &[(&str, &str, f64)]) -> String {
        let mut text = String::new();
        head(&mut text, "epitome_requests_total", "counter", "Requests answered, by route and status.");
        for ((route, status), count) in lock(&self.requests).iter() {
            let _ = writeln!(text, "epitome_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}");
        }
        let name = "epitome_request_duration_seconds";
        head(&mut text, name, "histogram", "Time until the headers of the answer, by route.");
        for (route, histogram) in lock(&self.durations).iter() {
            for (bucket, bound) in histogram.buckets.iter().zip(BOUNDS) {
                let _ = writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"{bound}\"}} {bucket}");
            }
            let _ = writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {}", histogram.count);
            let _ = writeln!(text, "{name}_sum{{route=\"{route}\"}} {}", histogram.sum);
            let _ = writeln!(text, "{name}_count{{route=\"{route}\"}} {}", histogram.count);
        }
        labelled(
            &mut text,
            ("epitome_compactions_total", "status"),
            "Compactions asked for, by how they ended.",
            &lock(&self.compactions),
        );
        let saved = self.tokens_saved.load(Ordering::Relaxed) as f64;
        single(&mut text, "epitome_tokens_saved_total", "counter", "Tokens that compactions asked for saved.", saved);
        labelled(
            &mut text,
            ("epitome_proxied_total", "status"),
            "Requests sent on to a provider, by what the proxy did with them.",
            &lock(&self.proxied),
        );
        for (name, help, value) in of_sessions(&self.sessions.counters()) {
            single(&mut text, name, "counter", help, value as f64);
        }
        let in_flight = self.in_flight.load(Ordering::Relaxed) as f64;
        single(&mut text, "epitome_requests_in_flight", "gauge", "Requests under way.", in_flight);
        for (name, help, value) in gauges {
            single(&mut text, name, "gauge", help, *value);
        }
        text
    }
}

fn of_sessions(counters: &Counters) -> [(&'static str, &'static str, u64); 9] {
    [
        ("epitome_session_compactions_total", "Compactions of the proxy's sessions.", counters.compactions),
        ("epitome_session_failures_total", "Compactions of the proxy's sessions that failed.", counters.failures),
        ("epitome_session_overflows_total", "Requests that a provider refused as too long.", counters.overflows),
        ("epitome_session_arrival_cuts_total", "Huge results cut before they were sent.", counters.arrival_cuts),
        ("epitome_session_tokens_saved_total", "Tokens that these saved once.", counters.tokens_saved),
        (
            "epitome_summary_input_tokens_total",
            "Tokens that a model read for summaries.",
            counters.summary_input_tokens,
        ),
        (
            "epitome_summary_output_tokens_total",
            "Tokens that a model wrote in summaries.",
            counters.summary_output_tokens,
        ),
        ("epitome_summary_fallbacks_total", "Summaries that the rules wrote for a model.", counters.summary_fallbacks),
        ("epitome_session_memories_total", "Facts that went to a memory store.", counters.flushed_memories),
    ]
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn single(text: &mut String, name: &str, kind: &str, help: &str, value: f64) {
    head(text, name, kind, help);
    let _ = writeln!(text, "{name} {value}");
}

fn labelled(text: &mut String, (name, label): (&str, &str), help: &str, counts: &BTreeMap<&'static str, u64>) {
    head(text, name, "counter", help);
    for (value, count) in counts {
        let _ = writeln!(text, "{name}{{{label}=\"{value}\"}} {count}");
    }
}

fn lock<T>(counts: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}
