//! The rows of a column, worked on by threads.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use rayon::prelude::*;

use crate::failure::{Failure, Raise};
use crate::parts::Parts;

/// Rows between two looks at whether Python was interrupted.
const ROWS_AT_ONCE: usize = 256;

/// What `work` makes of each of `rows` rows, in their order, on `threads` threads, while Python is let go; on all cores with
/// 0. Everything within a row is on these threads too. What panics in a row is handed to `failed`, so that it spoils no
/// other.
pub(crate) fn each_row<T: Send>(
    py: Python<'_>,
    parts: &Parts,
    threads: usize,
    rows: usize,
    work: impl Fn(usize) -> T + Sync,
    failed: impl Fn(String) -> T + Sync,
) -> PyResult<Vec<T>> {
    let guarded = |row: usize| {
        catch_unwind(AssertUnwindSafe(|| work(row))).unwrap_or_else(|_| {
            failed(
                "the row broke this package, which is a mistake of ours: please report it with the session".to_owned(),
            )
        })
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| {
        Failure::Other(format!("cannot start {threads} threads: {error}; give a smaller `threads`"))
            .raise(py, &parts.raised)
    })?;
    let mut done = Vec::with_capacity(rows);
    for first in (0..rows).step_by(ROWS_AT_ONCE) {
        let block = first..rows.min(first + ROWS_AT_ONCE);
        done.extend(py.detach(|| pool.install(|| block.into_par_iter().map(guarded).collect::<Vec<T>>())));
        if let Some(interrupt) = parts.raised.take_interrupt() {
            return Err(interrupt);
        }
        py.check_signals()?;
    }
    Ok(done)
}
