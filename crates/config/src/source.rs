//! Where an effective value comes from.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::FileLocation;
use crate::preset::Preset;

/// Where an effective value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nothing set it.
    Default,
    /// The preset did.
    Preset(Preset),
    /// A file did.
    File(FileLocation),
    /// A variable of the environment did, by [`Config::with_environment`](crate::Config::with_environment): its name.
    Environment(String),
    /// The program did, by [`Config::set`](crate::Config::set) or [`Config::for_call`](crate::Config::for_call).
    Host,
    /// A table that the program added did: [`with_agent`](crate::Config::with_agent),
    /// [`with_channel`](crate::Config::with_channel), [`adjusted`](crate::Config::adjusted).
    Given,
    /// The known limits of the model that `[budget] model` names.
    Model(String),
    /// A model is asked for that falls back to the rules, and no channel may be used for it.
    NoChannel,
    /// It is the default where a model writes the summaries.
    Llm,
    /// It is the default of an agent.
    Agent,
}

impl Source {
    /// The layer of the source: a later layer overrides an earlier one.
    pub(crate) fn layer(&self) -> u8 {
        match self {
            Self::Default | Self::Llm | Self::Agent => 0,
            Self::Preset(_) | Self::NoChannel => 1,
            Self::Model(_) | Self::File(_) | Self::Given => 2,
            Self::Environment(_) => 3,
            Self::Host => 4,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::Preset(preset) => write!(formatter, "preset {preset}"),
            Self::File(place) => place.fmt(formatter),
            Self::Environment(variable) => formatter.write_str(variable),
            Self::Host => formatter.write_str("set by the program"),
            Self::Given => formatter.write_str("a table that the program added"),
            Self::Model(name) => write!(formatter, "model {name}"),
            Self::NoChannel => formatter.write_str("`llm` is asked for, and there is no channel"),
            Self::Agent => formatter.write_str("default of agents"),
            Self::Llm => formatter.write_str("default where a model writes summaries"),
        }
    }
}

/// The source of each key, each spelt with its section.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources(BTreeMap<String, Source>);

impl Sources {
    /// The source of a key.
    pub(crate) fn get(&self, key: &str) -> Source {
        self.0.get(key).cloned().unwrap_or(Source::Default)
    }

    /// Notes the source of a key, or of a position in a file that is not a key of its own, such as an element of a
    /// list.
    pub(crate) fn note(&mut self, key: impl Into<String>, source: Source) {
        self.0.insert(key.into(), source);
    }

    /// Forgets who set a key.
    pub(crate) fn forget(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// The place of a key in the file that set it.
    pub(crate) fn place(&self, key: &str) -> Option<FileLocation> {
        match self.0.get(key) {
            Some(Source::File(place)) => Some(place.clone()),
            Some(_) | None => None,
        }
    }

    /// The place of an item of a list in the file, or that of the whole list.
    pub(crate) fn place_of_item(&self, key: &str, index: usize) -> Option<FileLocation> {
        self.place(&format!("{key}[{index}]")).or_else(|| self.place(key))
    }
}
