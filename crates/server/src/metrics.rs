//! The service's metrics, in Prometheus' text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use epitome::live::Counters;
use parking_lot::Mutex;

/// Upper bounds of the histogram of durations, in seconds.
const BOUNDS: [f64; 9] = [0.005, 0.02, 0.1, 0.5, 1.0, 5.0, 20.0, 60.0, 300.0];

/// Counters of the service.
#[derive(Debug, Default)]
pub(crate) struct ServiceMetrics {
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    durations: Mutex<BTreeMap<String, Histogram>>,
    compactions: Mutex<BTreeMap<&'static str, u64>>,
    proxied: Mutex<BTreeMap<&'static str, u64>>,
    /// By how they came, and whether something was found.
    lookups: Mutex<BTreeMap<(&'static str, bool), u64>>,
    native_compactions: Mutex<BTreeMap<&'static str, u64>>,
    native_items: Mutex<BTreeMap<&'static str, u64>>,
    tokens_saved: AtomicU64,
    proxy_tokens_saved: AtomicU64,
    rate_fallbacks: AtomicU64,
    in_flight: AtomicI64,
    /// Of the proxy's sessions.
    pub(crate) sessions: Arc<epitome::live::Metrics>,
    /// Of the sessions that are kept in the store.
    pub(crate) kept: Arc<epitome::live::Metrics>,
    /// The times that requests waited for their turn at a session.
    lock_waits: Mutex<Histogram>,
}

#[derive(Debug, Default, Clone)]
struct Histogram {
    buckets: [u64; BOUNDS.len()],
    count: u64,
    sum: f64,
}

impl Histogram {
    fn add(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        for (bucket, bound) in self.buckets.iter_mut().zip(BOUNDS) {
            *bucket += u64::from(seconds <= bound);
        }
        self.count += 1;
        self.sum += seconds;
    }

    /// The histogram's lines; `labels` is empty, or ends with a comma.
    fn write(&self, text: &mut String, name: &str, labels: &str) {
        for (bucket, bound) in self.buckets.iter().zip(BOUNDS) {
            let _ = writeln!(text, "{name}_bucket{{{labels}le=\"{bound}\"}} {bucket}");
        }
        let _ = writeln!(text, "{name}_bucket{{{labels}le=\"+Inf\"}} {}", self.count);
        let own = labels.trim_end_matches(',');
        let own = if own.is_empty() { String::new() } else { format!("{{{own}}}") };
        let _ = writeln!(text, "{name}_sum{own} {}\n{name}_count{own} {}", self.sum, self.count);
    }
}

/// A request under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct RequestInFlight<'a>(&'a AtomicI64);

impl Drop for RequestInFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ServiceMetrics {
    pub(crate) fn begin(&self) -> RequestInFlight<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        RequestInFlight(&self.in_flight)
    }

    pub(crate) fn request(&self, route: &str, status: u16, took: Duration) {
        *self.requests.lock().entry((route.to_owned(), status)).or_default() += 1;
        let mut durations = self.durations.lock();
        durations.entry(route.to_owned()).or_default().add(took);
    }

    /// A compaction that a caller asked for.
    pub(crate) fn compaction(&self, status: &'static str, tokens_saved: u32) {
        *self.compactions.lock().entry(status).or_default() += 1;
        self.tokens_saved.fetch_add(tokens_saved.into(), Ordering::Relaxed);
    }

    /// Tokens of a request that the proxy did not send on.
    pub(crate) fn saved_by_proxy(&self, tokens: u32) {
        self.proxy_tokens_saved.fetch_add(tokens.into(), Ordering::Relaxed);
    }

    /// A request waited for its turn at a session.
    pub(crate) fn lock_wait(&self, took: Duration) {
        self.lock_waits.lock().add(took);
    }

    /// A request that was counted by this instance alone, because the database of all does not answer.
    pub(crate) fn rate_fallback(&self) {
        self.rate_fallbacks.fetch_add(1, Ordering::Relaxed);
    }

    /// A request that the proxy sent on.
    pub(crate) fn count_proxied(&self, status: &'static str) {
        *self.proxied.lock().entry(status).or_default() += 1;
    }

    /// A compaction that a client asked its provider for, by what it `asked` with; `forwarded` where the provider was asked.
    pub(crate) fn native_compaction(&self, asked: &'static str) {
        *self.native_compactions.lock().entry(asked).or_default() += 1;
    }

    /// A request with one of our compaction items, which was `expanded` or `refused`.
    pub(crate) fn native_item(&self, outcome: &'static str) {
        *self.native_items.lock().entry(outcome).or_default() += 1;
    }

    /// A call of a tool that looked something up, for a model that came `by` the proxy or a protocol.
    pub(crate) fn looked_up(&self, by: &'static str, has_found: bool) {
        *self.lookups.lock().entry((by, has_found)).or_default() += 1;
    }

