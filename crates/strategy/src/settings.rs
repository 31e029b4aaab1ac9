//! Settings: one declaration has name, type, default, bounds, unit and documentation.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

/// A setting, as lists, `epitome init` and the configuration reader see it.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: FieldKind,
    /// Bounds of a number, inclusive.
    pub bounds: Option<Bounds>,
    /// The unit of a number, such as `tokens`; empty for none.
    pub unit: &'static str,
    /// The values of a closed list, by name; empty where there is no such list.
    pub choices: fn() -> Vec<&'static str>,
    /// Its documentation.
    pub doc: &'static str,
    /// Whether it is one of the few that people need: lists show these first.
    pub is_common: bool,
    /// Its default.
    pub default: fn() -> Value,
}

/// The kinds of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// A whole number, 0 or more.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// A string.
    Text,
    /// A list of strings.
    List,
}

/// The bounds of a number, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub most: f64,
}

impl<T: Into<f64> + Copy> From<RangeInclusive<T>> for Bounds {
    fn from(range: RangeInclusive<T>) -> Self {
        Self { least: (*range.start()).into(), most: (*range.end()).into() }
    }
}

/// A problem with a value.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{name}`: {problem}")]
pub struct SettingError {
    /// The key.
    pub name: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

/// A type that a setting can have.
pub trait SettingType: Sized {
    /// The kind of value.
    const KIND: FieldKind;
    /// Returns the names of the values, where these are a closed list; for a list of strings those of its items.
    fn choices() -> Vec<&'static str> {
        Vec::new()
    }
    /// Returns the setting for a value, or what would be right.
    fn from_value(value: &Value) -> Result<Self, String>;
    /// Returns the value for a setting.
    fn to_value(&self) -> Value;
    /// Returns the value as a number, for bounds.
    fn as_number(&self) -> Option<f64> {
        None
    }
}

impl SettingType for u32 {
    const KIND: FieldKind = FieldKind::Integer;

    fn from_value(value: &Value) -> Result<Self, String> {
        let number = value.as_u64().ok_or_else(|| format!("takes a whole number, not {value}"))?;
        Self::try_from(number).map_err(|_| format!("{number} is too large"))
    }

    fn to_value(&self) -> Value {
        (*self).into()
    }

    fn as_number(&self) -> Option<f64> {
        Some((*self).into())
    }
}

impl SettingType for f64 {
    const KIND: FieldKind = FieldKind::Number;

    fn from_value(value: &Value) -> Result<Self, String> {
        value.as_f64().ok_or_else(|| format!("takes a number, not {value}"))
    }

    fn to_value(&self) -> Value {
        (*self).into()
    }

    fn as_number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl SettingType for bool {
    const KIND: FieldKind = FieldKind::Flag;

    fn from_value(value: &Value) -> Result<Self, String> {
        value.as_bool().ok_or_else(|| format!("takes true or false, not {value}"))
    }

    fn to_value(&self) -> Value {
        (*self).into()
    }
}

impl SettingType for String {
    const KIND: FieldKind = FieldKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        value.as_str().map(Self::from).ok_or_else(|| format!("takes a string, not {value}"))
    }

    fn to_value(&self) -> Value {
        self.as_str().into()
    }
}

impl SettingType for Vec<String> {
    const KIND: FieldKind = FieldKind::List;

    fn from_value(value: &Value) -> Result<Self, String> {
        let problem = || format!("takes a list of strings, not {value}");
        let items = value.as_array().ok_or_else(problem)?;
        items.iter().map(|item| item.as_str().map(String::from).ok_or_else(problem)).collect()
    }

    fn to_value(&self) -> Value {
        self.as_slice().into()
    }
}

/// A table of settings; [`settings!`](crate::settings!) implements it.
pub trait SettingsTable: Default {
    /// The settings, in order of declaration.
    const FIELDS: &'static [Field];

    /// Sets one setting. Errors on an unknown key, a wrong type, or a value out of bounds.
    fn set(&mut self, name: &str, value: &Value) -> Result<(), SettingError>;

    /// Sets a constant, or a setting, for a strategy's own tests.
    #[doc(hidden)]
    fn set_constant(&mut self, name: &str, value: &Value) -> Result<(), SettingError> {
        self.set(name, value)
    }

    /// Returns one setting's value, or `None` where there is no such key.
    fn get(&self, name: &str) -> Option<Value>;

    /// Returns the defaults with `values` in their place, or every problem at once.
    fn from_values(values: &BTreeMap<String, Value>) -> Result<Self, Vec<SettingError>> {
        let mut settings = Self::default();
        let problems: Vec<SettingError> =
            values.iter().filter_map(|(name, value)| settings.set(name, value).err()).collect();
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }
}

