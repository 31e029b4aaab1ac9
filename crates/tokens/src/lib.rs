//! Token counters, all behind the trait [`TokenCounter`](epitome_strategy::TokenCounter):
//!
//! - [`ExactCounter`]: the true count of OpenAI's encodings, from vocabularies inside the program;
//! - [`Estimator`]: rules of thumb on characters, for models whose vocabulary is not known;
//! - [`FamilyCounter`]: what a family of models spends whose vocabulary is not public, as [`by_model`] finds it.
//!
//! The cargo features `vocab-o200k` and `vocab-cl100k`, both on by default, put the vocabularies in.
//!
//! [`by_name`] returns each by its name in the configuration. No counter downloads, loads or builds
//! anything, and all may be shared between threads.
//!
//! ```
//! let counter = epitome_tokens::by_name("o200k_base")?;
//! assert_eq!(counter.count("The fold keeps what the task needs."), 8);
//! # Ok::<(), epitome_tokens::CounterError>(())
//! ```

mod estimate;
#[cfg(any(feature = "vocab-cl100k", feature = "vocab-o200k"))]
mod exact;
mod families;
mod family;
mod model_name;
mod pictures;
mod registry;
mod vocabulary;

pub use estimate::Estimator;
#[cfg(any(feature = "vocab-cl100k", feature = "vocab-o200k"))]
pub use exact::ExactCounter;
pub use families::{ModelCounter, by_model};
pub use family::FamilyCounter;
pub use model_name::ModelName;
pub use registry::{BY_MODEL, CounterError, NAMES, by_name};
pub use vocabulary::has_vocabulary;
