//! Closed lists of names: each value of an enum has one name in files, arguments, requests and reports.

use serde_json::Value;
use thiserror::Error;

use crate::settings::{FieldKind, SettingType};

/// An enum whose every value has one name: implemented by [`named!`](crate::named!). It can be the type of a setting.
pub trait Named: Copy + 'static {
    /// Every value, in the order of lists.
    const VALUES: &'static [Self];

    /// Returns the value's name.
    fn name(self) -> &'static str;

    /// Returns every name, in the same order.
    fn names() -> impl Iterator<Item = &'static str> {
        Self::VALUES.iter().map(|value| value.name())
    }

    /// Returns the value of exactly that name. The error has the list and the nearest name.
    fn from_name(name: &str) -> Result<Self, UnknownName> {
        Self::VALUES
            .iter()
            .copied()
            .find(|value| value.name() == name)
            .ok_or_else(|| UnknownName { name: name.to_owned(), known: Self::names().collect() })
    }
}

/// A name that is not on a closed list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{name}` is not one of {}{}", known.join(", "), did_you_mean(name, known))]
pub struct UnknownName {
    /// The given name.
    pub name: String,
    /// The names that are allowed.
    pub known: Vec<&'static str>,
}

fn did_you_mean(name: &str, known: &[&str]) -> String {
    nearest(name, known.iter().copied()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Returns the known name that a person most likely meant by `given`; `None` where none is near. The distance is
/// Damerau and Levenshtein's: one edit is near, and one more for every four characters of the known name.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&given, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4 && *distance < name.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

impl<T: Named> SettingType for T {
    const KIND: FieldKind = FieldKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        let given = value.as_str().unwrap_or_default();
        Self::from_name(given).map_err(|UnknownName { known, .. }| {
            let quoted: Vec<String> = known.iter().map(|name| format!("\"{name}\"")).collect();
            format!("takes one of {}, not {value}{}", quoted.join(", "), did_you_mean(given, &known))
        })
    }

    fn to_value(&self) -> Value {
        self.name().into()
    }

    fn choices() -> Vec<&'static str> {
        <Self as Named>::names().collect()
    }
}

/// Gives each variant of an enum its name: `as_str`, `ALL`, [`Display`](std::fmt::Display),
/// [`FromStr`](std::str::FromStr) and [`Named`]. A variant without a name does not compile.
///
/// ```
/// epitome_strategy::named! {
///     #[derive(Debug, Clone, Copy, PartialEq)]
///     pub enum Side {
///         Left = "left",
///         Right = "right",
///     }
/// }
///
/// assert_eq!(Side::Left.as_str(), "left");
/// assert_eq!("right".parse(), Ok(Side::Right));
/// let problem = "rigth".parse::<Side>().unwrap_err().to_string();
/// assert_eq!(problem, "`rigth` is not one of left, right; did you mean `right`?");
/// ```
///
/// An enum of its own stands beside its names: `named! { Side { Left = "left", Right = "right" } }`.
#[macro_export]
macro_rules! named {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $type:ident {
            $($(#[$of_variant:meta])* $variant:ident = $name:literal),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        $visibility enum $type {
            $($(#[$of_variant])* $variant),+
        }

        $crate::named! { $type { $($variant = $name),+ } }
    };
    ($type:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            /// Every value, in the order in which lists show them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The value's name in files, arguments, requests and reports.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl $crate::Named for $type {
            const VALUES: &'static [Self] = &Self::ALL;

            fn name(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<Self, $crate::UnknownName> {
                $crate::Named::from_name(name)
            }
        }
    };
}
