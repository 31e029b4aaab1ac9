//! What methods took beside their results: the models that wrote summaries, their price, and the compactions that failed.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use epitome::config::{Prices, TokenUsage};
use epitome::session::{ModelUsage, SummaryUsage};
use serde::Serialize;

use crate::cases::text::distinct;
use crate::figures::row::Row;

/// The most reasons of failures that are told.
const REASONS: usize = 3;

/// The compactions of a method, added up.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CompactionSum {
    pub(crate) compactions: u32,
    pub(crate) micros: u64,
    /// Why some failed, and how often.
    reasons: BTreeMap<String, u32>,
    summaries: SummaryUsage,
}

impl CompactionSum {
    /// Adds one: how long it took, why it failed where it did, and what models took for it.
    pub(crate) fn add(&mut self, micros: u64, problem: Option<&str>, summaries: &SummaryUsage) {
        self.compactions += 1;
        self.micros += micros;
        if let Some(problem) = problem {
            *self.reasons.entry(problem.to_owned()).or_default() += 1;
        }
        self.summaries.add(summaries);
    }

    pub(crate) fn add_all(&mut self, more: &Self) {
        self.compactions += more.compactions;
        self.micros += more.micros;
        for (reason, times) in &more.reasons {
            *self.reasons.entry(reason.clone()).or_default() += times;
        }
        self.summaries.add(&more.summaries);
    }

    /// Returns the account of `method`; `None` where no model was asked and nothing failed.
    pub(crate) fn account(&self, method: &str, prices: &Prices) -> Option<MethodAccount> {
        let failed: u32 = self.reasons.values().sum();
        if failed == 0 && self.summaries.is_empty() {
            return None;
        }
        let mut reasons: Vec<FailureReason> = self
            .reasons
            .iter()
            .map(|(reason, times)| FailureReason { reason: reason.clone(), compactions: *times })
            .collect();
        reasons.sort_by_key(|reason| Reverse(reason.compactions));
        reasons.truncate(REASONS);
        let models = self.summaries.models().iter().map(|usage| ModelAccount {
            usage: usage.clone(),
            dollars: prices.of_request(&usage.model).map(|price| TokenUsage::from(usage).money(price)),
        });
        let (method, models) = (method.to_owned(), models.collect());
        Some(MethodAccount { method, compactions: self.compactions, failed, reasons, models })
    }
}

/// What a method took beside its results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodAccount {
    /// The method.
    pub method: String,
    /// Its compactions.
    pub compactions: u32,
    /// Those of them that gave no result, and keep nothing.
    pub failed: u32,
    /// Why, the most frequent first, at most three.
    pub reasons: Vec<FailureReason>,
    /// The models that answered requests for summaries.
    pub models: Vec<ModelAccount>,
}

/// Why compactions gave no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailureReason {
    /// The reason.
    pub reason: String,
    /// How many compactions.
    pub compactions: u32,
}

/// What a model took for a method's summaries.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelAccount {
    /// Answers and tokens.
    #[serde(flatten)]
    pub usage: ModelUsage,
    /// Their price; `null` where the table has none for the model.
    pub dollars: Option<f64>,
}

/// Returns the accounts of the methods of rows, in the rows' order; without those that asked no model and never failed.
pub fn accounts(rows: &[Row], prices: &Prices) -> Vec<MethodAccount> {
    let of_method = |method: &str| {
        let mut sum = CompactionSum::default();
        for row in rows.iter().filter(|row| row.method == method) {
            sum.add(row.micros, row.problem.as_deref(), &row.summaries);
        }
        sum.account(method, prices)
    };
    distinct(rows.iter().map(|row| row.method.as_str())).into_iter().filter_map(of_method).collect()
}
