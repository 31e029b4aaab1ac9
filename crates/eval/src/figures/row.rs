//! Rows: one case under one method at one budget.

use epitome::session::SummaryUsage;
use serde::{Deserialize, Serialize};

use crate::cases::case::{Case, CaseId};
use crate::figures::score::Scores;

/// One case under one method at one budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The case.
    #[serde(flatten)]
    pub case: CaseId,
    /// The recording's format.
    pub format: String,
    /// The kind of task.
    pub task: String,
    /// The repository that the session worked in, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Tokens of the prefix.
    pub prefix_tokens: u32,
    /// Tool calls behind the cut.
    pub future_calls: u32,
    /// The method.
    pub method: String,
    /// The budget as it was asked for.
    pub budget: String,
    /// The budget in tokens.
    pub budget_tokens: u32,
    /// The figures.
    #[serde(flatten)]
    pub scores: Scores,
    /// Why there is no result.
    pub problem: Option<String>,
    /// How long the compaction took.
    pub micros: u64,
    /// What models took for its summaries.
    #[serde(default, skip_serializing_if = "SummaryUsage::is_empty")]
    pub summaries: SummaryUsage,
}

impl Row {
    /// Whether the result is usable at all.
    pub fn is_usable(&self) -> bool {
        self.problem.is_none() && self.scores.is_usable()
    }

    /// What a row of `case` says whatever the method.
    pub(crate) fn empty(case: &Case) -> Self {
        Self {
            case: case.id.clone(),
            format: case.format.clone(),
            task: case.task.as_str().to_owned(),
            repository: case.repository.clone(),
            prefix_tokens: case.prefix_tokens,
            future_calls: case.future_calls,
            method: String::new(),
            budget: String::new(),
            budget_tokens: 0,
            scores: Scores::default(),
            problem: None,
            micros: 0,
            summaries: SummaryUsage::default(),
        }
    }
}
