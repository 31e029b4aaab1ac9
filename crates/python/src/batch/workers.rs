//! The rows of a column, worked on by threads.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use rayon::prelude::*;

use super::rows::Rows;
use crate::failure::{Failure, Raise};
use crate::parts::Parts;

/// Rows between two looks at whether Python was interrupted.
const ROWS_AT_ONCE: usize = 256;

/// What became of the rows of a column, in their order: nothing of one that is null, and of one that failed what is wrong.
#[derive(Debug)]
pub(crate) struct WorkedRows<T>(pub(crate) Vec<Option<Result<T, String>>>);

impl<T> WorkedRows<T> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A figure of each row that was worked on.
    pub(crate) fn of<'r, F>(
        &'r self,
        figure: impl Fn(&'r T) -> Option<F> + Copy + 'r,
    ) -> impl ExactSizeIterator<Item = Option<F>> + Clone + 'r {
        self.0.iter().map(move |row| figure(row.as_ref()?.as_ref().ok()?))
    }

    /// What is wrong with each row that failed.
    pub(crate) fn errors(&self) -> impl ExactSizeIterator<Item = Option<&str>> + Clone {
        self.0.iter().map(|row| row.as_ref()?.as_ref().err().map(String::as_str))
    }
}

/// What `work` makes of the session of each row, by its number, on `threads` threads, while the interpreter's lock is released; on all cores
/// with 0. Everything within a row is on these threads too. A row that panics has failed, and spoils no other.
pub(crate) fn each_row<T: Send>(
    py: Python<'_>,
    parts: &Parts,
    threads: usize,
    rows: &Rows,
    work: impl Fn(usize, Vec<u8>) -> Result<T, Failure> + Sync,
) -> PyResult<WorkedRows<T>> {
    const BROKEN: &str = "the row broke this package, which is a mistake of ours: please report it with the session";
    let guarded = |row: usize| {
        let worked = || rows.session(row).map(|bytes| work(row, bytes).map_err(|failure| failure.to_string()));
        catch_unwind(AssertUnwindSafe(worked)).unwrap_or_else(|_| Some(Err(BROKEN.to_owned())))
    };
    let rows = rows.len();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| {
        Failure::Other(format!("cannot start {threads} threads: {error}; give a smaller `threads`"))
            .raise(py, &parts.raised)
    })?;
    let mut done = Vec::with_capacity(rows);
    for first in (0..rows).step_by(ROWS_AT_ONCE) {
        let block = first..rows.min(first + ROWS_AT_ONCE);
        done.extend(py.detach(|| pool.install(|| block.into_par_iter().map(guarded).collect::<Vec<_>>())));
        if let Some(interrupt) = parts.raised.take_interrupt() {
            return Err(interrupt);
        }
        py.check_signals()?;
    }
    Ok(WorkedRows(done))
}
