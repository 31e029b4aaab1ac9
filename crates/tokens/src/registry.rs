//! Counters by name, as configuration and reports spell them.

use std::sync::Arc;

use epitome_strategy::TokenCounter;

#[cfg(any(feature = "vocab-cl100k", feature = "vocab-o200k"))]
use crate::ExactCounter;
use crate::{Estimator, ModelCounter};

/// The name of the choice by each session's model.
pub const BY_MODEL: &str = "model";

/// The names that [`by_name`] knows: the choice by the model, the exact counters, then the estimators.
pub const NAMES: [&str; 7] = [BY_MODEL, "o200k_base", "cl100k_base", "weighted", "two-ratio", "halves", "quarters"];

/// Why there is no counter of a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CounterError {
    /// No counter has the name.
    #[error("unknown token counter `{name}`, the known ones are {}", quoted_names())]
    Unknown {
        /// The name that was asked for.
        name: String,
    },
    /// The counter's vocabulary is not in this build.
    #[error(
        "this build has no vocabulary `{name}`: build it with the cargo feature `{feature}`, or take another counter, such as \
         `weighted`"
    )]
    NotBuilt {
        /// The counter's name.
        name: &'static str,
        /// The feature that puts its vocabulary in.
        feature: &'static str,
    },
}

/// Returns the counter called `name`, one of [`NAMES`]. Cost: one small allocation; no counter loads anything.
///
/// # Errors
///
/// No counter has that name; the error's text lists the known ones. Or its vocabulary is not in this build.
pub fn by_name(name: &str) -> Result<Arc<dyn TokenCounter>, CounterError> {
    Ok(match name {
        BY_MODEL => Arc::new(ModelCounter::new(None)?),
        #[cfg(feature = "vocab-o200k")]
        "o200k_base" => Arc::new(ExactCounter::O200kBase),
        #[cfg(not(feature = "vocab-o200k"))]
        "o200k_base" => return Err(CounterError::NotBuilt { name: "o200k_base", feature: "vocab-o200k" }),
        #[cfg(feature = "vocab-cl100k")]
        "cl100k_base" => Arc::new(ExactCounter::Cl100kBase),
        #[cfg(not(feature = "vocab-cl100k"))]
        "cl100k_base" => return Err(CounterError::NotBuilt { name: "cl100k_base", feature: "vocab-cl100k" }),
        "weighted" => Arc::new(Estimator::Weighted),
        "two-ratio" => Arc::new(Estimator::TwoRatio),
        "halves" => Arc::new(Estimator::Halves),
        "quarters" => Arc::new(Estimator::Quarters),
        _ => return Err(CounterError::Unknown { name: name.to_owned() }),
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
            let built = match name {
                BY_MODEL | "o200k_base" => cfg!(feature = "vocab-o200k"),
                "cl100k_base" => cfg!(feature = "vocab-cl100k"),
                _ => true,
            };
            let counter = match by_name(name) {
                Err(error) => {
                    assert!(!built && error.to_string().contains("the cargo feature `vocab-"), "{error}");
                    continue;
                }
                Ok(counter) => counter,
            };
            assert!(built, "{name}");
            let own = if name == BY_MODEL { "o200k_base" } else { name };
            assert_eq!(counter.name(), own);
            assert_eq!(counter.is_exact(), own.ends_with("_base"));
            assert_eq!(counter.count(""), 0, "{name}");
            assert!(counter.count("x") > 0, "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        assert_eq!(
            by_name("gpt-5").unwrap_err().to_string(),
            "unknown token counter `gpt-5`, the known ones are `model`, `o200k_base`, `cl100k_base`, `weighted`, `two-ratio`, \
             `halves`, `quarters`"
        );
    }
}
