//! Counting: by the configured counter, corrected by what a session records.

use std::sync::Arc;

use epitome::strategy::TokenCounter;
use epitome::{Runtime, Session};

/// The counter for a session: the configured one, corrected by the session's usage records where that is asked for.
pub(crate) fn counter_of(runtime: &Runtime, session: &Session) -> Arc<dyn TokenCounter> {
    let counter = Arc::clone(&runtime.counter);
    if runtime.calibrate { epitome::config::calibrated(counter, session) } else { counter }
}
