//! Presets: named sets of values between the defaults and the file.

use std::sync::LazyLock;

use epitome_engine::{DEFAULT_SOFT, HIGHEST_TARGET, Threshold};
use epitome_strategy::{Value, named};
use serde_json::Map;

/// The presets that ship, each a table under its name: what it is about, and its values in sections.
static SHIPPED: LazyLock<Map<String, Value>> =
    LazyLock::new(|| toml::from_str(include_str!("presets.toml")).unwrap_or_default());

named! {
    /// A named set of values. Explicit keys override it; of several, later ones override earlier ones.
    ///
    /// Their values are data, `presets.toml`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Preset {
        /// Small thresholds, to see compactions early.
        Development = "development",
        /// Everyday work with models that answer best on short contexts.
        Production = "production",
        /// More room before anything leaves.
        LargeContext = "large-context",
        /// The chains and constants of the design that the strategies come from.
        Classic = "classic",
        /// Old tool output, then the oldest messages: what most agents do.
        Basic = "basic",
        /// By what messages are: events, scores, chunks.
        Advanced = "advanced",
        /// By what messages mean: vectors, topics, exact lines.
        Smart = "smart",
        /// Compacts deep, so that the next compaction is far away.
        Aggressive = "aggressive",
        /// The shipped chains, to a fifth of the window.
        Balanced = "balanced",
        /// Takes what costs least first, and stops early.
        Conservative = "conservative",
    }
}

impl Preset {
    /// The preset's purpose, in a few words.
    pub fn summary(self) -> &'static str {
        SHIPPED.get(self.as_str()).and_then(|preset| preset["about"].as_str()).unwrap_or_default()
    }

    /// The keys that it sets, spelt with their sections, where the soft threshold is `soft` so far.
    ///
    /// A target that is a share becomes tokens where that threshold is in tokens, as deep below it as it would be below the
    /// default one: presets that say how go with presets that say when.
    pub(crate) fn values(self, soft: Threshold) -> Vec<(String, Value)> {
        let mut values = Vec::new();
        for (section, entries) in SHIPPED.get(self.as_str()).and_then(Value::as_object).into_iter().flatten() {
            if entries.is_object() {
                flatten(section, entries, &mut values);
            }
        }
        for (key, value) in &mut values {
            if let (Threshold::Tokens(tokens), true, Some(share)) = (soft, key == "budget.target", share_of(value)) {
                *value = ((f64::from(tokens) * (share / DEFAULT_SOFT).min(HIGHEST_TARGET)) as u32).into();
            }
        }
        values
    }
}

/// A share: a number with a decimal point.
fn share_of(value: &Value) -> Option<f64> {
    value.as_f64().filter(|_| value.is_f64())
}

/// Every value in nested tables, under its way from `key` on with dots between.
pub(crate) fn flatten(key: &str, value: &Value, values: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(entries) => {
            entries.iter().for_each(|(name, value)| flatten(&format!("{key}.{name}"), value, values));
        }
        value => values.push((key.to_owned(), value.clone())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use crate::config::Config;
    use crate::source::Source;

    #[test]
    fn every_value_of_a_preset_is_taken() {
        let registry = epitome_builtin::registry();
        for preset in Preset::ALL {
            let name = preset.as_str();
            let mut config = Config::default();
            // For the preset that asks for a model.
            config.set("channels.local.base_url", &"http://127.0.0.1:1/v1".into()).unwrap();
            config.set("channels.local.models", &vec!["m"].into()).unwrap();
            let effective = |config: &Config, key: &str| {
                config.effective(&registry).into_iter().find(|entry| entry.key == key).map(|entry| entry.value)
            };
            for (key, value) in preset.values(config.tables.budget.soft.0) {
                config
                    .assign(&key, &value, Source::Preset(preset))
                    .unwrap_or_else(|error| panic!("{name} {key} {error}"));
                assert_eq!(effective(&config, &key), Some(value), "{name}: no strategy has {key}");
            }
            config.build(&registry).unwrap();
        }
    }
}
