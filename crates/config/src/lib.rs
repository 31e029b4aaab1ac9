//! The configuration: TOML in, the parts of an engine out.
//!
//! [`Config`] is plain data: effective values, each with where it came from (default, preset, a place in the file).
//! [`Config::build`] turns it into a [`Runtime`]. Layers: defaults, then the preset, then the file. Reading refuses
//! unknown keys, wrong types, values out of bounds and unknown strategies, counters and presets, all of them at once,
//! each with its place and what would be right. No key exists that does nothing.
//!
//! ```
//! use epitome_config::Config;
//!
//! let registry = epitome_builtin::registry();
//! let text = "preset = \"production\"\n[budget]\nwindow = 128_000\n";
//! let config = Config::parse(text, "epitome.toml", &registry)?;
//! assert_eq!(config.budget().window, 128_000);
//! assert_eq!(config.budget().soft.tokens(config.budget().usable()), 15_000);
//!
//! let wrong = Config::parse("[budget]\nwindwo = 1\nsoft = \"much\"\n", "epitome.toml", &registry).unwrap_err();
//! assert_eq!(wrong.problems().len(), 2);
//! # Ok::<(), epitome_config::ConfigErrors>(())
//! ```

mod agents;
pub mod amount;
mod budget;
mod chains;
mod channels;
mod check;
mod config;
mod effective;
mod embeddings;
mod error;
mod external;
mod given;
mod keys;
mod lexicon;
mod live;
mod models;
mod named;
mod outside;
mod preset;
mod prices;
mod read;
mod runtime;
mod sections;
mod source;
mod summarizer;
mod tables;
mod template;
mod thresholds;
mod values;

pub use check::unknown_strategy;
pub use config::Config;
pub use effective::EffectiveValue;
pub use error::{ConfigErrors, FileLocation, Problem};
pub use keys::{Key, keys, named_keys, second_names};
pub use live::{LiveSettings, OptionalThreshold, TriggersTable};
pub use models::{ModelLimits, Models, UnknownModel};
pub use named::{AgentTable, ChannelTable, ModelTable};
pub use preset::Preset;
pub use prices::{Price, PriceError, Prices, TokenUsage};
pub use runtime::Runtime;
pub use source::Source;
pub use summarizer::{OnProgress, SummaryModel};
pub use tables::{BudgetTable, CounterTable, PinsTable, SelectTable, SummaryTable};
pub use template::{key_table, settings_table, template};
pub use values::{
    CompactionBy, CounterName, EmbedderName, Limit, ModelQuestion, OnRefusal, Parameters, PresetNames, SummarizerChoice,
};
