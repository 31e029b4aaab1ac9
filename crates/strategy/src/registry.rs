//! The registry: strategies by id.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use crate::settings::{Field, SettingError, SettingsTable, unknown};
use crate::strategy::{Meta, Strategy};

/// A strategy with settings: a strategy's crate implements this, so that one line registers it.
pub trait Configurable: Strategy + Sized + 'static {
    /// Its settings.
    type Settings: SettingsTable;
    /// Its description.
    const META: Meta;
    /// Returns the strategy with the given settings.
    fn with_settings(settings: Self::Settings) -> Self;
}

type Build = dyn Fn(&BTreeMap<String, Value>) -> Result<Arc<dyn Strategy>, Vec<SettingError>> + Send + Sync;

/// A strategy in the registry: its description, its settings, and a function that builds it.
#[derive(Clone)]
pub struct Registration {
    /// Its description.
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
    /// Returns the registration of a configurable strategy.
    pub fn configurable<S: Configurable>() -> Self {
        let build = |values: &BTreeMap<String, Value>| -> Result<Arc<dyn Strategy>, Vec<SettingError>> {
            Ok(Arc::new(S::with_settings(S::Settings::from_values(values)?)))
        };
        Self { meta: S::META, fields: S::Settings::FIELDS, build: Arc::new(build) }
    }

    /// Returns the registration of a ready strategy without settings.
    pub fn ready(strategy: Arc<dyn Strategy>) -> Self {
        let meta = *strategy.meta();
        let build = move |values: &BTreeMap<String, Value>| {
            let problems: Vec<SettingError> = values.keys().map(|name| unknown(name, &[])).collect();
            if problems.is_empty() { Ok(Arc::clone(&strategy)) } else { Err(problems) }
        };
        Self::new(meta, &[], build)
    }

    /// Returns a registration of its parts: the strategy's description, its settings, and a function that builds it
    /// from their values.
    pub fn new<B>(meta: Meta, fields: &'static [Field], build: B) -> Self
    where
        B: Fn(&BTreeMap<String, Value>) -> Result<Arc<dyn Strategy>, Vec<SettingError>> + Send + Sync + 'static,
    {
        Self { meta, fields, build: Arc::new(build) }
    }

    /// Returns a strategy with `values` in place of defaults, or every problem with them at once.
    pub fn build(&self, values: &BTreeMap<String, Value>) -> Result<Arc<dyn Strategy>, Vec<SettingError>> {
        (self.build)(values)
    }
}

/// Why a registry refused a strategy or an id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegistryError {
    /// Another strategy has the id.
    #[error("a strategy named `{0}` is registered already")]
    Duplicate(String),
    /// No strategy has the id.
    #[error("there is no strategy `{id}`; known: {}", known.join(", "))]
    Unknown {
        /// The id that was asked for.
        id: String,
        /// The ids that exist.
        known: Vec<&'static str>,
    },
}

/// Strategies by id, in the order in which they were registered.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    registrations: Vec<Registration>,
}

impl Registry {
    /// Returns an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a strategy. Errors when its id is in use.
    pub fn register(&mut self, registration: Registration) -> Result<(), RegistryError> {
        let id = registration.meta.id;
        if self.registrations.iter().any(|known| known.meta.id == id) {
            return Err(RegistryError::Duplicate(id.to_owned()));
        }
        self.registrations.push(registration);
        Ok(())
    }

    /// Returns the strategy of that id. The error names those that exist.
    pub fn get(&self, id: &str) -> Result<&Registration, RegistryError> {
        self.registrations.iter().find(|known| known.meta.id == id).ok_or_else(|| RegistryError::Unknown {
            id: id.to_owned(),
            known: self.registrations.iter().map(|known| known.meta.id).collect(),
        })
    }

    /// Returns all strategies.
    pub fn iter(&self) -> impl Iterator<Item = &Registration> {
        self.registrations.iter()
    }
}

/// Declares a strategy with settings: the struct, its description ([`Meta`](crate::Meta)), and its
/// [`Settings`](crate::settings!), which its methods read as `self.settings`. Its page is the package's `README.md`, or
/// the text behind `docs`. A method `make_plan`, as [`Strategy::plan`](crate::Strategy::plan) is described, is left to write:
///
/// ```
/// use epitome_strategy::{Configurable, Edit, Goal, Plan, PlanError, Reason, View, settings, strategy};
///
/// settings! {
///     /// Settings of `first-out`.
///     pub struct Settings {
///         /// Oldest units that may leave.
///         most: u32 = 10, in 1..=1000, unit "units";
///     }
/// }
///
/// strategy! {
///     /// The oldest units leave.
///     pub struct FirstOut(Settings) {
///         id: "first-out",
///         summary: "The oldest units leave.",
///         lossiness: Whole,
///         since: "0.1.0",
///         docs: "# first-out …",
///     }
/// }
///
/// impl FirstOut {
///     fn make_plan(&self, view: &View<'_>, _: &Goal) -> Result<Plan, PlanError> {
///         let free = (0..view.units().len()).filter(|unit| view.protection(*unit).may_leave());
///         let edit = |unit| Edit::Drop { units: vec![unit as u32], reason: Reason::new("oldest", "old") };
///         Ok(Plan::from_edits(free.take(self.settings.most as usize).map(edit).collect(), "nothing may leave"))
///     }
/// }
///
/// # use epitome_strategy::RequiredServices;
/// assert_eq!((FirstOut::META.id, FirstOut::META.needs), ("first-out", RequiredServices::default()));
/// ```
///
/// A strategy that cannot work without vectors or a model declares that behind its lossiness: `needs: [embeddings]`,
/// `needs: [model]`; one that uses vectors for some goals only says for which, `needs_vectors: |goal| goal.focus_given`.
#[macro_export]
macro_rules! strategy {
    (
        $(#[$attribute:meta])*
        pub struct $strategy:ident($settings:ty) {
            id: $id:literal,
            summary: $summary:literal,
            lossiness: $lossiness:ident,
            $( needs: [$($need:ident),*], )?
            since: $since:literal,
            $( needs_vectors: $needs_vectors:expr, )?
            $( docs: $docs:expr, )?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug)]
        pub struct $strategy {
            settings: $settings,
        }

        impl $crate::Configurable for $strategy {
            type Settings = $settings;
            const META: $crate::Meta = $crate::Meta {
                id: $id,
                summary: $summary,
                docs: $crate::strategy!(@docs $($docs)?),
                lossiness: $crate::Lossiness::$lossiness,
                needs: $crate::RequiredServices { $($($need: true,)*)? ..$crate::RequiredServices::NONE },
                since: $since,
            };

            fn with_settings(settings: Self::Settings) -> Self {
                Self { settings }
            }
        }

        impl $crate::Strategy for $strategy {
            fn meta(&self) -> &$crate::Meta {
                &<Self as $crate::Configurable>::META
            }

            $(fn needs_vectors(&self, goal: &$crate::Goal) -> bool {
                let needs_vectors: fn(&$crate::Goal) -> bool = $needs_vectors;
                needs_vectors(goal)
            })?

            fn plan(
                &self,
                view: &$crate::View<'_>,
                goal: &$crate::Goal,
            ) -> Result<$crate::Plan, $crate::PlanError> {
                self.make_plan(view, goal)
            }
        }
    };
    (@docs $docs:expr) => { $docs };
    (@docs) => { include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")) };
}
