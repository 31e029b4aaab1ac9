//! The options of each call, as JSON. An option that a call does not have is refused by its name, and so is a wrong value.
//!
//! What other languages declare is written from these types and their comments.

mod fitter;
mod session;

use epitome::strategy::Value;
use serde::Deserialize;

pub(crate) use fitter::{FitRequestOptions, FitterOptions, OverflowOptions};
pub(crate) use session::{BriefOptions, ConvertOptions, LookUpOptions, ReadOptions, SearchOptions};
pub use session::{CompactOptions, search_query};

use super::read_options::unknown_option;
use super::values::{AnswerStatus, ChainName, OneOrMore, Tokens, TokensOrNone, model_name};
#[cfg(test)]
use crate::tests::declarations::kinds::Configuration;

/// The number of the object that a call is about; a package that holds its objects itself gives none.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Handle {
    pub(super) handle: u32,
}

/// A call that takes nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoOptions {}

/// An engine that a call is about.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct EngineHandle {
    pub(super) engine: u32,
}

/// The handle of what left.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RetrieveOptions {
    pub(super) handle: u32,
    pub(super) of: String,
    /// The form of the messages that left, where it is not the fitter's.
    pub(super) format: Option<String>,
}

/// What an engine is made of.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, utoipa::ToSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct EngineOptions {
    /// The text of a TOML file, or its sections and keys as an object.
    #[cfg_attr(test, schema(value_type = Configuration))]
    pub(crate) config: Option<Value>,
    /// What errors call that text.
    pub(crate) config_name: Option<String>,
    /// The model whose window is the budget.
    #[serde(deserialize_with = "model_name")]
    pub(crate) model: Option<String>,
    /// The tokens that the model takes, over `model` and `config`.
    pub(crate) window: Tokens,
    /// The tokens that are kept free for the answer.
    pub(crate) reserve_output: TokensOrNone,
}

fn names_of(chain: &OneOrMore<ChainName>) -> Vec<String> {
    chain.0.iter().map(|name| name.0.clone()).collect()
}

/// The format of a request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ValidateOptions {
    pub(super) format: Option<String>,
}

/// What counts a text: an engine's counter, or the one of this name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CountOptions {
    pub(super) engine: Option<u32>,
    pub(super) counter: Option<String>,
}

/// An error that a provider responded with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorResponse {
    pub(super) status: AnswerStatus,
}

/// The names of given options, and of those that exist.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OptionNames {
    given: Vec<String>,
    known: Vec<String>,
}

impl OptionNames {
    /// Returns what is wrong with the first name that is not known; `None` if all are.
    pub(super) fn problem(&self) -> Option<String> {
        let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        self.given.iter().find(|name| !known.contains(&name.as_str())).map(|wrong| unknown_option(wrong, &known))
    }
}
