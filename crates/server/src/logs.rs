//! Structured logs.

use tracing_subscriber::EnvFilter;

/// Writes what happens to standard error from here on, one JSON object a line. `filter` is a level or a list such as
/// `info,epitome_server=debug`. Returns what is wrong with it, or that logs go somewhere else already.
///
/// Neither bodies nor headers are ever told: no key, no token, nothing that was said.
pub fn log_to_stderr(filter: &str) -> Result<(), String> {
    let filter = EnvFilter::try_new(filter).map_err(|error| format!("`{filter}` is no filter of logs: {error}"))?;
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_span_list(false).with_env_filter(filter);
    subscriber.with_writer(std::io::stderr).try_init().map_err(|error| error.to_string())
}
