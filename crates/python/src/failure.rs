//! The Python exceptions that say what went wrong (`epitome_context/_errors.py`).

pub(crate) use epitome_binding::Failure;
use pyo3::prelude::*;

use crate::callables::PendingExceptions;
use crate::json_text::in_snake_case;
use crate::objects::object_from;

/// A failure is made while the interpreter's lock is released, and raised when it is held again.
pub(crate) trait Raise {
    /// The exception; what a callable of the host raised, and the message tells of, is its cause.
    fn raise(self, py: Python<'_>, raised: &PendingExceptions) -> PyErr;
}

impl Raise for Failure {
    fn raise(self, py: Python<'_>, raised: &PendingExceptions) -> PyErr {
        match exception(self, py, raised) {
            Ok(exception) => exception,
            Err(error) => error,
        }
    }
}

fn exception(failure: Failure, py: Python<'_>, raised: &PendingExceptions) -> PyResult<PyErr> {
    let module = py.import("epitome_context._errors")?;
    let message = failure.to_string();
    let exception = match failure {
        Failure::Config { problems } => {
            let problems: Vec<String> = problems.iter().map(|problem| in_snake_case(problem)).collect();
            module.getattr("ConfigError")?.call1((problems.join("\n"), problems))?
        }
        Failure::Format(_) => module.getattr("FormatError")?.call1((&message,))?,
        Failure::Infeasible { budget, floor, report } => {
            let (floor, report) = (object_from(py, &floor)?, object_from(py, &report)?);
            module.getattr("Infeasible")?.call1((&message, floor, budget, report))?
        }
        Failure::Conflict(_) => module.getattr("Conflict")?.call1((&message,))?,
        Failure::NotFound(_) => module.getattr("NotFound")?.call1((&message,))?,
        Failure::Other(_) => module.getattr("EpitomeError")?.call1((&message,))?,
    };
    let error = PyErr::from_value(exception);
    if let Some(cause) = raised.cause_of(py, &message) {
        error.set_cause(py, Some(cause));
    }
    Ok(error)
}
