//! Exceptions that callables of the host raised.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

/// How many exceptions are kept. Source: the calls of one compaction, which is over before the next asks.
const MOST_KEPT: usize = 16;

/// The newest exceptions of callables, so that an error that one of them led to can name it as its cause.
#[derive(Debug, Default)]
pub(crate) struct PendingExceptions {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    exceptions: VecDeque<(String, PyErr)>,
    /// What is no error but an end: `KeyboardInterrupt`, `SystemExit`.
    interrupt: Option<PyErr>,
}

impl PendingExceptions {
    /// Keeps an exception; what to say of it.
    pub(crate) fn note(&self, py: Python<'_>, error: PyErr) -> String {
        let name = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
        let text = error.value(py).to_string();
        let message = if text.is_empty() { format!("raised {name}") } else { format!("raised {name}: {text}") };
        let mut kept = self.lock();
        if !error.is_instance_of::<PyException>(py) {
            kept.interrupt = Some(error);
            return message;
        }
        kept.exceptions.push_back((message.clone(), error));
        if kept.exceptions.len() > MOST_KEPT {
            kept.exceptions.pop_front();
        }
        message
    }

    /// The newest exception that `message` tells of.
    pub(crate) fn cause_of(&self, py: Python<'_>, message: &str) -> Option<PyErr> {
        let kept = self.lock();
        let raised = kept.exceptions.iter().rev().find(|(text, _)| message.contains(text.as_str()));
        raised.map(|(_, error)| error.clone_ref(py))
    }

    /// `KeyboardInterrupt` and its like, once: whoever waits for the call is to get it.
    pub(crate) fn take_interrupt(&self) -> Option<PyErr> {
        self.lock().interrupt.take()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // Whole between any two statements that can panic.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Does `work` with Python, and says what went wrong as a text; `raised` keeps the exception.
pub(super) fn with_python<T>(
    raised: &PendingExceptions,
    work: impl for<'py> FnOnce(Python<'py>) -> PyResult<T>,
) -> Result<T, String> {
    let done = Python::try_attach(|py| work(py).map_err(|error| raised.note(py, error)));
    done.unwrap_or_else(|| Err("Python is shutting down".to_owned()))
}
