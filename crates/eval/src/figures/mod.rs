//! Figures: what a result is worth. The scores of one result, the rows of a run, their averages and paired differences.

pub(crate) mod account;
pub(crate) mod kept;
pub(crate) mod metric;
pub(crate) mod paired;
pub(crate) mod random;
pub(crate) mod row;
pub(crate) mod score;
pub(crate) mod summary;
