//! Structured logs.

use thiserror::Error;
use tracing_subscriber::EnvFilter;
#[cfg(feature = "otel")]
use tracing_subscriber::{Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _};

#[cfg(feature = "otel")]
use crate::telemetry::{self, Traces};

/// Keeps logs and traces going: to be held until the process ends.
#[derive(Debug)]
#[must_use = "what is traced is sent as long as it is held"]
pub struct Logs {
    #[cfg(feature = "otel")]
    _traces: Option<Traces>,
}

/// Why logging could not be started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The filter is not one.
    #[error("`{filter}` is not a filter of logs: {problem}")]
    Filter {
        /// The filter.
        filter: String,
        /// Its problem.
        problem: String,
    },
    /// Logs of this process go somewhere else already.
    #[error("logs go somewhere else already: {0}")]
    Taken(String),
    /// The variables for traces ask for what cannot be done.
    #[error("{0}")]
    Traces(String),
}

/// Writes log records to standard error from here on, one JSON object a line. `filter` is a level or a list such as
/// `info,epitome_server=debug`. Errors where the filter is not valid, or where logs already go somewhere else.
///
/// With the feature `otel` traces are sent too, where the `OTEL_…` variables say where to; an error where they say what
/// cannot be done. The filter is for the log alone.
///
/// Bodies and headers are never logged: no key, no token, no text of a conversation.
pub fn log_to_stderr(filter: &str) -> Result<Logs, LogError> {
    let bad = |problem: String| LogError::Filter { filter: filter.to_owned(), problem };
    let filter = EnvFilter::try_new(filter).map_err(|error| bad(error.to_string()))?;
    #[cfg(feature = "otel")]
    {
        let (spans, traces) = telemetry::start().map_err(LogError::Traces)?.unzip();
        let lines = tracing_subscriber::fmt::layer().json().flatten_event(true).with_span_list(false);
        let lines = lines.with_writer(std::io::stderr).with_filter(filter);
        let subscriber = tracing_subscriber::registry().with(spans).with(lines);
        subscriber.try_init().map_err(|error| LogError::Taken(error.to_string()))?;
        Ok(Logs { _traces: traces })
    }
    #[cfg(not(feature = "otel"))]
    {
        let subscriber =
            tracing_subscriber::fmt().json().flatten_event(true).with_span_list(false).with_env_filter(filter);
        subscriber.with_writer(std::io::stderr).try_init().map_err(|error| LogError::Taken(error.to_string()))?;
        Ok(Logs {})
    }
}
