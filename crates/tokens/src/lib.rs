//! Token counters, all behind the trait [`TokenCounter`](epitome_strategy::TokenCounter):
//!
//! - [`ExactCounter`]: the true count of OpenAI's encodings, from vocabularies inside the program;
//! - [`Estimator`]: rules of thumb on characters, for models whose vocabulary is not known;
//! - [`CalibratedCounter`]: any of them times a factor learned from what a provider reported.
//!
//! [`by_name`] gives the first two by the name that configuration spells. No counter downloads, loads or builds
//! anything, and all may be shared between threads.
//!
//! ```
//! let counter = epitome_tokens::by_name("o200k_base")?;
//! assert_eq!(counter.count("The fold keeps what the task needs."), 8);
//! # Ok::<(), epitome_tokens::UnknownCounter>(())
//! ```

mod calibrated;
mod estimate;
mod exact;
mod registry;

pub use calibrated::{CalibratedCounter, Sample};
pub use estimate::Estimator;
pub use exact::ExactCounter;
pub use registry::{NAMES, UnknownCounter, by_name};