    /// Everything as text; `gauges` are name, help and value of the current measurements, `counters` of figures that
    /// other parts count.
    pub(crate) fn text(&self, gauges: &[(&str, &str, f64)], counters: &[(&str, &str, f64)]) -> String {
        let mut text = String::new();
        head(&mut text, "epitome_requests_total", "counter", "Requests answered, by route and status.");
        for ((route, status), count) in self.requests.lock().iter() {
            let _ = writeln!(text, "epitome_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}");
        }
        let name = "epitome_request_duration_seconds";
        head(&mut text, name, "histogram", "Time until the headers of the answer, by route.");
        for (route, histogram) in self.durations.lock().iter() {
            histogram.write(&mut text, name, &format!("route=\"{route}\","));
        }
        let name = "epitome_session_lock_wait_seconds";
        head(&mut text, name, "histogram", "Time until it was a request's turn at a kept session.");
        self.lock_waits.lock().write(&mut text, name, "");
        let labelled = [
            ("epitome_compactions_total", "status", "Compactions asked for, by how they ended.", &self.compactions),
            (
                "epitome_proxied_total",
                "status",
                "Requests sent on to a provider, by what the proxy did with them.",
                &self.proxied,
            ),
            (
                "epitome_native_compactions_total",
                "asked",
                "Compactions that clients asked their provider for, by what they asked with; forwarded where it was asked.",
                &self.native_compactions,
            ),
            (
                "epitome_native_items_total",
                "outcome",
                "Requests with compaction items of the proxy, by what became of them.",
                &self.native_items,
            ),
        ];
        for (name, label, help, counts) in labelled {
            head(&mut text, name, "counter", help);
            for (value, count) in counts.lock().iter() {
                let _ = writeln!(text, "{name}{{{label}=\"{value}\"}} {count}");
            }
        }
        let name = "epitome_lookups_total";
        let help =
            "Calls with which models looked up what was said, by the way they came and whether they found something.";
        head(&mut text, name, "counter", help);
        for ((by, has_found), count) in self.lookups.lock().iter() {
            let _ = writeln!(text, "{name}{{by=\"{by}\",found=\"{has_found}\"}} {count}");
        }
        let name = "epitome_tokens_saved_total";
        head(
            &mut text,
            name,
            "counter",
            "Tokens saved: once by each compaction asked for, in each request by the proxy.",
        );
        for (of, saved) in [("calls", &self.tokens_saved), ("proxy", &self.proxy_tokens_saved)] {
            let _ = writeln!(text, "{name}{{of=\"{of}\"}} {}", saved.load(Ordering::Relaxed));
        }
        let (proxied, kept) = (self.sessions.counters(), self.kept.counters());
        for ((name, help, proxied), (_, _, kept)) in of_sessions(&proxied).into_iter().zip(of_sessions(&kept)) {
            head(&mut text, name, "counter", help);
            let _ = writeln!(text, "{name}{{of=\"proxy\"}} {proxied}\n{name}{{of=\"store\"}} {kept}");
        }
        let fallbacks = self.rate_fallbacks.load(Ordering::Relaxed) as f64;
        let help = "Requests that this instance alone counted, because the database did not answer.";
        single(&mut text, "epitome_rate_fallbacks_total", "counter", help, fallbacks);
        let in_flight = self.in_flight.load(Ordering::Relaxed) as f64;
        single(&mut text, "epitome_requests_in_flight", "gauge", "Requests under way.", in_flight);
        for (name, help, value) in counters {
            single(&mut text, name, "counter", help, *value);
        }
        for (name, help, value) in gauges {
            single(&mut text, name, "gauge", help, *value);
        }
        text
    }
}

fn of_sessions(counters: &Counters) -> [(&'static str, &'static str, u64); 16] {
    [
        ("epitome_session_messages_total", "Messages that sessions went on with.", counters.messages),
        ("epitome_session_compactions_total", "Compactions of sessions.", counters.compactions),
        ("epitome_session_failures_total", "Compactions of sessions that failed.", counters.failures),
        ("epitome_session_undos_total", "Compactions that were taken back.", counters.undos),
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
        (
            "epitome_summary_retries_total",
            "Summaries that a model was asked for once more, because the first answer was wrong.",
            counters.summary_retries,
        ),
        (
            "epitome_summary_unverified_total",
            "Strings of summaries that the session does not hold, and that were marked.",
            counters.summary_unverified,
        ),
        (
            "epitome_summary_added_demands_total",
            "Demands that a summary left out and rules added.",
            counters.summary_added_demands,
        ),
        (
            "epitome_summary_added_files_total",
            "Changed files that a summary left out and rules added.",
            counters.summary_added_files,
        ),
        (
            "epitome_summary_left_out_total",
            "Demands and changed files for which a summary had no room.",
            counters.summary_left_out,
        ),
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
