//! A run: a plan's methods on its cases, file by file, and its result.

pub(crate) mod baselines;
pub(crate) mod context;
pub(crate) mod load;
pub(crate) mod measure;
pub(crate) mod method;
pub(crate) mod outcome;
pub(crate) mod plan;
pub(crate) mod session_rows;
