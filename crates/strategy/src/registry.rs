//! The registry: strategies by id.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use crate::settings::{Field, SettingError, SettingsTable};
use crate::strategy::{Meta, Strategy};

/// A strategy with settings: what a strategy's crate implements so that one line registers it.
pub trait Configurable: Strategy + Sized + 'static {
    /// Its settings.
    type Settings: SettingsTable;
    /// What it is.
    const META: Meta;
    /// The strategy with the given settings.
    fn with_settings(settings: Self::Settings) -> Self;
}

type Build = dyn Fn(&BTreeMap<String, Value>) -> Result<Arc<dyn Strategy>, Vec<SettingError>> + Send + Sync;

/// A strategy as the registry knows it: what it is, its settings, and how to build one.
#[derive(Clone)]
pub struct Registration {
    /// What it is.
    pub meta: Meta,
    /// Its settings with their defaults.
    pub fields: &'static [Field],
    build: Arc<Build>,
}

impl fmt::Debug for Registration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Registration").field("meta", &self.meta).finish_non_exhaustive()
    }
}

impl Registration {
    /// The registration of a configurable strategy.
    pub fn of<S: Configurable>() -> Self {
        let build = |values: &BTreeMap<String, Value>| -> Result<Arc<dyn Strategy>, Vec<SettingError>> {
            Ok(Arc::new(S::with_settings(S::Settings::from_values(values)?)))
        };
        Self { meta: S::META, fields: S::Settings::FIELDS, build: Arc::new(build) }
    }

    /// A strategy with `values` in place of defaults; every problem with them at once.
    pub fn build(&self, values: &BTreeMap<String, Value>) -> Result<Arc<dyn Strategy>, Vec<SettingError>> {
        (self.build)(values)
    }
}

/// Why a registry refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegistryError {
    /// Two strategies of one id.
    #[error("a strategy named `{0}` is registered already")]
    Duplicate(String),
    /// No strategy of that id.
    #[error("there is no strategy `{id}`; known: {}", known.join(", "))]
    Unknown {
        /// The id asked for.
        id: String,
        /// The ids there are.
        known: Vec<&'static str>,
    },
}

/// Strategies by id, in the order in which they were registered.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    registrations: Vec<Registration>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a strategy. Errors when its id is taken.
    pub fn register(&mut self, registration: Registration) -> Result<(), RegistryError> {
        let id = registration.meta.id;
        if self.registrations.iter().any(|known| known.meta.id == id) {
            return Err(RegistryError::Duplicate(id.to_owned()));
        }
        self.registrations.push(registration);
        Ok(())
    }

    /// The strategy of that id. The error names those that there are.
    pub fn get(&self, id: &str) -> Result<&Registration, RegistryError> {
        self.registrations.iter().find(|known| known.meta.id == id).ok_or_else(|| RegistryError::Unknown {
            id: id.to_owned(),
            known: self.registrations.iter().map(|known| known.meta.id).collect(),
        })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Registration> {
        self.registrations.iter()
    }
}
