//! The output of `eval --json`.

use std::collections::BTreeSet;

use epitome_eval::{Answer, Difference, Group, LeftOut, MethodAccount, Summary};
use serde::Serialize;

/// The output of `--json`. `docs/evaluation.md` has its keys.
#[derive(Debug, Serialize)]
pub(super) struct EvalOutput<'a> {
    pub(super) answers: &'a [Answer],
    pub(super) sessions_read: usize,
    pub(super) sessions_measured: usize,
    pub(super) cases: usize,
    pub(super) left_out: &'a BTreeSet<LeftOut>,
    pub(super) summaries: &'a [Summary],
    pub(super) differences: &'a [Difference],
    /// The models that wrote summaries and the compactions that failed, of each method where there are any.
    pub(super) accounts: &'a [MethodAccount],
    /// The same for each task type or each format, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) groups: Vec<Group>,
}
