//! Counters by name, as configuration and reports spell them.

use std::sync::Arc;

use epitome_strategy::TokenCounter;

use crate::{Estimator, ExactCounter};

/// The names that [`by_name`] knows: the exact counters, then the estimators.
pub const NAMES: [&str; 6] = ["o200k_base", "cl100k_base", "weighted", "two-ratio", "halves", "quarters"];

/// No counter has the name asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown token counter `{name}`, the known ones are {}", quoted_names())]
pub struct UnknownCounter {
    /// The name asked for.
    pub name: String,
}

/// The counter called `name`, one of [`NAMES`]. Cost: one small allocation; no counter has anything to load.
///
/// # Errors
///
/// When no counter has that name. The error's text lists the known ones.
pub fn by_name(name: &str) -> Result<Arc<dyn TokenCounter>, UnknownCounter> {
    Ok(match name {
        "o200k_base" => Arc::new(ExactCounter::O200kBase),
        "cl100k_base" => Arc::new(ExactCounter::Cl100kBase),
        "weighted" => Arc::new(Estimator::Weighted),
        "two-ratio" => Arc::new(Estimator::TwoRatio),
        "halves" => Arc::new(Estimator::Halves),
        "quarters" => Arc::new(Estimator::Quarters),
        _ => return Err(UnknownCounter { name: name.to_owned() }),
    })
}

fn quoted_names() -> String {
    NAMES.map(|name| format!("`{name}`")).join(", ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn each_name_gives_the_counter_of_that_name() {
        for name in NAMES {
            let counter = by_name(name).unwrap();
            assert_eq!(counter.name(), name);
            assert_eq!(counter.is_exact(), name.ends_with("_base"));
            assert_eq!(counter.count(""), 0, "{name}");
            assert!(counter.count("x") > 0, "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        assert_eq!(
            by_name("gpt-5").unwrap_err().to_string(),
            "unknown token counter `gpt-5`, the known ones are `o200k_base`, `cl100k_base`, `weighted`, `two-ratio`, \
             `halves`, `quarters`"
        );
    }
}
