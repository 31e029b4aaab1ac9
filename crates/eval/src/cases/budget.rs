//! Budgets: a share of the prefix, or tokens.

use std::fmt;
use std::str::FromStr;

use epitome::amount::tokens_or_share;
use epitome::engine::Threshold;

/// A budget: a share of the prefix, or tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BudgetSpec {
    /// A share of the prefix's tokens, above 0 and at most 1.
    Share(f64),
    /// Tokens.
    Tokens(u32),
}

impl BudgetSpec {
    /// Returns the budget in tokens for a prefix of `prefix` tokens, rounded down.
    pub fn tokens(self, prefix: u32) -> u32 {
        match self {
            Self::Share(share) => (f64::from(prefix) * share) as u32,
            Self::Tokens(tokens) => tokens,
        }
    }
}

impl fmt::Display for BudgetSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => write!(formatter, "{share}"),
            Self::Tokens(tokens) => write!(formatter, "{tokens}"),
        }
    }
}

impl FromStr for BudgetSpec {
    type Err = String;

    /// Reads `8k`, `40%` or `0.4`, as every command does.
    fn from_str(text: &str) -> Result<Self, String> {
        match tokens_or_share(text).map_err(|problem| format!("`{text}` is not a budget: it {problem}"))? {
            Threshold::Share(share) => Ok(Self::Share(share)),
            Threshold::Tokens(tokens) => Ok(Self::Tokens(tokens)),
        }
    }
}
