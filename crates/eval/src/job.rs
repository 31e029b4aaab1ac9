//! What every case of a run is measured with.

use std::sync::atomic::AtomicUsize;

use crate::plan::{Plan, Progress};
use crate::resume::EarlierRows;

/// What every file of a run is worked on with.
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) known: EarlierRows<'a>,
    pub(crate) files: usize,
    pub(crate) done: AtomicUsize,
    pub(crate) progress: Progress<'a>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(plan: &'a Plan, known: EarlierRows<'a>, files: usize, progress: Progress<'a>) -> Self {
        Self { plan, known, files, done: AtomicUsize::new(0), progress }
    }
}
