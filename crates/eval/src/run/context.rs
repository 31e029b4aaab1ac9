//! The settings that all cases of a run share.

use std::sync::atomic::AtomicUsize;

use crate::run::plan::{Plan, Progress};

/// The settings that all files of a run share.
pub(crate) struct RunContext<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) files: usize,
    pub(crate) done: AtomicUsize,
    pub(crate) progress: Progress<'a>,
    /// Whether budgets are left out that the part before the cut is within as it is.
    pub(crate) leaves_out_fitting: bool,
}

impl<'a> RunContext<'a> {
    pub(crate) fn new(plan: &'a Plan, files: usize, progress: Progress<'a>) -> Self {
        Self { plan, files, done: AtomicUsize::new(0), progress, leaves_out_fitting: true }
    }
}
