//! Where an effective value comes from.

use std::fmt;

use crate::error::Place;
use crate::preset::Preset;

/// Where an effective value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nothing set it.
    Default,
    /// The preset did.
    Preset(Preset),
    /// A file did.
    File(Place),
    /// The program did, by [`Config::set`].
    Host,
    /// A table that the program added did: [`Config::with_agent`], [`Config::with_channel`], [`Config::adjusted`].
    Given,
    /// It is what is known of the model that `[budget] model` names.
    Model(String),
    /// The preset asks for a model to write summaries, and no channel may be used for it.
    NoChannel(Preset),
    /// It is the default where a model writes the summaries.
    Llm,
    /// It is the default of an agent.
    Agent,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::Preset(preset) => write!(formatter, "preset {preset}"),
            Self::File(place) => place.fmt(formatter),
            Self::Host => formatter.write_str("set by the program"),
            Self::Given => formatter.write_str("a table that the program added"),
            Self::Model(name) => write!(formatter, "model {name}"),
            Self::NoChannel(preset) => write!(formatter, "preset {preset} asks for `llm`, and there is no channel"),
            Self::Agent => formatter.write_str("default of agents"),
            Self::Llm => formatter.write_str("default where a model writes summaries"),
        }
    }
}
