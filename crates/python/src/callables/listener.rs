//! A listener for events of a live session, written in Python.

use std::sync::Arc;

use epitome::live::Listener;
use pyo3::prelude::*;

use super::pending_exceptions::{PendingExceptions, with_python};
use crate::objects::object_from;

/// The listener that gives `call` each event as a dictionary. What it raises is kept in `raised`, and stops nothing.
pub(crate) fn listener(call: Py<PyAny>, raised: Arc<PendingExceptions>) -> Listener {
    Arc::new(move |event| {
        // The wrapper of `_callables.py` has logged what was raised; an interrupt reaches the caller through `raised`.
        let _logged = with_python(&raised, |py| call.bind(py).call1((object_from(py, event)?,)).map(drop));
    })
}
