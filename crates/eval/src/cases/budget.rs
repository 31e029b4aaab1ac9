//! Budgets: a share of the prefix, or tokens.

use std::fmt;
use std::str::FromStr;

use epitome::session::heading::ungroup_digits;

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

    /// A number of up to 1 is a share, any other one tokens; `k` means a thousand.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a budget: a share such as 0.4, or tokens such as 8000 or 8k");
        let lower = text.trim().to_ascii_lowercase();
        let (digits, unit) = lower.strip_suffix('k').map_or((lower.as_str(), 1.0), |digits| (digits, 1_000.0));
        let number: f64 = match digits.contains('_') {
            true => ungroup_digits(digits).and_then(|digits| digits.parse().ok()),
            false => digits.parse().ok(),
        }
        .ok_or_else(wrong)?;
        let tokens = number * unit;
        match tokens {
            share if unit == 1.0 && share > 0.0 && share <= 1.0 => Ok(Self::Share(share)),
            tokens if tokens > 1.0 && tokens <= f64::from(u32::MAX) && tokens.fract() == 0.0 => {
                Ok(Self::Tokens(tokens as u32))
            }
            _ => Err(wrong()),
        }
    }
}
