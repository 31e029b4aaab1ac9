//! The output of `eval --json`.

use epitome_eval::{Difference, Group, Summary};
use serde::Serialize;

/// The output of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct EvalOutput<'a> {
    pub(super) sessions_read: usize,
    pub(super) cases: usize,
    pub(super) summaries: &'a [Summary],
    pub(super) differences: &'a [Difference],
    /// The same for each task type or each format, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) groups: Vec<Group>,
}