/// Reads one value and checks its bounds; [`settings!`](crate::settings!) expands to calls of it.
#[doc(hidden)]
pub fn read<T: SettingType>(name: &str, value: &Value, bounds: Option<Bounds>) -> Result<T, SettingError> {
    let problem = |problem: String| SettingError { name: name.to_owned(), problem };
    let read = T::from_value(value).map_err(problem)?;
    if let (Some(number), Some(Bounds { least, most })) = (read.as_number(), bounds)
        && !(least..=most).contains(&number)
    {
        return Err(problem(format!("takes a value from {least} to {most}, not {number}")));
    }
    Ok(read)
}

/// Returns the error for an unknown key.
#[doc(hidden)]
pub fn unknown(name: &str, fields: &[Field]) -> SettingError {
    let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
    let problem = if known.is_empty() {
        "is not a setting: there are none".to_owned()
    } else {
        format!("is not a setting; known: {}", known.join(", "))
    };
    SettingError { name: name.to_owned(), problem }
}

/// Declares a table of settings: each line has a doc comment, a key, a type and a default, and optionally bounds, a
/// unit, and `is common` for one of the few settings that people need.
///
/// Numbers that no measurement ever moved are no settings: they follow in a block `constants`, each with its value. They are
/// fields beside the settings, so that the strategy reads both in the same way, but no file, option or host sets them, and no
/// list shows them; only the strategy's own tests do, whose sessions are small.
///
/// ```
/// epitome_strategy::settings! {
///     /// Settings of an example.
///     pub struct Settings {
///         /// Newest rounds that stay whole.
///         keep_rounds: u32 = 4, in 0..=1000, is common;
///         /// Longest text that stays.
///         max_text: u32 = 200, in 1..=100_000, unit "characters";
///         /// Tools whose results stay.
///         protected_tools: Vec<String> = vec!["Skill".to_owned()];
///     }
///     constants {
///         /// Shorter outputs are left alone: a stub would cost as much.
///         min_tokens: u32 = 60;
///     }
/// }
/// use epitome_strategy::SettingsTable;
/// let mut settings = Settings::default();
/// settings.set("keep_rounds", &6.into()).unwrap();
/// assert_eq!(settings.keep_rounds, 6);
/// assert_eq!(settings.get("keep_rounds"), Some(6.into()));
/// assert!(settings.set("keep_round", &6.into()).is_err());
/// assert!(settings.set("max_text", &0.into()).is_err());
/// assert!(settings.set("min_tokens", &9.into()).is_err());
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $table:ident {
            $( $(#[doc = $doc:literal])+ $field:ident : $type:ty = $default:expr $(, in $bounds:expr)? $(, unit $unit:literal)? $(, is $common:ident)? ; )*
        }
        $( constants { $( $(#[doc = $note:literal])+ $constant:ident : $kind:ty = $number:expr; )* } )?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $table {
            $( $(#[doc = $doc])+ pub $field: $type, )*
            $( $( $(#[doc = $note])+ pub(crate) $constant: $kind, )* )?
        }

        impl Default for $table {
            fn default() -> Self {
                Self { $( $field: $default, )* $( $( $constant: $number, )* )? }
            }
        }

        impl $crate::SettingsTable for $table {
            const FIELDS: &'static [$crate::Field] = &[
                $( $crate::Field {
                    name: stringify!($field),
                    kind: <$type as $crate::SettingType>::KIND,
                    bounds: $crate::settings!(@bounds $($bounds)?),
                    unit: concat!($($unit)?),
                    choices: <$type as $crate::SettingType>::choices,
                    doc: concat!($($doc),+),
                    is_common: $crate::settings!(@common $($common)?),
                    default: || {
                        let default: $type = $default;
                        $crate::SettingType::to_value(&default)
                    },
                }, )*
            ];

            #[allow(unused_variables, reason = "a table may have no settings")]
            fn set(&mut self, name: &str, value: &$crate::Value) -> Result<(), $crate::SettingError> {
                match name {
                    $( stringify!($field) => {
                        let bounds: Option<$crate::Bounds> = None $( .or(Some($crate::Bounds::from($bounds))) )?;
                        self.$field = $crate::read_setting(name, value, bounds)?;
                        Ok(())
                    } )*
                    _ => Err($crate::unknown_setting(name, Self::FIELDS)),
                }
            }

            $( fn set_constant(&mut self, name: &str, value: &$crate::Value) -> Result<(), $crate::SettingError> {
                match name {
                    $( stringify!($constant) => self.$constant = $crate::read_setting(name, value, None)?, )*
                    _ => return self.set(name, value),
                }
                Ok(())
            } )?

            fn get(&self, name: &str) -> Option<$crate::Value> {
                match name {
                    $( stringify!($field) => Some($crate::SettingType::to_value(&self.$field)), )*
                    _ => None,
                }
            }
        }
    };
    (@common) => { false };
    (@common common) => { true };
    (@bounds) => { None };
    (@bounds $bounds:expr) => {
        Some($crate::Bounds { least: *($bounds).start() as f64, most: *($bounds).end() as f64 })
    };
}
