//! Every key of the file, for suggestions and for hosts, and the second names that some have.

use epitome_strategy::{Field, Value};

use crate::sections::{NAMED, SECTIONS, Section};

/// All keys that the top level of a file may have, in the order of the template.
pub(crate) fn top_level() -> impl Iterator<Item = &'static str> + Clone {
    let names = |sections: &'static [Section]| sections.iter().map(|section| section.name);
    ["preset", COMPACTION].into_iter().chain(names(SECTIONS)).chain(["chains", "strategies"]).chain(names(NAMED))
}

/// A second name of a key, which the designs that the thresholds come from use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SecondName {
    /// The name.
    pub(crate) name: &'static str,
    /// The key that it is another name of.
    pub(crate) key: &'static str,
    /// The value that it takes.
    takes: Takes,
}

/// The value of a second name.
#[derive(Debug, Clone, Copy)]
enum Takes {
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Flag,
    /// `true` for a model, `false` for the rules.
    UseLlm,
}

/// The section of the second names. They are understood in `[budget]` and at the top of a file too.
pub(crate) const COMPACTION: &str = "compaction";

/// The second names. Both of a pair in one file are refused.
const SECOND_NAMES: [SecondName; 11] = [
    SecondName { name: "enabled", key: ENABLED, takes: Takes::Flag },
    SecondName { name: "soft_threshold_tokens", key: "budget.soft", takes: Takes::Integer },
    SecondName { name: "hard_threshold_tokens", key: "budget.hard", takes: Takes::Integer },
    SecondName { name: "reserve_tokens", key: "budget.reserve_output", takes: Takes::Integer },
    SecondName { name: "memory_flush_enabled", key: "live.memory_flush", takes: Takes::Flag },
    SecondName { name: "keep_recent_messages", key: "pins.keep_recent", takes: Takes::Integer },
    SecondName { name: "keep_recent_rounds", key: "pins.last_rounds", takes: Takes::Integer },
    SecondName { name: "summary_max_tokens", key: "summary.max_tokens", takes: Takes::Integer },
    SecondName { name: "summary_max_length", key: "summary.max_tokens", takes: Takes::Integer },
    SecondName { name: "use_llm", key: "summary.summarizer", takes: Takes::UseLlm },
    SecondName { name: "llm_fallback_to_rules", key: "summary.fall_back_to_rules", takes: Takes::Flag },
];

/// The key behind `enabled`, which a file has under that name only: whether thresholds call for compactions.
pub(crate) const ENABLED: &str = "thresholds.enabled";

impl SecondName {
    /// The second name that is spelt so.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        SECOND_NAMES.iter().find(|second| second.name == name)
    }

    /// The value of the key behind it. The error says what would be right.
    pub(crate) fn value(&self, value: &Value) -> Result<Value, String> {
        match self.takes {
            Takes::Integer if value.is_u64() => Ok(value.clone()),
            Takes::Integer => Err(format!("takes whole tokens or messages, not {value}")),
            Takes::Flag if value.is_boolean() => Ok(value.clone()),
            Takes::UseLlm if value == true => Ok("llm".into()),
            Takes::UseLlm if value == false => Ok("rules".into()),
            Takes::Flag | Takes::UseLlm => Err(format!("takes true or false, not {value}")),
        }
    }
}

/// A key with its declaration.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The section.
    pub section: &'static str,
    /// Type, default, bounds, unit and documentation.
    pub field: &'static Field,
}

/// Every key of the sections with fixed keys, in the order of the template.
pub fn keys() -> impl Iterator<Item = Key> {
    SECTIONS.iter().flat_map(|section| section.fields.iter().map(|field| Key { section: section.name, field }))
}

/// Every key of the sections that hold tables by names of the user's: those of a model, a channel, an agent.
pub fn named_keys() -> impl Iterator<Item = Key> {
    NAMED.iter().flat_map(|section| section.fields.iter().map(|field| Key { section: section.name, field }))
}

/// The second names, each with its key.
pub fn second_names() -> impl Iterator<Item = (&'static str, &'static str)> + Clone {
    SECOND_NAMES.iter().map(|second| (second.name, second.key))
}
